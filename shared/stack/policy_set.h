/* policy_set.h: policies made ready to be put to many Stacks.
 *
 * An immutable snapshot, counted, for any number of threads. Rules that look at one field share one
 * walk over the Stack; patterns are compiled once (text/regex.h, with its bounds). */
#ifndef HERD_STACK_POLICY_SET_H
#define HERD_STACK_POLICY_SET_H

#include "stack/policy.h"
#include "stack/validate.h"

struct policy_set;

/* Take policies up one by one, then finish. */
struct policy_set_builder;
struct policy_set_builder *policy_set_begin(void);
/* `object`: a StackPolicy; what is wrong with it goes to `problems`. False: it is not in order, or
 * one too many, and left out. One of which a rule can only never be kept (policy_never.h) is taken:
 * it may have been stored before that was refused, and its other rules count. Nothing is
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
/* A digest of all that is asked for: equal sets have equal ones. Lower case hexadecimal. */
struct str policy_set_digest(const struct policy_set *set);

/* Whether the `index`th policy is about the Stack. */
bool policy_set_matches(const struct policy_set *set, uint32_t index, const struct stack *stack);

/* Put all of them to a defaulted Stack. Findings have rule "policy/NAME/RULE" and the severity that
 * the policy's action says; at most FINDINGS_PER_RULE_MAX of one rule. A pattern that hits its
 * bounds counts as broken. */
void policy_set_judge(const struct policy_set *set, const struct stack *stack,
                      struct problems *problems);

#endif
