/* SPDX-License-Identifier: Apache-2.0 */
/* macro.c: calls that stand for something longer. A fold gathers its result in a variable that no
 * expression can name ("@result"). Source: github.com/google/cel-go parser/macro.go,
 * cel/library.go (optionals), ext/comprehensions.go (two variables). */
#include "lab/cel/node.h"

#define ACCU STR("@result")

struct expansion {
    struct arena *arena;
    struct cel_issues *issues;
    struct cel_node *call; /* target, then arguments */
    size_t at;
    struct str var, var2;
    struct cel_node **args; /* behind the variables */
    uint32_t count;
};

static struct cel_node *call(struct expansion *x, const char *name, struct cel_node *a,
                             struct cel_node *b, struct cel_node *c)
{
    struct cel_node *args[] = { a, b, c };

    return cel_node_call(x->arena, x->at, str_of(name), args, c ? 3 : b ? 2 : a ? 1 : 0);
}

static struct cel_node *member_call(struct expansion *x, const char *name, struct cel_node *on)
{
    struct cel_node *node = call(x, name, on, NULL, NULL);

    node->member = true;
    return node;
}

static struct cel_node *literal(struct expansion *x, struct cel_value value)
{
    return cel_node_literal(x->arena, x->at, value);
}

static struct cel_node *accu(struct expansion *x)
{
    return cel_node_ident(x->arena, x->at, ACCU);
}

static struct cel_node *list_of(struct expansion *x, struct cel_node *element)
{
    struct cel_node *node = cel_node_call(x->arena, x->at, STR(""), &element, element ? 1 : 0);

    node->kind = NODE_LIST;
    return node;
}

static struct cel_node *fold(struct expansion *x, struct cel_node *init, struct cel_node *condition,
                             struct cel_node *step, struct cel_node *result)
{
    struct cel_node *node = cel_node_new(x->arena, NODE_FOLD, x->at);

    node->fold = arena_new(x->arena, struct cel_fold);
    *node->fold = (struct cel_fold){ .accu = ACCU,
                                     .var = x->var,
                                     .var2 = x->var2,
                                     .range = x->call->args[0],
                                     .init = init,
                                     .condition = condition,
                                     .step = step,
                                     .result = result };
    return node;
}

static struct cel_node *all(struct expansion *x)
{
    return fold(x, literal(x, cel_bool(true)), call(x, "@not_strictly_false", accu(x), NULL, NULL),
                call(x, "_&&_", accu(x), x->args[0], NULL), accu(x));
}

static struct cel_node *exists(struct expansion *x)
{
    return fold(x, literal(x, cel_bool(false)),
                call(x, "@not_strictly_false", call(x, "!_", accu(x), NULL, NULL), NULL, NULL),
                call(x, "_||_", accu(x), x->args[0], NULL), accu(x));
}

static struct cel_node *exists_one(struct expansion *x)
{
    struct cel_node *more = call(x, "_+_", accu(x), literal(x, cel_int(1)), NULL);

    return fold(x, literal(x, cel_int(0)), literal(x, cel_bool(true)),
                call(x, "_?_:_", x->args[0], more, accu(x)),
                call(x, "_==_", accu(x), literal(x, cel_int(1)), NULL));
}

/* All elements, or those for which a condition holds, each put through `step`. */
static struct cel_node *gather(struct expansion *x, struct cel_node *init, struct cel_node *filter,
                               struct cel_node *step)
{
    if (filter)
        step = call(x, "_?_:_", filter, step, accu(x));
    return fold(x, init, literal(x, cel_bool(true)), step, accu(x));
}

static struct cel_node *map(struct expansion *x)
{
    struct cel_node *filter = x->count == 2 ? x->args[0] : NULL;

    return gather(x, list_of(x, NULL), filter,
                  call(x, "_+_", accu(x), list_of(x, x->args[x->count - 1]), NULL));
}

static struct cel_node *filter(struct expansion *x)
{
    struct cel_node *element = cel_node_ident(x->arena, x->call->args[1]->at, x->var);

    return gather(x, list_of(x, NULL), x->args[0],
                  call(x, "_+_", accu(x), list_of(x, element), NULL));
}

static struct cel_node *empty_map(struct expansion *x)
{
    return cel_node_new(x->arena, NODE_MAP, x->at);
}

static struct cel_node *transform_map(struct expansion *x)
{
    struct cel_node *key = cel_node_ident(x->arena, x->at, x->var);

    return gather(x, empty_map(x), x->count == 2 ? x->args[0] : NULL,
                  call(x, "cel.@mapInsert", accu(x), key, x->args[x->count - 1]));
}

static struct cel_node *transform_entry(struct expansion *x)
{
    return gather(x, empty_map(x), x->count == 2 ? x->args[0] : NULL,
                  call(x, "cel.@mapInsert", accu(x), x->args[x->count - 1], NULL));
}

/* A variable that is bound once: a fold over nothing whose gathered value has that name. */
static struct cel_node *bind(struct expansion *x, struct str name, struct cel_node *value,
                             struct cel_node *result)
{
    struct cel_node *bound =
        fold(x, value, literal(x, cel_bool(false)), cel_node_ident(x->arena, x->at, name), result);

