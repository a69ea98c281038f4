/* SPDX-License-Identifier: Apache-2.0 */
/* plan_release.c: the next step of one wanted release for which nothing is under way.
 *
 * Checked in turn: whose the release in its place is, what drifted, whether a failure's wait is
 * over, the cluster's turn in the rollout, the repository, the version, the charts it needs, room
 * on the cluster. Repository and version come before the needs, so that what is wrong with them is
 * told at once and not after everything else was deployed. */
#include "stack/plan/plan_parts.h"

#include "stack/model/limits.h"
#include "stack/rules/validate.h"
#include "text/semver.h"
#include "text/time.h"

/* What is there already and has not our mark is never touched where the platform itself lives. */
static bool is_protected(const struct planner *p, const struct slot *s)
{
    return plan_cluster(p, s)->local || stack_is_protected_namespace(s->now.namespace_);
}

bool plan_is_in_the_way(const struct planner *p, const struct slot *s)
{
    if (!s->app || plan_owns(p, s))
        return false;
    /* Of a Stack of our name that is no more: it is taken over. */
    return s->app->marked_uid.len || !str_eq(s->app->stack, p->ref) || is_protected(p, s);
}

/* Somebody asks for it by name. */
static bool is_adopted(const struct planner *p, const struct slot *s)
{
    return stack_adopts(&p->stack->meta, s->now.cluster_id, s->now.namespace_, s->now.release_name);
}

/* And nobody else wants it any more. */
bool plan_may_adopt(const struct planner *p, const struct slot *s)
{
    return s->chart != NONE && !s->app->owner_wants && !is_protected(p, s) && is_adopted(p, s);
}

/* Terminal as long as the world shows it: nothing was tried, so nothing has to be waited out. */
static void fail_as_seen(struct slot *s)
{
    plan_forgive(s);
    s->now.terminal = true;
}

static struct str owner_of(const struct observed_release *app)
{
    return app->marked_stack.len ? app->marked_stack : app->stack;
}

bool plan_is_of_another_stack(const struct planner *p, const struct slot *s)
{
    return s->app && owner_of(s->app).len && !plan_is_ours(p, s->app) &&
           !str_eq(owner_of(s->app), p->ref);
}

void plan_report_conflict(struct planner *p, struct slot *s)
{
    struct str owner = str_shown(p->arena, owner_of(s->app), 128);
    struct str release = str_fmt(p->arena, "release %.*s in namespace %.*s",
                                 STR_ARG(s->now.release_name), STR_ARG(s->now.namespace_));
    struct str adopt = str_fmt(
        p->arena, "kubectl annotate stack %.*s -n %.*s " STACK_ADOPT "=%.*s/%.*s --overwrite",
        STR_ARG(p->stack->meta.name), STR_ARG(p->stack->meta.namespace_),
        STR_ARG(s->now.namespace_), STR_ARG(s->now.release_name));

    if (is_protected(p, s))
        plan_set(s, DEPLOYMENT_FAILED, REASON(RELEASE_CONFLICT),
                 str_fmt(p->arena,
                         "%.*s was not installed by this Stack, and what runs there belongs to the "
                         "platform, so it is left alone; choose another releaseName",
                         STR_ARG(release)));
    else if (s->app->owner_wants && is_adopted(p, s))
        plan_set(s, DEPLOYMENT_FAILED, REASON(RELEASE_CONFLICT),
                 str_fmt(p->arena,
                         "%.*s belongs to Stack %.*s, which has a chart for it; this "
                         "Stack takes the release over once that chart is removed from Stack "
                         "%.*s, or that Stack is deleted",
                         STR_ARG(release), STR_ARG(owner), STR_ARG(owner)));
    else if (s->app->owner_wants)
        plan_set(s, DEPLOYMENT_FAILED, REASON(RELEASE_CONFLICT),
                 str_fmt(p->arena,
                         "%.*s belongs to Stack %.*s, which has a chart for it; choose "
                         "another releaseName; or, to move the release here, first %.*s, and then "
                         "remove that chart from Stack %.*s, or delete that Stack",
                         STR_ARG(release), STR_ARG(owner), STR_ARG(adopt), STR_ARG(owner)));
    else
        plan_set(s, DEPLOYMENT_FAILED, REASON(RELEASE_CONFLICT),
                 str_fmt(p->arena,
                         "%.*s belongs to %s%.*s and is left alone; choose another "
                         "releaseName, or uninstall that release, or adopt it: %.*s",
                         STR_ARG(release), owner.len ? "Stack " : "somebody else", STR_ARG(owner),
                         STR_ARG(adopt)));
    fail_as_seen(s);
}

