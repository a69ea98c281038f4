/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: from the leaves up; what is known of free types grows on the way (unify.h). */
#include "lab/cel/check_parts.h"

/* A type by its name is a value, too. */
static bool names_type(struct check *c, struct cel_node *node, struct str name)
{
    const struct cel_type *type = cel_type_named(name);

    if (!type)
        return false;
    node->kind = NODE_LITERAL;
    node->literal = (struct cel_value){ .kind = CEL_TYPE, .type = type };
    node->type = cel_type_of_type(c->arena, type);
    node->count = 0;
    return true;
}

static void check_ident(struct check *c, struct cel_node *node)
{
    for (const struct scope *s = c->scope; s; s = s->up)
        if (str_eq(s->name, node->name)) {
            node->type = s->type;
            node->slot = s->slot;
            return;
        }
    for (uint32_t i = 0; i < c->env->count; i++)
        if (str_eq(c->env->variables[i].name, node->name)) {
            node->type = c->env->variables[i].type;
            node->slot = i;
            return;
        }
    if (!names_type(c, node, node->name))
        cel_check_undeclared(c, node, node->name);
}

static const struct cel_type *field_type(struct check *c, const struct cel_node *node,
                                         const struct cel_type *of, struct str name)
{
    const struct cel_field *field;

    switch (of->kind) {
    case CEL_MAP:
        return of->of[1];
    case CEL_STRUCT:
        field = cel_type_field(of, name);
        if (field)
            return field->type;
        if (of->open)
            return &cel_type_dyn;
        cel_issue(c->issues, node->at, "undefined field '%.*s'", STR_ARG(name));
        return &cel_type_error;
    case CEL_PARAM:
        cel_assignable(&c->unify, &cel_type_dyn, of);
        return &cel_type_dyn;
    case CEL_DYN:
    case CEL_ERROR:
        return &cel_type_dyn;
    default:
        cel_issue(c->issues, node->at, "type '%s' does not support field selection",
                  cel_check_text(c, of));
        return &cel_type_dyn;
    }
}

static const struct cel_type *select_type(struct check *c, struct cel_node *node, struct str name,
                                          bool optional)
{
    const struct cel_type *of, *field;

    cel_check_node(c, node->args[0]);
    of = cel_substitute(&c->unify, node->args[0]->type, false);
    optional = optional || of->kind == CEL_OPTIONAL;
    field = field_type(c, node, of->kind == CEL_OPTIONAL ? of->of[0] : of, name);
    field = cel_substitute(&c->unify, field, false);
    return optional ? cel_type_optional(c->arena, field) : field;
}

static void check_select(struct check *c, struct cel_node *node)
{
    struct str name = cel_check_dotted(c, node);

    if (name.len && names_type(c, node, name))
        return;
    node->type = select_type(c, node, node->name, false);
    if (node->test)
        node->type = &cel_type_bool;
}

void cel_check_optional_select(struct check *c, struct cel_node *node)
{
    node->type = select_type(c, node, node->args[1]->literal.text, true);
}

/* What both may be. That no literal mixes is told later (literals.c), as format() may have such. */
static const struct cel_type *join(struct check *c, const struct cel_type *before,
                                   const struct cel_type *now)
{
    if (!before)
        return now;
    return cel_assignable(&c->unify, before, now) ? cel_most_general(before, now) : &cel_type_dyn;
}

/* An element marked with '?' brings what is inside of it. */
static const struct cel_type *unwrapped(struct check *c, const struct cel_node *node, bool optional)
{
    const struct cel_type *type = node->type;

    if (!optional)
        return type;
    if (type->kind == CEL_OPTIONAL)
        return type->of[0];
    if (type->kind != CEL_DYN)
        cel_issue(c->issues, node->at, "expected type 'optional_type(%s)' but found '%s'",
                  cel_check_text(c, type), cel_check_text(c, type));
    return type;
}

static void check_list(struct check *c, struct cel_node *node)
{
    const struct cel_type *element = NULL;

    for (uint32_t i = 0; i < node->count; i++) {
        cel_check_node(c, node->args[i]);
        element = join(c, element, unwrapped(c, node->args[i], node->args[i]->optional));
    }
    node->type = cel_type_list(c->arena, element ? element : cel_unify_fresh(&c->unify));
}

