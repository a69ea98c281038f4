/* verdict.h: what a judgement on an admission comes to. */
#ifndef HERD_STACK_VERDICT_H
#define HERD_STACK_VERDICT_H

#include "base/problem.h"
#include "stack/stack.h"

struct chosen;

/* Lives in the arena of the judgement. */
struct verdict {
    const struct stack *stack; /* defaulted; NULL of what is no Stack */
    const struct chosen *chosen; /* where it goes (chosen.h); NULL likewise */
    struct problems problems;  /* sorted */
    bool allowed;
    struct str patch;          /* of the defaults; "" = none */
    struct str message;        /* of a refusal, for people: every denied finding with its way out */
    struct str_list warnings;  /* one line each */
    struct str_list notes;     /* told behind them, where there is room; for whoever makes a verdict
                                * known to add (preview.h) */
};

#endif