/* By its mark it is ours from then on, and what it is to be comes by an upgrade. */
static void adopt(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;

    if (p->hold_reason.len) {
        plan_hold_back(p, s, DEPLOYMENT_PENDING, p->hold_reason, p->hold_message);
        return;
    }
    s->now.terminal = false;
    if (app->phase != RELEASE_DEPLOYED && app->phase != RELEASE_FAILED) {
        plan_set(s, DEPLOYMENT_WAITING, REASON(ADOPTING),
                 str_fmt(p->arena,
                         "revision %u is neither deployed nor failed, so an operation is still "
                         "running; it is adopted when that has ended",
                         app->revision));
    } else if (app->mark_trouble.len) {
        plan_set(s, DEPLOYMENT_PENDING, REASON(ADOPTING),
                 str_fmt(p->arena,
                         "the release cannot be marked as the Stack's: %.*s; Herd retries",
                         STR_ARG(str_shown(p->arena, app->mark_trouble, 256))));
    } else {
        plan_act(p, s, ACTION_MARK);
        plan_set(s, DEPLOYMENT_PENDING, REASON(ADOPTING),
                 str_fmt(p->arena,
                         "taking over revision %u, as the annotation " STACK_ADOPT " asks",
                         app->revision));
    }
}

/* Rancher may take another version than was asked for (docs/protocols/rancher.md 4.4). */
static bool is_other_version(const struct slot *s)
{
    struct semver want, got;
    struct error ignored;

    return semver_parse(s->desired->version, &want, &ignored) == 0 &&
           semver_parse(s->app->chart_version, &got, &ignored) == 0 && semver_cmp(&want, &got) != 0;
}

bool plan_is_drifted(const struct planner *p, const struct slot *s)
{
    const struct observed_release *app = s->app;

    /* On its way or failed, too: what somebody else did is theirs, however it ended. */
    return app && s->desired && plan_owns(p, s) && !plan_made(p, app) &&
           (app->phase == RELEASE_DEPLOYED || app->phase == RELEASE_PENDING ||
            app->phase == RELEASE_FAILED) &&
           !str_eq(app->digest, s->desired->digest) &&
           str_eq(app->marked_digest, s->desired->digest);
}

bool plan_needs_repair(const struct planner *p, const struct slot *s)
{
    return p->stack->spec.drift == DRIFT_CORRECT && s->app && s->app->health.missing &&
           s->app->phase == RELEASE_DEPLOYED && plan_owns(p, s);
}

bool plan_is_starting(struct planner *p, const struct slot *s)
{
    const struct observed_release *app = s->app;
    bool marked = app->marked_revision == app->revision;
    int64_t deployed_ms = marked ? app->marked_ms : p->observed->now_ms;
    int64_t until_ms = deployed_ms + LIMIT_WORKLOADS_START;

    /* The mark is written when the revision is seen deployed: one that cannot be tells of no
     * time. */
    if (!app->health.message.len || app->health.failed || !plan_awaits_workloads(p, s) ||
        (!marked && (!plan_made(p, app) || app->mark_trouble.len || p->stack->spec.paused)) ||
        deployed_ms > p->observed->now_ms || p->observed->now_ms >= until_ms)
        return false;
    plan_wake(p, until_ms);
    return true;
}

bool plan_awaits_workloads(const struct planner *p, const struct slot *s)
{
    return s->chart == NONE || p->stack->spec.charts.items[s->chart].wait;
}

