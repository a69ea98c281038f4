/* SPDX-License-Identifier: Apache-2.0 */
/* program.c: from text to a program, and what may be asked of it. */
#include "lab/cel/check.h"
#include "lab/cel/eval.h"

struct cel_program {
    struct cel_node *root;
    struct cel_env env;
    uint32_t slots;
    struct map *regexes;
};

struct cel_program *cel_compile(struct arena *arena, const struct cel_env *env, struct str text,
                                struct str *ret_why)
{
    struct cel_issues issues = { .arena = arena, .expression = text };
    struct cel_program *program = arena_new(arena, struct cel_program);
    struct str instantiation = STR("");

    program->env = *env;
    program->regexes = map_new(arena, 0);
    program->root = cel_parse(arena, text, &issues);
    if (program->root)
        cel_check(arena, env, program->root, &issues, &program->slots);
    if (issues.count == 0)
        instantiation = cel_check_literals(arena, program->root, &issues, program->regexes);
    if (issues.count)
        *ret_why = str_fmt(arena, "compilation failed: %.*s", STR_ARG(cel_issues_text(&issues)));
    else if (instantiation.len)
        *ret_why = str_fmt(arena, "program instantiation failed: %.*s", STR_ARG(instantiation));
    return issues.count || instantiation.len ? NULL : program;
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
    return program->root->type;
}

static bool reads(const struct cel_node *node, uint32_t slot)
{
    const struct cel_fold *fold = node->fold;

    if (node->kind == NODE_IDENT && node->slot == slot)
        return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (reads(node->args[i], slot))
            return true;
    return fold &&
           (reads(fold->range, slot) || reads(fold->init, slot) || reads(fold->condition, slot) ||
            reads(fold->step, slot) || reads(fold->result, slot));
}

bool cel_program_reads(const struct cel_program *program, struct str variable)
{
    for (uint32_t i = 0; i < program->env.count; i++)
        if (str_eq(program->env.variables[i].name, variable))
            return reads(program->root, i);
    return false;
}

struct cel_value cel_evaluate(const struct cel_program *program, struct arena *arena,
                              const struct cel_value *values, uint64_t cost_max, uint64_t *ret_cost)
{
    struct cel_run run = { .arena = arena, .cost_max = cost_max, .regexes = program->regexes };
    struct cel_value value;

    run.slots = arena_array(arena, struct cel_value, program->slots);
    for (uint32_t i = 0; i < program->env.count; i++)
        run.slots[i] = values[i];
    value = cel_eval(&run, program->root);
    if (ret_cost)
        *ret_cost = run.cost;
    return value;
}
