/* SPDX-License-Identifier: Apache-2.0 */
/* policy_set.h: policies made ready to be put to many Stacks and workloads.
 *
 * An immutable snapshot, counted, for any number of threads. Rules that look at one field share one
 * walk over the Stack; patterns are compiled once (text/regex.h, with its bounds). */
#ifndef HERD_STACK_POLICY_SET_H
#define HERD_STACK_POLICY_SET_H

#include "stack/targets/resolved_targets.h"
#include "stack/model/policy.h"
#include "stack/model/rules.h"
#include "workload/workload_object.h"

struct policy_set;

/* Take policies up one by one, then finish. */
struct policy_set_builder;
struct policy_set_builder *policy_set_begin(void);
/* `object`: a StackPolicy; what is wrong with it goes to `problems`. False: it is not in order, or
 * one too many, and left out. One of which a rule can only never be kept (policy_never.h) is taken:
 * it may have been stored before that was rejected, and its other rules count. Nothing is
 * borrowed. */
bool policy_set_add(struct policy_set_builder *builder, struct json object,
                    struct problems *problems);
/* Never NULL; the builder is gone. Policies are in the order of their names. */
struct policy_set *policy_set_finish(struct policy_set_builder *builder);

struct policy_set *policy_set_ref(struct policy_set *set);
void policy_set_unref(struct policy_set *set);
AUTO_DEFINE(policy_set_unref, struct policy_set *)

uint32_t policy_set_count(const struct policy_set *set); /* policies */
/* The `index`th policy. `rule` < its count of rules. */
struct str policy_set_name(const struct policy_set *set, uint32_t index);
int64_t policy_set_find(const struct policy_set *set, struct str name); /* its index, or -1 */
enum policy_action policy_set_action(const struct policy_set *set, uint32_t index);
uint32_t policy_set_rule_count(const struct policy_set *set, uint32_t index);
struct str policy_set_rule_name(const struct policy_set *set, uint32_t index, uint32_t rule);

/* Whether what they come to depends on the clusters that there are and on their labels. */
bool policy_set_needs_clusters(const struct policy_set *set);

/* Which of the policies are about a Stack that goes there, by index: also if nobody knows, because
 * a cluster that it goes to is not known. Linear in policies, and in clusters for each selector of
 * clusters that differs from the others. In the arena. */
const bool *policy_set_matching(const struct policy_set *set, const struct stack *stack,
                                const struct resolved_targets *chosen, struct arena *arena);

/* Put all of them to a defaulted Stack. Findings have rule "policy/NAME/RULE" and the severity that
 * the policy's action says; at most FINDINGS_PER_RULE_MAX of one rule. A pattern that hits its
 * bounds counts as broken. */
void policy_set_evaluate(const struct policy_set *set, const struct stack *stack,
                         const struct resolved_targets *chosen, struct problems *problems);

/* The same two for a workload. */
const bool *policy_set_matching_workload(const struct policy_set *set,
                                         const struct workload_object *object, struct arena *arena);
void policy_set_evaluate_workload(const struct policy_set *set,
                                  const struct workload_object *object, struct problems *problems);

#endif
