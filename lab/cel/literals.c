/* SPDX-License-Identifier: Apache-2.0 */
/* literals.c: what is wrong whatever the variables are. Source: github.com/google/cel-go
 * cel/validator.go, as k8s.io/apiserver/pkg/cel/environment/base.go asks for it. */
#include "lab/cel/check.h"

#include "lab/cel/functions.h"
#include "lab/cel/moment.h"

struct literals {
    struct arena *arena;
    struct cel_issues *issues;
    struct map *regexes;
    struct str instantiation; /* what fails before anything is evaluated; "" = nothing */
};

static void release(void *regex)
{
    regex_free(regex);
}

static bool is_pattern(struct literals *l, struct str pattern)
{
    struct error err;
    struct regex *regex = map_get(l->regexes, pattern);

    if (regex)
        return true;
    regex = cel_regex_create(pattern, &err);
    if (!regex)
        return false;
    arena_defer(l->arena, release, regex);
    map_put(l->regexes, str_dup(l->arena, pattern), regex);
    return true;
}

/* Zones are offsets here (moment.h). */
static void check_zone(struct literals *l, const struct cel_node *node)
{
    int64_t offset_s;

    if (node->member && node->count == 2 && str_starts(node->name, STR("get")) &&
        node->args[1]->kind == NODE_LITERAL && node->args[1]->literal.kind == CEL_STRING &&
        !cel_offset_parse(node->args[1]->literal.text, &offset_s))
        cel_issue(l->issues, node->args[1]->at,
                  "herd-lab knows no time zone '%.*s': give an offset from UTC",
                  STR_ARG(node->args[1]->literal.text));
}

/* A constant is converted when the program is made. */
static void check_conversion(struct literals *l, const struct cel_node *node)
{
    const struct cel_value *value;
    struct cel_run run = { .arena = l->arena, .regexes = l->regexes };
    struct cel_value result = cel_null();
    bool fits = false;

    if (node->member || node->count != 1 || node->args[0]->kind != NODE_LITERAL ||
        l->instantiation.len || !(node->name.at[0] >= 'a' && node->name.at[0] <= 'z') ||
        !(cel_type_named(node->name) || str_eq(node->name, STR("duration")) ||
          str_eq(node->name, STR("timestamp"))))
        return;
    value = &node->args[0]->literal;
    for (uint32_t i = 0; !fits && node->overloads >> i; i++) {
        fits = node->functions[i].args[0]->kind == value->kind ||
               node->functions[i].args[0]->kind == CEL_PARAM;
        if (fits)
            result = node->functions[i].call(&run, value);
    }
    if (!fits)
        l->instantiation = str_fmt(l->arena, "no such overload: %.*s(%.*s)", STR_ARG(node->name),
                                   STR_ARG(cel_type_name(cel_value_type(value))));
    else if (cel_is_error(&result))
        l->instantiation = result.text;
}

static void check_argument(struct literals *l, const struct cel_node *node)
{
    const struct cel_node *first =
        node->member + 0u < node->count ? node->args[node->member] : NULL;
    struct cel_moment moment;
    int64_t nanos;
    bool fits = true;

    if (!first || first->kind != NODE_LITERAL || first->literal.kind != CEL_STRING)
        return;
    if (str_eq(node->name, STR("duration")))
        fits = cel_duration_parse(first->literal.text, &nanos);
    else if (str_eq(node->name, STR("timestamp")))
        fits = cel_moment_parse(first->literal.text, &moment);
    else if (str_eq(node->name, STR("matches")) || str_eq(node->name, STR("find")) ||
             str_eq(node->name, STR("findAll")))
        fits = is_pattern(l, first->literal.text);
    if (!fits)
        cel_issue(l->issues, first->at, "invalid %.*s argument", STR_ARG(node->name));
}

static void check_call(struct literals *l, const struct cel_node *node)
{
    check_argument(l, node);
    check_zone(l, node);
    check_conversion(l, node);
    if (node->member && str_eq(node->name, STR("format")))
        cel_check_format(l->arena, node, l->issues);
}

/* One list or map, one type: dyn beside others hides what the check would have told. */
static void check_mixed(struct literals *l, const struct cel_node *node, uint32_t from,
                        uint32_t step)
{
    const struct cel_type *first = NULL;

    for (uint32_t i = from; i < node->count; i += step) {
        const struct cel_node *element = node->args[i];
        const struct cel_type *type = element->type;

        if (node->args[step == 2 ? i - from : i]->optional && from == step - 1 && type->of[0])
            type = type->of[0];
        if (!first)
            first = type;
        if (cel_type_same(first, type))
            continue;
        cel_issue(l->issues, element->at, "expected type '%.*s' but found '%.*s'",
                  STR_ARG(cel_type_text(l->arena, first)), STR_ARG(cel_type_text(l->arena, type)));
        return;
    }
}

/* `exempt`: within the arguments of format(), which may be of all kinds. */
static void walk(struct literals *l, const struct cel_node *node, bool exempt)
{
    if (node->kind == NODE_CALL)
        check_call(l, node);
    if (node->kind == NODE_LIST && !exempt)
        check_mixed(l, node, 0, 1);
    if (node->kind == NODE_MAP && !exempt) {
        check_mixed(l, node, 0, 2);
        check_mixed(l, node, 1, 2);
    }
    exempt = exempt || (node->kind == NODE_CALL && str_eq(node->name, STR("format")));
    for (uint32_t i = 0; i < node->count; i++)
        walk(l, node->args[i], exempt);
    if (!node->fold)
        return;
    walk(l, node->fold->range, exempt);
    walk(l, node->fold->init, exempt);
    walk(l, node->fold->condition, exempt);
    walk(l, node->fold->step, exempt);
    walk(l, node->fold->result, exempt);
}

struct str cel_check_literals(struct arena *arena, const struct cel_node *root,
                              struct cel_issues *issues, struct map *regexes)
{
    struct literals l = { arena, issues, regexes, STR("") };

    walk(&l, root, false);
    return l.instantiation;
}
