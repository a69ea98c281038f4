/* SPDX-License-Identifier: Apache-2.0 */
/* function_optional.c: values that may be there or not. */
#include "lab/cel/functions.h"

struct cel_value cel_optional_of(struct cel_run *run, const struct cel_value *args)
{
    return cel_some(run->arena, args[0]);
}

static bool is_zero(const struct cel_value *value)
{
    switch (value->kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !value->truth;
    case CEL_INT:
    case CEL_DURATION:
        return value->number == 0;
    case CEL_UINT:
        return value->natural == 0;
    case CEL_DOUBLE:
        return value->real == 0;
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_LIST:
    case CEL_MAP:
        return cel_size(value) == 0;
    case CEL_OPTIONAL:
        return !value->inside;
    default:
        return false;
    }
}

struct cel_value cel_optional_of_non_zero(struct cel_run *run, const struct cel_value *args)
{
    return is_zero(&args[0]) ? cel_none() : cel_some(run->arena, args[0]);
}

struct cel_value cel_optional_none(struct cel_run *run, const struct cel_value *args)
{
    (void)run, (void)args;
    return cel_none();
}

struct cel_value cel_optional_value(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return args[0].inside ? *args[0].inside : cel_error(STR("optional.none() dereference"));
}

struct cel_value cel_optional_has_value(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(args[0].inside != NULL);
}

struct cel_value cel_first(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list;

    return list->count ? cel_some(run->arena, list->items[0]) : cel_none();
}

struct cel_value cel_last(struct cel_run *run, const struct cel_value *args)
{
    const struct cel_list *list = args[0].list;

    return list->count ? cel_some(run->arena, list->items[list->count - 1]) : cel_none();
}

struct cel_value cel_optional_unwrap(struct cel_run *run, const struct cel_value *args)
{
    struct cel_values items = cel_values_new(run->arena, args[0].list->count);

    for (uint32_t i = 0; i < args[0].list->count; i++) {
        const struct cel_value *item = &args[0].list->items[i];

        if (item->kind != CEL_OPTIONAL)
            return cel_errorf(run->arena, "value %.*s is not optional",
                              STR_ARG(cel_show(run->arena, item)));
        if (item->inside)
            cel_values_push(&items, *item->inside);
    }
    return cel_list_of(run->arena, &items);
}
