/* diff.h: what other policies would change: two reports on the same files, Stack by Stack. Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_DIFF_H
#define HERD_WEBHOOK_OFFLINE_DIFF_H

#include "webhook/offline/report.h"

enum diff_change {
    DIFF_NONE,
    DIFF_REFUSED, /* it passed before */
    DIFF_PASSES,  /* it was refused before */
    DIFF_TOLD,    /* the verdict stays, something else is told */
    DIFF_COUNT,
};

struct diff_stack {
    enum diff_change change;
    uint32_t object;       /* number of it in both reports */
    struct u32_list added; /* numbers of findings in the new report that the old one has not */
    struct u32_list gone;  /* and the other way round */
    bool warned;           /* one of the added ones warns */
};
LIST_DEFINE(diff_stacks, struct diff_stack)

struct diff {
    const struct report *before;
    const struct report *after;
    struct diff_stacks stacks; /* that change */
    uint32_t count_of[DIFF_COUNT];
    uint32_t warned; /* Stacks with new warnings */
};

/* Both are reports on the same files. */
struct diff diff_reports(struct arena *arena, const struct report *before,
                         const struct report *after);

/* "newly refused", ... */
const char *diff_change_name(enum diff_change change);

#endif
