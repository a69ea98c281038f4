/* SPDX-License-Identifier: Apache-2.0 */
/* sized_review.h: reviews of Stacks that are as large as wanted in one respect, to see how cost grows with it. */
#ifndef HERD_TESTS_SUPPORT_SIZED_REVIEW_H
#define HERD_TESTS_SUPPORT_SIZED_REVIEW_H

#include "stack/policy/policy_set.h"

enum sized_by {
    SIZED_CHARTS,    /* each waits for the one before */
    SIZED_EDGES,     /* dependencies among 60 charts; 1,770 at most */
    SIZED_LABELS,    /* of the Stack itself */
    SIZED_POLICIES,  /* of two rules each, that the Stack of 3 charts keeps */
    SIZED_FAULTS,    /* charts, each with a version that is none */
    SIZED_FINDINGS,  /* policies, each with one rule that the Stack breaks */
    SIZED_OVERRIDES, /* charts, and as many of them in an override, before one policy */
    SIZED_COUNT,
};
const char *sized_name(enum sized_by by);

struct sized_review {
    struct str body;             /* an AdmissionReview of a create */
    struct policy_set *policies; /* to be validated by; the caller's */
};
struct sized_review sized_review(struct arena *arena, enum sized_by by, int count);

#endif
