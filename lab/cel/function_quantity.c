/* SPDX-License-Identifier: Apache-2.0 */
/* function_quantity.c: Kubernetes' quantities, exact to a thousandth as text/quantity has them. */
#include "lab/cel/functions.h"

static struct cel_value made(struct cel_run *run, struct quantity quantity)
{
    struct quantity *kept = arena_new(run->arena, struct quantity);

    *kept = quantity;
    return (struct cel_value){ .kind = CEL_QUANTITY, .quantity = kept };
}

struct cel_value cel_to_quantity(struct cel_run *run, const struct cel_value *args)
{
    struct quantity quantity;
    struct error err;

    if (quantity_parse(args[0].text, &quantity, &err) != 0)
        return cel_error(STR("quantities must match the regular expression "
                             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
    return made(run, quantity);
}

struct cel_value cel_is_quantity(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value quantity = cel_to_quantity(run, args);

    return cel_bool(!cel_is_error(&quantity));
}

static int compare(const struct cel_value *args)
{
    int64_t a = args[0].quantity->milli, b = args[1].quantity->milli;

    return a < b ? -1 : a > b;
}

struct cel_value cel_quantity_greater(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(compare(args) > 0);
}

struct cel_value cel_quantity_less(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(compare(args) < 0);
}

struct cel_value cel_quantity_compare(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int(compare(args));
}

struct cel_value cel_quantity_sign(struct cel_run *run, const struct cel_value *args)
{
    int64_t milli = args[0].quantity->milli;

    (void)run;
    return cel_int(milli < 0 ? -1 : milli > 0);
}

struct cel_value cel_quantity_is_integer(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(quantity_is_whole(*args[0].quantity));
}

struct cel_value cel_quantity_integer(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    if (!quantity_is_whole(*args[0].quantity))
        return cel_error(STR("cannot convert value to integer"));
    return cel_int(args[0].quantity->milli / 1000);
}

struct cel_value cel_quantity_float(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_double((double)args[0].quantity->milli / 1000);
}

static struct quantity other(const struct cel_value *value)
{
    if (value->kind == CEL_QUANTITY)
        return *value->quantity;
    return (struct quantity){ value->number > INT64_MAX / 1000   ? INT64_MAX
                              : value->number < INT64_MIN / 1000 ? INT64_MIN
                                                                 : value->number * 1000 };
}

struct cel_value cel_quantity_plus(struct cel_run *run, const struct cel_value *args)
{
    return made(run, quantity_add(*args[0].quantity, other(&args[1])));
}

struct cel_value cel_quantity_minus(struct cel_run *run, const struct cel_value *args)
{
    struct quantity less = other(&args[1]);

    less.milli = less.milli == INT64_MIN ? INT64_MAX : -less.milli;
    return made(run, quantity_add(*args[0].quantity, less));
}
