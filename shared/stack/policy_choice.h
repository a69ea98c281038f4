/* policy_choice.h: a field that takes only certain words, and a rule that asks for others. Internal
 * to stack/.
 *
 * Such a rule can never be met, or never be broken. A glob, or a ${word}, which may stand for
 * anything, must match one of the field's words. */
#ifndef HERD_STACK_POLICY_CHOICE_H
#define HERD_STACK_POLICY_CHOICE_H

#include "stack/policy_check.h"

/* Of a compiled check, whose rule stands at `at`. */
void policy_choice_check(const struct policy_check *check, const struct path *at,
                         struct findings *findings);

#endif