bool plan_is_as_wanted(const struct planner *p, const struct slot *s)
{
    return s->desired && s->app && s->app->phase == RELEASE_DEPLOYED && plan_is_ours(p, s->app) &&
           str_eq(s->app->digest, s->desired->digest);
}

bool plan_is_deployed(struct planner *p, const struct slot *s)
{
    /* What somebody changed since, and nobody wants corrected, was rolled out, too. */
    if (p->stack->spec.drift != DRIFT_CORRECT && plan_is_drifted(p, s))
        return true;
    return plan_is_as_wanted(p, s) && !plan_needs_repair(p, s) && !plan_is_starting(p, s);
}

bool plan_is_broken(const struct planner *p, const struct slot *s)
{
    if (plan_is_as_wanted(p, s) && is_other_version(s))
        return true;
    return s->app && s->app->health.failed && !plan_needs_repair(p, s) &&
           (plan_is_as_wanted(p, s) ||
            (p->stack->spec.drift != DRIFT_CORRECT && plan_is_drifted(p, s)));
}

/* It is as it is to be, or as somebody made it; whether it is ready is for its workloads to say,
 * if it waits for them. */
static void rest_deployed(struct planner *p, struct slot *s, struct str reason, struct str message)
{
    const struct observed_health *health = &s->app->health;

    if (!health->message.len) {
        plan_set(s, DEPLOYMENT_DEPLOYED, reason, message);
        return;
    }
    if (!health->failed && !plan_awaits_workloads(p, s)) {
        plan_set(s, DEPLOYMENT_DEPLOYED, reason, plan_unready_message(p, s));
        return;
    }
    if (plan_is_starting(p, s)) {
        plan_set(s, DEPLOYMENT_DEPLOYING, REASON(WORKLOADS_STARTING), health->message);
        return;
    }
    plan_set(s, health->failed ? DEPLOYMENT_FAILED : DEPLOYMENT_NOT_READY,
             REASON(WORKLOADS_NOT_READY), plan_unready_message(p, s));
    if (health->failed)
        fail_as_seen(s);
}

/* Corrections in a row, at most LIMIT_CORRECTIONS; a quiet hour ends the row. */
static uint32_t corrections(const struct planner *p, const struct observed_release *app)
{
    int64_t age_ms = p->observed->now_ms - app->marked_ms;

    /* One that is to come was written by a clock that was ahead. */
    if (age_ms < -LIMIT_CORRECTION_FIRST || age_ms >= LIMIT_CORRECTIONS_TIME)
        return 0;
    return app->corrections < LIMIT_CORRECTIONS ? app->corrections : LIMIT_CORRECTIONS;
}

/* The row is forgotten where it is kept, so that whatever holds the correction up does not use up
 * what was asked for. */
static void forget_corrections(struct planner *p, struct slot *s, struct str what)
{
    plan_act(p, s, ACTION_MARK)->digest = s->app->marked_digest;
    plan_set(s, DEPLOYMENT_WAITING, REASON(DRIFTED),
             str_fmt(p->arena, "%.*s; it is corrected next", STR_ARG(what)));
}

static struct str drift_of(const struct planner *p, const struct slot *s)
{
    return plan_is_drifted(p, s)
               ? str_fmt(p->arena, "revision %u was made by somebody else%s", s->app->revision,
                         s->app->phase == RELEASE_FAILED ? " and failed" : "")
               : s->app->health.message;
}

/* Two that correct each other would never end. False: it may be corrected now. */
static bool wait_to_correct(struct planner *p, struct slot *s)
{
    uint32_t done = corrections(p, s->app);
    int64_t wait_ms = done ? (int64_t)LIMIT_CORRECTION_FIRST << (done - 1) : 0;
    int64_t at = s->app->marked_ms + wait_ms;
    struct str what = drift_of(p, s);

    if (!done || (done < LIMIT_CORRECTIONS && p->observed->now_ms >= at))
        return false;
    s->drifted = true;
    if (p->retried || p->resumed) {
        forget_corrections(p, s, what);
    } else if (done >= LIMIT_CORRECTIONS) {
        plan_wake(p, s->app->marked_ms + LIMIT_CORRECTIONS_TIME);
        plan_set(s, DEPLOYMENT_FAILED, REASON(DRIFT_PERSISTS),
                 str_fmt(p->arena,
                         "%.*s, after %u corrections within an hour; find out who changes it, or "
                         "set spec.drift to Detect",
                         STR_ARG(what), done));
        fail_as_seen(s);
    } else {
        plan_wake(p, at);
        s->now.retry_ms = (at + 999) / 1000 * 1000;
        plan_set(s, DEPLOYMENT_WAITING, REASON(DRIFTED),
                 str_fmt(p->arena, "%.*s; it is corrected at %.*s", STR_ARG(what),
                         STR_ARG(time_rfc3339(p->arena, s->now.retry_ms))));
    }
    return true;
}

