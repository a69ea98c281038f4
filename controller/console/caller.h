/* SPDX-License-Identifier: Apache-2.0 */
/* caller.h: requests to the API server on behalf of a caller of the console, from any thread.
 *
 * Who waits is a thread of the console's server; the request itself happens on the loop. A caller
 * is known by a bearer token, with which alone the request is made: the controller's own
 * credentials are used for a caller without a token, and only if that is allowed. */
#ifndef HERD_CONTROLLER_CONSOLE_CALLER_H
#define HERD_CONTROLLER_CONSOLE_CALLER_H

#include "runtime/client.h"

struct caller_requests;

struct caller_options {
    struct loop *loop;
    const struct kube_config *api; /* its credentials are for callers without a token */
    bool serves_anonymous;
    void (*on_request)(void *context, const char *verb, struct str plural, int status,
                       int64_t duration_ms);
    void *on_request_context;
};

struct caller_requests *caller_requests_create(const struct caller_options *options,
                                               struct error *err);
/* Nobody waits any more, and nobody will: each gets ERROR_CANCELLED. Any thread. */
void caller_requests_end(struct caller_requests *requests);
/* On the loop's thread, when no other thread can call any more. */
void caller_requests_free(struct caller_requests *requests);
AUTO_DEFINE(caller_requests_free, struct caller_requests *)
/* How many are under way. */
uint32_t caller_requests_count(struct caller_requests *requests);

struct caller_request {
    struct str token; /* "": the controller itself */
    const char *method;
    struct str path; /* with its query */
    struct str content_type;
    struct str body;
};

struct caller_answer {
    int status;          /* 0: none came */
    struct str body;     /* in the arena */
    struct str warnings; /* of Warning headers, one a line; in the arena */
    struct error error;  /* of what is not 2xx */
};

/* Wait for the answer; not on the loop's thread. `arena` has no budget (base/arena.h). */
struct caller_answer caller_ask(struct caller_requests *requests, struct arena *arena,
                                const struct caller_request *request);

#endif
