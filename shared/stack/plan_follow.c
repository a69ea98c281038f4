/* plan_follow.c: what was asked for earlier is accounted for, before anything new is decided.
 *
 * A request stands in the status before it is sent (requested_ms), so after a crash nobody knows
 * whether it was sent, took effect, or failed. The world tells:
 *   an operation of the release runs            it goes on
 *   the App is as it was asked for              done
 *   a newer operation failed                    its log is read, then it counts as a failed attempt
 *   a newer operation ended well, App not yet   wait settle_ms, then a failed attempt
 *   nothing is seen until requested + settle    it was lost, and may be asked for again
 * "Newer" is: another one than the operation that was accounted for last. The state machine is that
 * of contracts/rancher.md 6 and 11.2; the App decides, never the Operation alone. */
#include "stack/plan_parts.h"

#include "base/flag.h"
#include "base/limits.h"
#include "kube/backoff.h"
#include "text/time.h"

/* What stands in the message of UNKNOWN between the trouble and what was known before. */
static const struct str last_known_mark = STR_INIT("; last known ");

#define DETAIL_BYTES_MAX 512

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
    case DEPLOYMENT_FAILED:
    case DEPLOYMENT_REMOVED:
        break;
    }
    return str_eq(s->before->reason, REASON(REMOVING_LOCK)) ? ASKED_LOCK : ASKED_UPGRADE;
}

int64_t plan_retry_at(const struct planner *p, const struct slot *s)
{
    struct strbuf who = strbuf_new(p->arena, 128);
    int64_t first = 0;

    /* Of a stored Stack that is not valid, and only goes, too. */
    if (!duration_parse(p->stack->spec.retry.backoff, &first) || first < LIMIT_RETRY_FIRST)
        first = LIMIT_RETRY_FIRST;
    strbuf_put(&who, p->stack->meta.uid);
    strbuf_fmt(&who, "/%.*s/%.*s/%u", STR_ARG(s->now.cluster_id), STR_ARG(s->now.chart_name),
               s->now.attempts);

    /* Equal input gives equal plans, so the jitter comes from the names. A second is added because
     * last_updated is written in whole seconds. */
    struct rng rng = rng_from_seed(str_hash(strbuf_str(&who)));
    int64_t most = first > LIMIT_RETRY_MAX ? first : LIMIT_RETRY_MAX;

    return s->before->last_updated_ms + 1000 + backoff_after(first, most, s->now.attempts, &rng);
}

/* Helm's words without what every message begins with. */
static struct str without_prefixes(struct str detail)
{
    static const struct str prefixes[] = { STR_INIT("Error: "), STR_INIT("UPGRADE FAILED: "),
                                           STR_INIT("INSTALLATION FAILED: ") };

    detail = str_trim(detail);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (str_starts(detail, prefixes[i]))
            detail = str_slice(detail, prefixes[i].len, detail.len);
    return detail;
}

/* Whether the failures that were counted are the last: one rule for those of Helm and for requests
 * that were refused. A removal is tried for ever: nobody can mend a Stack that is deleted. */
static bool is_final(const struct planner *p, const struct slot *s)
{
    const struct retry *retry = &p->stack->spec.retry;

    if (s->chart == NONE || s->now.attempts == 0)
        return false;
    return p->stack->spec.on_failure == ON_FAILURE_STOP ||
           (retry->limit >= 0 && s->now.attempts > retry->limit);
}

/* Whether words may quote values of Secrets that are not those of the release as it is wanted now:
 * whoever hid the values of these (stack/words.h) could not know of others. */
static bool tells_of_old_secrets(const struct slot *s, struct str words)
{
    bool of_app = s->app && s->app->description.len &&
                  str_find(words, s->app->description, 0) >= 0;
    struct str digest = of_app ? s->app->digest : s->now.digest;

    return str_starts(digest, STR(DIGEST_OF_SECRETS)) &&
           !(s->desired && str_eq(digest, s->desired->digest));
}

/* A release none of whose revisions was anything but a failed try is being installed, although what
 * runs is always `helm upgrade --install`. Without a status nobody knows of the former ones. */
static struct str attempted(const struct slot *s)
{
    bool upgrades = s->now.installed ||
                    (s->app && (s->app->phase == RELEASE_DEPLOYED ||
                                (!s->before && s->app->revision > 1)));

