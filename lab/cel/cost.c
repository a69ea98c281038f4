/* cost.c: the most that an expression may cost. Sizes come from literals, from what the schema says
 * of the part of a variable that a node is, and from what calls make of both. */
#include "lab/cel/cel.h"
#include "lab/cel/cost.h"

static const struct cel_span unknown = { 0, UINT64_MAX };

/* A variable of a fold. */
struct local {
    struct str name;
    const struct cel_type *declared;
    bool is_path, sized, has_entries;
    struct cel_span size;
    struct cel_entry_sizes entries;
    const struct local *up;
};

struct guessing {
    struct arena *arena;
    const struct cel_env *env;
    const struct local *local;
};

static struct cel_span cost_of(struct guessing *g, struct cel_node *node);

static const struct local *local_of(const struct guessing *g, struct str name)
{
    for (const struct local *l = g->local; l; l = l->up)
        if (str_eq(l->name, name))
            return l;
    return NULL;
}

static struct cel_guess *guess_of(struct guessing *g, struct cel_node *node)
{
    if (!node->guess)
        node->guess = arena_new(g->arena, struct cel_guess);
    return node->guess;
}

static bool literal_size(const struct cel_node *node, uint64_t *ret_size)
{
    switch (node->kind) {
    case NODE_LITERAL:
        *ret_size = node->literal.kind == CEL_TYPE ? 0 : cel_size(&node->literal);
        return true;
    case NODE_LIST:
        *ret_size = node->count;
        return true;
    case NODE_MAP:
        *ret_size = node->count / 2;
        return true;
    default:
        return false;
    }
}

/* A value whose size is the same whatever it is. */
static bool is_scalar(const struct cel_type *type)
{
    switch (type->kind) {
    case CEL_BOOL:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_TIMESTAMP:
    case CEL_DURATION:
        return true;
    case CEL_OPTIONAL:
        return type->of[0] && is_scalar(type->of[0]);
    default:
        return false;
    }
}

static bool size_of(struct guessing *g, struct cel_node *node, struct cel_span *ret_size)
{
    struct cel_guess *guess = guess_of(g, node);
    const struct local *local;
    uint64_t fixed;

    if (guess->sized) {
        *ret_size = guess->size;
        return true;
    }
    if (literal_size(node, &fixed)) {
        *ret_size = cel_span_of(fixed);
        return true;
    }
    if (guess->declared) {
        guess->sized = true;
        guess->size = *ret_size = (struct cel_span){ 0, guess->declared->size_max };
        return true;
    }
    if (is_scalar(node->type)) {
        *ret_size = cel_span_of(1);
        return true;
    }
    local = node->kind == NODE_IDENT ? local_of(g, node->name) : NULL;
    if (local && local->sized)
        *ret_size = local->size;
    return local && local->sized;
}

static struct cel_span size_or_unknown(struct guessing *g, struct cel_node *node)
{
    struct cel_span size;

    return size_of(g, node, &size) ? size : unknown;
}

static const struct cel_entry_sizes *entries_of(struct guessing *g, struct cel_node *node)
{
    struct cel_guess *guess = guess_of(g, node);
    const struct local *local = node->kind == NODE_IDENT ? local_of(g, node->name) : NULL;

    if (guess->has_entries)
        return &guess->entries;
    return local && local->has_entries ? &local->entries : NULL;
}

static void set_size(struct guessing *g, struct cel_node *node, const struct cel_span *size)
{
    struct cel_guess *guess = guess_of(g, node);

    if (!size)
        return;
    guess->sized = true;
    guess->size = *size;
}

static void set_entries(struct guessing *g, struct cel_node *node,
                        const struct cel_entry_sizes *entries)
{
    struct cel_guess *guess = guess_of(g, node);

    if (!entries)
        return;
    guess->has_entries = true;
    guess->entries = *entries;
}

/* Kubernetes finds what is declared by a path whose first step it takes for the variable, whatever
 * it is: so a part of what is no part of a variable counts as the first variable itself. */