    bound->fold->range = list_of(x, NULL);
    bound->fold->accu = name;
    bound->fold->var = STR("#unused");
    bound->fold->var2 = STR("");
    return bound;
}

static struct cel_node *bind_inside(struct expansion *x)
{
    return bind(x, x->var, member_call(x, "value", x->call->args[0]), x->args[0]);
}

static struct cel_node *opt_flat_map(struct expansion *x)
{
    return call(x, "_?_:_", member_call(x, "hasValue", x->call->args[0]), bind_inside(x),
                call(x, "optional.none", NULL, NULL, NULL));
}

static struct cel_node *opt_map(struct expansion *x)
{
    return call(x, "_?_:_", member_call(x, "hasValue", x->call->args[0]),
                call(x, "optional.of", bind_inside(x), NULL, NULL),
                call(x, "optional.none", NULL, NULL, NULL));
}

/* list.sortBy(e, key): the keys are gathered first, then both lists are sorted by them. */
static struct cel_node *sort_by(struct expansion *x)
{
    const struct str input = STR("@__sortBy_input__");
    struct cel_node *list = x->call->args[0], *sorted;

    x->call->args[0] = cel_node_ident(x->arena, x->at, input);
    sorted = call(x, "@sortByAssociatedKeys", cel_node_ident(x->arena, x->at, input), map(x), NULL);
    sorted->member = true;
    return bind(x, input, list, sorted);
}

/* why: what is said if a variable is none */
static const struct macro {
    const char *name;
    uint32_t args, vars;
    struct cel_node *(*expand)(struct expansion *x);
    const char *why;
} macros[] = {
    { "all", 2, 1, all, "argument must be a simple name" },
    { "exists", 2, 1, exists, "argument must be a simple name" },
    { "exists_one", 2, 1, exists_one, "argument must be a simple name" },
    { "map", 2, 1, map, "argument is not an identifier" },
    { "map", 3, 1, map, "argument is not an identifier" },
    { "filter", 2, 1, filter, "argument is not an identifier" },
    { "all", 3, 2, all, "argument must be a simple name" },
    { "exists", 3, 2, exists, "argument must be a simple name" },
    { "exists_one", 3, 2, exists_one, "argument must be a simple name" },
    { "existsOne", 3, 2, exists_one, "argument must be a simple name" },
    { "transformList", 3, 2, map, "argument must be a simple name" },
    { "transformList", 4, 2, map, "argument must be a simple name" },
    { "transformMap", 3, 2, transform_map, "argument must be a simple name" },
    { "transformMap", 4, 2, transform_map, "argument must be a simple name" },
    { "transformMapEntry", 3, 2, transform_entry, "argument must be a simple name" },
    { "transformMapEntry", 4, 2, transform_entry, "argument must be a simple name" },
    { "optMap", 2, 1, opt_map, "optMap() variable name must be a simple identifier" },
    { "optFlatMap", 2, 1, opt_flat_map, "optFlatMap() variable name must be a simple identifier" },
    { "sortBy", 2, 1, sort_by,
      "sortBy can only be applied to a list, identifier, comprehension, call or select "
      "expression" },
};

static bool take_var(struct expansion *x, const struct macro *macro, uint32_t index,
                     struct str *ret_name)
{
    const struct cel_node *node = x->call->args[1 + index];

    if (node->kind != NODE_IDENT) {
        cel_issue(x->issues, node->at, "%s", macro->why);
        return false;
    }
    if (str_eq(node->name, STR("__result__"))) {
        cel_issue(x->issues, node->at, "iteration variable overwrites accumulator variable");
        return false;
    }
    *ret_name = node->name;
    return true;
}

static struct cel_node *presence(struct arena *arena, struct cel_node *node,
                                 struct cel_issues *issues)
{
    struct cel_node *path = node->args[0], *test;

    if (path->kind != NODE_SELECT || path->test) {
        cel_issue(issues, path->at, "invalid argument to has() macro");
        return node;
    }
    test = cel_node_new(arena, NODE_SELECT, node->at);
    *test = *path;
    test->at = node->at;
    test->test = true;
    return test;
}

static const struct macro *find(const struct cel_node *node)
{
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
        if (node->member && node->count == macros[i].args + 1 &&
            str_eq(node->name, str_of(macros[i].name)))
            return &macros[i];
    return NULL;
}

struct cel_node *cel_expand(struct arena *arena, struct cel_node *node, struct cel_issues *issues)
{
    const struct macro *macro = find(node);
    struct expansion x = { .arena = arena, .issues = issues, .call = node, .at = node->at };

    if (!node->member && node->count == 1 && str_eq(node->name, STR("has")))
        return presence(arena, node, issues);
    if (!macro)
        return NULL;
    if (!take_var(&x, macro, 0, &x.var) || (macro->vars == 2 && !take_var(&x, macro, 1, &x.var2)))
        return node;
    if (macro->vars == 2 && str_eq(x.var, x.var2)) {
        cel_issue(issues, node->args[2]->at, "duplicate variable name: %.*s", STR_ARG(x.var));
        return node;
    }
    x.args = node->args + 1 + macro->vars;
    x.count = macro->args - macro->vars;
    return macro->expand(&x);
}