    if (s->chart == NONE)
        return STR("uninstall");
    return upgrades ? STR("upgrade") : STR("install");
}

/* By the first word of a failure's message. */
static struct str reason_of_failure(struct str text)
{
    if (str_starts(text, STR("uninstall")))
        return REASON(UNINSTALL_FAILED);
    return str_starts(text, STR("install")) ? REASON(INSTALL_FAILED) : REASON(UPGRADE_FAILED);
}

struct str plan_failure_message(struct planner *p, const struct slot *s, struct str message)
{
    static const struct str mark = STR_INIT("; no more tries (spec.");
    struct str limit = p->stack->spec.on_failure == ON_FAILURE_STOP
                           ? STR("onFailure: Stop")
                           : str_fmt(p->arena, "retry.limit: %lld",
                                     (long long)p->stack->spec.retry.limit);

    if (!is_final(p, s) || str_find(message, mark, 0) >= 0)
        return message;
    return str_fmt(p->arena, "%.*s%.*s%.*s); any change of the spec begins anew",
                   STR_ARG(message), STR_ARG(mark), STR_ARG(limit));
}

void plan_fail(struct planner *p, struct slot *s, struct str what, struct str detail)
{
    int64_t took = s->now.requested_ms ? p->observed->now_ms - s->now.requested_ms : 0;
    struct strbuf text = strbuf_new(p->arena, 128);

    s->now.attempts++;
    s->now.requested_ms = 0;
    plan_account(p, s);
    s->now.terminal = is_final(p, s);
    if (detail.len && tells_of_old_secrets(s, detail))
        detail = STR("what was said may quote Secrets that have changed since, and is not shown; "
                     "see the log of the operation in Rancher");
    strbuf_fmt(&text, "%.*s failed: ", STR_ARG(what));
    strbuf_put(&text, detail.len ? str_shown(p->arena, without_prefixes(detail), DETAIL_BYTES_MAX)
                                 : STR("no reason was given"));
    if (took >= 1000)
        strbuf_fmt(&text, " (%.*s)", STR_ARG(time_short(p->arena, took)));
    plan_set(s, DEPLOYMENT_FAILED, reason_of_failure(what),
             plan_failure_message(p, s, strbuf_str(&text)));
    /* It begins now, whatever stood there before: its wait is counted from here. */
    s->now.last_updated_ms = p->observed->now_ms / 1000 * 1000;
    if (!s->now.terminal) {
        struct slot later = *s;

        later.before = &later.now;
        plan_wake(p, plan_retry_at(p, &later));
    }
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
        plan_set(s, plan_going_state(asked, s), REASON(OPERATION_FAILED),
                 str_fmt(p->arena, "operation %.*s failed; its log is being read",
                         STR_ARG(op->name)));
        return;
    }
    if (plan_asks_pods(p, s, op)) {
        plan_set(s, plan_going_state(asked, s), REASON(OPERATION_FAILED),
                 str_fmt(p->arena, "operation %.*s failed; its pods are being looked at",
                         STR_ARG(op->name)));
        return;
    }
    /* " exit code: 123" is all that an Operation says by itself; the release may know more. */
    if (s->app && s->app->phase == RELEASE_FAILED && s->app->description.len &&
        (!detail.len || str_starts(str_trim(detail), STR("exit code"))))
        detail = s->app->description;
    detail = plan_root_cause(p, op, without_prefixes(detail));
    plan_fail(p, s, removal ? STR("uninstall") : attempted(s), detail);
}

/* Whether the App shows that what was asked for was done. */
static bool is_done(const struct planner *p, const struct slot *s, enum asked asked)
{
    const struct observed_release *app = s->app;

    switch (asked) {
    case ASKED_UNINSTALL:
        /* That nothing is there is believed when its operation was seen, or after a while. */
        return (!app || app->revision != s->now.revision) &&
               ((s->operation && !plan_is_accounted(s, s->operation)) ||
                p->observed->now_ms >= s->now.requested_ms + p->observed->settle_ms);
    case ASKED_LOCK:
        return !app || app->phase != RELEASE_PENDING || app->revision != s->now.revision;
    case ASKED_UPGRADE:
        return app && app->phase == RELEASE_DEPLOYED && plan_is_ours(p, app) &&
               str_eq(app->digest, s->now.digest) && app->revision != s->now.revision;
    case ASKED_NOTHING:
    case ASKED_REPO:
        break;
    }
    return false;
}

