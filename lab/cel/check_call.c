/* SPDX-License-Identifier: Apache-2.0 */
/* check_call.c: which functions a call may mean. Source: github.com/google/cel-go
 * checker/checker.go. */
#include "lab/cel/check_parts.h"

const char *cel_check_text(struct check *c, const struct cel_type *type)
{
    return str_z(c->arena, cel_type_text(c->arena, type));
}

void cel_check_undeclared(struct check *c, struct cel_node *node, struct str name)
{
    const char *why = cel_refusal(name);

    node->type = &cel_type_error;
    if (why)
        cel_issue_alone(c->issues, node->at, "herd-lab does not evaluate '%.*s': %s", STR_ARG(name),
                        why);
    else
        cel_issue(c->issues, node->at, "undeclared reference to '%.*s' (in container '')",
                  STR_ARG(name));
}

struct str cel_check_dotted(struct check *c, const struct cel_node *node)
{
    struct str front;

    if (node->kind == NODE_IDENT)
        return node->name;
    if (node->kind != NODE_SELECT || node->test)
        return STR("");
    front = cel_check_dotted(c, node->args[0]);
    return front.len ? str_fmt(c->arena, "%.*s.%.*s", STR_ARG(front), STR_ARG(node->name)) : front;
}

static const char *known_text(struct check *c, const struct cel_node *node)
{
    return cel_check_text(c, cel_substitute(&c->unify, node->type, true));
}

/* "(int, string)", "string.(int)" */
static struct str signature(struct check *c, const struct cel_node *node)
{
    struct strbuf out = strbuf_new(c->arena, 64);
    uint32_t from = node->member;

    if (node->member)
        strbuf_fmt(&out, "%s.", known_text(c, node->args[0]));
    strbuf_char(&out, '(');
    for (uint32_t i = from; i < node->count; i++)
        strbuf_fmt(&out, "%s%s", i > from ? ", " : "", known_text(c, node->args[i]));
    strbuf_char(&out, ')');
    return strbuf_str(&out);
}

/* The result's type if the arguments fit; else NULL. */
static const struct cel_type *fits(struct check *c, const struct cel_node *node,
                                   const struct cel_function *function)
{
    const struct cel_type *got[CEL_ARGS_MAX], *want[CEL_ARGS_MAX], *a, *b;

    if (function->member != node->member || cel_function_count(function) != node->count)
        return NULL;
    a = cel_unify_fresh(&c->unify);
    b = cel_unify_fresh(&c->unify);
    for (uint32_t i = 0; i < node->count; i++) {
        got[i] = node->args[i]->type;
        want[i] = cel_unify_instance(&c->unify, function->args[i], a, b);
    }
    if (!cel_all_assignable(&c->unify, got, want, node->count))
        return NULL;
    return cel_substitute(&c->unify, cel_unify_instance(&c->unify, function->result, a, b), false);
}

static void check_logic(struct check *c, struct cel_node *node)
{
    node->type = &cel_type_bool;
    for (uint32_t i = 0; i < node->count; i++)
        if (!cel_assignable(&c->unify, node->args[i]->type, &cel_type_bool)) {
            cel_issue(c->issues, node->args[i]->at, "expected type 'bool' but found '%s'",
                      cel_check_text(c, node->args[i]->type));
            node->type = &cel_type_error;
        }
}

static void resolve(struct check *c, struct cel_node *node)
{
    const struct cel_type *result = NULL;
    uint32_t count;

    node->functions = cel_functions_named(node->name, &count);
    if (!node->functions) {
        cel_check_undeclared(c, node, node->name);
        return;
    }
    if (str_eq(node->name, STR("_&&_")) || str_eq(node->name, STR("_||_"))) {
        node->overloads = 1;
        check_logic(c, node);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cel_type *fit = fits(c, node, &node->functions[i]);

        if (!fit)
            continue;
        node->overloads |= 1ull << i;
        if (!result)
            result = fit;
        else if (result->kind != CEL_DYN && !cel_type_same(result, fit))
            result = &cel_type_dyn;
    }
    node->type = result ? result : &cel_type_error;
    if (!result)
        cel_issue(c->issues, node->at, "found no matching overload for '%.*s' applied to '%.*s'",
                  STR_ARG(node->name), STR_ARG(signature(c, node)));
}

void cel_check_call(struct check *c, struct cel_node *node)
{
    struct str front = node->member ? cel_check_dotted(c, node->args[0]) : STR("");
    struct str full = str_fmt(c->arena, "%.*s.%.*s", STR_ARG(front), STR_ARG(node->name));
    uint32_t count;

    node->overloads = 0;
    if (str_eq(node->name, STR("_?._"))) {
        cel_check_optional_select(c, node);
        return;
    }
    for (uint32_t i = node->member; i < node->count; i++)
        cel_check_node(c, node->args[i]);
    /* optional.of(x) is no call on a variable. */
    if (front.len && (cel_functions_named(full, &count) || cel_refusal(full))) {
        node->name = full;
        node->member = false;
        node->args++;
        node->count--;
    }
    if (node->member)
        cel_check_node(c, node->args[0]);
    resolve(c, node);
}
