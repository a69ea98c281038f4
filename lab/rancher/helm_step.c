/* SPDX-License-Identifier: Apache-2.0 */
/* helm_step.c: rules in order; the first that holds decides. */
#include "lab/rancher/helm_step.h"

enum { LOOK_MS = 1000, GRACE_MS = 30 * 1000, HELM_TIMEOUT_MS = 300 * 1000, WAITS = 3 };

static struct task_step wait_until(int64_t next_ms)
{
    return (struct task_step){ .effect = EFFECT_NONE, .next_ms = next_ms };
}

static struct task_step effect(enum task_effect which)
{
    return (struct task_step){ .effect = which };
}

struct task_step helm_step(const struct task *task, const struct helm_task_view *view,
                           int64_t now_ms)
{
    const struct task_times *times = &task->times;

    if (view->stage == STAGE_ABSENT || now_ms >= times->expire_ms)
        return effect(EFFECT_FORGET);
    if (view->stage == STAGE_ENDED)
        return wait_until(times->expire_ms);
    if (!view->pod_there)
        return effect(EFFECT_OPERATION_KILLED);
    if (view->stage < STAGE_RUNNING && now_ms < times->waiting_ms)
        return wait_until(times->waiting_ms);
    if (task->fault == FAULT_UNSCHEDULABLE)
        return wait_until(times->expire_ms);
    if (view->stage < STAGE_RUNNING &&
        (now_ms < times->running_ms || task->fault == FAULT_IMAGE_PULL)) {
        if (view->stage < STAGE_WAITING)
            return effect(EFFECT_OPERATION_WAITING);
        return wait_until(task->fault == FAULT_IMAGE_PULL ? times->expire_ms : times->running_ms);
    }
    if (view->stage < STAGE_RUNNING)
        return effect(EFFECT_OPERATION_RUNNING);
    switch (view->helm.state) {
    case HELM_NONE: /* its process died with the lab */
        return effect(EFFECT_OPERATION_KILLED);
    case HELM_QUEUED:
    case HELM_RUNNING: /* its end wakes; a pod's end does not */
        return wait_until(now_ms + LOOK_MS);
    case HELM_ENDED:
        return effect(view->helm.exit_code ? EFFECT_OPERATION_FAILED : EFFECT_OPERATION_DONE);
    }
    return wait_until(now_ms + LOOK_MS);
}

int64_t helm_time_ms(int64_t timeout_ms)
{
    return WAITS * (timeout_ms ? timeout_ms : HELM_TIMEOUT_MS) + GRACE_MS;
}

int helm_exit_code(const struct helm_view *helm)
{
    if (helm->exit_code >= 128)
        return 125;
    return helm->exit_code >= 126 ? helm->exit_code : helm->exit_code ? 123 : 0;
}
