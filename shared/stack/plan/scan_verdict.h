/* SPDX-License-Identifier: Apache-2.0 */
/* scan_verdict.h: what the scans of its images say of one release. Pure.
 *
 * Only a scan that finished says something; where nobody can tell, the verdict is Unknown. */
#ifndef HERD_STACK_SCAN_VERDICT_H
#define HERD_STACK_SCAN_VERDICT_H

#include "stack/model/observed.h"
#include "stack/model/stack.h"
#include "stack/model/status.h"

/* The gravest first. */
enum scan_rank {
    RANK_EXCEEDED, /* a threshold */
    RANK_TROUBLE,  /* the scanner of a cluster cannot tell */
    RANK_UNSEEN,   /* the cluster itself cannot be looked at */
    RANK_SCAN_FAILED,
    RANK_UNCOVERED,
    RANK_PENDING,
    RANK_SCANNING,
    RANK_NONE,
};

struct release_verdict {
    enum scan_verdict verdict;
    bool incomplete; /* it is not known what the release runs, or what is in some image of it */
    enum scan_rank rank;
    struct str reason, message; /* "" with RANK_NONE */
};

/* Whether the scanner has not told of the release yet, though it has workloads. */
bool scan_is_pending(const struct observed_release *release);
/* Of two that say something of one image: whether `a` tells more. The newest scan does; of one
 * moment, the worst. */
bool scan_tells_more(const struct observed_image *a, const struct observed_image *b);

/* `cluster` NULL: it is not known. `release` NULL: it is not there. What was read stands while the
 * scanner does not answer. */
struct release_verdict scan_verdict_of(struct arena *arena, const struct thresholds *thresholds,
                                       const struct release_state *state,
                                       const struct observed_cluster *cluster,
                                       const struct observed_release *release);

#endif