bool plan_is_behind(struct planner *p, struct slot *s)
{
    int64_t until = since(p, s, REASON(RELEASE_VANISHED)) + p->observed->settle_ms;

    if (s->now.requested_ms || plan_revision(s) >= s->now.revision)
        return false;
    if (s->before && str_eq(s->before->reason, REASON(RELEASE_VANISHED)))
        until += 1000;
    if (p->observed->now_ms >= until)
        return false;
    plan_wake(p, until);
    plan_set(s, s->chart == NONE ? DEPLOYMENT_UNINSTALLING : DEPLOYMENT_PENDING,
             REASON(RELEASE_VANISHED),
             str_fmt(p->arena, "it was at revision %u, which is not to be seen; looking again "
                     "before anything is done", s->now.revision));
    return true;
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
    int64_t lost_at = s->now.requested_ms + p->observed->settle_ms;

    if (s->chart == NONE || (repo && repo->state != REPO_ABSENT && repo->state != REPO_UNREAD) ||
        p->observed->now_ms >= lost_at) {
        forget_request(p, s, false);
        return;
    }
    plan_wake(p, lost_at);
    plan_set(s, DEPLOYMENT_WAITING, s->before->reason, s->before->message);
}

/* A newer operation ended, and did not fail. */
static void follow_ended(struct planner *p, struct slot *s, enum asked asked)
{
    int64_t until = since(p, s, REASON(OPERATION_ENDED)) + 1000 + p->observed->settle_ms;

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
    plan_fail(p, s, asked == ASKED_UNINSTALL ? STR("uninstall") : attempted(s),
              s->app && s->app->description.len
                  ? str_fmt(p->arena, "operation %.*s ended without effect; the release says: %.*s",
                            STR_ARG(s->operation->name), STR_ARG(s->app->description))
                  : str_fmt(p->arena, "operation %.*s ended without effect",
                            STR_ARG(s->operation->name)));
}

/* Nothing newer is to be seen. */
static void follow_silence(struct planner *p, struct slot *s, enum asked asked)
{
    int64_t lost_at = s->now.requested_ms + p->observed->settle_ms;
    const struct observed_release *app = s->app;

    if (p->observed->now_ms < lost_at) {
        plan_wake(p, lost_at);
        if (str_eq(s->before->reason, REASON(RELEASE_CONFLICT)))
            plan_set(s, plan_going_state(asked, s), REASON(UPGRADING),
                     STR("the release in the way went; waiting for what came of our request"));
        else
            plan_set(s, plan_going_state(asked, s), s->before->reason, s->before->message);
        return;
    }
    if (asked == ASKED_UPGRADE && app && app->phase == RELEASE_FAILED &&
        str_eq(app->digest, s->now.digest) && app->revision != s->now.revision &&
        s->chart != NONE) {
        plan_fail(p, s, attempted(s), app->description);
        return;
    }
    forget_request(p, s, false);
}

