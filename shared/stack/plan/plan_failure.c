/* SPDX-License-Identifier: Apache-2.0 */
/* plan_failure.c: a failed attempt: in which words it is told, how often it may be, and when it is
 * tried again.
 *
 * There is no spec.onFailure: Rollback. Rancher has no such action, and an upgrade to what ran
 * before is not one:
 *   values   of the last good revision stand in the release's Secret alone, which is not read. Helm
 *            takes them over by itself (resetValues false, no values), but then nobody has checked
 *            what is deployed: the digest would be that of a spec, ConfigMaps and Secrets that are
 *            gone, and a drift of before would be taken for it
 *   objects  Helm compares with the last revision that was deployed, so what only the failed one
 *            made stays; `helm rollback` would take it away
 *   charts   go back one by one, while those that depend on them already are, or wait for, the new
 *   spec     it still asks for what failed. Whoever goes back says so there (git revert, or the
 *            version in an override), and then all of it goes in order, checked and by waves
 * A failed upgrade leaves what the revision before made as Helm left it. */
#include "stack/plan/plan_parts.h"

#include "base/duration.h"
#include "base/limits.h"
#include "kube/backoff.h"
#include "text/time.h"

#define DETAIL_BYTES_MAX 512

/* Helm's words without what every message begins with. */
struct str plan_words_of_helm(struct str detail)
{
    static const struct str prefixes[] = { STR_INIT("Error: "), STR_INIT("UPGRADE FAILED: "),
                                           STR_INIT("INSTALLATION FAILED: ") };

    detail = str_trim(detail);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (str_starts(detail, prefixes[i]))
            detail = str_slice(detail, prefixes[i].len, detail.len);
    return detail;
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

/* Whether the failures that were counted are the last: one rule for those of Helm and for requests
 * that were rejected. A removal is tried for ever: nobody can fix a Stack that is deleted. */
bool plan_is_final(const struct planner *p, const struct slot *s)
{
    const struct retry *retry = &p->stack->spec.retry;

    if (s->chart == NONE || s->now.attempts == 0)
        return false;
    return p->stack->spec.on_failure == ON_FAILURE_STOP ||
           (retry->limit >= 0 && s->now.attempts > retry->limit);
}

bool plan_is_forgiven(const struct planner *p, const struct slot *s)
{
    return !s->now.requested_ms &&
           (p->fresh || p->resumed ||
            (s->desired && s->now.digest.len && !str_eq(s->now.digest, s->desired->digest)));
}

void plan_forgive(struct slot *s)
{
    s->now.forgiven = s->now.forgiven || s->now.attempts > 0;
    s->now.attempts = 0;
}

/* Whether words may quote values of Secrets that are not those of the release as it is wanted now:
 * whoever hid the values of these (stack/redaction.h) could not know of others. */
static bool tells_of_old_secrets(const struct slot *s, struct str words)
{
    bool of_app = s->app && s->app->description.len && str_find(words, s->app->description, 0) >= 0;
    struct str digest = of_app ? s->app->digest : s->now.digest;

    return str_starts(digest, STR(DIGEST_OF_SECRETS)) &&
           !(s->desired && str_eq(digest, s->desired->digest));
}

/* A release none of whose revisions was anything but a failed try is being installed, although what
 * runs is always `helm upgrade --install`. Without a status nobody knows of the former ones. */
struct str plan_attempted(const struct slot *s)
{
    bool upgrades =
        s->now.installed ||
        (s->app && (s->app->phase == RELEASE_DEPLOYED || (!s->before && s->app->revision > 1)));

    if (s->chart == NONE)
        return STR("uninstall");
    return upgrades ? STR("upgrade") : STR("install");
}

/* By the first word of a failure's message. */
struct str plan_reason_of_failure(struct str text)
{
    if (str_starts(text, STR("uninstall")))
        return REASON(UNINSTALL_FAILED);
    return str_starts(text, STR("install")) ? REASON(INSTALL_FAILED) : REASON(UPGRADE_FAILED);
}

struct str plan_failure_message(struct planner *p, const struct slot *s, struct str message)
{
    static const struct str mark = STR_INIT("; no attempts are left (spec.");
    struct str limit =
        p->stack->spec.on_failure == ON_FAILURE_STOP
            ? STR("onFailure: Stop")
            : str_fmt(p->arena, "retry.limit: %lld", (long long)p->stack->spec.retry.limit);

    struct str let_go = plan_way_to_let_go(p, s);

    if (let_go.len && str_find(message, STR(STACK_ABANDON_CLUSTERS), 0) < 0)
        return str_fmt(p->arena, "%.*s; Herd retries; to continue without it, %.*s",
                       STR_ARG(message), STR_ARG(let_go));
    if (!plan_is_final(p, s) || str_find(message, mark, 0) >= 0)
        return message;
    return str_fmt(p->arena,
                   "%.*s%.*s%.*s); a change of charts, overrides, retry or onFailure in the spec, "
                   "or of the annotation " STACK_RETRY ", starts over",
                   STR_ARG(message), STR_ARG(mark), STR_ARG(limit));
}

void plan_fail(struct planner *p, struct slot *s, struct str what, struct str detail)
{
    int64_t took = s->now.requested_ms ? p->observed->now_ms - s->now.requested_ms : 0;
    struct strbuf text = strbuf_new(p->arena, 128);

    s->now.attempts++;
    s->now.forgiven = false;
    s->now.requested_ms = 0;
    plan_account(p, s);
    s->now.terminal = plan_is_final(p, s);
    if (detail.len && tells_of_old_secrets(s, detail))
        detail = STR("Helm's message is not shown, because it may quote Secrets that have changed "
                     "since; see the log of the operation in Rancher");
    strbuf_fmt(&text, "%.*s failed: ", STR_ARG(what));
    strbuf_put(&text, detail.len ? str_shown(p->arena, plan_words_of_helm(detail), DETAIL_BYTES_MAX)
                                 : STR("no reason was given"));
    if (took >= 1000)
        strbuf_fmt(&text, " (%.*s)", STR_ARG(time_short(p->arena, took)));
    plan_set(s, DEPLOYMENT_FAILED, plan_reason_of_failure(what),
             plan_failure_message(p, s, strbuf_str(&text)));
    /* It begins now, whatever stood there before: its wait is counted from here. */
    s->now.last_updated_ms = p->observed->now_ms / 1000 * 1000;
    if (!s->now.terminal) {
        struct slot later = *s;

        later.before = &later.now;
        s->now.retry_ms = (plan_retry_at(p, &later) + 999) / 1000 * 1000;
        plan_wake(p, plan_retry_at(p, &later));
    }
}
