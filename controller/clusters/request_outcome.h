/* SPDX-License-Identifier: Apache-2.0 */
/* request_outcome.h: what the answer to a request through Rancher proves.
 *
 * A request was done; or it was rejected, and so certainly changed nothing; or its answer was lost,
 * and nobody knows. This decides whether it may be repeated at once or only after a while. */
#ifndef HERD_CONTROLLER_CLUSTERS_REQUEST_OUTCOME_H
#define HERD_CONTROLLER_CLUSTERS_REQUEST_OUTCOME_H

#include "runtime/client.h"

enum request_result {
    REQUEST_DONE,
    REQUEST_REJECTED, /* definitely without effect */
    REQUEST_UNKNOWN,  /* it may have had its effect */
};

/* Borrowed for the callback. */
struct request_outcome {
    enum request_result result;
    struct str text;        /* of DONE: what the request asked for, "" if that is nothing */
    struct error error;     /* of the two others */
    int64_t retry_after_ms; /* -1: Rancher did not say */
};

/* Called once, from the loop, never from within the request. */
typedef void request_done(void *context, const struct request_outcome *outcome);

/* Of DONE the text is "": what a body says is its reader's to tell. */
struct request_outcome request_outcome_of(const struct kube_answer *answer);
/* For kube_client_options.read_error of clients that talk to Rancher. */
void request_read_error(int http_status, struct str body, struct error *ret_error);

#endif
