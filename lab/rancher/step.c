/* SPDX-License-Identifier: Apache-2.0 */
/* step.c: one effect at a time; the caller performs it, looks again, and asks for the next. */
#include "lab/rancher/step.h"

enum {
    WAITING_MS = 2000,
    RUNNING_MS = 10000,
    WORK_MS = 12000,
    END_LAG_MS = 1000,
    EXPIRE_MS = 3600 * 1000,
    /* In a lab that runs faster than life, finished operations stay readable at least that long. */
    EXPIRE_LEAST_MS = 60 * 1000,
    EXPIRE_INSTANT_MS = 600 * 1000,
    HELM_TIMEOUT_MS = 300 * 1000,
};

struct task_times task_times_of(int64_t now_ms, const struct task_pace *pace)
{
    double scale = pace->scale;
    int64_t timeout_ms = pace->timeout_ms ? pace->timeout_ms : HELM_TIMEOUT_MS;
    /* Between 80 % and 120 % of the chart's time. */
    int64_t install_ms = pace->install_ms * (80 + (int64_t)(pace->chance % 41)) / 100;
    int64_t expire_ms = (int64_t)(EXPIRE_MS * scale);

    if (scale <= 0)
        return (struct task_times){ now_ms, now_ms, now_ms, now_ms,
                                    now_ms, now_ms, 0,      now_ms + EXPIRE_INSTANT_MS };
    return (struct task_times){
        .accepted_ms = now_ms,
        .waiting_ms = now_ms + (int64_t)(WAITING_MS * scale),
        .running_ms = now_ms + (int64_t)(RUNNING_MS * scale),
        .work_ms = now_ms + (int64_t)(WORK_MS * scale),
        .ready_ms = now_ms + (int64_t)((double)(WORK_MS + install_ms) * scale),
        .timeout_ms = now_ms + (int64_t)((double)(WORK_MS + timeout_ms) * scale),
        .end_lag_ms = (int64_t)(END_LAG_MS * scale),
        .expire_ms = now_ms + (expire_ms > EXPIRE_LEAST_MS ? expire_ms : EXPIRE_LEAST_MS),
    };
}

struct str task_error_verb(const struct task *task, bool first_install)
{
    if (task->action == TASK_INSTALL)
        return STR("INSTALLATION FAILED: ");
    if (task->action == TASK_UNINSTALL || first_install)
        return STR("");
    return STR("UPGRADE FAILED: ");
}

static struct task_step wait_until(int64_t next_ms)
{
    return (struct task_step){ .effect = EFFECT_NONE, .next_ms = next_ms };
}

static struct task_step effect(enum task_effect which, int64_t revision)
{
    return (struct task_step){ .effect = which, .revision = revision };
}

static struct task_step fail(enum fault_id failure)
{
    return (struct task_step){ .effect = EFFECT_OPERATION_FAILED, .failure = failure };
}

/* What Helm rejects before it stores anything (helm v3.20 pkg/action/{install,upgrade}.go). */
static enum fault_id rejection(const struct task *task, const struct task_view *view)
{
    const struct fault_row *row = fault_row(task->fault);
    enum release_status newest = view->newest_status;

    if (task->action == TASK_INSTALL && view->newest)
        return FAULT_NAME_IN_USE;
    if (view->newest && release_is_pending(newest))
        return FAULT_LOCKED;
    /* A failed or superseded revision may stand in for a deployed one; `upgrade --install` takes an
     * uninstalled one as none. */
    if (view->newest && !view->any_deployed && newest != RELEASE_FAILED &&
        newest != RELEASE_SUPERSEDED && newest != RELEASE_UNINSTALLED)
        return FAULT_NOT_DEPLOYED;
    if (row->stage == FAULT_ON_TASK && row->release == FAULT_BEFORE && row->end == FAULT_STALLED &&
        task->fault != FAULT_NONE && !(task->fault == FAULT_FOREIGN && task->take_ownership))
        return task->fault;
    return FAULT_NONE;
}

enum verdict { STILL, GOOD, BAD };

/* How the new revision does at `now_ms`. STILL sets `*ret_next_ms`, BAD `*ret_failure`. */
static enum verdict verdict_of(const struct task *task, const struct task_view *view,
                               int64_t now_ms, int64_t *ret_next_ms, enum fault_id *ret_failure)
{
    const struct fault_row *row = fault_row(task->fault);
    const struct task_times *times = &task->times;
    bool fails = row->release == FAULT_AFTER && row->exit_code != 0;
    bool ready_never = task->fault == FAULT_READINESS || !view->fits;

    if (row->release == FAULT_STUCK_PENDING) {
        *ret_next_ms = times->expire_ms;
        return STILL;
    }
    if (fails && task->fault != FAULT_READINESS) {
        *ret_failure = task->fault;
        *ret_next_ms = times->ready_ms;
        return now_ms >= times->ready_ms ? BAD : STILL;
    }
    if (!task->wait)
        return GOOD;
    if (!ready_never && times->ready_ms <= times->timeout_ms && now_ms >= times->ready_ms)
        return GOOD;
    *ret_failure = FAULT_READINESS;
    if (now_ms >= times->timeout_ms)
        return BAD;
    *ret_next_ms =
        !ready_never && times->ready_ms < times->timeout_ms ? times->ready_ms : times->timeout_ms;
    /* Room may come meanwhile: look again now and then. */
    if (!view->fits && *ret_next_ms > now_ms + 1000)
        *ret_next_ms = now_ms + 1000;
    return STILL;
}

