/* SPDX-License-Identifier: Apache-2.0 */
/* review_laws.h: what must be true of the answer to any body, on either route, whoever sent it.
 *
 * The laws know nothing of how an answer is made: they read its bytes as an API server does. Property tests, the
 * fuzz target and the feeder of the Go verifier all ask them. */
#ifndef HERD_TESTS_SUPPORT_REVIEW_LAWS_H
#define HERD_TESTS_SUPPORT_REVIEW_LAWS_H

#include "support/any_review.h"

/* How often each thing happened: laws of what never happens say nothing. */
struct review_tally {
    uint64_t errors;
    uint64_t allowed;
    uint64_t denied;
    uint64_t patched;
};

/* NULL, or the first law that does not hold, as a sentence. `tally` may be NULL. */
const char *review_laws_broken(const struct review_world *world, struct arena *arena, enum review_route route,
                               struct str body, struct review_tally *tally);

/* The object of a review with the patch of its answer applied, as JSON: as the API server goes on with it. The
 * object itself if there is no patch; absent if there is none, or if the patch does not apply. */
struct str review_patched(struct arena *arena, struct str body, struct str answer);

#endif
