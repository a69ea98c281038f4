/* SPDX-License-Identifier: Apache-2.0 */
/* plan_running.c: a Helm operation of the release runs: whose it is, and whether it still may.
 *
 * Nothing is done to a release while an operation of it runs; it is only told how that goes. One
 * of ours is late when its pod has not begun; any is stuck when it outlives its bound by far.
 * Rancher takes it away after an hour, unless its part in that cluster is out of order, too. */
#include "stack/plan/plan_parts.h"

#include "base/duration.h"
#include "stack/model/limits.h"
#include "text/time.h"

enum deployment_state plan_going_state(enum asked asked, const struct slot *s)
{
    if (asked == ASKED_NOTHING)
        return s->running && s->running->uninstall ? DEPLOYMENT_UNINSTALLING : DEPLOYMENT_DEPLOYING;
    return asked == ASKED_UNINSTALL ? DEPLOYMENT_UNINSTALLING : DEPLOYMENT_DEPLOYING;
}

struct str plan_way_to_let_go(struct planner *p, const struct slot *s)
{
    if (s->chart != NONE || (!p->deleting && plan_cluster(p, s)->targeted))
        return STR("");
    return str_fmt(p->arena,
                   "abandon the cluster with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                   STR_ARG(s->now.cluster_id));
}

/* A release that goes waits for its operation: since when. */
static struct str way_on(struct planner *p, const struct slot *s)
{
    int64_t since_ms = s->now.requested_ms ? s->now.requested_ms : s->running->created_ms;

    if (s->chart != NONE)
        return STR("");
    return str_fmt(p->arena, "; since %.*s, and the release is removed when it ends",
                   STR_ARG(time_rfc3339(p->arena, since_ms / 1000 * 1000)));
}

/* The same of an operation that is stuck, and how to go on without it. To end one that goes well
 * would only break the release. */
static struct str remedy(struct planner *p, const struct slot *s)
{
    struct str let_go = plan_way_to_let_go(p, s);

