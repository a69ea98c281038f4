/* SPDX-License-Identifier: Apache-2.0 */
/* value.c: values, and JSON as values. Source of what JSON becomes:
 * k8s.io/apiserver/pkg/cel/common/valuesunstructured.go. */
#include "lab/cel/value.h"

#include "lab/cel/moment.h"
#include "text/base64.h"

#include <stdlib.h>

struct cel_value cel_error(struct str text)
{
    return (struct cel_value){ .kind = CEL_ERROR, .text = text };
}

struct cel_value cel_errorf(struct arena *arena, const char *format, ...)
{
    va_list args;
    struct str text;

    va_start(args, format);
    text = str_vfmt(arena, format, args);
    va_end(args);
    return cel_error(text);
}

struct cel_value cel_no_overload(void)
{
    return cel_error(STR("no such overload"));
}

struct cel_value cel_null(void)
{
    return (struct cel_value){ .kind = CEL_NULL };
}

struct cel_value cel_bool(bool truth)
{
    return (struct cel_value){ .kind = CEL_BOOL, .truth = truth };
}

struct cel_value cel_int(int64_t number)
{
    return (struct cel_value){ .kind = CEL_INT, .number = number };
}

struct cel_value cel_uint(uint64_t natural)
{
    return (struct cel_value){ .kind = CEL_UINT, .natural = natural };
}

struct cel_value cel_double(double real)
{
    return (struct cel_value){ .kind = CEL_DOUBLE, .real = real };
}

struct cel_value cel_string(struct str text)
{
    return (struct cel_value){ .kind = CEL_STRING, .text = text };
}

struct cel_value cel_duration(int64_t nanos)
{
    return (struct cel_value){ .kind = CEL_DURATION, .number = nanos };
}

struct cel_value cel_none(void)
{
    return (struct cel_value){ .kind = CEL_OPTIONAL };
}

struct cel_value cel_some(struct arena *arena, struct cel_value inside)
{
    struct cel_value *kept = arena_new(arena, struct cel_value);

    *kept = inside;
    return (struct cel_value){ .kind = CEL_OPTIONAL, .inside = kept };
}

static struct cel_value of_list(struct arena *arena, struct cel_values *room,
                                const struct cel_type *type)
{
    struct cel_list *list = arena_new(arena, struct cel_list);

    list->items = room->items;
    list->count = room->count;
    list->room = room;
    list->type = type;
    return (struct cel_value){ .kind = CEL_LIST, .list = list };
}

struct cel_value cel_list_of(struct arena *arena, const struct cel_values *items)
{
    struct cel_values *room = arena_new(arena, struct cel_values);

    *room = *items;
    return of_list(arena, room, NULL);
}

struct cel_value cel_list_join(struct arena *arena, const struct cel_list *a,
                               const struct cel_list *b)
{
    struct cel_values *room = a->room;

    /* Nobody else has added behind `a`: as when a macro gathers one element after the other. */
    if (a->count != room->count) {
        room = arena_new(arena, struct cel_values);
        *room = cel_values_new(arena, a->count + b->count);
        for (uint32_t i = 0; i < a->count; i++)
            cel_values_push(room, a->items[i]);
    }
    for (uint32_t i = 0; i < b->count; i++)
        cel_values_push(room, b->items[i]);
    return of_list(arena, room, NULL);
}

struct cel_value cel_map_of(struct arena *arena, struct cel_values keys, struct cel_values values)
{
    struct cel_map *map = arena_new(arena, struct cel_map);

    map->keys = keys;
    map->values = values;
    return (struct cel_value){ .kind = CEL_MAP, .map = map };
}

static struct cel_value of_object(struct arena *arena, const struct value *json,
                                  const struct cel_type *type)
{
    struct cel_map *map = arena_new(arena, struct cel_map);

    map->json = json;
    map->type = type;
    return (struct cel_value){ .kind = type->kind == CEL_STRUCT ? CEL_STRUCT : CEL_MAP,
                               .map = map };
}

static struct cel_value of_array(struct arena *arena, const struct value *json,
                                 const struct cel_type *type)
{
    struct cel_values *room = arena_new(arena, struct cel_values);
    const struct cel_type *element = type->kind == CEL_LIST ? type->of[0] : &cel_type_dyn;

    *room = cel_values_new(arena, value_count(json));
    for (const struct value *m = value_first(json); m; m = value_next(m))
        cel_values_push(room, cel_from_json(arena, m, element));
    return of_list(arena, room, type->kind == CEL_LIST ? type : NULL);
}

static double real_of(struct arena *arena, const struct value *json)
{
    return strtod(str_z(arena, value_number_text(json)), NULL);
}

/* A number as a decoder of JSON has it that was told nothing: whole ones are ints. */
static struct cel_value of_number(struct arena *arena, const struct value *json,
                                  const struct cel_type *type)
{
    int64_t number;
    bool whole = value_int64(json, &number);

    if (type->kind == CEL_DOUBLE || (type->kind == CEL_DYN && !whole))
        return cel_double(real_of(arena, json));
    return whole ? cel_int(number) : cel_int((int64_t)real_of(arena, json));
}

