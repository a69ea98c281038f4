/* SPDX-License-Identifier: Apache-2.0 */
/* plan_follow.c: what was asked for earlier is accounted for, before anything new is decided.
 *
 * A request stands in the status before it is sent (requested_ms), so after a crash nobody knows
 * whether it was sent, took effect, or failed. The world tells:
 *   an operation of the release runs            it goes on
 *   the App is as it was asked for              done
 *   a newer operation failed                    its log is read, then it counts as a failed attempt
 *   a newer operation ended well, and somebody  done, and changed by somebody else
 *     has changed the release since
 *   a newer operation ended well, App not yet   wait settle_ms, then a failed attempt
 *   the same, its revision is pending, and its  the App is late: wait on
 *     log proves that it ended by itself
 *   nothing is seen, though it would show by    it was lost, and may be asked for again
 *     now (plan_shows_by)
 * "Newer" is: another one than the operation that was accounted for last; and only those that this
 * Stack asked for count (their stamp says so). The state machine is that of
 * docs/protocols/rancher.md 6 and 11.2; the App decides, never the Operation alone: one whose pod
 * vanished looks like one that ended well. That its log is still there tells them apart. */
#include "stack/plan/plan_parts.h"

static enum asked asked_of(const struct slot *s)
{
    if (!s->now.requested_ms)
        return ASKED_NOTHING;
    switch (plan_last_known(s->before)) {
    case DEPLOYMENT_UNINSTALLING:
        return ASKED_UNINSTALL;
    case DEPLOYMENT_WAITING:
        return ASKED_REPO;
    case DEPLOYMENT_UNKNOWN:
    case DEPLOYMENT_PENDING:
    case DEPLOYMENT_DEPLOYING:
    case DEPLOYMENT_DEPLOYED:
    case DEPLOYMENT_NOT_READY:
    case DEPLOYMENT_FAILED:
    case DEPLOYMENT_REMOVED:
        break;
    }
    return str_eq(s->before->reason, REASON(REMOVING_LOCK)) ? ASKED_LOCK : ASKED_UPGRADE;
}

/* When the state and reason that the status has began. */
static int64_t since(const struct planner *p, const struct slot *s, struct str reason)
{
    return s->before && str_eq(s->before->reason, reason) ? s->before->last_updated_ms
                                                          : p->observed->now_ms;
}

/* A newer operation failed. */
static void follow_failed(struct planner *p, struct slot *s, enum asked asked)
{
    const struct observed_operation *op = s->operation;
    bool removal = asked == ASKED_UNINSTALL;
    struct str detail = op->message;

    if (!op->log_read && !p->hold_reason.len) {
        struct action *action = plan_act(p, s, ACTION_READ_LOG);

        action->operation = op->name;
        plan_set(
            s, plan_going_state(asked, s), REASON(OPERATION_FAILED),
            str_fmt(p->arena, "operation %.*s failed; its log is being read", STR_ARG(op->name)));
        return;
    }
    if (plan_asks_pods(p, s, op)) {
        plan_set(
            s, plan_going_state(asked, s), REASON(OPERATION_FAILED),
            str_fmt(p->arena, "operation %.*s failed; its pods are being read", STR_ARG(op->name)));
        return;
    }
    /* " exit code: 123" is all that an Operation says by itself; the release may know more. */
    if (s->app && s->app->phase == RELEASE_FAILED && s->app->description.len &&
        (!detail.len || str_starts(str_trim(detail), STR("exit code"))))
        detail = s->app->description;
    detail = plan_root_cause(p, op, plan_words_of_helm(detail));
    plan_fail(p, s, removal ? STR("uninstall") : plan_attempted(s), detail);
}

/* Whether the revision is one that our request made, or a later one: a view that is older than the
 * request shows an earlier one. A release that was taken away meanwhile begins to count anew. */
static bool is_later(const struct slot *s)
{
    return s->app->revision > s->now.revision || s->app->stamped_revision == s->now.revision + 1;
}