static bool settle_deployed(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;

    if (!app || app->phase != RELEASE_DEPLOYED || !plan_is_ours(p, app) ||
        !str_eq(app->digest, s->desired->digest))
        return false;
    if (plan_needs_repair(p, s) && !plan_is_starting(p, s))
        return wait_to_correct(p, s);
    s->now.digest = s->desired->digest;
    s->now.version = app->chart_version.len ? app->chart_version : s->desired->version;
    s->now.revision = app->revision;
    s->now.attempts = 0;
    s->now.terminal = false;
    if (is_other_version(s)) {
        plan_set(s, DEPLOYMENT_FAILED, REASON(CHART_VERSION_MISMATCH),
                 str_fmt(p->arena,
                         "version %.*s was requested, but %.*s was installed; check that the "
                         "repository has exactly that version",
                         STR_ARG(s->desired->version),
                         STR_ARG(str_shown(p->arena, app->chart_version, 64))));
        fail_as_seen(s);
    } else {
        rest_deployed(p, s, REASON(DEPLOYED), STR(""));
    }
    return true;
}

/* Where it is not to be corrected, a drifted release stays as it is. */
static bool settle_drifted(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;

    if (!plan_is_drifted(p, s))
        return false;
    if (p->stack->spec.drift == DRIFT_CORRECT)
        return wait_to_correct(p, s);
    s->now.version = app->chart_version.len ? app->chart_version : s->desired->version;
    if (p->stack->spec.drift == DRIFT_IGNORE) {
        rest_deployed(p, s, REASON(DEPLOYED), STR(""));
        return true;
    }
    s->drifted = true;
    rest_deployed(
        p, s, REASON(DRIFTED),
        str_fmt(p->arena,
                "revision %u %s made by somebody else%s; spec.drift: Correct would undo it",
                app->revision, app->phase == RELEASE_PENDING ? "is being" : "was",
                app->phase == RELEASE_FAILED ? " and failed" : ""));
    return true;
}

/* A failure that was counted stands until its wait is over and its cluster has a place, or for
 * good; a removal is tried again for ever. */
bool plan_keep_failure(struct planner *p, struct slot *s)
{
    struct str ignored;

    if (s->now.attempts == 0 || !s->before || plan_last_known(s->before) != DEPLOYMENT_FAILED)
        return false;
    if (p->retried)
        return false;
    if (s->chart == NONE || !s->now.terminal) {
        int64_t at = plan_retry_at(p, s);

        if (p->observed->now_ms >= at && plan_has_place(p, &p->clusters[s->cluster], &ignored))
            return false;
        if (p->observed->now_ms < at)
            plan_wake(p, at);
        s->now.retry_ms = (at + 999) / 1000 * 1000;
    }
    plan_set(s, DEPLOYMENT_FAILED, s->before->reason,
             plan_failure_message(p, s, s->before->message));
    return true;
}

bool plan_runs_on(const struct planner *p, const struct slot *s)
{
    return plan_owns(p, s) && (s->app->phase == RELEASE_DEPLOYED ||
                               (s->app->phase == RELEASE_PENDING && s->app->revision > 1));
}

void plan_hold_back(struct planner *p, struct slot *s, enum deployment_state state,
                    struct str reason, struct str message)
{
    plan_set(s, state, reason,
             plan_runs_on(p, s) ? str_fmt(p->arena, "%.*s; revision %u of before is still running",
                                          STR_ARG(message), s->app->revision)
                                : message);
}

