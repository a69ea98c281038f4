/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c: evaluation of a tree that was checked. An error goes up, but && || and orValue() may do
 * without the side that has it. Source of costs: github.com/google/cel-go
 * interpreter/runtimecost.go. */
#include "lab/cel/eval.h"

/* Source: github.com/google/cel-go common/cost.go. */
enum { LIST_COST = 10, MAP_COST = 30 };

static struct cel_value eval(struct cel_run *run, const struct cel_node *node);

/* False: the evaluation is over. */
static bool pay(struct cel_run *run, uint64_t cost)
{
    run->cost = run->cost + cost < run->cost ? UINT64_MAX : run->cost + cost;
    if (run->cost > run->cost_max)
        run->exceeded = true;
    return !run->exceeded;
}

static struct cel_value exceeded(void)
{
    return cel_error(STR(CEL_COST_EXCEEDED));
}

static struct cel_value no_such_key(struct cel_run *run, struct str name)
{
    return cel_errorf(run->arena, "no such key: %.*s", STR_ARG(name));
}

static bool is_map(const struct cel_value *value)
{
    return value->kind == CEL_MAP || value->kind == CEL_STRUCT;
}

/* A field that may be absent, of what may be an optional itself. */
static struct cel_value optional_field(struct cel_run *run, struct cel_value of, struct str name)
{
    struct cel_value key = cel_string(name), found;

    if (of.kind == CEL_OPTIONAL) {
        if (!of.inside)
            return cel_none();
        of = *of.inside;
    }
    if (cel_is_error(&of))
        return of;
    if (!is_map(&of))
        return cel_errorf(run->arena, "no such key: %.*s", STR_ARG(name));
    if (!cel_map_find(run->arena, &of, &key, &found))
        return cel_none();
    return cel_is_error(&found) ? found : cel_some(run->arena, found);
}

static struct cel_value eval_select(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value of = eval(run, node->args[0]), found;
    struct cel_value key = cel_string(node->name);

    if (cel_is_error(&of))
        return of;
    if (!node->test && !pay(run, 1))
        return exceeded();
    if (of.kind == CEL_OPTIONAL) {
        found = optional_field(run, of, node->name);
        return node->test ? cel_bool(found.kind == CEL_OPTIONAL && found.inside) : found;
    }
    if (!is_map(&of))
        return node->test ? cel_bool(false) : no_such_key(run, node->name);
    if (!cel_map_find(run->arena, &of, &key, &found))
        return node->test ? cel_bool(false) : no_such_key(run, node->name);
    return node->test && !cel_is_error(&found) ? cel_bool(true) : found;
}

/* Whether arguments are of the kinds that a function wants. */
static bool takes(const struct cel_function *function, const struct cel_value *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        enum cel_kind want = function->args[i]->kind;
        bool any = want == CEL_PARAM || want == CEL_DYN;

        if (!any && want != args[i].kind && !(want == CEL_MAP && args[i].kind == CEL_STRUCT))
            return false;
    }
    return true;
}

static struct cel_value eval_call(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value args[CEL_ARGS_MAX];

    for (uint32_t i = 0; i < node->count; i++) {
        args[i] = eval(run, node->args[i]);
        if (cel_is_error(&args[i]))
            return args[i];
    }
    for (uint32_t i = 0; i < 64 && node->overloads >> i; i++) {
        const struct cel_function *function = &node->functions[i];
        struct cel_value result;

        if (!(node->overloads >> i & 1) || !takes(function, args, node->count))
            continue;
        result = function->call(run, args);
        if (!pay(run, cel_call_cost(run->arena, function->cost, args, &result)))
            return exceeded();
        return result;
    }
    return cel_no_overload();
}

/* One side may decide alone, whatever became of the other. */
static struct cel_value eval_logic(struct cel_run *run, const struct cel_node *node, bool decides)
{
    struct cel_value left = eval(run, node->args[0]), right;

    if (run->exceeded || (left.kind == CEL_BOOL && left.truth == decides))
        return left;
    right = eval(run, node->args[1]);
    if (run->exceeded || (right.kind == CEL_BOOL && right.truth == decides))
        return right;
    if (left.kind != CEL_BOOL)
        return cel_is_error(&left) ? left : cel_no_overload();
    return right.kind == CEL_BOOL || cel_is_error(&right) ? right : cel_no_overload();
}

static struct cel_value eval_conditional(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value condition = eval(run, node->args[0]);

    if (condition.kind != CEL_BOOL)
        return cel_is_error(&condition) ? condition : cel_no_overload();
    return eval(run, node->args[condition.truth ? 1 : 2]);
}

static struct cel_value eval_or(struct cel_run *run, const struct cel_node *node, bool unwrap)
{
    struct cel_value left = eval(run, node->args[0]);

    if (cel_is_error(&left))
        return left;
    if (left.kind != CEL_OPTIONAL)
        return cel_no_overload();
    if (left.inside)
        return unwrap ? *left.inside : left;
    return eval(run, node->args[1]);
}

static struct cel_value eval_operator(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value value;

    switch (node->name.at[1]) {
    case '&':
        return eval_logic(run, node, false);
    case '|':
        return eval_logic(run, node, true);
    case '?':
        return eval_conditional(run, node);
    case 'n': /* @not_strictly_false */
        value = eval(run, node->args[0]);
        return run->exceeded ? value : cel_bool(value.kind != CEL_BOOL || value.truth);
    default: /* or, orValue */
        return eval_or(run, node, node->name.len > 2);
    }
}