static const struct cel_type *first_step(const struct guessing *g)
{
    return g->env->count ? g->env->variables[0].type : NULL;
}

/* What is declared of an element (1) or a key (0) of a node. */
static const struct cel_type *part_of(const struct guessing *g, const struct cel_guess *guess,
                                      int index)
{
    const struct cel_type *of = guess->declared;

    if (!guess->is_path)
        return first_step(g);
    if (!of || (of->kind != CEL_LIST && of->kind != CEL_MAP))
        return NULL;
    return of->kind == CEL_LIST ? (index == 1 ? of->of[0] : NULL) : of->of[index];
}

static struct cel_span cost_ident(struct guessing *g, struct cel_node *node)
{
    const struct local *local = local_of(g, node->name);
    struct cel_guess *guess = guess_of(g, node);

    if (local) {
        guess->declared = local->declared;
        guess->is_path = local->is_path;
    } else {
        guess->declared = g->env->variables[node->slot].type;
        if (guess->declared->kind == CEL_OPTIONAL)
            guess->declared = guess->declared->of[0];
        guess->is_path = true;
    }
    return cel_span_of(1);
}

static struct cel_span cost_select(struct guessing *g, struct cel_node *node)
{
    struct cel_node *operand = node->args[0];
    struct cel_span cost = cost_of(g, operand);
    const struct cel_guess *of = guess_of(g, operand);
    const struct cel_field *field = NULL;
    enum cel_kind kind = operand->type->kind;

    if (node->test)
        return cost;
    if (of->declared && of->declared->kind == CEL_STRUCT)
        field = cel_type_field(of->declared, node->name);
    guess_of(g, node)->declared = !of->is_path ? first_step(g) : field ? field->type : NULL;
    guess_of(g, node)->is_path = true;
    if (kind == CEL_MAP || kind == CEL_STRUCT)
        cost = cel_span_add(cost, cel_span_of(1));
    return cost;
}

static struct cel_span cost_logic(struct guessing *g, struct cel_node *node)
{
    struct cel_span left = cost_of(g, node->args[0]), right = cost_of(g, node->args[1]);

    return (struct cel_span){ left.min, cel_span_add(left, right).max };
}

static struct cel_span cost_conditional(struct guessing *g, struct cel_node *node)
{
    struct cel_span condition = cost_of(g, node->args[0]);
    struct cel_span yes = cost_of(g, node->args[1]), no = cost_of(g, node->args[2]);
    struct cel_span size = cel_span_union(size_or_unknown(g, node->args[1]),
                                          size_or_unknown(g, node->args[2]));
    const struct cel_entry_sizes *a = entries_of(g, node->args[1]);
    const struct cel_entry_sizes *b = entries_of(g, node->args[2]);

    set_size(g, node, &size);
    if (a && b) {
        struct cel_entry_sizes both = { a->container, cel_span_union(a->key, b->key),
                                        cel_span_union(a->value, b->value) };

        set_entries(g, node, &both);
    }
    return cel_span_add(condition, cel_span_union(yes, no));
}

/* What is known of an element, of a container that is indexed. */
static void guess_index(struct guessing *g, struct cel_node *node, bool *sized,
                        struct cel_span *size)
{
    const struct cel_entry_sizes *entries = entries_of(g, node->args[0]);

    guess_of(g, node)->declared = part_of(g, guess_of(g, node->args[0]), 1);
    guess_of(g, node)->is_path = true;
    *sized = entries != NULL;
    if (entries)
        *size = entries->value;
}

static void join_entries(struct guessing *g, struct cel_node *node)
{
    const struct cel_entry_sizes *a = entries_of(g, node->args[0]);
    const struct cel_entry_sizes *b = entries_of(g, node->args[1]);
    struct cel_entry_sizes both;

    if (!a || !b)
        return;
    both = (struct cel_entry_sizes){ a->container, cel_span_union(a->key, b->key),
                                     cel_span_union(a->value, b->value) };
    set_entries(g, node, &both);
}

