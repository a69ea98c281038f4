/* cost_call.c: what one call may cost, by the sizes of what it is given. */
#include "lab/cel/cel.h"
#include "lab/cel/cost.h"

#include <math.h>

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t scaled(uint64_t a, double factor)
{
    double product = ceil((double)a * factor);

    return product >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)product;
}

struct cel_span cel_span_add(struct cel_span a, struct cel_span b)
{
    return (struct cel_span){ plus(a.min, b.min), plus(a.max, b.max) };
}

struct cel_span cel_span_times(struct cel_span a, struct cel_span b)
{
    return (struct cel_span){ times(a.min, b.min), times(a.max, b.max) };
}

struct cel_span cel_span_scale(struct cel_span span, double factor)
{
    return (struct cel_span){ scaled(span.min, factor), scaled(span.max, factor) };
}

struct cel_span cel_span_union(struct cel_span a, struct cel_span b)
{
    return (struct cel_span){ a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max };
}

static struct cel_call_guess costs(struct cel_span cost)
{
    return (struct cel_call_guess){ .cost = cost };
}

static struct cel_call_guess gives(struct cel_span cost, struct cel_span size)
{
    return (struct cel_call_guess){ .cost = cost, .sized = true, .size = size };
}

/* Go's arithmetic on sizes wraps there. */
static struct cel_call_guess converts(const struct cel_span *size, enum cel_cost cost)
{
    struct cel_span scan = cel_span_scale(*size, 0.1);

    switch (cost) {
    case COST_ENCODE:
        return gives(scan, (struct cel_span){ size->min, size->max * 4 });
    case COST_DECODE:
        return gives(scan, (struct cel_span){ size->min / 4, size->max });
    case COST_QUOTE:
        return gives(scan, (struct cel_span){ size->min + 2, size->max * 2 + 2 });
    default:
        return gives(scan, *size);
    }
}

static struct cel_call_guess shorter(const struct cel_span *sizes)
{
    uint64_t max = sizes[0].max < sizes[1].max ? sizes[0].max : sizes[1].max;

    return costs(cel_span_scale((struct cel_span){ max > 0, max }, 0.1));
}

/* The longest replacement as often as it fits, and the shortest. */
static struct cel_call_guess replaces(const struct cel_span *sizes)
{
    struct cel_span text = sizes[0], old = sizes[1], new = sizes[2], count = { 0, 0 };
    struct cel_span kept = { 0, 0 };

    if (old.min == 0) {
        count.max = text.max < UINT64_MAX ? text.max + 1 : text.max;
        kept.max = text.max;
    } else if (new.max <= old.min) {
        kept.max = text.max;
    } else {
        count.max = (uint64_t)ceil((double)text.max / (double)old.min);
    }
    if (old.max == 0) {
        count.min = text.min < UINT64_MAX ? text.min + 1 : text.min;
        kept.min = text.min;
    } else if (old.max <= new.min) {
        kept.min = text.min;
    } else {
        count.min = (uint64_t)ceil((double)text.min / (double)old.max);
    }
    return gives(cel_span_scale(text, 0.2), cel_span_add(cel_span_times(count, new), kept));
}

static bool is_constant(const struct cel_node *node, uint64_t *ret_number)
{
    if (node->kind != NODE_LITERAL || node->literal.kind != CEL_INT)
        return false;
    *ret_number = node->literal.number < 0 ? 0 : (uint64_t)node->literal.number;
    return true;
}

static struct cel_call_guess splits(const struct cel_node *call, struct cel_span text)
{
    uint64_t max = text.max;

    if (call->count > 2)
        is_constant(call->args[2], &max);
    return gives(cel_span_scale(text, 0.2), (struct cel_span){ 0, max });
}

static struct cel_call_guess joins(const struct cel_node *call, const struct cel_span *sizes,
                                   struct cel_span element)
{
    struct cel_span between = { sizes[0].min ? sizes[0].min - 1 : 0,
                                sizes[0].max ? sizes[0].max - 1 : 0 };
    struct cel_span size = cel_span_times(sizes[0], element);

    if (call->count > 1)
        size = cel_span_add(size, cel_span_times(sizes[1], between));
    return gives(cel_span_scale(size, 0.1), size);
}

static bool is_text(const struct cel_type *type)
{
    return type && (type->kind == CEL_STRING || type->kind == CEL_BYTES);
}

