/* SPDX-License-Identifier: Apache-2.0 */
/* function_core.c: what all kinds of values have: equality, order, size, membership, index. */
#include "lab/cel/functions.h"

struct cel_value cel_not(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(!args[0].truth);
}

struct cel_value cel_same(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return args[0];
}

struct cel_value cel_equals(struct cel_run *run, const struct cel_value *args)
{
    return cel_bool(cel_equal(run->arena, &args[0], &args[1]));
}

struct cel_value cel_differs(struct cel_run *run, const struct cel_value *args)
{
    return cel_bool(!cel_equal(run->arena, &args[0], &args[1]));
}

/* 3: one of both is not a number; nothing holds then. */
static struct cel_value ordered(const struct cel_value *args, bool less, bool equal, bool more)
{
    int order = cel_compare(&args[0], &args[1]);

    return order == 2
               ? cel_no_overload()
               : cel_bool((order == -1 && less) || (order == 0 && equal) || (order == 1 && more));
}

struct cel_value cel_less(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return ordered(args, true, false, false);
}

struct cel_value cel_less_or_equal(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return ordered(args, true, true, false);
}

struct cel_value cel_greater(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return ordered(args, false, false, true);
}

struct cel_value cel_greater_or_equal(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return ordered(args, false, true, true);
}

struct cel_value cel_size_of(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int((int64_t)cel_size(&args[0]));
}

struct cel_value cel_type_of_value(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return (struct cel_value){ .kind = CEL_TYPE, .type = cel_value_type(&args[0]) };
}

static bool is_map(const struct cel_value *value)
{
    return value->kind == CEL_MAP || value->kind == CEL_STRUCT;
}

/* A whole number of any kind, as an index into a list. */
static bool whole_index(const struct cel_value *key, int64_t *ret_index)
{
    switch (key->kind) {
    case CEL_INT:
        *ret_index = key->number;
        return true;
    case CEL_UINT:
        *ret_index = key->natural > INT64_MAX ? INT64_MAX : (int64_t)key->natural;
        return true;
    case CEL_DOUBLE:
        *ret_index = (int64_t)key->real;
        return key->real > -1e15 && key->real < 1e15 && (double)*ret_index == key->real;
    default:
        return false;
    }
}

/* True: found. Else *ret_value is the error that an index without '?' is. */
static bool look_up(struct cel_run *run, const struct cel_value *of, const struct cel_value *key,
                    struct cel_value *ret_value)
{
    int64_t index;

    if (of->kind == CEL_LIST) {
        if (!whole_index(key, &index)) {
            *ret_value = cel_error(STR("unsupported index type"));
            return false;
        }
        if (index < 0 || index >= of->list->count) {
            *ret_value = cel_errorf(run->arena, "index out of bounds: %lld", (long long)index);
            return false;
        }
        *ret_value = of->list->items[index];
        return true;
    }
    if (!is_map(of)) {
        *ret_value = cel_no_overload();
        return false;
    }
    *ret_value = cel_null();
    if (cel_map_find(run->arena, of, key, ret_value))
        return true;
    if (!cel_is_error(ret_value)) {
        struct str shown = key->kind == CEL_STRING ? key->text : cel_show(run->arena, key);

        *ret_value = cel_errorf(run->arena, "no such key: %.*s", STR_ARG(shown));
    }
    return false;
}

struct cel_value cel_index_optional(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value of = args[0], found;

    if (of.kind == CEL_OPTIONAL) {
        if (!of.inside)
            return cel_none();
        of = *of.inside;
    }
    if (look_up(run, &of, &args[1], &found))
        return cel_is_error(&found) ? found : cel_some(run->arena, found);
    return str_starts(found.text, STR("no such key")) || str_starts(found.text, STR("index out"))
               ? cel_none()
               : found;
}

struct cel_value cel_index(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value found;

    if (args[0].kind == CEL_OPTIONAL)
        return cel_index_optional(run, args);
    look_up(run, &args[0], &args[1], &found);
    return found;
}

struct cel_value cel_in(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value found = cel_null();

    if (is_map(&args[1])) {
        bool has = cel_map_find(run->arena, &args[1], &args[0], &found);

        return !has && cel_is_error(&found) ? found : cel_bool(has);
    }
    if (args[1].kind != CEL_LIST)
        return cel_no_overload();
    for (uint32_t i = 0; i < args[1].list->count; i++)
        if (cel_equal(run->arena, &args[0], &args[1].list->items[i]))
            return cel_bool(true);
    return cel_bool(false);
}

static struct cel_value with_pair(struct cel_run *run, const struct cel_value *map,
                                  struct cel_value key, struct cel_value value)
{
    struct cel_values keys = cel_values_new(run->arena, map->map->keys.count + 1);
    struct cel_values values = cel_values_new(run->arena, map->map->keys.count + 1);

    for (uint32_t i = 0; i < map->map->keys.count; i++) {
        if (cel_equal(run->arena, &map->map->keys.items[i], &key))
            return cel_errorf(
                run->arena, "insert failed: key %.*s already exists",
                STR_ARG(key.kind == CEL_STRING ? key.text : cel_show(run->arena, &key)));
        cel_values_push(&keys, map->map->keys.items[i]);
        cel_values_push(&values, map->map->values.items[i]);
    }
    cel_values_push(&keys, key);
    cel_values_push(&values, value);
    return cel_map_of(run->arena, keys, values);
}

struct cel_value cel_insert(struct cel_run *run, const struct cel_value *args)
{
    return with_pair(run, &args[0], args[1], args[2]);
}

struct cel_value cel_insert_all(struct cel_run *run, const struct cel_value *args)
{
    struct cel_values keys = cel_map_keys(run->arena, &args[1]);
    struct cel_value map = args[0];

    for (uint32_t i = 0; i < keys.count && !cel_is_error(&map); i++) {
        struct cel_value value = cel_null();

        cel_map_find(run->arena, &args[1], &keys.items[i], &value);
        map = with_pair(run, &map, keys.items[i], value);
    }
    return map;
}
