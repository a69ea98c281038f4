/* SPDX-License-Identifier: Apache-2.0 */
/* function_list.c: lists as a whole: order, sums, extremes, sets. */
#include "lab/cel/functions.h"

#include "lab/limits.h"

struct cel_value cel_join_lists(struct cel_run *run, const struct cel_value *args)
{
    return cel_list_join(run->arena, args[0].list, args[1].list);
}

struct cel_value cel_element_index(struct cel_run *run, const struct cel_value *args)
{
    for (uint32_t i = 0; i < args[0].list->count; i++)
        if (cel_equal(run->arena, &args[0].list->items[i], &args[1]))
            return cel_int(i);
    return cel_int(-1);
}

struct cel_value cel_element_last_index(struct cel_run *run, const struct cel_value *args)
{
    for (uint32_t i = args[0].list->count; i > 0; i--)
        if (cel_equal(run->arena, &args[0].list->items[i - 1], &args[1]))
            return cel_int(i - 1);
    return cel_int(-1);
}

struct cel_value cel_is_sorted(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list;

    (void)run;
    for (uint32_t i = 1; i < list->count; i++) {
        int order = cel_compare(&list->items[i - 1], &list->items[i]);

        if (order == 2)
            return cel_no_overload();
        if (order == 1)
            return cel_bool(false);
    }
    return cel_bool(true);
}

/* The first of those before (-1) or after (1) which no other comes. */
static struct cel_value extreme(struct cel_run *run, const struct cel_list *list, int side,
                                const char *name)
{
    struct cel_value found;

    if (list->count == 0)
        return cel_errorf(run->arena, "%s called on empty list", name);
    found = list->items[0];
    for (uint32_t i = 1; i < list->count; i++) {
        int order = cel_compare(&list->items[i], &found);

        if (order == 2)
            return cel_no_overload();
        if (order == side)
            found = list->items[i];
    }
    return found;
}

struct cel_value cel_max(struct cel_run *run, const struct cel_value *args)
{
    return extreme(run, args[0].list, 1, "max");
}

struct cel_value cel_min(struct cel_run *run, const struct cel_value *args)
{
    return extreme(run, args[0].list, -1, "min");
}

static struct cel_value sum(struct cel_run *run, const struct cel_list *list,
                            struct cel_value begin)
{
    for (uint32_t i = 0; i < list->count && !cel_is_error(&begin); i++) {
        struct cel_value pair[] = { begin, list->items[i] };

        begin = pair[0].kind == pair[1].kind ? cel_add(run, pair) : cel_no_overload();
    }
    return begin;
}

struct cel_value cel_sum_int(struct cel_run *run, const struct cel_value *args)
{
    return sum(run, args[0].list, cel_int(0));
}

struct cel_value cel_sum_uint(struct cel_run *run, const struct cel_value *args)
{
    return sum(run, args[0].list, cel_uint(0));
}

struct cel_value cel_sum_double(struct cel_run *run, const struct cel_value *args)
{
    return sum(run, args[0].list, cel_double(0));
}

struct cel_value cel_sum_duration(struct cel_run *run, const struct cel_value *args)
{
    return sum(run, args[0].list, cel_duration(0));
}

struct cel_value cel_slice(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list;
    int64_t from = args[1].number, to = args[2].number;
    struct cel_values items;

    if (from < 0 || to < 0)
        return cel_errorf(run->arena, "cannot slice(%lld, %lld), negative indexes not supported",
                          (long long)from, (long long)to);
    if (from > to)
        return cel_errorf(run->arena,
                          "cannot slice(%lld, %lld), start index must be less than or equal to "
                          "end index",
                          (long long)from, (long long)to);
    if (to > list->count)
        return cel_errorf(run->arena, "cannot slice(%lld, %lld), list is length %u",
                          (long long)from, (long long)to, list->count);
    items = cel_values_new(run->arena, (uint32_t)(to - from));
    for (int64_t i = from; i < to; i++)
        cel_values_push(&items, list->items[i]);
    return cel_list_of(run->arena, &items);
}

static void flatten(const struct cel_list *list, int64_t depth, struct cel_values *items)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].kind == CEL_LIST && depth > 0)
            flatten(list->items[i].list, depth - 1, items);
        else
            cel_values_push(items, list->items[i]);
}

struct cel_value cel_flatten_to(struct cel_run *run, const struct cel_value *args)
{
    struct cel_values items = cel_values_new(run->arena, 8);

