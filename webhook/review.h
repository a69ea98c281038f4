/* SPDX-License-Identifier: Apache-2.0 */
/* review.h: one AdmissionReview: bytes in, bytes out.
 *
 * Pure: it knows what the context says and nothing else, so the server, the offline review and the
 * tests give the same answers. Asking twice, dry or not, changes nothing. */
#ifndef HERD_WEBHOOK_REVIEW_H
#define HERD_WEBHOOK_REVIEW_H

#include "kube/admission.h"
#include "stack/policy/policy_results.h"
#include "webhook/trace.h"

enum review_route { REVIEW_MUTATE, REVIEW_VALIDATE };

struct review_context {
    const struct facts *facts;
    const struct rule_severities *severities;
    bool traced; /* Stacks are stored with the trace that they belong to */
};

struct review_outcome {
    struct str answer; /* an AdmissionReview */
    bool allowed;
    struct str operation; /* "CREATE", ...; "unknown" of what cannot be decoded */
    struct str kind;
    struct str name;
    struct str namespace_;
    struct str username;
    struct str rules; /* of a rejection: what denied it, between commas; bounded */
    bool dry_run;
    uint32_t findings;               /* how many there are, also where the other route tells them */
    struct review_trace trace;       /* its context is sampled if a span of this is to be told */
    struct problems problems;        /* what was found, for metrics */
    struct policy_outcomes policies; /* of those that are about the Stack, likewise */
};

/* -1: it is not a review of a v1 Stack or StackPolicy, or of a workload, that can be validated;
 * nothing was allowed. What has a uid but cannot be decoded, or takes more than the arena's
 * budget, is rejected. The answer borrows from `body`. */
int review_answer(struct arena *arena, enum review_route route, struct str body,
                  const struct review_context *context, struct review_outcome *ret_outcome,
                  struct error *err);

#endif
