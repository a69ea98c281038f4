/* SPDX-License-Identifier: Apache-2.0 */
/* spans.h: what ended with a Stack between two statuses, as spans of the trace of its spec
 * (docs/tracing.md). Pure.
 *
 * Their beginnings are in the status, and their ids are made of what they are about: a restart
 * loses none, and what is told twice is one. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_SPANS_H
#define HERD_CONTROLLER_RECONCILERS_STACK_SPANS_H

#include "stack/plan/plan.h"
#include "text/otlp.h"

/* `before` as it was stored, `after` as `plan` made it; both borrowed, as is what they borrow. None
 * of a Stack without a trace.
 *
 * Each Helm operation that is accounted for now is a span, and so is the start of the workloads
 * behind it; both are parts of the rollout's, which is one when the Stack becomes Deployed or
 * Failed, or is gone. */
struct otlp_spans stack_spans(struct arena *arena, const struct stack *stack,
                              const struct stack_status *before, const struct stack_status *after,
                              const struct plan *plan, int64_t now_ms);

#endif