    if (args[1].number < 0)
        return cel_error(STR("level must be non-negative"));
    flatten(args[0].list, args[1].number, &items);
    return cel_list_of(run->arena, &items);
}

struct cel_value cel_flatten(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value once[] = { args[0], cel_int(1) };

    return cel_flatten_to(run, once);
}

struct cel_value cel_range(struct cel_run *run, const struct cel_value *args)
{
    struct cel_values items = cel_values_new(run->arena, 8);

    if (args[0].number > LIMIT_CEL_RANGE)
        return cel_errorf(run->arena, "herd-lab makes no list of more than %d elements",
                          LIMIT_CEL_RANGE);
    for (int64_t i = 0; i < args[0].number; i++)
        cel_values_push(&items, cel_int(i));
    return cel_list_of(run->arena, &items);
}

struct cel_value cel_reverse(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list;
    struct cel_values items = cel_values_new(run->arena, list->count);

    for (uint32_t i = list->count; i > 0; i--)
        cel_values_push(&items, list->items[i - 1]);
    return cel_list_of(run->arena, &items);
}

static bool holds(struct cel_run *run, const struct cel_list *list, const struct cel_value *value)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (cel_equal(run->arena, &list->items[i], value))
            return true;
    return false;
}

struct cel_value cel_distinct(struct cel_run *run, const struct cel_value *args)
{
    struct cel_values items = cel_values_new(run->arena, args[0].list->count);

    for (uint32_t i = 0; i < args[0].list->count; i++) {
        struct cel_list seen = { .items = items.items, .count = items.count };

        if (!holds(run, &seen, &args[0].list->items[i]))
            cel_values_push(&items, args[0].list->items[i]);
    }
    return cel_list_of(run->arena, &items);
}

/* Merges the halves [from, middle) and [middle, to) of `order`, by the keys that it names. */
static bool merge(const struct cel_list *keys, uint32_t *order, uint32_t *spare, uint32_t from,
                  uint32_t middle, uint32_t to)
{
    uint32_t a = from, b = middle;

    for (uint32_t i = from; i < to; i++) {
        bool second = a == middle;

        if (a < middle && b < to) {
            int compared = cel_compare(&keys->items[order[b]], &keys->items[order[a]]);

            if (compared == 2)
                return false;
            second = compared == -1;
        }
        spare[i] = second ? order[b++] : order[a++];
    }
    memcpy(order + from, spare + from, sizeof(*order) * (to - from));
    return true;
}

static bool sort(const struct cel_list *keys, uint32_t *order, uint32_t *spare, uint32_t from,
                 uint32_t to)
{
    uint32_t middle = from + (to - from) / 2;

    if (to - from < 2)
        return true;
    return sort(keys, order, spare, from, middle) && sort(keys, order, spare, middle, to) &&
           merge(keys, order, spare, from, middle, to);
}

struct cel_value cel_sort_by(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list, *keys = args[1].list;
    uint32_t *order = arena_array(run->arena, uint32_t, list->count);
    uint32_t *spare = arena_array(run->arena, uint32_t, list->count);
    struct cel_values items = cel_values_new(run->arena, list->count);

    for (uint32_t i = 0; i < list->count; i++)
        order[i] = i;
    if (keys->count != list->count || !sort(keys, order, spare, 0, list->count))
        return cel_error(STR("list elements must have the same type"));
    for (uint32_t i = 0; i < list->count; i++)
        cel_values_push(&items, list->items[order[i]]);
    return cel_list_of(run->arena, &items);
}

struct cel_value cel_sort(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value pair[] = { args[0], args[0] };

    return cel_sort_by(run, pair);
}

struct cel_value cel_set_contains(struct cel_run *run, const struct cel_value *args)
{
    for (uint32_t i = 0; i < args[1].list->count; i++)
        if (!holds(run, args[0].list, &args[1].list->items[i]))
            return cel_bool(false);
    return cel_bool(true);
}

struct cel_value cel_set_equivalent(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value reversed[] = { args[1], args[0] };

    return cel_bool(cel_set_contains(run, args).truth && cel_set_contains(run, reversed).truth);
}

struct cel_value cel_set_intersects(struct cel_run *run, const struct cel_value *args)
{
    for (uint32_t i = 0; i < args[1].list->count; i++)
        if (holds(run, args[0].list, &args[1].list->items[i]))
            return cel_bool(true);
    return cel_bool(false);
}
