/* SPDX-License-Identifier: Apache-2.0 */
/* policy_results.h: what policies came to for one Stack, beside their findings: which were kept.
 * Pure. For metrics and reports. */
#ifndef HERD_STACK_POLICY_RESULTS_H
#define HERD_STACK_POLICY_RESULTS_H

#include "stack/policy/policy_set.h"

/* One rule of a policy that is about the Stack. */
struct policy_result {
    uint32_t policy;
    uint32_t rule;
    uint32_t findings;           /* 0: it is kept */
    const struct problem *first; /* of them; NULL: it is kept */
};
LIST_DEFINE(policy_results, struct policy_result)

/* In the order of policies and of their rules. `problems` are what was found of the Stack,
 * borrowed; what is not of these policies is passed over. */
struct policy_results policy_results_of(struct arena *arena, const struct policy_set *set,
                                        const struct stack *stack,
                                        const struct resolved_targets *chosen,
                                        const struct problems *problems);

/* One policy that is about the Stack. */
struct policy_outcome {
    struct str policy;      /* its name, as long as the set */
    enum severity severity; /* the worst of its findings; SEVERITY_OFF: it is kept */
};
LIST_DEFINE(policy_outcomes, struct policy_outcome)

/* In the order of policies. */
struct policy_outcomes policy_outcomes_of(struct arena *arena, const struct policy_set *set,
                                          const struct stack *stack,
                                          const struct resolved_targets *chosen,
                                          const struct problems *problems);
struct policy_outcomes policy_outcomes_of_workload(struct arena *arena,
                                                   const struct policy_set *set,
                                                   const struct workload_object *object,
                                                   const struct problems *problems);
/* "pass", "audit", "warn", "deny" */
const char *policy_outcome_name(enum severity severity);

/* Validate a stored Stack by the policies alone, as far as the facts tell where it goes: decoded,
 * defaulted, findings sorted. Other findings about it are not reported here. */
const struct stack *policy_set_look(struct arena *arena, const struct policy_set *set,
                                    const struct facts *facts, struct json object,
                                    struct problems *problems,
                                    const struct resolved_targets **ret_chosen);

#endif
