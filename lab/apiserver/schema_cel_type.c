/* SPDX-License-Identifier: Apache-2.0 */
/* schema_cel_type.c: types of CEL from schemas. Source: k8s.io/apiserver/pkg/cel/common/schemas.go.
 */
#include "lab/apiserver/schema_cel.h"

static struct cel_type *copy(struct arena *arena, const struct cel_type *of)
{
    struct cel_type *type = arena_new(arena, struct cel_type);

    *type = *of;
    return type;
}

static const struct cel_type *of_string(const struct schema *s)
{
    if (str_eq(s->format, STR("byte")))
        return &cel_type_bytes;
    if (str_eq(s->format, STR("duration")))
        return &cel_type_duration;
    if (str_eq(s->format, STR("date")) || str_eq(s->format, STR("date-time")))
        return &cel_type_timestamp;
    return &cel_type_string;
}

static struct cel_type *type_of(struct arena *arena, const struct schema *s, struct str name,
                                bool is_root);

static struct cel_type *of_array(struct arena *arena, const struct schema *s, struct str name)
{
    struct cel_type *element =
        s->items ? type_of(arena, s->items, str_fmt(arena, "%.*s.@idx", STR_ARG(name)),
                           s->items->embedded)
                 : NULL;
    struct cel_type *type;

    if (!element)
        return NULL;
    type = copy(arena, cel_type_list(arena, element));
    type->identity = s->list == SCHEMA_LIST_SET   ? CEL_SET
                     : s->list == SCHEMA_LIST_MAP ? CEL_KEYED
                                                  : CEL_ORDERED;
    type->keys = s->list_keys;
    return type;
}

static struct cel_type *of_map(struct arena *arena, const struct schema *s, struct str name)
{
    struct cel_type *value = type_of(
        arena, s->additional, str_fmt(arena, "%.*s.@elem", STR_ARG(name)), s->additional->embedded);

    if (!value)
        return NULL;
    return copy(arena, cel_type_map(arena, &cel_type_string, value));
}

static void add_field(struct arena *arena, struct cel_type *type, struct str member,
                      const struct schema *of)
{
    struct cel_type *field = type_of(
        arena, of, str_fmt(arena, "%.*s.%.*s", STR_ARG(type->name), STR_ARG(member)), of->embedded);

    if (field)
        cel_type_add_field(arena, type, member, field);
}

/* Every resource has them, whatever its schema says; of metadata rules see the names only. */
static void add_common(struct arena *arena, struct cel_type *type)
{
    const struct cel_type *text = &cel_type_string;
    struct cel_type *metadata =
        cel_type_struct(arena, str_fmt(arena, "%.*s.metadata", STR_ARG(type->name)));

    cel_type_add_field(arena, metadata, STR("name"), text);
    cel_type_add_field(arena, metadata, STR("generateName"), text);
    cel_type_add_field(arena, type, STR("apiVersion"), text);
    cel_type_add_field(arena, type, STR("kind"), text);
    cel_type_add_field(arena, type, STR("metadata"), metadata);
}

static struct cel_type *of_object(struct arena *arena, const struct schema *s, struct str name,
                                  bool is_root)
{
    struct cel_type *type = cel_type_struct(arena, name);

    for (uint32_t i = 0; s->properties && i < map_count(s->properties); i++)
        if (!is_root || !schema_is_common(map_key(s->properties, i)))
            add_field(arena, type, map_key(s->properties, i), map_value(s->properties, i));
    if (is_root)
        add_common(arena, type);
    return type;
}

/* Not `additionalProperties: true`, which says nothing of the values. */
static bool is_map(const struct schema *s)
{
    return s->additional && (s->additional->type != SCHEMA_ANY || s->additional->int_or_string ||
                             s->additional->preserve_unknown);
}

static struct cel_type *plain(struct arena *arena, const struct schema *s, struct str name,
                              bool is_root)
{
    if (s->int_or_string)
        return copy(arena, &cel_type_dyn);
    switch (is_root ? SCHEMA_OBJECT : s->type) {
    case SCHEMA_ANY:
        return NULL;
    case SCHEMA_OBJECT:
        return is_map(s) ? of_map(arena, s, name) : of_object(arena, s, name, is_root);
    case SCHEMA_ARRAY:
        return of_array(arena, s, name);
    case SCHEMA_STRING:
        return copy(arena, of_string(s));
    case SCHEMA_INTEGER:
        return copy(arena, &cel_type_int);
    case SCHEMA_NUMBER:
        return copy(arena, &cel_type_double);
    case SCHEMA_BOOLEAN:
        return copy(arena, &cel_type_bool);
    }
    return NULL;
}

static struct cel_type *type_of(struct arena *arena, const struct schema *s, struct str name,
                                bool is_root)
{
    struct cel_type *type = plain(arena, s, name, is_root);

    if (type)
        type->nullable = s->nullable;
    return type;
}

const struct cel_type *schema_cel_type(struct arena *arena, const struct schema *schema,
                                       bool is_root)
{
    return type_of(arena, schema, STR("selfType"), is_root);
}
