/* SPDX-License-Identifier: Apache-2.0 */
/* validate_workload.h: what is wrong with a workload beside what its kind's reader finds. Internal
 * to stack/. */
#ifndef HERD_STACK_VALIDATE_WORKLOAD_H
#define HERD_STACK_VALIDATE_WORKLOAD_H

#include "stack/model/facts.h"
#include "stack/model/finding.h"
#include "workload/workload_object.h"

/* Its image, its resources, its GPUs: workload.* and gpu.* of rules.def. `read`: what the reader
 * found; where that was, nothing more is said. */
void validate_workload(const struct workload_object *object, const struct problems *read,
                       const struct facts *facts, struct findings *findings);

#endif