/* Whether there is an operation that was not accounted for yet. */
static bool has_news(const struct slot *s)
{
    return s->operation && !plan_is_accounted(s, s->operation);
}

static bool has_failed(const struct slot *s)
{
    return has_news(s) && s->operation->state == OPERATION_FAILED;
}

/* Whether the App shows that what was asked for was done. */
static bool is_done(const struct planner *p, const struct slot *s, enum asked asked)
{
    const struct observed_release *app = s->app;

    switch (asked) {
    case ASKED_UNINSTALL:
        /* That nothing is there is believed when its operation was seen, or after a while. */
        return (!app || app->revision != s->now.revision) &&
               (has_news(s) || p->observed->now_ms >= plan_shows_by(p, s, s->now.requested_ms));
    case ASKED_LOCK:
        return !app || app->phase != RELEASE_PENDING || app->revision != s->now.revision;
    case ASKED_UPGRADE:
        if (!app || !is_later(s) || !plan_is_ours(p, app))
            return false;
        /* Or it was overtaken, and is not known to have failed. */
        return (app->phase == RELEASE_DEPLOYED && str_eq(app->digest, s->now.digest)) ||
               (!plan_has_stamp(app) && str_eq(app->marked_digest, s->now.digest) &&
                app->revision >= s->now.revision + 2 && !has_failed(s));
    case ASKED_NOTHING:
    case ASKED_REPO:
        break;
    }
    return false;
}

static void forget_request(struct planner *p, struct slot *s, bool news)
{
    s->now.requested_ms = 0;
    if (news)
        plan_account(p, s);
}

static void follow_repo(struct planner *p, struct slot *s)
{
    const struct observed_repo *repo =
        s->desired ? map_get(p->clusters[s->cluster].repos, s->desired->repo) : NULL;
    int64_t lost_at = plan_shows_by(p, s, s->now.requested_ms);

    if (s->chart == NONE ||
        (repo && repo->state != REPO_ABSENT && repo->state != REPO_NOT_SYNCED) ||
        plan_cluster(p, s)->backoff_reason.len || p->observed->now_ms >= lost_at) {
        forget_request(p, s, false);
        return;
    }
    plan_wake(p, lost_at);
    plan_set(s, DEPLOYMENT_WAITING, s->before->reason, s->before->message);
}

/* Ours made one revision and somebody else the next ones, before we looked. Without a stamp on the
 * newest one the App cannot tell whose the one before was. */
static bool is_overtaken(const struct slot *s, enum asked asked)
{
    return asked == ASKED_UPGRADE && s->operation->state == OPERATION_SUCCEEDED &&
           !s->operation->uninstall && s->app && !plan_has_stamp(s->app) &&
           s->app->revision >= s->now.revision + 2;
}

/* A look in between would have seen it deployed, and marked it. That is made up for, and stays
 * asked for until the mark is there: it is all that tells whose the release is. */
static void mark_overtaken(struct planner *p, struct slot *s, enum asked asked)
{
    if (!p->hold_reason.len)
        plan_act(p, s, ACTION_MARK)->digest = s->now.digest;
    plan_set(s, plan_going_state(asked, s), REASON(OPERATION_ENDED),
             str_fmt(p->arena, "operation %.*s ended, and somebody else made revision %u since",
                     STR_ARG(s->operation->name), s->app->revision));
}

/* The revision that our request made is shown as pending still. */
static bool is_pending_still(const struct slot *s, enum asked asked)
{
    return asked == ASKED_UPGRADE && s->operation->state == OPERATION_SUCCEEDED &&
           !s->operation->uninstall && s->app && s->app->phase == RELEASE_PENDING &&
           s->app->revision == s->now.revision + 1;
}

/* Its pod was taken away, and the release is stuck; or it ended well, and the App is late, which
 * may last on a busy cluster: then another try would take away what runs. True: that is decided. */