static void check_map(struct check *c, struct cel_node *node)
{
    const struct cel_type *key = NULL, *value = NULL;

    for (uint32_t i = 0; i < node->count; i += 2) {
        cel_check_node(c, node->args[i]);
        key = join(c, key, node->args[i]->type);
        cel_check_node(c, node->args[i + 1]);
        value = join(c, value, unwrapped(c, node->args[i + 1], node->args[i]->optional));
    }
    node->type = cel_type_map(c->arena, key ? key : cel_unify_fresh(&c->unify),
                              value ? value : cel_unify_fresh(&c->unify));
}

/* What the variables of a fold over such a range are. */
static void range_types(struct check *c, const struct cel_fold *fold,
                        const struct cel_type **ret_var, const struct cel_type **ret_var2)
{
    const struct cel_type *range = cel_substitute(&c->unify, fold->range->type, false);

    *ret_var = *ret_var2 = &cel_type_dyn;
    switch (range->kind) {
    case CEL_LIST:
        *ret_var = fold->var2.len ? &cel_type_int : range->of[0];
        *ret_var2 = range->of[0];
        break;
    case CEL_MAP:
        *ret_var = range->of[0];
        *ret_var2 = range->of[1];
        break;
    case CEL_PARAM:
    case CEL_DYN:
    case CEL_ERROR:
        cel_assignable(&c->unify, &cel_type_dyn, range);
        break;
    default:
        cel_issue(c->issues, fold->range->at,
                  "expression of type '%s' cannot be range of a comprehension (must be list, "
                  "map, or dynamic)",
                  cel_check_text(c, range));
        *ret_var = *ret_var2 = &cel_type_error;
    }
}

static void want_type(struct check *c, const struct cel_node *node, const struct cel_type *want)
{
    if (!cel_assignable(&c->unify, want, node->type))
        cel_issue(c->issues, node->at, "expected type '%s' but found '%s'", cel_check_text(c, want),
                  cel_check_text(c, node->type));
}

static void check_fold(struct check *c, struct cel_node *node)
{
    struct cel_fold *fold = node->fold;
    const struct scope *outside = c->scope;
    const struct cel_type *var_type, *var2_type;

    cel_check_node(c, fold->range);
    cel_check_node(c, fold->init);
    range_types(c, fold, &var_type, &var2_type);
    fold->accu_slot = c->slots++;
    fold->var_slot = c->slots++;
    fold->var2_slot = c->slots++;

    struct scope accu = { fold->accu, fold->init->type, fold->accu_slot, outside };
    struct scope var = { fold->var, var_type, fold->var_slot, &accu };
    struct scope var2 = { fold->var2, var2_type, fold->var2_slot, &var };

    c->scope = fold->var2.len ? &var2 : &var;
    cel_check_node(c, fold->condition);
    want_type(c, fold->condition, &cel_type_bool);
    cel_check_node(c, fold->step);
    want_type(c, fold->step, fold->init->type);
    c->scope = &accu;
    cel_check_node(c, fold->result);
    c->scope = outside;
    node->type = cel_substitute(&c->unify, fold->result->type, false);
}

void cel_check_node(struct check *c, struct cel_node *node)
{
    switch (node->kind) {
    case NODE_LITERAL:
        if (node->literal.kind != CEL_TYPE)
            node->type = cel_value_type(&node->literal);
        break;
    case NODE_IDENT:
        check_ident(c, node);
        break;
    case NODE_SELECT:
        check_select(c, node);
        break;
    case NODE_CALL:
        cel_check_call(c, node);
        break;
    case NODE_LIST:
        check_list(c, node);
        break;
    case NODE_MAP:
        check_map(c, node);
        break;
    case NODE_FOLD:
        check_fold(c, node);
        break;
    }
}

/* What is known at the end goes into every node. */
static void settle(struct check *c, struct cel_node *node)
{
    node->type = cel_substitute(&c->unify, node->type, true);
    for (uint32_t i = 0; i < node->count; i++)
        if (node->args[i]->type)
            settle(c, node->args[i]);
    if (node->fold) {
        settle(c, node->fold->range);
        settle(c, node->fold->init);
        settle(c, node->fold->condition);
        settle(c, node->fold->step);
        settle(c, node->fold->result);
    }
}

void cel_check(struct arena *arena, const struct cel_env *env, struct cel_node *root,
               struct cel_issues *issues, uint32_t *ret_slots)
{
    struct check c = { .arena = arena,
                       .env = env,
                       .issues = issues,
                       .unify = cel_unify_new(arena),
                       .slots = env->count };

    cel_check_node(&c, root);
    settle(&c, root);
    *ret_slots = c.slots;
}
