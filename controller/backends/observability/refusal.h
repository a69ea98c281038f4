/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h: what is told of an object of Herd's that a cluster refuses to have set right. Pure. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_REFUSAL_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_REFUSAL_H

#include "controller/backends/observability/known.h"

/* Of a change that was answered with this status and error; its texts are in the arena. */
struct complaint refusal_of(struct arena *arena, const struct upkeep_change *change, int status,
                            const struct error *error);
bool refusal_is_of_monitor(const struct kube_request *request);
bool refusal_is_of_dashboard(const struct kube_request *request);

#endif