/* Nothing may be asked for now: say why. */
static bool wait_for_hold(struct planner *p, struct slot *s)
{
    struct str reason, message;

    if (!plan_is_held(p, s, &reason, &message))
        return false;
    plan_hold_back(p, s, DEPLOYMENT_PENDING, reason, message);
    return true;
}

/* The same repository may be asked for by several charts; all of them wait for the one request. */
static void ask_repo(struct planner *p, struct slot *s)
{
    struct cluster_part *c = &p->clusters[s->cluster];
    struct str url = s->desired->repo;

    if (!map_get(c->asked_repos, url)) {
        struct action *action = plan_act(p, s, ACTION_ENSURE_REPO);

        action->repo = url;
        action->repo_name = release_repo_name(p->arena, url);
        map_put(c->asked_repos, url, c);
    }
    /* Not plan_intend: making a repository takes no operation on the cluster. */
    s->now.requested_ms = p->observed->now_ms;
    plan_set(s, DEPLOYMENT_WAITING, REASON(REPO_REQUESTED),
             str_fmt(p->arena, "requested a ClusterRepo for %.*s", STR_ARG(url)));
}

/* Nobody but its owner can say what it is to be. */
static void report_unusable(struct planner *p, struct slot *s, const struct observed_repo *repo)
{
    plan_set(s, DEPLOYMENT_FAILED, REASON(REPO_UNUSABLE), str_shown(p->arena, repo->message, 512));
    fail_as_seen(s);
}

static bool wait_for_repo(struct planner *p, struct slot *s, const struct observed_repo **ret_repo)
{
    const struct observed_repo *repo = map_get(p->clusters[s->cluster].repos, s->desired->repo);
    struct str url = s->desired->repo;

    switch (repo ? repo->state : REPO_ABSENT) {
    case REPO_NOT_SYNCED:
    case REPO_ABSENT:
        if (!wait_for_hold(p, s))
            ask_repo(p, s);
        return true;
    case REPO_DOWNLOADING:
        plan_set(s, DEPLOYMENT_WAITING, REASON(REPO_DOWNLOADING),
                 str_fmt(p->arena,
                         "the cluster is downloading the index of %.*s (ClusterRepo %.*s)",
                         STR_ARG(url), STR_ARG(repo->name)));
        return true;
    case REPO_UNUSABLE:
        report_unusable(p, s, repo);
        return true;
    case REPO_FAILED:
        plan_set(s, DEPLOYMENT_FAILED, REASON(REPO_UNREACHABLE),
                 str_fmt(p->arena, "repository %.*s (ClusterRepo %.*s): %.*s", STR_ARG(url),
                         STR_ARG(repo->name),
                         STR_ARG(repo->message.len ? str_shown(p->arena, repo->message, 256)
                                                   : STR("its index could not be read"))));
        s->now.terminal = false;
        return true;
    case REPO_READY:
        break;
    }
    *ret_repo = repo;
    return false;
}

static void ask_repository(struct planner *p, struct slot *s, enum action_kind kind,
                           const struct observed_repo *repo)
{
    struct action *action = plan_act(p, s, kind);

    action->repo = s->desired->repo;
    action->repo_name = repo->name;
    action->chart_in_repo = s->desired->chart_in_repo;
    action->version = s->desired->version;
    action->downloaded = repo->downloaded;
}

