/* settle.h: from all that was found to what is told. Internal to stack/. */
#ifndef HERD_STACK_SETTLE_H
#define HERD_STACK_SETTLE_H

#include "stack/validate.h"

/* Everything that the areas find, with each rule's own severity, and where the Stack goes. */
const struct chosen *stack_find(const struct stack *stack, const struct facts *facts,
                                struct problems *problems);

/* Rules that are off go, the others get the severity that is configured. */
void findings_weigh(struct problems *problems, const struct rule_severities *severities);

/* Give findings the configured severities, let those that `old` had as well only warn, and sort.
 * `old` NULL: nothing was there before. `old_problems` are all findings of `old`. */
void findings_settle(const struct stack *stack, const struct stack *old,
                     const struct problems *old_problems,
                     const struct rule_severities *severities, struct problems *problems);

/* The words that follow from the verdict's problems: allowed, message, warnings,
 * and no patch with a refusal. */
void verdict_word(struct arena *arena, struct verdict *verdict);
/* What was found beside the Stack itself, as one with the rest. Nothing excuses it. */
void verdict_add(struct arena *arena, struct problems *found,
                 const struct rule_severities *severities, struct verdict *verdict);

#endif
