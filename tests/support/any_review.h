/* SPDX-License-Identifier: Apache-2.0 */
/* any_review.h: AdmissionReviews for laws and sweeps: of every example, of generated Stacks and StackPolicies, and
 * hostile ones. */
#ifndef HERD_TESTS_SUPPORT_ANY_REVIEW_H
#define HERD_TESTS_SUPPORT_ANY_REVIEW_H

#include "base/list.h"
#include "base/rng.h"
#include "stack/policy/policy_set.h"
#include "webhook/review.h"

/* --- what reviews are validated by --- */

struct review_world {
    struct policy_set *policies;
    struct facts facts;
    struct rule_severities severities;
    struct review_context context;
};

/* Some clusters, Stacks and policies are known, so that every rule has something to say. It points into
 * itself: it stays where it is. */
void review_world_begin(struct review_world *world, struct arena *arena);
void review_world_end(struct review_world *world);

/* --- bodies --- */

struct review_example {
    const char *path;
    struct str json; /* of a Stack */
};
LIST_DEFINE(review_examples, struct review_example)

/* Every Stack under examples/; the test fails if there are few. */
struct review_examples review_examples_read(struct arena *arena);

/* Any operation, object, old object and user; up to three times something was lost, flipped or put in.
 * Equal seeds give equal reviews. `examples` may be empty. */
struct str any_review(struct arena *arena, struct rng *rng, const struct review_examples *examples);

/* Number `n` of an endless row: first every example as it is, then what any_review makes of seed n. */
struct str review_number(struct arena *arena, const struct review_examples *examples, uint64_t n);

/* --- one review --- */

struct review_attempt {
    const struct review_world *world;
    struct arena *arena;
    enum review_route route;
    struct str body;
    int result; /* of review_answer; REVIEW_ABANDONED = it did not return */
    struct review_outcome outcome;
    struct error err;
};

enum { REVIEW_ABANDONED = -7 };

/* Under arena_run, as the server does it. */
struct review_attempt review_attempt(const struct review_world *world, struct arena *arena,
                                     enum review_route route, struct str body);

#endif