static bool wait_for_version(struct planner *p, struct slot *s, const struct observed_repo *repo,
                             const struct observed_version **ret_version)
{
    const struct desired_release *d = s->desired;
    struct str key = str_fmt(p->arena, "%.*s\n%.*s\n%.*s", STR_ARG(d->repo),
                             STR_ARG(d->chart_in_repo), STR_ARG(d->version));
    const struct observed_version *version = map_get(p->clusters[s->cluster].versions, key);

    switch (version ? version->state : VERSION_NOT_SYNCED) {
    case VERSION_NOT_SYNCED:
        if (wait_for_hold(p, s))
            return true;
        ask_repository(p, s, ACTION_RESOLVE_VERSION, repo);
        plan_set(s, DEPLOYMENT_PENDING, REASON(RESOLVING_VERSION),
                 str_fmt(p->arena, "asking %.*s for %.*s %.*s", STR_ARG(d->repo),
                         STR_ARG(d->chart_in_repo), STR_ARG(d->version)));
        return true;
    case VERSION_STALE:
        if (wait_for_hold(p, s))
            return true;
        ask_repository(p, s, ACTION_REFRESH_REPO, repo);
        /* fall through */
    case VERSION_REFRESHING:
        plan_set(s, DEPLOYMENT_WAITING, REASON(REPO_REFRESHING),
                 str_fmt(p->arena,
                         "the index of %.*s has no chart %.*s in version %.*s; it is being "
                         "downloaded again (ClusterRepo %.*s)",
                         STR_ARG(d->repo), STR_ARG(d->chart_in_repo), STR_ARG(d->version),
                         STR_ARG(repo->name)));
        return true;
    case VERSION_MISSING:
        plan_set(s, DEPLOYMENT_FAILED, REASON(CHART_VERSION_NOT_FOUND),
                 str_fmt(p->arena, "%.*s has no chart %.*s in version %.*s%s%.*s", STR_ARG(d->repo),
                         STR_ARG(d->chart_in_repo), STR_ARG(d->version),
                         version->message.len ? ": " : "; see spec.charts[].version",
                         STR_ARG(str_shown(p->arena, version->message, 256))));
        fail_as_seen(s);
        return true;
    case VERSION_FAILED:
        plan_set(s, DEPLOYMENT_FAILED, REASON(REPO_UNREACHABLE),
                 str_fmt(p->arena, "asking %.*s for %.*s: %.*s", STR_ARG(d->repo),
                         STR_ARG(d->chart_in_repo),
                         STR_ARG(version->message.len ? str_shown(p->arena, version->message, 256)
                                                      : STR("no answer"))));
        s->now.terminal = false;
        return true;
    case VERSION_FOUND:
        break;
    }
    *ret_version = version;
    return false;
}

/* Needs are decided before what needs them, so their own trouble is known and can be named. */
static bool wait_for_needs(struct planner *p, struct slot *s)
{
    const struct u32_list *needs = graph_needs(p->graph, s->chart);
    const uint32_t *slot_of_chart = p->clusters[s->cluster].slot_of_chart;

    for (uint32_t i = 0; i < needs->count; i++) {
        uint32_t at = slot_of_chart[needs->items[i]];
        const struct slot *need = at == NONE ? NULL : &p->slots.items[at];

        /* Without wait, what comes after may be what makes it ready. */
        if (!need || need->now.state == DEPLOYMENT_DEPLOYED ||
            (!plan_awaits_workloads(p, need) && plan_is_deployed(p, need)))
            continue;

        uint32_t root = need->root == NONE ? at : need->root;
        const struct release_state *trouble = &p->slots.items[root].now;

        s->root = root;
        plan_set(
            s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_DEPENDENCY),
            str_fmt(p->arena, "waiting for %.*s on %.*s: %.*s", STR_ARG(trouble->chart_name),
                    STR_ARG(trouble->cluster_id),
                    STR_ARG(trouble->message.len ? trouble->message
                                                 : str_of(deployment_state_name(trouble->state)))));
        return true;
    }
    return false;
}

static bool wait_for_capacity(struct planner *p, struct slot *s)
{
    if (wait_for_hold(p, s))
        return true;
    if (plan_has_room(p, s))
        return false;
    plan_set(s, DEPLOYMENT_PENDING, REASON(WAITING_FOR_CAPACITY), plan_room_message(p, s));
    return true;
}

/* A request is sent now: it takes the cluster's place. False: there is none, and it says so. */
static bool take_place(struct planner *p, struct slot *s)
{
    struct str message;

    if (plan_take_place(p, &p->clusters[s->cluster], &message))
        return true;
    plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_ROLLOUT), message);
    return false;
}

