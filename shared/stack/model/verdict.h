/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h: what a validation on an admission comes to. */
#ifndef HERD_STACK_VERDICT_H
#define HERD_STACK_VERDICT_H

#include "base/problem.h"
#include "stack/model/stack.h"

struct resolved_targets;
struct workload_object;

/* Lives in the arena of the validation. */
struct verdict {
    const struct stack *stack;              /* defaulted; NULL of what is no Stack */
    const struct resolved_targets *chosen;  /* where it goes (resolved_targets.h); NULL likewise */
    const struct workload_object *workload; /* workload_object.h; NULL of what is none */
    struct problems problems;               /* sorted */
    bool allowed;
    struct str patch;         /* of the defaults; "" = none */
    struct str message;       /* of a rejection, for people: every denied finding with its remedy */
    struct str_list warnings; /* one line each */
    struct str_list notes;    /* told behind them, where there is room; for whoever makes a verdict
                               * known to add (preview.h) */
};

/* The words that follow from the verdict's problems: allowed, message, warnings,
 * and with a rejection no patch and no warnings of overlaps. */
void verdict_word(struct arena *arena, struct verdict *verdict);

#endif
