/* plan_running.c: a Helm operation of the release runs: whose it is, and whether it still may.
 *
 * Nothing is done to a release while an operation of it runs; it is only told how that goes. One
 * of ours is late when its pod has not begun, and stuck when it outlives its bound by far. One that
 * somebody else asked for has no bound that is known here: it is waited for. */
#include "stack/plan_parts.h"

#include "base/limits.h"
#include "text/time.h"

enum deployment_state plan_going_state(enum asked asked, const struct slot *s)
{
    if (asked == ASKED_NOTHING)
        return s->running && s->running->uninstall ? DEPLOYMENT_UNINSTALLING
                                                   : DEPLOYMENT_DEPLOYING;
    return asked == ASKED_UNINSTALL ? DEPLOYMENT_UNINSTALLING : DEPLOYMENT_DEPLOYING;
}

/* A release that goes waits for its operation: since when, and how to let go of it. */
static struct str way_to_let_go(struct planner *p, const struct slot *s)
{
    int64_t since_ms = s->now.requested_ms ? s->now.requested_ms : s->running->created_ms;
    struct strbuf text = strbuf_new(p->arena, 256);

    if (s->chart != NONE)
        return STR("");
    strbuf_fmt(&text, "; since %.*s, and the release is removed when it ends: to end it now, "
               "delete its pod", STR_ARG(time_rfc3339(p->arena, since_ms / 1000 * 1000)));
    if (p->deleting || !plan_cluster(p, s)->targeted)
        strbuf_fmt(&text, ", or let go of the cluster with the annotation "
                   STACK_ABANDON_CLUSTERS ": \"%.*s\"", STR_ARG(s->now.cluster_id));
    return strbuf_str(&text);
}

/* What we asked for before is remembered by the state. */
static void follow_foreign(struct planner *p, struct slot *s, enum asked asked)
{
    struct str why = s->running->message;

    plan_set(s, asked == ASKED_NOTHING ? DEPLOYMENT_WAITING : plan_going_state(asked, s),
             REASON(WAITING_FOR_OPERATION),
             str_fmt(p->arena,
                     "%s operation %.*s runs, which the Stack did not ask for%s%.*s; it is waited "
                     "for%.*s",
                     s->running->uninstall ? "uninstall" : "upgrade", STR_ARG(s->running->name),
                     why.len ? ": " : "", STR_ARG(why), STR_ARG(way_to_let_go(p, s))));
}

void plan_follow_running(struct planner *p, struct slot *s, enum asked asked)
{
    if (!plan_is_own(p, s->running)) {
        /* Somebody's operation shortens no wait of ours. */
        if (asked != ASKED_NOTHING || !plan_keep_failure(p, s))
            follow_foreign(p, s, asked);
        return;
    }

    /* It failed and was counted already: what is seen is older than the status, as it is for a new
     * leader whose caches lag. Its failure stands. */
    if (asked == ASKED_NOTHING && s->before && plan_is_accounted(s, s->running) &&
        plan_last_known(s->before) == DEPLOYMENT_FAILED) {
        plan_set(s, DEPLOYMENT_FAILED, s->before->reason, s->before->message);
        return;
    }

    int64_t timeout = s->desired && s->desired->timeout_ms ? s->desired->timeout_ms
                                                           : LIMIT_HELM_TIMEOUT;
    int64_t stuck_at = s->now.requested_ms + timeout + LIMIT_OPERATION_STUCK;

    struct str name = s->running->name;
    struct str why = plan_root_cause(p, s->running, s->running->message);
    bool begun = !s->running->message.len;
    struct str let_go = way_to_let_go(p, s);

    if (begun)
        plan_asks_pods(p, s, s->running);

    if (s->now.requested_ms && p->observed->now_ms >= stuck_at) {
        plan_set(s, plan_going_state(asked, s), REASON(OPERATION_STUCK),
                 str_fmt(p->arena,
                         "operation %.*s has been running for longer than its bound of %.*s%s%.*s; "
                         "see its pod of that name in cattle-system%.*s",
                         STR_ARG(name), STR_ARG(time_short(p->arena, timeout)),
                         why.len ? ": " : "", STR_ARG(why), STR_ARG(let_go)));
        return;
    }
    if (s->now.requested_ms)
        plan_wake(p, stuck_at);
    if (s->now.requested_ms && !begun) {
        int64_t late_at = s->now.requested_ms + LIMIT_OPERATION_START;

        if (p->observed->now_ms >= late_at) {
            plan_set(s, plan_going_state(asked, s), REASON(OPERATION_NOT_STARTED),
                     str_fmt(p->arena,
                             "operation %.*s has not begun: %.*s; see its pod of that name in "
                             "cattle-system%.*s", STR_ARG(name), STR_ARG(why),
                             STR_ARG(let_go)));
            return;
        }
        plan_wake(p, late_at);
    }
    plan_set(s, plan_going_state(asked, s), REASON(OPERATION_RUNNING),
             str_fmt(p->arena, "%s runs as operation %.*s%s%.*s%.*s",
                     s->running->uninstall ? "helm uninstall" : "helm upgrade --install",
                     STR_ARG(name), begun && why.len ? ": " : "",
                     STR_ARG(begun ? why : STR("")), STR_ARG(let_go)));
}