static struct cel_call_guess walks(const struct cel_node *call, struct cel_span size,
                                   struct cel_span element)
{
    const struct cel_type *list = call->args[0]->type;
    struct cel_span each = cel_span_of(1);

    if (list->kind != CEL_LIST)
        return costs(cel_span_scale(size, 0.1));
    if (is_text(list->of[0]))
        each = cel_span_add(each, cel_span_scale(element, 0.1));
    return costs(cel_span_times(size, each));
}

/* A list is made: ten, and one for the call. */
static struct cel_call_guess makes(struct cel_span cost, struct cel_span size)
{
    return gives(cel_span_add(cost, cel_span_of(11)), size);
}

static struct cel_call_guess makes_part(const struct cel_node *call, struct cel_span size,
                                        bool range)
{
    uint64_t from = 0, to = range ? UINT64_MAX : size.max;
    struct cel_span part;

    if (range)
        is_constant(call->args[0], &to);
    else if (!is_constant(call->args[1], &from) || !is_constant(call->args[2], &to))
        is_constant(call->args[2], &to);
    part = cel_span_of(to - from);
    return makes(part, part);
}

static struct cel_call_guess flattens(const struct cel_node *call, struct cel_span size)
{
    uint64_t depth = 1;

    if (call->count > 1 && !is_constant(call->args[1], &depth))
        depth = UINT64_MAX;
    return makes(cel_span_scale(size, (double)depth), size);
}

/* Each element is compared with each other. */
static struct cel_call_guess compares(const struct cel_function *function, struct cel_span size)
{
    const struct cel_type *last = function->args[cel_function_count(function) - 1]->of[0];

    return makes(cel_span_scale(cel_span_times(size, size), is_text(last) ? 2.1 : 2.0), size);
}

struct cel_call_guess cel_guess_call(const struct cel_function *function,
                                     const struct cel_node *call, const struct cel_span *sizes,
                                     struct cel_span element)
{
    struct cel_span one = cel_span_of(1), size;

    switch (function->cost) {
    case COST_NONE:
    case COST_ONE:
        return costs(one);
    case COST_SCAN:
        return costs(cel_span_scale(sizes[0], 0.1));
    case COST_TRANSFORM:
    case COST_ENCODE:
    case COST_DECODE:
    case COST_QUOTE:
        return converts(&sizes[0], function->cost);
    case COST_REPLACE:
        return replaces(sizes);
    case COST_SPLIT:
        return splits(call, sizes[0]);
    case COST_JOIN:
        return joins(call, sizes, element);
    case COST_SECOND:
        return costs(cel_span_scale(sizes[1], 0.1));
    case COST_ELEMENTS:
        return costs(sizes[1]);
    case COST_SHORTER:
        return call->args[0]->type->kind == CEL_QUANTITY &&
                       call->args[1]->type->kind == CEL_QUANTITY && call->name.at[1] == '='
                   ? costs(one)
                   : shorter(sizes);
    case COST_BOTH:
        size = cel_span_add(sizes[0], sizes[1]);
        return gives(cel_span_scale(size, 0.1), size);
    case COST_LISTS:
        return gives(one, cel_span_add(sizes[0], sizes[1]));
    case COST_PRODUCT:
        return costs(
            cel_span_times(cel_span_scale(sizes[0], 0.1), cel_span_scale(sizes[1], 0.1)));
    case COST_REGEX:
        return costs(cel_span_times(cel_span_scale(cel_span_add(sizes[0], one), 0.1),
                                    cel_span_scale(sizes[1], 0.25)));
    case COST_FIND:
        return gives(cel_span_times(cel_span_scale(cel_span_add(sizes[0], one), 0.1),
                                    cel_span_scale(sizes[1], 0.25)),
                     (struct cel_span){ 0, sizes[0].max });
    case COST_WALK:
        return walks(call, sizes[0], element);
    case COST_SLICE:
        return makes_part(call, sizes[0], false);
    case COST_RANGE:
        return makes_part(call, sizes[0], true);
    case COST_REVERSE:
        return makes(sizes[0], sizes[0]);
    case COST_FLATTEN:
        return flattens(call, sizes[0]);
    case COST_COMPARE:
        return compares(function, sizes[call->count - 1]);
    case COST_SETS:
    case COST_SETS_TWICE:
        size = cel_span_times(sizes[0], sizes[1]);
        return costs(cel_span_add(
            cel_span_scale(size, function->cost == COST_SETS_TWICE ? 2 : 1), one));
    }
    return costs(one);
}
