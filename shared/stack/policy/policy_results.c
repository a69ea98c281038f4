/* SPDX-License-Identifier: Apache-2.0 */
/* policy_results.c: findings go back to the rules that they are of, by name. */
#include "stack/policy/policy_results.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"

enum { NONE = UINT32_MAX };

static uint32_t find_rule(const struct policy_set *set, uint32_t policy, struct str name)
{
    for (uint32_t i = 0; i < policy_set_rule_count(set, policy); i++)
        if (str_eq(policy_set_rule_name(set, policy, i), name))
            return i;
    return NONE;
}

/* "policy/NAME/RULE". False if that is no rule of the set. */
static bool split_rule(const struct policy_set *set, struct str id, uint32_t *ret_policy,
                       struct str *ret_rule)
{
    struct str rest = id;
    struct str head, name;

    if (!str_split(&rest, '/', &head) || !str_eq(head, STR("policy")) ||
        !str_split(&rest, '/', &name))
        return false;

    int64_t policy = policy_set_find(set, name);

    *ret_policy = (uint32_t)policy;
    *ret_rule = rest;
    return policy >= 0;
}

/* --- by rule --- */

static struct policy_results list_kept(struct arena *arena, const struct policy_set *set,
                                       const struct stack *stack,
                                       const struct resolved_targets *chosen, uint32_t *first_of)
{
    struct policy_results results = policy_results_new(arena, policy_set_count(set));
    const bool *matching = policy_set_matching(set, stack, chosen, arena);

    for (uint32_t i = 0; i < policy_set_count(set); i++) {
        first_of[i] = NONE;
        if (!matching[i])
            continue;
        first_of[i] = results.count;
        for (uint32_t rule = 0; rule < policy_set_rule_count(set, i); rule++)
            policy_results_push(&results, (struct policy_result){ i, rule, 0, NULL });
    }
    return results;
}

struct policy_results policy_results_of(struct arena *arena, const struct policy_set *set,
                                        const struct stack *stack,
                                        const struct resolved_targets *chosen,
                                        const struct problems *problems)
{
    uint32_t *first_of = arena_array(arena, uint32_t, policy_set_count(set));
    struct policy_results results = list_kept(arena, set, stack, chosen, first_of);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *problem = &problems->list.items[i];
        uint32_t policy, rule;
        struct str name;

        if (!split_rule(set, problem->rule, &policy, &name) || first_of[policy] == NONE)
            continue;
        rule = find_rule(set, policy, name);
        if (rule == NONE)
            continue;

        struct policy_result *result = &results.items[first_of[policy] + rule];

        if (result->findings++ == 0)
            result->first = problem;
    }
    return results;
}

/* --- by policy --- */

static struct policy_outcomes outcomes_of(struct arena *arena, const struct policy_set *set,
                                          const bool *matching, const struct problems *problems)
{
    uint32_t count = policy_set_count(set);
    struct policy_outcomes outcomes = policy_outcomes_new(arena, count);
    enum severity *worst = arena_array(arena, enum severity, count);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *problem = &problems->list.items[i];
        struct str rule;
        uint32_t policy;

        if (split_rule(set, problem->rule, &policy, &rule) && problem->severity > worst[policy])
            worst[policy] = problem->severity;
    }
    for (uint32_t i = 0; i < count; i++)
        if (matching[i])
            policy_outcomes_push(&outcomes,
                                 (struct policy_outcome){ policy_set_name(set, i), worst[i] });
    return outcomes;
}

struct policy_outcomes policy_outcomes_of(struct arena *arena, const struct policy_set *set,
                                          const struct stack *stack,
                                          const struct resolved_targets *chosen,
                                          const struct problems *problems)
{
    return outcomes_of(arena, set, policy_set_matching(set, stack, chosen, arena), problems);
}

struct policy_outcomes policy_outcomes_of_workload(struct arena *arena,
                                                   const struct policy_set *set,
                                                   const struct workload_object *object,
                                                   const struct problems *problems)
{
    return outcomes_of(arena, set, policy_set_matching_workload(set, object, arena), problems);
}

const char *policy_outcome_name(enum severity severity)
{
    return severity == SEVERITY_OFF ? "pass" : severity_name(severity);
}

/* --- a look at what is stored --- */

const struct stack *policy_set_look(struct arena *arena, const struct policy_set *set,
                                    const struct facts *facts, struct json object,
                                    struct problems *problems,
                                    const struct resolved_targets **ret_chosen)
{
    struct problems ignored = problems_new(arena);
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &ignored), NULL);

    *ret_chosen = resolved_targets_of(arena, stack, facts);
    policy_set_evaluate(set, stack, *ret_chosen, problems);
    problems_sort(problems);
    return stack;
}