static struct cel_value eval_list(struct cel_run *run, const struct cel_node *node)
{
    struct cel_values items = cel_values_new(run->arena, node->count);

    for (uint32_t i = 0; i < node->count; i++) {
        struct cel_value item = eval(run, node->args[i]);

        if (cel_is_error(&item))
            return item;
        if (node->args[i]->optional && item.kind != CEL_OPTIONAL)
            return cel_no_overload();
        if (!node->args[i]->optional)
            cel_values_push(&items, item);
        else if (item.inside)
            cel_values_push(&items, *item.inside);
    }
    return pay(run, LIST_COST) ? cel_list_of(run->arena, &items) : exceeded();
}

static bool may_be_key(const struct cel_value *key)
{
    return key->kind == CEL_BOOL || key->kind == CEL_INT || key->kind == CEL_UINT ||
           key->kind == CEL_STRING;
}

/* Of two with one key the last counts. */
static void put_pair(struct cel_run *run, struct cel_values *keys, struct cel_values *values,
                     struct cel_value key, struct cel_value value)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (cel_equal(run->arena, &keys->items[i], &key)) {
            values->items[i] = value;
            return;
        }
    cel_values_push(keys, key);
    cel_values_push(values, value);
}

static struct cel_value eval_map(struct cel_run *run, const struct cel_node *node)
{
    struct cel_values keys = cel_values_new(run->arena, node->count / 2);
    struct cel_values values = cel_values_new(run->arena, node->count / 2);

    for (uint32_t i = 0; i < node->count; i += 2) {
        struct cel_value key = eval(run, node->args[i]), value;

        if (cel_is_error(&key))
            return key;
        value = eval(run, node->args[i + 1]);
        if (cel_is_error(&value))
            return value;
        if (!may_be_key(&key))
            return cel_error(STR("unsupported key type"));
        if (node->args[i]->optional) {
            if (value.kind != CEL_OPTIONAL)
                return cel_no_overload();
            if (!value.inside)
                continue;
            value = *value.inside;
        }
        put_pair(run, &keys, &values, key, value);
    }
    return pay(run, MAP_COST) ? cel_map_of(run->arena, keys, values) : exceeded();
}

/* One round; false: the fold is over. */
static bool fold_step(struct cel_run *run, const struct cel_fold *fold, struct cel_value var,
                      struct cel_value var2)
{
    struct cel_value condition;

    run->slots[fold->var_slot] = var;
    run->slots[fold->var2_slot] = var2;
    condition = eval(run, fold->condition);
    if (run->exceeded || condition.kind != CEL_BOOL || !condition.truth)
        return false;
    run->slots[fold->accu_slot] = eval(run, fold->step);
    return !run->exceeded;
}

/* cel-go names a value by its type in Go there. */
static const char *go_name(enum cel_kind kind)
{
    static const char *const names[CEL_KIND_COUNT] = {
        [CEL_NULL] = "types.Null",
        [CEL_BOOL] = "types.Bool",
        [CEL_INT] = "types.Int",
        [CEL_UINT] = "types.Uint",
        [CEL_DOUBLE] = "types.Double",
        [CEL_STRING] = "types.String",
        [CEL_BYTES] = "types.Bytes",
        [CEL_TIMESTAMP] = "types.Timestamp",
        [CEL_DURATION] = "types.Duration",
        [CEL_TYPE] = "*types.Type",
        [CEL_OPTIONAL] = "*types.Optional",
    };

    return names[kind] ? names[kind] : "?";
}

static struct cel_value eval_fold(struct cel_run *run, const struct cel_node *node)
{
    const struct cel_fold *fold = node->fold;
    struct cel_value range = eval(run, fold->range);
    bool two = fold->var2.len > 0, more = true;

    if (cel_is_error(&range))
        return range;
    run->slots[fold->accu_slot] = eval(run, fold->init);
    if (range.kind == CEL_LIST) {
        for (uint32_t i = 0; more && i < range.list->count; i++) {
            struct cel_value item = range.list->items[i];

            more = fold_step(run, fold, two ? cel_int(i) : item, item);
        }
    } else if (is_map(&range)) {
        struct cel_values keys = cel_map_keys(run->arena, &range);

        for (uint32_t i = 0; more && i < keys.count; i++) {
            struct cel_value value = cel_null();

            if (two)
                cel_map_find(run->arena, &range, &keys.items[i], &value);
            more = fold_step(run, fold, keys.items[i], value);
        }
    } else {
        return cel_errorf(run->arena, "got '%s', expected iterable type", go_name(range.kind));
    }
    return run->exceeded ? exceeded() : eval(run, fold->result);
}

static struct cel_value eval(struct cel_run *run, const struct cel_node *node)
{
    if (run->exceeded)
        return exceeded();
    switch (node->kind) {
    case NODE_LITERAL:
        return node->literal;
    case NODE_IDENT:
        return pay(run, 1) ? run->slots[node->slot] : exceeded();
    case NODE_SELECT:
        return eval_select(run, node);
    case NODE_CALL:
        if (str_eq(node->name, STR("_?._")))
            return pay(run, 1)
                       ? optional_field(run, eval(run, node->args[0]), node->args[1]->literal.text)
                       : exceeded();
        return node->functions->call ? eval_call(run, node) : eval_operator(run, node);
    case NODE_LIST:
        return eval_list(run, node);
    case NODE_MAP:
        return eval_map(run, node);
    case NODE_FOLD:
        return eval_fold(run, node);
    }
    return cel_null();
}

struct cel_value cel_eval(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value value = eval(run, node);

    return run->exceeded ? exceeded() : value;
}