static bool wait_for_late_app(struct planner *p, struct slot *s, enum asked asked)
{
    const char *then =
        s->operation->proven ? "Rancher is late to show that it succeeded" : "its log is read next";

    if (!is_pending_still(s, asked) || (s->operation->log_read && !s->operation->proven))
        return false;
    if (!s->operation->log_read && !p->hold_reason.len)
        plan_act(p, s, ACTION_READ_LOG)->operation = s->operation->name;
    plan_set(s, plan_going_state(asked, s), REASON(OPERATION_ENDED),
             str_fmt(p->arena,
                     "operation %.*s ended, and the release is still shown as pending; %s",
                     STR_ARG(s->operation->name), then));
    return true;
}

/* A newer operation ended, and did not fail. */
static void follow_ended(struct planner *p, struct slot *s, enum asked asked)
{
    int64_t until = plan_shows_by(p, s, since(p, s, REASON(OPERATION_ENDED)) + 1000);

    if (is_overtaken(s, asked) && !s->operation->log_read) {
        if (!p->hold_reason.len)
            plan_act(p, s, ACTION_READ_LOG)->operation = s->operation->name;
        plan_set(s, plan_going_state(asked, s), REASON(OPERATION_ENDED),
                 str_fmt(p->arena,
                         "operation %.*s ended, and somebody else made revision %u since; its log "
                         "is being read",
                         STR_ARG(s->operation->name), s->app->revision));
        return;
    }
    if (p->observed->now_ms < until) {
        plan_wake(p, until);
        plan_set(s, plan_going_state(asked, s), REASON(OPERATION_ENDED),
                 str_fmt(p->arena, "operation %.*s ended; waiting to see the release change",
                         STR_ARG(s->operation->name)));
        return;
    }
    if (s->chart == NONE && asked == ASKED_UPGRADE) {
        forget_request(p, s, true); /* its outcome is of no interest: it only goes now */
        return;
    }
    if (wait_for_late_app(p, s, asked))
        return;
    plan_fail(p, s, asked == ASKED_UNINSTALL ? STR("uninstall") : plan_attempted(s),
              s->app && s->app->description.len
                  ? str_fmt(p->arena, "operation %.*s ended without effect; the release says: %.*s",
                            STR_ARG(s->operation->name), STR_ARG(s->app->description))
                  : str_fmt(p->arena, "operation %.*s ended without effect",
                            STR_ARG(s->operation->name)));
}

/* Nothing newer is to be seen. */
static void follow_silence(struct planner *p, struct slot *s, enum asked asked)
{
    int64_t lost_at = plan_shows_by(p, s, s->now.requested_ms);
    const struct observed_release *app = s->app;

    if (p->observed->now_ms < lost_at) {
        plan_wake(p, lost_at);
        if (str_eq(s->before->reason, REASON(RELEASE_CONFLICT)))
            plan_set(
                s, plan_going_state(asked, s), REASON(UPGRADING),
                STR("the release in the way was removed; waiting for the result of the request"));
        else
            plan_set(s, plan_going_state(asked, s), s->before->reason, s->before->message);
        return;
    }
    if (asked == ASKED_UPGRADE && app && app->phase == RELEASE_FAILED &&
        str_eq(app->digest, s->now.digest) && is_later(s) && s->chart != NONE) {
        plan_fail(p, s, plan_attempted(s), app->description);
        return;
    }
    forget_request(p, s, false);
}

static void follow_request(struct planner *p, struct slot *s, enum asked asked)
{
    bool news = has_news(s);

    if (is_done(p, s, asked)) {
        forget_request(p, s, news);
        s->now.revision = plan_revision(s);
        if (asked == ASKED_UPGRADE)
            s->now.attempts = 0;
    } else if (has_failed(s)) {
        if (s->chart == NONE && asked == ASKED_UPGRADE)
            forget_request(p, s, true);
        else
            follow_failed(p, s, asked);
    } else if (news) {
        follow_ended(p, s, asked);
    } else {
        follow_silence(p, s, asked);
    }
}

/* A release that failed in a way that the status does not know of: its writer died, or somebody
 * else ran Helm. Counted once: then the status has its digest and an attempt. */