static struct cel_span element_size(struct guessing *g, struct cel_node *node)
{
    const struct cel_guess *guess = guess_of(g, node);
    const struct cel_type *element = guess->is_path ? part_of(g, guess, 1) : NULL;

    return element && node->type->kind == CEL_LIST ? (struct cel_span){ 0, element->size_max }
                                                   : unknown;
}

/* All overloads that may be meant, together. */
static struct cel_span cost_overloads(struct guessing *g, struct cel_node *node)
{
    struct cel_span sizes[CEL_ARGS_MAX], cost = { UINT64_MAX, 0 }, size = unknown;
    struct cel_span element = node->count ? element_size(g, node->args[0]) : unknown;
    bool sized = false, indexes = str_eq(node->name, STR("_[_]"));

    for (uint32_t i = 0; i < node->count; i++)
        sizes[i] = size_or_unknown(g, node->args[i]);
    for (uint32_t i = 0; i < 64 && node->overloads >> i; i++) {
        const struct cel_function *function = &node->functions[i];
        struct cel_call_guess guess;

        if (!(node->overloads >> i & 1))
            continue;
        guess = cel_guess_call(function, node, sizes, element);
        cost = cel_span_union(cost, guess.cost);
        if (guess.sized)
            size = sized ? cel_span_union(size, guess.size) : guess.size;
        sized = sized || guess.sized;
        if (function->cost == COST_BOTH || function->cost == COST_LISTS)
            join_entries(g, node);
        if (indexes && function->args[0]->kind != CEL_OPTIONAL)
            guess_index(g, node, &sized, &size);
        if (!sized)
            sized = size_of(g, node, &size);
    }
    if (sized)
        set_size(g, node, &size);
    return cost;
}

static struct cel_span cost_call(struct guessing *g, struct cel_node *node)
{
    struct cel_span cost = { 0, 0 };

    if (str_eq(node->name, STR("_&&_")) || str_eq(node->name, STR("_||_")))
        return cost_logic(g, node);
    if (str_eq(node->name, STR("_?_:_")))
        return cost_conditional(g, node);
    for (uint32_t i = 0; i < node->count; i++)
        cost = cel_span_add(cost, cost_of(g, node->args[i]));
    if (str_eq(node->name, STR("dyn"))) {
        struct cel_span size;

        if (size_of(g, node->args[0], &size))
            set_size(g, node, &size);
        set_entries(g, node, entries_of(g, node->args[0]));
        return cel_span_add(cost, cel_span_of(1));
    }
    if (str_eq(node->name, STR("_?._")))
        return cel_span_add(cost, cel_span_of(1));
    return cel_span_add(cost, cost_overloads(g, node));
}

/* A list has elements in each place, a map keys and values in turn. */
static struct cel_span cost_container(struct guessing *g, struct cel_node *node)
{
    bool is_map = node->kind == NODE_MAP;
    struct cel_span none = { node->count ? UINT64_MAX : 0, 0 };
    struct cel_entry_sizes entries = { is_map ? CEL_MAP : CEL_LIST,
                                       is_map ? none : cel_span_of(1), none };
    struct cel_span cost = cel_span_of(is_map ? 30 : 10);

    for (uint32_t i = 0; i < node->count; i++) {
        bool is_key = is_map && i % 2 == 0;
        struct cel_span *part = is_key ? &entries.key : &entries.value;

        cost = cel_span_add(cost, cost_of(g, node->args[i]));
        *part = cel_span_union(*part, size_or_unknown(g, node->args[i]));
    }
    set_entries(g, node, &entries);
    return cost;
}

/* A variable that goes over the keys (0) or values (1) of the range. */
static struct local over(struct guessing *g, struct cel_node *range, struct str name, int index,
                         const struct local *up)
{
    const struct cel_entry_sizes *entries = entries_of(g, range);
    struct local local = { .name = name, .up = up };

    local.declared = part_of(g, guess_of(g, range), index);
    local.is_path = true;
    local.sized = entries != NULL;
    if (entries)
        local.size = index ? entries->value : entries->key;
    return local;
}

