/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h: which trace a review of a Stack belongs to. Pure.
 *
 * A change of the spec begins a trace, or goes on with the one whose traceparent comes with it as
 * STACK_TRACEPARENT; the Stack is stored with it, and without a change of the spec keeps what it
 * had. Ids are made of the review's uid, so an API server that asks again gets the same. */
#ifndef HERD_WEBHOOK_TRACE_H
#define HERD_WEBHOOK_TRACE_H

#include "kube/admission.h"
#include "text/trace.h"

struct review_trace {
    struct trace_context context; /* of the review's own span */
    struct str parent_id;         /* "" = the trace begins with it */
    struct str stored;            /* what STACK_TRACEPARENT is to say; "" = nothing */
    bool changes;                 /* the spec changes: worth telling also if it is accepted */
};

/* `route` is a word; `old_object` is absent but on an update. */
struct review_trace review_trace_of(struct arena *arena, const char *route,
                                    const struct admission_request *request, struct json old_object,
                                    bool changes);

#endif
