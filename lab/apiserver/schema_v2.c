/* SPDX-License-Identifier: Apache-2.0 */
/* schema_v2.c: schemas as OpenAPI v2, which kubectl up to 1.26 reads to explain and validate. It
 * knows less than v3: what it cannot say is left out, so that no such kubectl rejects what the
 * server takes. Source: k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go. */
#include "lab/apiserver/schema.h"

#include "text/json_write.h"

#define TEXT_FIELD(help) "{\"description\":\"" help "\",\"type\":\"string\"}"

static void write_v2(const struct schema *s, bool is_root, struct json_writer *w);

static void write_root_members(struct json_writer *w)
{
    json_put_key(w, STR("metadata"));
    json_put_raw(w, STR("{\"description\":\"" SCHEMA_METADATA_HELP "\",\"$ref\":"
                        "\"#/definitions/" SCHEMA_META_KEY "\"}"));
    json_put_key(w, STR("kind"));
    json_put_raw(w, STR(TEXT_FIELD(SCHEMA_KIND_HELP)));
    json_put_key(w, STR("apiVersion"));
    json_put_raw(w, STR(TEXT_FIELD(SCHEMA_API_VERSION_HELP)));
}

static void write_properties(const struct schema *s, bool is_root, struct json_writer *w)
{
    uint32_t count = s->properties ? map_count(s->properties) : 0;

    if (count == 0 && !is_root)
        return;
    json_put_key(w, STR("properties"));
    json_open_object(w);
    for (uint32_t i = 0; i < count; i++) {
        struct str key = map_key(s->properties, i);

        if (is_root && schema_is_common(key))
            continue;
        json_put_key(w, key);
        write_v2(map_value(s->properties, i), false, w);
    }
    if (is_root)
        write_root_members(w);
    json_close_object(w);
}

/* What may be null, or hold what nobody describes, has no type here. */
static void write_structure(const struct schema *s, bool is_root, struct json_writer *w)
{
    if (s->nullable || s->preserve_unknown || s->int_or_string)
        return;
    if (s->type != SCHEMA_ANY)
        json_field_str(w, "type", str_of(schema_type_name(s->type)));
    if (s->format.len)
        json_field_str(w, "format", s->format);
    if (s->enum_)
        json_field_raw(w, "enum", value_json(w->out->arena, s->enum_));
    schema_write_strings(w, STR("required"), &s->required);
    write_properties(s, is_root, w);
    if (s->additional) {
        json_put_key(w, STR("additionalProperties"));
        write_v2(s->additional, false, w);
    }
    if (s->items) {
        json_put_key(w, STR("items"));
        write_v2(s->items, false, w);
    }
}

static void write_v2(const struct schema *s, bool is_root, struct json_writer *w)
{
    json_open_object(w);
    if (s->description.len && (!s->name.len || is_root || s->described))
        json_field_str(w, "description", s->description);
    if (s->name.len && !is_root)
        json_field_str(
            w, "$ref",
            str_fmt(w->out->arena, "#/definitions/%.*s", STR_ARG(schema_key(w->out->arena, s))));
    else
        write_structure(s, is_root, w);
    schema_write_extensions(s, w);
    json_close_object(w);
}

void schema_write_v2(const struct schema *s, bool is_kind, struct json_writer *w)
{
    if (s->description.len)
        json_field_str(w, "description", s->description);
    write_structure(s, is_kind, w);
    schema_write_extensions(s, w);
}
