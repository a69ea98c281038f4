/* schema_cel_type.c: types of CEL from schemas. Source: k8s.io/apiserver/pkg/cel/common/schemas.go;
 * sizes are those that its estimates of costs begin with. */
#include "lab/apiserver/schema_cel.h"

enum {
    REQUEST_BYTES = 3 * 1024 * 1024,
    TIME_BYTES = 32,     /* the longest date-time or duration as JSON */
    DATE_BYTES = 12,     /* a date as JSON */
    TIME_BYTES_MIN = 21, /* the shortest date-time */
};

static struct cel_type *copy(struct arena *arena, const struct cel_type *of, uint64_t size_max,
                             uint64_t bytes_min)
{
    struct cel_type *type = arena_new(arena, struct cel_type);

    *type = *of;
    type->size_max = size_max;
    type->bytes_min = bytes_min;
    return type;
}

/* maxLength counts characters, which have up to four bytes. */
static uint64_t text_max(const struct schema *s)
{
    uint64_t longest = 0;

    if (s->max_length >= 0)
        return (uint64_t)s->max_length * (str_eq(s->format, STR("byte")) ? 1 : 4);
    if (!s->enum_ || s->int_or_string)
        return REQUEST_BYTES - 2;
    for (struct value *m = value_first(s->enum_); m; m = value_next(m))
        longest = value_text(m).len > longest ? value_text(m).len : longest;
    return longest;
}

static struct cel_type *of_string(struct arena *arena, const struct schema *s)
{
    if (str_eq(s->format, STR("byte")))
        return copy(arena, &cel_type_bytes, text_max(s), 2);
    if (str_eq(s->format, STR("duration")))
        return copy(arena, &cel_type_duration, TIME_BYTES, 3);
    if (str_eq(s->format, STR("date")))
        return copy(arena, &cel_type_timestamp, DATE_BYTES, DATE_BYTES);
    if (str_eq(s->format, STR("date-time")))
        return copy(arena, &cel_type_timestamp, TIME_BYTES, TIME_BYTES_MIN);
    return copy(arena, &cel_type_string, text_max(s), 2);
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
    type = copy(arena, cel_type_list(arena, element),
                s->max_items >= 0 ? (uint64_t)s->max_items
                                  : (REQUEST_BYTES - 2) / (element->bytes_min + 1),
                2);
    type->identity = s->list == SCHEMA_LIST_SET   ? CEL_SET
                     : s->list == SCHEMA_LIST_MAP ? CEL_KEYED
                                                  : CEL_ORDERED;
    type->keys = s->list_keys;
    return type;
}

static struct cel_type *of_map(struct arena *arena, const struct schema *s, struct str name)
{
    struct cel_type *value =
        type_of(arena, s->additional, str_fmt(arena, "%.*s.@elem", STR_ARG(name)),
                s->additional->embedded);

    if (!value)
        return NULL;
    return copy(arena, cel_type_map(arena, &cel_type_string, value),
                s->max_properties >= 0 ? (uint64_t)s->max_properties
                                       : (REQUEST_BYTES - 2) / (value->bytes_min + 6),
                2);
}

static void add_field(struct arena *arena, struct cel_type *type, const struct schema *s,
                      struct str member, const struct schema *of)
{
    struct cel_type *field =
        type_of(arena, of, str_fmt(arena, "%.*s.%.*s", STR_ARG(type->name), STR_ARG(member)),
                of->embedded);

    if (!field)
        return;
    cel_type_add_field(arena, type, member, field);
    if (str_list_has(&s->required, member) && !of->default_)
        type->bytes_min += member.len + field->bytes_min + 4;
}

/* Every resource has them, whatever its schema says; of metadata rules see the names only. */
static void add_common(struct arena *arena, struct cel_type *type)
{
    const struct cel_type *text = copy(arena, &cel_type_string, REQUEST_BYTES - 2, 2);
    struct cel_type *metadata = cel_type_struct(
        arena, str_fmt(arena, "%.*s.metadata", STR_ARG(type->name)));

    cel_type_add_field(arena, metadata, STR("name"), text);
    cel_type_add_field(arena, metadata, STR("generateName"), text);
    metadata->bytes_min = 2;
    cel_type_add_field(arena, type, STR("apiVersion"), text);
    cel_type_add_field(arena, type, STR("kind"), text);
    cel_type_add_field(arena, type, STR("metadata"), metadata);
}

static struct cel_type *of_object(struct arena *arena, const struct schema *s, struct str name,
                                  bool is_root)
{
    struct cel_type *type = cel_type_struct(arena, name);

    type->bytes_min = 2;
    for (uint32_t i = 0; s->properties && i < map_count(s->properties); i++)
        if (!is_root || !schema_is_common(map_key(s->properties, i)))
            add_field(arena, type, s, map_key(s->properties, i), map_value(s->properties, i));
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
        return copy(arena, &cel_type_dyn, text_max(s), 1);
    switch (is_root ? SCHEMA_OBJECT : s->type) {
    case SCHEMA_ANY:
        return NULL;
    case SCHEMA_OBJECT:
        return is_map(s) ? of_map(arena, s, name) : of_object(arena, s, name, is_root);
    case SCHEMA_ARRAY:
        return of_array(arena, s, name);
    case SCHEMA_STRING:
        return of_string(arena, s);
    case SCHEMA_INTEGER:
        return copy(arena, &cel_type_int, 0, 1);
    case SCHEMA_NUMBER:
        return copy(arena, &cel_type_double, 0, 1);
    case SCHEMA_BOOLEAN:
        return copy(arena, &cel_type_bool, 0, 4);
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