int64_t plan_pending_until(const struct planner *p, const struct slot *s)
{
    const struct release_state *before = s->before;
    bool known = before && release_is_remembered(before) &&
                 (plan_last_known(before) == DEPLOYMENT_FAILED ||
                  str_eq(before->reason, REASON(RELEASE_PENDING)));
    int64_t now_ms = p->observed->now_ms;
    int64_t began = s->app->began_ms;
    int64_t until, longest;

    /* The release itself says it best: what the status says begins anew with each other reason. */
    if (!began || began > now_ms)
        began = known ? before->last_updated_ms + 1000 : now_ms;
    until = plan_shows_by(p, s, began);
    longest = began + LIMIT_OPERATION_TIMEOUT_MAX;
    return !plan_made(p, s->app) && until < longest ? longest : until;
}

struct str plan_pending_message(const struct planner *p, const struct slot *s)
{
    const char *phase = s->app->phase == RELEASE_PENDING ? "pending" : "uninstalling";

    if (plan_made(p, s->app))
        return str_fmt(p->arena, "the release is %s, but no operation of it is visible", phase);
    return str_fmt(p->arena,
                   "revision %u, which somebody else began, is %s; if its Helm was ended, the "
                   "release is repaired at %.*s",
                   s->app->revision, phase,
                   STR_ARG(time_rfc3339(p->arena, plan_pending_until(p, s))));
}

/* A pending release whose operation is no more: Helm would reject everything. */
static bool free_lock(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;
    bool pending = app && (app->phase == RELEASE_PENDING || app->phase == RELEASE_UNINSTALLING);
    const char *phase = pending && app->phase == RELEASE_PENDING ? "pending" : "uninstalling";

    if (!pending)
        return false;
    if (p->observed->now_ms < plan_pending_until(p, s)) {
        plan_wake(p, plan_pending_until(p, s));
        plan_set(s, DEPLOYMENT_DEPLOYING, REASON(RELEASE_PENDING), plan_pending_message(p, s));
        return true;
    }
    if (wait_for_capacity(p, s) || !take_place(p, s))
        return true;
    if (app->phase == RELEASE_UNINSTALLING || app->revision <= 1) {
        plan_uninstall(p, s, REASON(FREEING_RELEASE),
                       str_fmt(p->arena, "removing a first revision that was left %s", phase))
            ->stuck = true;
        return true;
    }

    struct action *action = plan_act(p, s, ACTION_REMOVE_LOCK);

    action->operation = s->operation ? s->operation->name : STR("");
    plan_intend(p, s);
    plan_set(s, DEPLOYMENT_DEPLOYING, REASON(REMOVING_LOCK),
             str_fmt(p->arena, "removing revision %u, which was left pending", app->revision));
    return true;
}

static void upgrade(struct planner *p, struct slot *s, const struct observed_repo *repo,
                    const struct observed_version *version)
{
    struct action *action = plan_act(p, s, ACTION_UPGRADE);
    bool install = !s->app;
    struct str last =
        s->before && plan_last_known(s->before) == DEPLOYMENT_FAILED ? s->before->message : STR("");

    action->repo = s->desired->repo;
    action->repo_name = repo->name;
    action->chart_in_repo = s->desired->chart_in_repo;
    action->version = version->resolved.len ? version->resolved : s->desired->version;
    action->desired = s->desired;
    s->now.installed = s->now.installed && s->app;
    plan_intend(p, s);
    s->now.digest = s->desired->digest;
    s->now.version = action->version;
    s->now.terminal = false;
    plan_set(s, DEPLOYMENT_DEPLOYING, install ? REASON(INSTALLING) : REASON(UPGRADING),
             s->now.attempts && last.len
                 ? str_fmt(p->arena, "try %u of version %.*s; the last one: %.*s",
                           s->now.attempts + 1, STR_ARG(action->version), STR_ARG(last))
                 : str_fmt(p->arena, "%s version %.*s", install ? "installing" : "upgrading to",
                           STR_ARG(action->version)));
}

/* Nothing changes by a mark, and nothing waits for it. What is deployed anew as it was has been
 * corrected. */
