/* SPDX-License-Identifier: Apache-2.0 */
/* schema_write.c: schemas as OpenAPI v3, as `kubectl explain` reads them. */
#include "lab/apiserver/schema.h"

#include "text/json_write.h"

#include <stdio.h>

struct str schema_key(struct arena *arena, const struct schema *schema)
{
    return str_fmt(arena, "%.*s.%.*s", STR_ARG(schema->package), STR_ARG(schema->name));
}

bool schema_is_common(struct str property)
{
    return str_eq(property, STR("apiVersion")) || str_eq(property, STR("kind")) ||
           str_eq(property, STR("metadata"));
}

static void write_any(const struct schema *s, bool is_root, bool inline_, struct json_writer *w);

static void write_text_field(struct json_writer *w, const char *name, const char *help)
{
    json_put_key(w, str_of(name));
    json_open_object(w);
    json_field_str(w, "description", str_of(help));
    json_field_str(w, "type", STR("string"));
    json_close_object(w);
}

static void write_common(struct json_writer *w)
{
    json_put_key(w, STR("metadata"));
    json_put_raw(w, STR("{\"description\":\"" SCHEMA_METADATA_HELP "\",\"allOf\":[{\"$ref\":"
                        "\"#/components/schemas/" SCHEMA_META_KEY "\"}],\"default\":{}}"));
    write_text_field(w, "kind", SCHEMA_KIND_HELP);
    write_text_field(w, "apiVersion", SCHEMA_API_VERSION_HELP);
}

static void write_properties(const struct schema *s, bool is_root, struct json_writer *w)
{
    bool none = !s->properties || map_count(s->properties) == 0;

    if (none && !is_root)
        return;
    json_put_key(w, STR("properties"));
    json_open_object(w);
    for (uint32_t i = 0; !none && i < map_count(s->properties); i++) {
        struct str key = map_key(s->properties, i);

        if (is_root && schema_is_common(key))
            continue;
        json_put_key(w, key);
        write_any(map_value(s->properties, i), false, false, w);
    }
    if (is_root)
        write_common(w);
    json_close_object(w);
}

static void write_bounds(const struct schema *s, struct json_writer *w)
{
    const struct count {
        const char *name;
        int64_t value;
    } counts[] = {
        { "minLength", s->min_length },         { "maxLength", s->max_length },
        { "minItems", s->min_items },           { "maxItems", s->max_items },
        { "minProperties", s->min_properties }, { "maxProperties", s->max_properties },
    };
    char text[32];

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].value >= 0) {
            json_put_key(w, str_of(counts[i].name));
            json_put_int(w, counts[i].value);
        }
    if (s->has_minimum) {
        snprintf(text, sizeof(text), "%.15g", s->minimum);
        json_field_raw(w, "minimum", str_of(text));
    }
    if (s->has_maximum) {
        snprintf(text, sizeof(text), "%.15g", s->maximum);
        json_field_raw(w, "maximum", str_of(text));
    }
    if (s->pattern.len)
        json_field_str(w, "pattern", s->pattern);
}

void schema_write_strings(struct json_writer *w, struct str key, const struct str_list *strings)
{
    if (strings->count == 0)
        return;
    json_put_key(w, key);
    json_open_array(w);
    for (uint32_t i = 0; i < strings->count; i++)
        json_put_str(w, strings->items[i]);
    json_close_array(w);
}

static void write_several(struct json_writer *w, struct str key,
                          const struct schema_list_of *schemas)
{
    if (schemas->count == 0)
        return;
    json_put_key(w, key);
    json_open_array(w);
    for (uint32_t i = 0; i < schemas->count; i++)
        write_any(schemas->items[i], false, true, w);
    json_close_array(w);
}

void schema_write_extensions(const struct schema *s, struct json_writer *w)
{
    if (s->preserve_unknown)
        json_field_bool(w, "x-kubernetes-preserve-unknown-fields", true);
    if (s->int_or_string)
        json_field_bool(w, "x-kubernetes-int-or-string", true);
    if (s->list != SCHEMA_LIST_ATOMIC)
        json_field_str(w, "x-kubernetes-list-type",
                       s->list == SCHEMA_LIST_MAP ? STR("map") : STR("set"));
    if (s->list == SCHEMA_LIST_MAP)
        schema_write_strings(w, STR("x-kubernetes-list-map-keys"), &s->list_keys);
    if (s->merge_key.len) {
        json_field_str(w, "x-kubernetes-patch-strategy", STR("merge"));
        if (!str_eq(s->merge_key, STR("+")))
            json_field_str(w, "x-kubernetes-patch-merge-key", s->merge_key);
    }
}

static void write_reference(const struct schema *s, struct json_writer *w)
{
    struct strbuf *out = w->out;
    struct str ref =
        str_fmt(out->arena, "#/components/schemas/%.*s", STR_ARG(schema_key(out->arena, s)));

    json_open_object(w);
    if (s->described)
        json_field_str(w, "description", s->description);
    json_put_key(w, STR("allOf"));
    json_open_array(w);
    json_open_object(w);
    json_field_str(w, "$ref", ref);
    json_close_object(w);
    json_close_array(w);
    json_close_object(w);
}

static void write_body(const struct schema *s, bool is_root, struct json_writer *w)
{
    if (s->description.len)
        json_field_str(w, "description", s->description);
    if (s->type != SCHEMA_ANY)
        json_field_str(w, "type", str_of(schema_type_name(s->type)));
    if (s->format.len)
        json_field_str(w, "format", s->format);
    if (s->nullable)
        json_field_bool(w, "nullable", true);
    if (s->default_)
        json_field_raw(w, "default", value_json(w->out->arena, s->default_));
    if (s->enum_)
        json_field_raw(w, "enum", value_json(w->out->arena, s->enum_));
    if (s->required.count)
        schema_write_strings(w, STR("required"), &s->required);
    write_bounds(s, w);
    write_properties(s, is_root, w);
    if (s->additional) {
        json_put_key(w, STR("additionalProperties"));
        write_any(s->additional, false, false, w);
    }
    if (s->items) {
        json_put_key(w, STR("items"));
        write_any(s->items, false, false, w);
    }
    write_several(w, STR("allOf"), &s->all_of);
    write_several(w, STR("anyOf"), &s->any_of);
    write_several(w, STR("oneOf"), &s->one_of);
    if (s->not_) {
        json_put_key(w, STR("not"));
        write_any(s->not_, false, true, w);
    }
    if (s->embedded)
        json_field_bool(w, "x-kubernetes-embedded-resource", true);
    schema_write_extensions(s, w);
}

static void write_any(const struct schema *s, bool is_root, bool inline_, struct json_writer *w)
{
    if (s->name.len && !is_root && !inline_) {
        write_reference(s, w);
        return;
    }
    json_open_object(w);
    write_body(s, is_root, w);
    json_close_object(w);
}

void schema_write(const struct schema *s, bool is_root, struct json_writer *w)
{
    write_body(s, is_root, w);
}
