/* SPDX-License-Identifier: Apache-2.0 */
/* admission_cel.h: expressions in CEL on a request: match conditions of webhooks, and policies.
 *
 * They see `object` and `oldObject` as they come (null where there is none), `request` as webhooks
 * are told of it, and `namespaceObject`; policies may see `params` and `variables`, too. Source:
 * k8s.io/apiserver/pkg/admission/plugin/cel. */
#ifndef HERD_LAB_APISERVER_ADMISSION_CEL_H
#define HERD_LAB_APISERVER_ADMISSION_CEL_H

#include "lab/apiserver/admission.h"
#include "lab/cel/cel.h"

enum {
    ADMISSION_OBJECT,
    ADMISSION_OLD_OBJECT,
    ADMISSION_NAMESPACE,
    ADMISSION_REQUEST,
    ADMISSION_PARAMS,
    ADMISSION_VARIABLES,
    ADMISSION_VALUES,
};

/* The variables that an expression may read. `variables` NULL: a policy has none. */
struct cel_env admission_env(struct arena *arena, bool has_params,
                             const struct cel_type *variables);

/* Compile an expression whose result must be one of `kinds` (bits). NULL: *ret_why says it in the
 * server's words. */
struct cel_program *admission_compile(struct arena *arena, const struct cel_env *env,
                                      struct str expression, unsigned kinds, struct str *ret_why);
#define ADMISSION_BOOL (1u << CEL_BOOL)

/* Values of the first four variables; the others are null. -1: the namespace cannot be read. */
int admission_values(const struct admission_facts *facts,
                     struct cel_value ret_values[ADMISSION_VALUES]);

/* Evaluate within what is left of a budget. -1: it did not suffice. */
int admission_evaluate(struct arena *arena, const struct cel_program *program,
                       const struct cel_value *values, uint64_t *budget,
                       struct cel_value *ret_value);
/* Both: the value, or an error in the server's words. -1 as admission_evaluate. */
int admission_run(struct arena *arena, const struct cel_env *env, struct str expression,
                  unsigned kinds, const struct cel_value *values, uint64_t *budget,
                  struct cel_value *ret_value);
#define ADMISSION_BUDGET                                                                           \
    "validation failed due to running out of cost budget, no further validation rules will be run"

/* One that is false decides, whatever became of the others. -1: one is an error, and none is false.
 * `conditions` is a list of name and expression. */
int admission_conditions(struct arena *arena, const struct cel_env *env,
                         const struct cel_value *values, struct json conditions, bool *ret_hold,
                         struct str *ret_why);

/* What is wrong with conditions when they are written. */
void admission_check_conditions(const struct cel_env *env, const struct value *conditions,
                                const struct path *at, struct findings *found);

#endif