void plan_mark_owned(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;
    bool deployed = app && app->phase == RELEASE_DEPLOYED;
    bool made = deployed && plan_made(p, app);
    /* One that was adopted may be as wanted without being made by us. */
    bool settled = made || (deployed && s->desired && str_eq(app->digest, s->desired->digest));
    struct str digest = !app ? STR("") : settled ? app->digest : app->marked_digest;
    bool same =
        app && str_eq(app->marked_uid, p->stack->meta.uid) && str_eq(app->marked_digest, digest);
    bool corrected = same && made && digest.len && app->marked_revision != app->revision;
    struct action *action;

    if (s->chart == NONE || s->acted || p->stack->spec.paused || !plan_is_ours(p, app) ||
        plan_cluster(p, s)->state != CLUSTER_READ || app->mark_trouble.len ||
        (app->phase != RELEASE_DEPLOYED && app->phase != RELEASE_FAILED) || (same && !corrected) ||
        p->marks++ >= MARKS_MAX)
        return;
    action = plan_act(p, s, ACTION_MARK);
    action->digest = digest;
    action->corrections = corrected ? corrections(p, app) + 1 : 0;
}

bool plan_waits_for_list(struct planner *p, struct slot *s)
{
    struct cluster_part *c = &p->clusters[s->cluster];
    struct str reason, message;

    /* What is held changes nothing. */
    if (!c->observed->unlisted_message.len || plan_is_held(p, s, &reason, &message))
        return false;
    c->unlisted = true;
    plan_hold_back(p, s, DEPLOYMENT_PENDING, REASON(CLUSTER_NOT_SYNCED),
                   c->observed->unlisted_message);
    return true;
}

/* Says why nothing may change here, or not yet. Whether somebody has the right to it is asked
 * for when the turn has come, and then anew where the answer was no. What goes needs the right,
 * too, but waits for no other Stack. */
bool plan_wait_for_turn(struct planner *p, struct slot *s)
{
    struct cluster_part *c = &p->clusters[s->cluster];
    const struct observed_cluster *o = c->observed;
    bool goes = s->chart == NONE;
    struct str reason = goes ? o->access_reason : c->access_reason;
    struct str message = goes ? o->access_message : c->access_message;
    bool blocked = reason.len > 0;

    if (!blocked && c->gate_reason.len && (goes || !plan_is_retry(s))) {
        reason = c->gate_reason;
        message = c->gate_message;
    } else if (!blocked && !plan_has_place(p, c, &message)) {
        reason = REASON(WAITING_FOR_ROLLOUT);
    }
    if (o->unasked_message.len && (o->access_reason.len || !reason.len)) {
        c->unasked = true;
        if (!reason.len) {
            reason = REASON(ACCESS_NOT_SYNCED);
            message = o->unasked_message;
        }
    }
    if (reason.len)
        plan_set(s, DEPLOYMENT_WAITING, reason,
                 goes ? str_fmt(p->arena, "will be removed; %.*s", STR_ARG(message)) : message);
    return reason.len > 0;
}

void plan_release(struct planner *p, struct slot *s)
{
    const struct observed_repo *repo = NULL;
    const struct observed_version *version = NULL;

    if (s->decided)
        return;
    if (!s->desired) {
        plan_hold_back(p, s, DEPLOYMENT_WAITING, s->values_reason, s->values_message);
        return;
    }
    if (settle_deployed(p, s))
        return;
    if (plan_is_in_the_way(p, s) && !plan_may_adopt(p, s)) {
        plan_report_conflict(p, s);
        return;
    }
    if (settle_drifted(p, s) || plan_keep_failure(p, s))
        return;
    if (plan_wait_for_turn(p, s))
        return;
    if (plan_is_in_the_way(p, s)) {
        adopt(p, s);
        return;
    }
    if (plan_waits_for_list(p, s))
        return;
    if (wait_for_repo(p, s, &repo) || wait_for_version(p, s, repo, &version))
        return;
    s->now.terminal = false;
    if (free_lock(p, s) || wait_for_needs(p, s) || wait_for_capacity(p, s) || !take_place(p, s))
        return;
    upgrade(p, s, repo, version);
}
