/* SPDX-License-Identifier: Apache-2.0 */
/* sanitize.c: the second look costs only those who need it. */
#include "kube/sanitize.h"

/* Escaped NULs become \ufffd, which is as long. False if there were none. */
static bool replace_nuls(char *at, size_t len)
{
    bool found = false;

    for (size_t i = 0; i + 1 < len; i++) {
        if (at[i] != '\\')
            continue;
        if (len - i >= 6 && memcmp(at + i, "\\u0000", 6) == 0) {
            memcpy(at + i, "\\ufffd", 6);
            found = true;
        }
        i++; /* what is escaped is no backslash of its own */
    }
    return found;
}

int kube_json_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
                   struct json *ret_root, struct error *err)
{
    struct error first;
    struct str copy;

    if (json_read(arena, bytes, limits, ret_root, &first) == 0)
        return 0;
    if (first.code == ERROR_SYNTAX && str_find(bytes, STR("\\u0000"), 0) >= 0) {
        char *tamed = arena_bytes(arena, bytes.len + 1);

        memcpy(tamed, bytes.at, bytes.len);
        copy = str_make(tamed, bytes.len);
        if (replace_nuls(tamed, bytes.len) && json_read(arena, copy, limits, ret_root, &first) == 0)
            return 0;
    }
    *err = first;
    return -1;
}
