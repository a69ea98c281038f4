/* SPDX-License-Identifier: Apache-2.0 */
/* workload_events.h: what happened to a workload between two statuses, as Events for people. Pure.
 *
 * A condition whose reason warns is bad: Accepted, Applied and ScalingActive are told when they
 * become bad, while they are bad for another cause, and when they are good again; that they are
 * good from the beginning is no news. Then the phase, or within a phase that Ready turned. What was
 * said already in the same words is not said twice. */
#ifndef HERD_WORKLOAD_EVENTS_H
#define HERD_WORKLOAD_EVENTS_H

#include "kube/event.h"
#include "workload/workload_kind.h"

struct workload_reason {
    struct str name;
    bool warning;
    struct str sentence;
};
/* A row of workload_reasons.def, sla_reasons.def or kube/child_reasons.def; NULL: of none. */
const struct workload_reason *workload_reason_find(struct str name);

/* Of a status; without one it is that of an object of which nothing was made yet. */
struct str workload_phase_word(const struct workload_kind *kind, struct json status);

/* `object` with the status before; at most four. In the arena, or borrowed from both. */
struct kube_events workload_events(struct arena *arena, const struct workload_kind *kind,
                                   struct json object, struct json after,
                                   struct str resource_version);

#endif