/* The revision of this operation is there, or is to be made: `revision`, pending if it is there. */
static struct task_step carry_on(const struct task *task, const struct task_view *view,
                                 int64_t revision, int64_t now_ms)
{
    int64_t next_ms = now_ms;
    enum fault_id failure = FAULT_NONE;

    switch (verdict_of(task, view, now_ms, &next_ms, &failure)) {
    case GOOD:
        return effect(EFFECT_RELEASE_DEPLOYED, revision);
    case BAD:
        return (struct task_step){ EFFECT_RELEASE_FAILED, revision, failure, 0 };
    case STILL:
        break;
    }
    if (!view->ours)
        return effect(EFFECT_RELEASE_PENDING, revision);
    if (view->stage < STAGE_RUNNING)
        return effect(EFFECT_OPERATION_RUNNING, 0);
    if (fault_row(task->fault)->end == FAULT_KILLED) {
        if (now_ms >= task->times.ready_ms)
            return effect(EFFECT_OPERATION_KILLED, 0);
        next_ms = task->times.ready_ms;
    }
    return wait_until(next_ms);
}

static struct task_step step_deploy(const struct task *task, const struct task_view *view,
                                    int64_t now_ms)
{
    const struct task_times *times = &task->times;
    enum fault_id failure = FAULT_NONE;
    const struct fault_row *row = fault_row(task->fault);

    if (!view->ours) {
        failure = rejection(task, view);
        if (failure != FAULT_NONE)
            return fail(failure);
        return carry_on(task, view, view->newest + 1, now_ms);
    }
    if (release_is_pending(view->ours_status))
        return carry_on(task, view, view->ours, now_ms);
    if (view->ours_status == RELEASE_FAILED)
        return fail(row->release == FAULT_AFTER && row->exit_code ? task->fault : FAULT_READINESS);

    /* Deployed; by now perhaps superseded or removed by somebody who came after. */
    int64_t released_ms = task->wait ? times->ready_ms : times->work_ms;

    if (now_ms < released_ms + times->end_lag_ms && view->ours_status == RELEASE_DEPLOYED)
        return wait_until(released_ms + times->end_lag_ms);
    return effect(EFFECT_OPERATION_DONE, 0);
}

static struct task_step step_uninstall(const struct task *task, const struct task_view *view,
                                       int64_t now_ms)
{
    const struct fault_row *row = fault_row(task->fault);

    if (row->stage == FAULT_ON_TASK && row->release == FAULT_BEFORE && row->exit_code &&
        row->end == FAULT_STALLED)
        return fail(task->fault);
    if (!task->at_revision)
        return fail(FAULT_UNINSTALL_STALE);
    /* Removed by us before a restart, or made anew by somebody else: not ours to touch again. */
    if (!view->newest || view->newest > task->at_revision ||
        (task->keep_history && view->newest_status == RELEASE_UNINSTALLED))
        return effect(EFFECT_OPERATION_DONE, 0);
    if (now_ms >= task->times.ready_ms)
        return effect(task->keep_history ? EFFECT_RELEASE_UNINSTALLED : EFFECT_RELEASE_REMOVED,
                      view->newest);
    if (view->newest_status != RELEASE_UNINSTALLING)
        return effect(EFFECT_RELEASE_UNINSTALLING, view->newest);
    return wait_until(task->times.ready_ms);
}

struct task_step task_step(const struct task *task, const struct task_view *view, int64_t now_ms)
{
    const struct task_times *times = &task->times;

    if (view->stage == STAGE_ABSENT || now_ms >= times->expire_ms)
        return effect(EFFECT_FORGET, 0);
    if (view->stage == STAGE_ENDED)
        return wait_until(times->expire_ms);
    if (!view->pod_there && !task->instant)
        return effect(EFFECT_OPERATION_KILLED, 0);
    if (now_ms < times->waiting_ms)
        return wait_until(times->waiting_ms);
    if (task->fault == FAULT_UNSCHEDULABLE)
        return wait_until(times->expire_ms);
    if (now_ms < times->running_ms || task->fault == FAULT_IMAGE_PULL) {
        if (view->stage < STAGE_WAITING)
            return effect(EFFECT_OPERATION_WAITING, 0);
        return wait_until(task->fault == FAULT_IMAGE_PULL ? times->expire_ms : times->running_ms);
    }
    if (now_ms < times->work_ms) {
        if (view->stage < STAGE_RUNNING)
            return effect(EFFECT_OPERATION_RUNNING, 0);
        return wait_until(times->work_ms);
    }
    return task->action == TASK_UNINSTALL ? step_uninstall(task, view, now_ms)
                                          : step_deploy(task, view, now_ms);
}
