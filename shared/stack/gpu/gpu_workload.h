/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_workload.h: how many GPUs a workload asks of its cluster. Pure. */
#ifndef HERD_STACK_GPU_WORKLOAD_H
#define HERD_STACK_GPU_WORKLOAD_H

#include "stack/gpu/gpu_demand.h"
#include "workload/workload_object.h"

/* What a pod asks for, and all pods that there may be. The chart of each is 0. In the arena. */
struct gpu_asks gpu_workload_asks(struct arena *arena, const struct workload *workload);

#endif
