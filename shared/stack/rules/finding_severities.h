/* SPDX-License-Identifier: Apache-2.0 */
/* finding_severities.h: from all that was found to what is reported. Internal to stack/. */
#ifndef HERD_STACK_FINDING_SEVERITIES_H
#define HERD_STACK_FINDING_SEVERITIES_H

#include "stack/model/facts.h"
#include "stack/model/rules.h"
#include "stack/model/spec_change.h"
#include "stack/model/verdict.h"

/* Everything that the areas find, with each rule's own severity, and where the Stack goes. */
const struct resolved_targets *stack_find(const struct stack *stack, const struct facts *facts,
                                          struct problems *problems);

/* Rules that are off go, the others get the severity that is configured. */
void findings_set_severities(struct problems *problems, const struct rule_severities *severities);

/* What findings are about: where an update left things as they were is read there. Borrowed. */
struct finding_subject {
    const struct kube_meta *meta;
    struct spec_form spec;
    const struct charts *charts; /* NULL: the kind has none */
};
struct finding_subject finding_subject_of(const struct stack *stack);

/* Let findings that deny only warn if `old` had them as well. `old_problems` are all findings of
 * `old`. */
void findings_excuse(const struct finding_subject *subject, const struct finding_subject *old,
                     const struct problems *old_problems, struct problems *problems);

/* Give findings the configured severities, let those that `old` had as well only warn, and sort.
 * `old` NULL: nothing was there before. `old_problems` are all findings of `old`. */
void findings_apply_severities(const struct stack *stack, const struct stack *old,
                               const struct problems *old_problems,
                               const struct rule_severities *severities, struct problems *problems);

/* What was found beside the Stack itself, as one with the rest. Nothing excuses it. */
void verdict_add(struct arena *arena, struct problems *found,
                 const struct rule_severities *severities, struct verdict *verdict);

#endif
