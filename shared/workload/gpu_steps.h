/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_steps.h: from the pods of a StatefulSet as they are to those that are wanted, without ever
 * holding more GPUs than the budget allows. Pure.
 *
 * Pods that another number of GPUs replaces go before those come: first fewer pods, then the new
 * template, then more pods. A pod counts until it is gone. */
#ifndef HERD_WORKLOAD_GPU_STEPS_H
#define HERD_WORKLOAD_GPU_STEPS_H

#include "base/list.h"

struct gpu_pod {
    int64_t ordinal;
    int64_t gpus;
};
LIST_DEFINE(gpu_pods, struct gpu_pod)

struct gpu_state {
    int64_t replicas; /* of the StatefulSet; -1 = there is none */
    int64_t gpus;     /* of each pod, by its template */
    struct gpu_pods pods;
};

struct gpu_step {
    int64_t replicas;
    int64_t gpus; /* of each pod: as before while pods have to go first */
};

/* The next step to `wanted`; `budget` 0 = none. If all pods that a step makes are made before any
 * goes, they and those that are there still fit. */
struct gpu_step gpu_step_next(const struct gpu_state *now, struct gpu_step wanted, int64_t budget);

#endif
