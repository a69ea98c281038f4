/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h: webhooks that may change or reject what is written.
 * Source: k8s.io/apiserver/pkg/admission/plugin/webhook. */
#ifndef HERD_LAB_APISERVER_ADMISSION_H
#define HERD_LAB_APISERVER_ADMISSION_H

#include "lab/apiserver/request.h"
#include "lab/apiserver/webhook_caller.h"

/* Call the mutating webhooks that match, one after another. *object may become another tree, in
 * shape again. `old` is NULL on a creation, *object on a deletion. */
int admission_mutate(struct request *rq, const struct value *old, struct value **object);
/* Ask the policies, and then call the validating webhooks that match, all at once. */
int admission_validate(struct request *rq, const struct value *old, const struct value *object);

/* What is written, as webhooks are told. */
struct admission_facts {
    struct request *rq;
    const char *operation; /* CREATE UPDATE DELETE */
    const struct value *old, *object;
};

/* Rules, selectors and conditions of one webhook. -1: a condition is an error, and none is false;
 * *ret_why says which. */
int admission_matches(const struct admission_facts *facts, struct json hook, bool *ret_matches,
                      struct str *ret_why);

/* Selectors and rules of a policy, or of its binding. */
bool admission_constrained(const struct admission_facts *facts, struct json constraints);

/* The AdmissionReview to send. */
struct str review_write(const struct admission_facts *facts, struct str uid);

struct review_answer {
    bool allowed;
    struct json status; /* metav1.Status; may be absent */
    struct str patch;   /* RFC 6902 text; "" = none */
    struct str_list warnings;
};
/* -1 and why the answer is not one. */
int review_read(struct arena *arena, struct str body, struct str uid,
                struct review_answer *ret_answer, struct error *err);
/* What an HTTP answer that is not 200 comes down to, in the words of the API server's client: a
 * Status document's own message, else a sentence for each code. */
struct str review_http_error(struct arena *arena, int status, struct str content_type,
                             struct str body);

#endif
