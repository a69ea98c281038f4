/* SPDX-License-Identifier: Apache-2.0 */
/* plan_pods.c: what hangs is not Helm but what it waits for. Helm only says that its time was up;
 * the pods of the release say why: an image that cannot be pulled, a GPU that is not there. One
 * bounded request, and only for an operation that has run for long or failed by its timeout. */
#include "stack/plan/plan_parts.h"

/* Most releases are ready by then. */
#define LOOK_AFTER_MS 60000

/* In Helm 3 and 4: what ends a wait. */
static bool waited_in_vain(struct str words)
{
    return str_find(words, STR("context deadline exceeded"), 0) >= 0 ||
           str_find(words, STR("timed out waiting"), 0) >= 0;
}

/* By its log, or by the release where the log is gone. */
static bool failed_waiting(const struct slot *s, const struct observed_operation *op)
{
    return waited_in_vain(op->message) ||
           (s->app && s->app->phase == RELEASE_FAILED && waited_in_vain(s->app->description));
}

bool plan_asks_pods(struct planner *p, struct slot *s, const struct observed_operation *op)
{
    int64_t look_at = s->now.requested_ms + LOOK_AFTER_MS;

    if (op->uninstall || op->pods_read || p->hold_reason.len || s->chart == NONE)
        return false;
    if (op->state == OPERATION_FAILED ? !failed_waiting(s, op) : !s->now.requested_ms)
        return false;
    if (op->state == OPERATION_RUNNING && p->observed->now_ms < look_at) {
        plan_wake(p, look_at);
        return false;
    }

    struct action *action = plan_act(p, s, ACTION_READ_PODS);

    action->operation = op->name;
    action->failed = op->state == OPERATION_FAILED;
    return true;
}

struct str plan_unready_message(struct planner *p, struct slot *s)
{
    const struct observed_health *health = &s->app->health;

    if (!health->pods_read && !p->hold_reason.len)
        plan_act(p, s, ACTION_READ_HEALTH)->operation = health->message;
    return health->pods.len
               ? str_fmt(p->arena, "%.*s; %.*s", STR_ARG(health->message), STR_ARG(health->pods))
               : health->message;
}

struct str plan_root_cause(struct planner *p, const struct observed_operation *op, struct str words)
{
    if (!op->pods.len)
        return words;
    return words.len ? str_fmt(p->arena, "%.*s; %.*s", STR_ARG(op->pods), STR_ARG(words))
                     : op->pods;
}
