/* SPDX-License-Identifier: Apache-2.0 */
/* policy_never.h: a rule that is in order, but of which a part can never match: a slip that nobody
 * would notice, because Stacks pass. Internal to stack/.
 *
 *   a word, glob or pattern that is none of the words that the field takes
 *   allow or deny without an element
 *   a pattern with a ${word}: only allow, deny and messages have those
 *
 * Whoever applies such a policy is rejected. One that is stored already is put to Stacks as it
 * always was: else its other rules would go with it, unseen (policy_set.h). */
#ifndef HERD_STACK_POLICY_NEVER_H
#define HERD_STACK_POLICY_NEVER_H

#include "stack/policy/policy_check.h"

/* Of a compiled check, whose rule stands at `at`; what is found is policy.never. */
void policy_never_check(const struct policy_check *check, const struct path *at,
                        struct findings *findings);

#endif
