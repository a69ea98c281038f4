/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c: runs of neighbours, written as first-last. */
#include "text/ranges.h"

struct str ranges_encode(struct arena *arena, const bool *has, uint32_t count)
{
    struct strbuf text = strbuf_new(arena, 16);

    for (uint32_t first = 0; first < count; first++) {
        uint32_t last = first;

        if (!has[first])
            continue;
        while (last + 1 < count && has[last + 1])
            last++;
        strbuf_fmt(&text, "%s%u", text.len ? "," : "", first);
        if (last > first)
            strbuf_fmt(&text, "-%u", last);
        first = last;
    }
    return strbuf_str(&text);
}

/* "7" or "3-5". */
static bool read_range(struct str part, uint64_t *ret_first, uint64_t *ret_last)
{
    struct str first;

    if (!str_split(&part, '-', &first) || !str_to_u64(first, ret_first))
        return false;
    *ret_last = *ret_first;
    return part.len == 0 || str_to_u64(part, ret_last);
}

void ranges_decode(struct str text, bool *has, uint32_t count)
{
    struct str part;
    uint64_t first;
    uint64_t last;

    while (str_split(&text, ',', &part)) {
        if (!read_range(part, &first, &last))
            return;
        for (uint64_t i = first; i <= last && i < count; i++)
            has[i] = true;
    }
}
