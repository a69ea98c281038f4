/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf_fuzz.c: what is read does no harm, and is JSON: text that the
 * strict reader takes back as the same value. The type is the one that the envelope names. */
#include "fuzz.h"

#include "lab/apiserver/kind.h"
#include "lab/apiserver/protobuf.h"
#include "text/value.h"

/* Every byte can become six in JSON, and names come to it. */
static const struct json_limits wide = {
    .bytes_max = 1 << 28, .depth_max = 256, .nodes_max = 10000000, .string_max = 1 << 28
};

static const struct builtin *builtin_once(void)
{
    static struct builtin *builtin;

    if (!builtin)
        builtin = builtin_new(arena_create(0));
    return builtin;
}

/* The kind with the longest name that stands in the first bytes ("Role" is in "RoleBinding" too);
 * DeleteOptions is no kind of its own. */
static const struct schema *type_of(const struct builtin *builtin, struct str bytes)
{
    struct str head = str_slice(bytes, 0, 64);
    const struct kind *best = NULL;

    for (uint32_t i = 0; i < builtin->kinds.count; i++) {
        const struct kind *kind = builtin->kinds.items[i];

        if (str_find(head, kind->kind, 0) >= 0 && (!best || kind->kind.len > best->kind.len))
            best = kind;
    }
    return best ? best->schema : map_get(builtin->types, STR("DeleteOptions"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_once();
    struct str bytes = str_make((const char *)data, size);
    const struct schema *type = type_of(builtin, bytes);
    struct error err = { 0 };
    struct value *read, *again;

    if (protobuf_read(arena, builtin->types, type, bytes, &read, &err) != 0) {
        MUST(err.text[0]);
        return 0;
    }
    MUST(value_kind(read) == JSON_OBJECT);
    MUST(value_read(arena, value_json(arena, read), &wide, &again, &err) == 0);
    MUST(value_equal(read, again));
    return 0;
}
