/* SPDX-License-Identifier: Apache-2.0 */
/* json_fuzz.c: whatever is read is written and read again as the same value, and views agree with trees. */
#include "fuzz.h"

#include "text/value.h"

static uint32_t walk(struct json value)
{
    struct json_iter it = json_iter(value);
    uint32_t count = 1;

    while (json_next(&it)) {
        MUST(json_raw(it.value).len > 0);
        if (json_is(value, JSON_OBJECT))
            MUST(json_get(value, it.key).node == it.value.node);
        count += walk(it.value);
    }
    (void)json_str(value);
    (void)json_double(value);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str bytes = str_make((const char *)data, size);
    struct error err = { 0 };
    struct json root;
    struct value *again;

    if (json_read(arena, bytes, &json_limits_default, &root, &err) < 0) {
        MUST(err.code == ERROR_SYNTAX || err.code == ERROR_TOO_LARGE);
        MUST(err.text[0]);
        return 0;
    }
    MUST(walk(root) <= json_limits_default.nodes_max);

    struct value *tree = value_of(arena, root);
    struct str written = value_json(arena, tree);

    MUST(value_read(arena, written, &json_limits_default, &again, &err) == 0);
    MUST(value_equal(tree, again));
    MUST(str_eq(value_json(arena, again), written));
    MUST(json_equal(root, root));
    return 0;
}