static struct cel_value of_text(struct arena *arena, struct str text, enum cel_kind kind)
{
    struct cel_value value = { .kind = kind };
    struct error err;

    switch (kind) {
    case CEL_TIMESTAMP:
        if (cel_moment_parse(text, &value.moment) ||
            cel_moment_parse(str_fmt(arena, "%.*sT00:00:00Z", STR_ARG(text)), &value.moment))
            return value;
        return cel_errorf(arena, "Invalid date-time formatted string %.*s", STR_ARG(text));
    case CEL_DURATION:
        if (cel_duration_parse(text, &value.number))
            return value;
        return cel_errorf(arena, "Invalid duration %.*s", STR_ARG(text));
    case CEL_BYTES:
        if (base64_decode(arena, text, &value.text, &err) == 0)
            return value;
        return cel_errorf(arena, "Invalid byte formatted string %.*s", STR_ARG(text));
    default:
        return cel_string(str_dup(arena, text));
    }
}

/* What the schema would have refused before. */
static struct cel_value mistaken(struct arena *arena, const struct cel_type *type)
{
    return cel_errorf(arena, "invalid data, expected %.*s", STR_ARG(cel_type_name(type)));
}

struct cel_value cel_from_json(struct arena *arena, const struct value *json,
                               const struct cel_type *type)
{
    bool any = type->kind == CEL_DYN;

    switch (value_kind(json)) {
    case JSON_ABSENT:
    case JSON_NULL:
        return any || type->nullable
                   ? cel_null()
                   : cel_error(STR("invalid data, got null for schema with nullable=false"));
    case JSON_BOOL:
        return any || type->kind == CEL_BOOL ? cel_bool(value_is_true(json))
                                             : mistaken(arena, type);
    case JSON_NUMBER:
        return any || type->kind == CEL_INT || type->kind == CEL_DOUBLE
                   ? of_number(arena, json, type)
                   : mistaken(arena, type);
    case JSON_STRING:
        return any || (type->kind >= CEL_STRING && type->kind <= CEL_DURATION)
                   ? of_text(arena, value_text(json), any ? CEL_STRING : type->kind)
                   : mistaken(arena, type);
    case JSON_ARRAY:
        return any || type->kind == CEL_LIST ? of_array(arena, json, type) : mistaken(arena, type);
    case JSON_OBJECT:
        return any || type->kind == CEL_MAP || type->kind == CEL_STRUCT
                   ? of_object(arena, json, type)
                   : mistaken(arena, type);
    }
    return cel_null();
}

/* A field of an object with a schema: null is as good as absent. */
static bool find_field(struct arena *arena, const struct cel_map *map, struct str name,
                       struct cel_value *ret_value)
{
    const struct cel_field *field = cel_type_field(map->type, name);
    const struct value *json = field ? value_get(map->json, field->member) : NULL;

    if (value_kind(json) == JSON_ABSENT || value_kind(json) == JSON_NULL)
        return false;
    *ret_value = cel_from_json(arena, json, field->type);
    return true;
}

static bool find_member(struct arena *arena, const struct cel_map *map, struct str name,
                        struct cel_value *ret_value)
{
    const struct value *json = value_get(map->json, name);

    if (!json)
        return false;
    *ret_value =
        cel_from_json(arena, json, map->type->kind == CEL_MAP ? map->type->of[1] : &cel_type_dyn);
    return true;
}

bool cel_map_find(struct arena *arena, const struct cel_value *value, const struct cel_value *key,
                  struct cel_value *ret_value)
{
    const struct cel_map *map = value->map;

    if (map->json || map->type) {
        if (key->kind != CEL_STRING) {
            *ret_value = cel_no_overload();
            return false;
        }
        return value->kind == CEL_STRUCT && !map->type->open
                   ? find_field(arena, map, key->text, ret_value)
                   : find_member(arena, map, key->text, ret_value);
    }
    for (uint32_t i = 0; i < map->keys.count; i++)
        if (cel_equal(arena, &map->keys.items[i], key)) {
            *ret_value = map->values.items[i];
            return true;
        }
    return false;
}

uint32_t cel_map_count(const struct cel_map *map)
{
    return map->json ? value_count(map->json) : map->keys.count;
}

/* Those that a value can be had of: of an object with a schema, by their names in CEL. */
struct cel_values cel_map_keys(struct arena *arena, const struct cel_value *value)
{
    const struct cel_map *map = value->map;
    struct cel_values keys;

    if (!map->json)
        return map->keys;
    keys = cel_values_new(arena, value_count(map->json));
    for (const struct value *m = value_first(map->json); m; m = value_next(m)) {
        const struct cel_field *field =
            value->kind == CEL_STRUCT ? map_get(map->type->members, value_key(m)) : NULL;

        if (value->kind != CEL_STRUCT || map->type->open)
            cel_values_push(&keys, cel_string(value_key(m)));
        else if (field)
            cel_values_push(&keys, cel_string(field->name));
    }
    return keys;
}
