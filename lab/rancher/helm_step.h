/* SPDX-License-Identifier: Apache-2.0 */
/* helm_step.h: the life of an operation that the helm program executes, a pure step function.
 *
 *     accepted -> waiting -> running (helm's process) -> ended -> forgotten
 *
 * As in life, nobody carries on what a process began: one that is gone without an end, because the
 * lab was killed or its pod was deleted, leaves whatever it left behind. */
#ifndef HERD_LAB_RANCHER_HELM_STEP_H
#define HERD_LAB_RANCHER_HELM_STEP_H

#include "lab/downstream/helm.h"
#include "lab/rancher/step.h"

struct helm_task_view {
    enum task_stage stage; /* of the Operation */
    bool pod_there;
    struct helm_view helm;
};

/* Of the effects of step.h: none, those of Operations, and forget. EFFECT_OPERATION_RUNNING starts
 * helm. */
struct task_step helm_step(const struct task *task, const struct helm_task_view *view,
                           int64_t now_ms);

/* How long a process may run: Helm's own timeout counts for each thing it waits for, which are
 * hooks before, the workloads, and hooks after. */
int64_t helm_time_ms(int64_t timeout_ms);
/* As xargs in Rancher's pod ends: 1 to 125 become 123, a signal 125. */
int helm_exit_code(const struct helm_view *helm);

#endif