static bool is_unaccounted(const struct planner *p, const struct slot *s)
{
    return s->desired && s->app && s->app->phase == RELEASE_FAILED && plan_is_ours(p, s->app) &&
           str_eq(s->app->digest, s->desired->digest) &&
           !(s->before && str_eq(s->before->digest, s->app->digest) &&
             (s->before->attempts > 0 || s->before->forgiven));
}

static void follow_unasked(struct planner *p, struct slot *s)
{
    bool news = has_news(s);

    if (is_unaccounted(p, s)) {
        s->now.digest = s->desired->digest;
        s->now.attempts = 0;
        if (has_failed(s))
            follow_failed(p, s, ASKED_NOTHING);
        else
            plan_fail(p, s, plan_attempted(s), s->app->description);
        return;
    }
    if (news && s->operation->state != OPERATION_RUNNING)
        plan_account(p, s);
    /* A rejection was counted by who knows no policy (stack_status_note_failure). */
    if (s->before && plan_last_known(s->before) == DEPLOYMENT_FAILED && plan_is_final(p, s))
        s->now.terminal = true;
}

/* An App may be as wanted slightly before its operation ends. */
static bool is_enough(const struct planner *p, const struct slot *s, enum asked asked)
{
    const struct observed_release *app = s->app;

    return s->desired && app && app->phase == RELEASE_DEPLOYED && plan_is_ours(p, app) &&
           str_eq(app->digest, s->desired->digest) && !s->running->uninstall &&
           (asked == ASKED_NOTHING || is_done(p, s, asked));
}

/* Another Stack was faster. It is told at once; our request stays accounted for until it is known
 * to have ended, or cannot take effect any more. */
static bool follow_conflict(struct planner *p, struct slot *s, enum asked asked)
{
    bool news = has_news(s);
    int64_t lost_at = plan_shows_by(p, s, s->now.requested_ms);

    if (asked != ASKED_UPGRADE || s->chart == NONE || !plan_is_of_another_stack(p, s))
        return false;
    if (!s->running && (news || p->observed->now_ms >= lost_at))
        forget_request(p, s, news);
    else if (!s->running)
        plan_wake(p, lost_at);
    plan_report_conflict(p, s);
    return true;
}

static void forgive(struct planner *p, struct slot *s)
{
    bool forgiven = plan_is_forgiven(p, s);

    if (forgiven)
        plan_forgive(s);
    if (forgiven || p->retried)
        s->now.terminal = false;
}

void plan_follow(struct planner *p, struct slot *s)
{
    enum asked asked;

    forgive(p, s);
    if (plan_cluster(p, s)->state != CLUSTER_READ) {
        plan_follow_unseen(p, s);
        return;
    }
    if (s->before && s->before->state == DEPLOYMENT_UNKNOWN)
        plan_see_again(p, s);
    asked = asked_of(s);
    if (asked == ASKED_REPO) {
        follow_repo(p, s);
        if (s->decided)
            return;
        asked = ASKED_NOTHING; /* of the release itself */
    }
    if (s->operation && !plan_is_accounted(s, s->operation) && s->operation->proven &&
        is_overtaken(s, asked) && !is_done(p, s, asked) && !s->app->mark_trouble.len) {
        mark_overtaken(p, s, asked);
        return;
    }
    if (follow_conflict(p, s, asked))
        return;
    /* What is done to a release that is not ours is no business of this Stack. */
    if (asked == ASKED_NOTHING && plan_is_in_the_way(p, s)) {
        if (s->chart != NONE && !plan_may_adopt(p, s))
            plan_report_conflict(p, s);
        return;
    }
    if (s->running && !is_enough(p, s, asked)) {
        plan_follow_running(p, s, asked);
        return;
    }
    if (asked == ASKED_NOTHING)
        follow_unasked(p, s);
    else
        follow_request(p, s, asked);
    /* What was asked for may have been something else than what is wanted now. */
    if (!s->decided)
        forgive(p, s);
}