    if (s->chart != NONE)
        return STR("");
    return str_fmt(p->arena, "%.*s: to end it now, delete its pod%s%.*s", STR_ARG(way_on(p, s)),
                   let_go.len ? ", or " : "", STR_ARG(let_go));
}

/* How long it may run. What somebody else asked for, or we for a chart that the spec does not have
 * any more, may run for as long as Rancher lets it. */
static int64_t bound_of(const struct planner *p, const struct slot *s)
{
    const struct chart *chart = plan_chart_named(p, s->now.chart_name);
    int64_t timeout = 0;

    if (!plan_is_own(p, s->running) || (!chart && !s->running->uninstall))
        return LIMIT_OPERATION_TIMEOUT_MAX;
    if (s->running->uninstall)
        return LIMIT_UNINSTALL_TIMEOUT;
    if (!duration_parse(chart->timeout, &timeout) || timeout <= 0)
        return LIMIT_HELM_TIMEOUT;
    return timeout < LIMIT_OPERATION_TIMEOUT_MAX ? timeout : LIMIT_OPERATION_TIMEOUT_MAX;
}

/* Since when it is known to run, by our clock: since it was asked for, else since it was told of.
 * One that was called stuck stays so until it ends. */
static int64_t known_since(const struct planner *p, const struct slot *s)
{
    const struct release_state *b = s->before;

    if (s->now.requested_ms)
        return s->now.requested_ms;
    if (b && str_eq(b->reason, REASON(OPERATION_STUCK)))
        return 0;
    return b && (str_eq(b->reason, REASON(WAITING_FOR_OPERATION)) ||
                 str_eq(b->reason, REASON(OPERATION_RUNNING)))
               ? b->last_updated_ms
               : p->observed->now_ms;
}

/* What we asked for before somebody's operation began is remembered by the state. */
static enum deployment_state state_of(const struct planner *p, const struct slot *s,
                                      enum asked asked)
{
    return asked == ASKED_NOTHING && !plan_is_own(p, s->running) ? DEPLOYMENT_WAITING
                                                                 : plan_going_state(asked, s);
}

static bool is_stuck(struct planner *p, struct slot *s, enum asked asked, struct str why)
{
    int64_t bound = bound_of(p, s);
    int64_t stuck_at = known_since(p, s) + bound + LIMIT_OPERATION_STUCK;

    if (p->observed->now_ms < stuck_at) {
        plan_wake(p, stuck_at);
        return false;
    }
    plan_set(s, state_of(p, s, asked), REASON(OPERATION_STUCK),
             str_fmt(p->arena,
                     "operation %.*s%s has been running for longer than %s%.*s%s%.*s; see the pod "
                     "of that name in cattle-system%.*s",
                     STR_ARG(s->running->name),
                     plan_is_own(p, s->running) ? "" : ", which the Stack did not request,",
                     plan_is_own(p, s->running) ? "its bound of " : "",
                     STR_ARG(time_short(p->arena, bound)), why.len ? ": " : "", STR_ARG(why),
                     STR_ARG(remedy(p, s))));
    return true;
}

static void follow_foreign(struct planner *p, struct slot *s, enum asked asked)
{
    struct str why = s->running->message;

    if (is_stuck(p, s, asked, why))
        return;
    plan_set(s, state_of(p, s, asked), REASON(WAITING_FOR_OPERATION),
             str_fmt(p->arena,
                     "%s operation %.*s is running, which the Stack did not request%s%.*s; waiting "
                     "for it to end%.*s",
                     s->running->uninstall ? "uninstall" : "upgrade", STR_ARG(s->running->name),
                     why.len ? ": " : "", STR_ARG(why), STR_ARG(way_on(p, s))));
}

/* Its pod has not begun, and should have. */
static bool is_late(struct planner *p, struct slot *s, enum asked asked, struct str why)
{
    int64_t late_at = s->now.requested_ms + LIMIT_OPERATION_START;

    if (!s->now.requested_ms || !s->running->message.len)
        return false;
    if (p->observed->now_ms < late_at) {
        plan_wake(p, late_at);
        return false;
    }
    plan_set(
        s, state_of(p, s, asked), REASON(OPERATION_NOT_STARTED),
        str_fmt(p->arena,
                "operation %.*s has not started: %.*s; perhaps no node accepts it, or its image "
                "cannot be pulled: see the pod of that name in cattle-system%.*s",
                STR_ARG(s->running->name), STR_ARG(why), STR_ARG(way_on(p, s))));
    return true;
}

static void follow_own(struct planner *p, struct slot *s, enum asked asked)
{
    struct str why = plan_root_cause(p, s->running, s->running->message);
    bool begun = !s->running->message.len;

    if (begun)
        plan_asks_pods(p, s, s->running);
    if (is_stuck(p, s, asked, why) || is_late(p, s, asked, why))
        return;
    plan_set(s, state_of(p, s, asked), REASON(OPERATION_RUNNING),
             str_fmt(p->arena, "%s runs as operation %.*s%s%.*s%.*s",
                     s->running->uninstall ? "helm uninstall" : "helm upgrade --install",
                     STR_ARG(s->running->name), begun && why.len ? ": " : "",
                     STR_ARG(begun ? why : STR("")), STR_ARG(way_on(p, s))));
}

void plan_follow_running(struct planner *p, struct slot *s, enum asked asked)
{
    bool counted =
        asked == ASKED_NOTHING && s->before && plan_last_known(s->before) == DEPLOYMENT_FAILED;

    if (!plan_is_own(p, s->running)) {
        /* Somebody's operation shortens no wait of ours. */
        if (asked != ASKED_NOTHING || !plan_keep_failure(p, s))
            follow_foreign(p, s, asked);
    } else if (counted && plan_is_accounted(s, s->running)) {
        /* It failed and was counted already: what is seen is older than the status, as it is for a
         * new leader whose caches lag. Its failure stands. */
        s->now.retry_ms = s->before->retry_ms;
        plan_set(s, DEPLOYMENT_FAILED, s->before->reason, s->before->message);
    } else {
        follow_own(p, s, asked);
    }
}