static void follow_request(struct planner *p, struct slot *s, enum asked asked)
{
    bool news = s->operation && !plan_is_accounted(s, s->operation);

    if (is_done(p, s, asked)) {
        forget_request(p, s, news);
        s->now.revision = plan_revision(s);
        if (asked == ASKED_UPGRADE)
            s->now.attempts = 0;
    } else if (news && s->operation->state == OPERATION_FAILED) {
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
           !(s->before && str_eq(s->before->digest, s->app->digest) && s->before->attempts > 0);
}

static void follow_unasked(struct planner *p, struct slot *s)
{
    bool news = s->operation && !plan_is_accounted(s, s->operation);

    if (is_unaccounted(p, s)) {
        s->now.digest = s->desired->digest;
        s->now.attempts = 0;
        if (news && s->operation->state == OPERATION_FAILED)
            follow_failed(p, s, ASKED_NOTHING);
        else
            plan_fail(p, s, attempted(s), s->app->description);
        return;
    }
    if (news && s->operation->state != OPERATION_RUNNING)
        plan_account(p, s);
    /* Another thing is wanted than what failed, or the spec was touched: begin anew. */
    if (p->fresh ||
        (s->desired && s->now.digest.len && !str_eq(s->now.digest, s->desired->digest))) {
        s->now.attempts = 0;
        s->now.terminal = false;
    }
    /* A refusal was counted by who knows no policy (stack_status_note_failure). */
    if (s->before && plan_last_known(s->before) == DEPLOYMENT_FAILED && is_final(p, s))
        s->now.terminal = true;
}

/* A cluster that is only not read yet, as all are when a controller starts: what the status says
 * stands, so that a restart writes nothing. Unless it says deployed of what is not wanted so. */
static bool keep_unread(const struct planner *p, struct slot *s)
{
    const struct release_state *b = s->before;

    if (plan_cluster(p, s)->state != CLUSTER_UNREAD || !b || b->state == DEPLOYMENT_UNKNOWN ||
        (b->state == DEPLOYMENT_DEPLOYED &&
         (!s->desired || !str_eq(b->digest, s->desired->digest))))
        return false;
    plan_set(s, b->state, b->reason, b->message);
    return true;
}

static void follow_unseen(struct planner *p, struct slot *s)
{
    const struct observed_cluster *c = plan_cluster(p, s);
    enum deployment_state known = plan_last_known(s->before);
    struct strbuf text = strbuf_new(p->arena, 128);
    bool unread = c->state == CLUSTER_UNREAD;

    strbuf_put(&text, c->message.len ? c->message
                      : unread       ? STR("its releases were not read yet")
                                     : STR("the cluster is not connected"));
    if (s->chart == NONE && !unread)
        strbuf_fmt(&text, "; let go of it with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                   STR_ARG(c->id));
    if (s->before && s->before->state == DEPLOYMENT_UNKNOWN) {
        ptrdiff_t at = str_find(s->before->message, last_known_mark, 0);

        if (at >= 0)
            strbuf_put(&text, str_slice(s->before->message, (size_t)at, s->before->message.len));
    } else if (s->before) {
        strbuf_put(&text, last_known_mark);
        strbuf_fmt(&text, "%s", deployment_state_name(s->before->state));
        if (s->before->message.len)
            strbuf_fmt(&text, ": %.*s", STR_ARG(s->before->message));
    }
    s->now.last_known = known;
    plan_set(s, DEPLOYMENT_UNKNOWN, plan_unseen_reason(c), strbuf_str(&text));
}

/* A cluster came back: what stood in the status before it went is what counts again. */
static void see_again(struct planner *p, struct slot *s)
{
    struct release_state *before = arena_new(p->arena, struct release_state);
    ptrdiff_t at = str_find(s->before->message, last_known_mark, 0);
    struct str rest = { "", 0 };

    if (at >= 0)
        rest = str_slice(s->before->message, (size_t)at + last_known_mark.len,
                         s->before->message.len);

    ptrdiff_t colon = str_find(rest, STR(": "), 0);

    *before = *s->before;
    before->state = s->before->last_known;
    before->message = colon >= 0 ? str_slice(rest, (size_t)colon + 2, rest.len)
                                 : STR("its cluster is connected again");
    before->reason = before->state == DEPLOYMENT_FAILED ? reason_of_failure(before->message)
                                                        : REASON(CLUSTER_BACK);
    s->before = before;
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
    bool news = s->operation && !plan_is_accounted(s, s->operation);
    int64_t lost_at = s->now.requested_ms + p->observed->settle_ms;

    if (asked != ASKED_UPGRADE || s->chart == NONE || !plan_is_of_another_stack(p, s))
        return false;
    if (!s->running && (news || p->observed->now_ms >= lost_at))
        forget_request(p, s, news);
    else if (!s->running)
        plan_wake(p, lost_at);
    plan_report_conflict(p, s);
    return true;
}

void plan_follow(struct planner *p, struct slot *s)
{
    enum asked asked;

    if (plan_cluster(p, s)->state != CLUSTER_READ) {
        if (!keep_unread(p, s))
            follow_unseen(p, s);
        return;
    }
    if (s->before && s->before->state == DEPLOYMENT_UNKNOWN)
        see_again(p, s);
    asked = asked_of(s);
    if (asked == ASKED_REPO) {
        follow_repo(p, s);
        return;
    }
    if (follow_conflict(p, s, asked))
        return;
    /* What is done to a release that is not ours is no business of this Stack. */
    if (asked == ASKED_NOTHING && plan_is_in_the_way(p, s)) {
        if (s->chart != NONE)
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
}
