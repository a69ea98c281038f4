/* SPDX-License-Identifier: Apache-2.0 */
/* observability.h: what a Stack's status says of its monitoring, from what was observed. Pure.
 *
 * Nothing is concluded from silence: what nobody reported is absent, and while a cluster was not
 * asked yet (Herd has just started) what the status says stands. */
#ifndef HERD_STACK_PLAN_OBSERVABILITY_H
#define HERD_STACK_PLAN_OBSERVABILITY_H

#include "stack/model/observed.h"

/* The condition ObservabilityConfigured. */
struct observability_verdict {
    enum condition_status status;
    struct str reason;
    struct str message;
};

/* Fill in `observability` of the status, and metrics and GPUs of its deployments, which are those
 * of the plan. Of a Stack without observability all of it is emptied, and the verdict says nothing.
 */
struct observability_verdict observability_of(struct arena *arena, const struct stack *stack,
                                              const struct observed *observed,
                                              struct stack_status *status);

/* `percent` as the status says it, "75%"; `before`, unless it differs from that by 5 or more. */
struct str gpu_utilization_text(struct arena *arena, double percent, struct str before);

#endif
