/* review.h: one AdmissionReview: bytes in, bytes out.
 *
 * Pure: it knows what the context says and nothing else, so the server, the offline review and the
 * tests give the same answers. Asking twice, dry or not, changes nothing. */
#ifndef HERD_WEBHOOK_REVIEW_H
#define HERD_WEBHOOK_REVIEW_H

#include "kube/admission.h"
#include "stack/policy_results.h"

enum review_route { REVIEW_MUTATE, REVIEW_VALIDATE };

struct review_context {
    const struct facts *facts;
    const struct rule_severities *severities;
    struct str receipt_key; /* "" = receipts are neither written nor looked at */
};

struct review_outcome {
    struct str answer; /* an AdmissionReview */
    bool allowed;
    enum admission_operation operation;
    struct str name;
    struct str namespace_;
    struct problems problems; /* what was found, for metrics */
    struct policy_outcomes policies; /* of those that are about the Stack, likewise */
};

/* -1: it is not a review of a v1 Stack or StackPolicy that can be judged; nothing was allowed. The
 * answer borrows from `body`. */
int review_answer(struct arena *arena, enum review_route route, struct str body,
                  const struct review_context *context, struct review_outcome *ret_outcome,
                  struct error *err);

const char *review_operation_name(enum admission_operation operation);

#endif
