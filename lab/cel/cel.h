/* SPDX-License-Identifier: Apache-2.0 */
/* cel.h: expressions of CEL, the language of Kubernetes' rules: validations of definitions, match
 * conditions, admission policies.
 *
 * An expression is compiled once against the variables that it may read and then evaluated with
 * their values. Both the language and the texts of errors are those of Kubernetes 1.36: what
 * functions there are says functions.def, what a rule may cost limits.def. What is not evaluated
 * here is refused when it is compiled, by name; nothing is guessed. Everything lives in the arenas
 * given. Pure. */
#ifndef HERD_LAB_CEL_CEL_H
#define HERD_LAB_CEL_CEL_H

#include "lab/cel/value.h"

struct cel_variable {
    struct str name;
    const struct cel_type *type;
};

struct cel_env {
    const struct cel_variable *variables;
    uint32_t count;
};

struct cel_program;

/* NULL, and in *ret_why what the API server says: "compilation failed: ...". */
struct cel_program *cel_compile(struct arena *arena, const struct cel_env *env,
                                struct str expression, struct str *ret_why);
const struct cel_type *cel_program_type(const struct cel_program *program);
/* Whether a variable of the environment is read anywhere. */
bool cel_program_reads(const struct cel_program *program, struct str variable);

/* The value; an error is a value, too. `values` are those of the environment's variables, in its
 * order. *ret_cost, which may be NULL: what it cost, in Kubernetes' units; above `cost_max`
 * evaluation ends with CEL_COST_EXCEEDED. */
struct cel_value cel_evaluate(const struct cel_program *program, struct arena *arena,
                              const struct cel_value *values, uint64_t cost_max,
                              uint64_t *ret_cost);

#define CEL_COST_EXCEEDED "operation cancelled: actual cost limit exceeded"

#endif