static struct local gathered(struct guessing *g, const struct cel_fold *fold)
{
    struct local local = { .name = fold->accu, .up = g->local };
    const struct cel_entry_sizes *entries = entries_of(g, fold->init);

    local.declared = guess_of(g, fold->init)->declared;
    local.is_path = guess_of(g, fold->init)->is_path;
    local.sized = size_of(g, fold->init, &local.size);
    local.has_entries = entries != NULL;
    if (entries)
        local.entries = *entries;
    return local;
}

static bool is_bind(const struct cel_fold *fold)
{
    return fold->range->kind == NODE_LIST && fold->range->count == 0 &&
           fold->condition->kind == NODE_LITERAL && !fold->condition->literal.truth;
}

static struct cel_span cost_bind(struct guessing *g, struct cel_node *node)
{
    struct cel_fold *fold = node->fold;
    struct cel_span cost = cel_span_add(cost_of(g, fold->range), cost_of(g, fold->init)), size;
    struct local accu = gathered(g, fold);
    const struct local *outside = g->local;

    g->local = &accu;
    cost = cel_span_add(cost, cost_of(g, fold->result));
    if (size_of(g, fold->result, &size))
        set_size(g, node, &size);
    set_entries(g, node, entries_of(g, fold->result));
    g->local = outside;
    return cost;
}

static bool goes_over_lists(struct guessing *g, struct cel_node *range)
{
    const struct cel_entry_sizes *entries = entries_of(g, range);

    return (entries ? entries->container : range->type->kind) == CEL_LIST;
}

static struct cel_span cost_fold(struct guessing *g, struct cel_node *node)
{
    struct cel_fold *fold = node->fold;
    struct cel_span cost = cel_span_add(cost_of(g, fold->range), cost_of(g, fold->init));
    struct cel_span loop, step, count, size;
    struct local accu = gathered(g, fold);
    const struct local *outside = g->local;
    bool two = fold->var2.len > 0;
    struct local var = over(g, fold->range, fold->var, !two && goes_over_lists(g, fold->range),
                            &accu);
    struct local var2 = over(g, fold->range, fold->var2, 1, &var);

    g->local = two ? &var2 : &var;
    loop = cost_of(g, fold->condition);
    step = cost_of(g, fold->step);
    g->local = &accu;
    cost = cel_span_add(cost, cost_of(g, fold->result));
    g->local = outside;
    count = size_or_unknown(g, fold->range);
    cost = cel_span_add(cost, cel_span_times(count, cel_span_add(step, loop)));
    if (fold->init->kind == NODE_LITERAL && size_of(g, fold->init, &size))
        set_size(g, node, &size);
    if (fold->init->kind == NODE_LIST || fold->init->kind == NODE_MAP) {
        set_size(g, node, &count);
        set_entries(g, node, entries_of(g, fold->step));
    }
    return cost;
}

static struct cel_span cost_of(struct guessing *g, struct cel_node *node)
{
    switch (node->kind) {
    case NODE_LITERAL:
        return cel_span_of(node->literal.kind == CEL_TYPE);
    case NODE_IDENT:
        return cost_ident(g, node);
    case NODE_SELECT:
        return cost_select(g, node);
    case NODE_CALL:
        return cost_call(g, node);
    case NODE_LIST:
    case NODE_MAP:
        return cost_container(g, node);
    case NODE_FOLD:
        return is_bind(node->fold) ? cost_bind(g, node) : cost_fold(g, node);
    }
    return cel_span_of(0);
}

struct cel_span cel_guess_cost(struct arena *arena, const struct cel_env *env,
                               struct cel_node *root)
{
    struct guessing g = { arena, env, NULL };

    return cost_of(&g, root);
}
