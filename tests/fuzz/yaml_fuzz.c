/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_fuzz.c: whatever is read becomes strict JSON with positions inside of it, and what is written of it
 * reads back as the same value. */
#include "fuzz.h"

#include "text/limits.h"
#include "text/yaml.h"

/* The writer indents; what nests deeper than YAML may is not read back. */
static uint32_t depth_of(struct json value)
{
    struct json_iter it = json_iter(value);
    uint32_t deepest = 0;

    while (json_next(&it)) {
        uint32_t depth = depth_of(it.value);

        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

static void check(struct arena *arena, const struct yaml_document *document)
{
    struct error err = { 0 };
    struct strbuf out = strbuf_new(arena, 0);
    struct yaml_documents again;
    struct json root;
    struct json second;

    MUST(json_read(arena, document->json, &json_limits_default, &root, &err) == 0 ||
         err.code == ERROR_TOO_LARGE);
    for (uint32_t i = 1; i < document->position_count; i++)
        MUST(document->positions[i - 1].offset < document->positions[i].offset);
    if (err.code == ERROR_TOO_LARGE || depth_of(root) > LIMIT_YAML_DEPTH)
        return;
    yaml_write(root, &out);
    if (out.len > LIMIT_YAML_TEXT)
        return;
    MUST(yaml_read(arena, strbuf_str(&out), &again, &err) == 0);
    MUST(again.count == 1);
    MUST(json_read(arena, again.items[0].json, &json_limits_default, &second, &err) == 0);
    MUST(json_equal(root, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(arena, str_make((const char *)data, size), &documents, &err) < 0) {
        MUST(err.code == ERROR_SYNTAX || err.code == ERROR_TOO_LARGE);
        MUST(str_starts(str_of(err.text), STR("line ")));
        return 0;
    }
    for (uint32_t i = 0; i < documents.count; i++)
        check(arena, &documents.items[i]);
    return 0;
}
