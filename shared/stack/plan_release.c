/* plan_release.c: the next step of one wanted release for which nothing is under way.
 *
 * Checked in turn: whose the release in its place is, what drifted, whether a failure's wait is
 * over, the cluster's turn in the rollout, the repository, the version, the charts it needs, room
 * on the cluster. Repository and version come before the needs, so that what is wrong with them is
 * told at once and not after everything else was deployed. */
#include "stack/plan_parts.h"

#include "base/limits.h"
#include "text/semver.h"

/* A chart from elsewhere has no stamp. A release without one is ours if the status says that we had
 * it, and Helm has counted on since: somebody upgraded it by hand. A first revision without a stamp
 * is never that: somebody installed it. Once we asked for something again, the revision that the
 * status knows may be the one made by hand; and if that was to take a pending revision away, it has
 * uncovered the one before. */
bool plan_was_ours(const struct slot *s)
{
    const struct observed_release *app = s->app;
    const struct release_state *b = s->before;

    if (!app || plan_has_stamp(app) || app->revision <= 1 || !b || !b->digest.len ||
        !b->revision || str_eq(b->reason, REASON(RELEASE_CONFLICT)))
        return false;
    if (plan_last_known(b) == DEPLOYMENT_DEPLOYED)
        return app->revision > b->revision;
    return app->revision + 1 >= b->revision;
}

bool plan_is_in_the_way(const struct planner *p, const struct slot *s)
{
    if (!s->app || plan_is_ours(p, s->app) || plan_was_ours(s))
        return false;
    /* Of a Stack of our name that is no more: it is taken over. */
    return !str_eq(s->app->stack, p->ref);
}

/* Terminal as long as the world shows it: nothing was tried, so nothing has to be waited out. */
static void fail_as_seen(struct slot *s)
{
    s->now.attempts = 0;
    s->now.terminal = true;
}

bool plan_is_of_another_stack(const struct planner *p, const struct slot *s)
{
    return s->app && s->app->stack.len && !plan_is_ours(p, s->app) &&
           !str_eq(s->app->stack, p->ref);
}

void plan_report_conflict(struct planner *p, struct slot *s)
{
    struct str owner = s->app->stack.len
                           ? str_fmt(p->arena, "Stack %.*s",
                                     STR_ARG(str_shown(p->arena, s->app->stack, 128)))
                           : STR("somebody else");

    plan_set(s, DEPLOYMENT_FAILED, REASON(RELEASE_CONFLICT),
             str_fmt(p->arena,
                     "release %.*s in namespace %.*s belongs to %.*s and is left alone; choose "
                     "another releaseName, or uninstall that release",
                     STR_ARG(s->now.release_name), STR_ARG(s->now.namespace_), STR_ARG(owner)));
    fail_as_seen(s);
}

/* Rancher may take another version than was asked for (contracts/rancher.md 4.4). */
static bool is_other_version(const struct slot *s)
{
    struct semver want, got;
    struct error ignored;

    return semver_parse(s->desired->version, &want, &ignored) == 0 &&
           semver_parse(s->app->chart_version, &got, &ignored) == 0 && semver_cmp(&want, &got) != 0;
}

static bool settle_deployed(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;

    if (!app || app->phase != RELEASE_DEPLOYED || !plan_is_ours(p, app) ||
        !str_eq(app->digest, s->desired->digest))
        return false;
    s->now.digest = s->desired->digest;
    s->now.version = app->chart_version.len ? app->chart_version : s->desired->version;
    s->now.revision = app->revision;
    s->now.attempts = 0;
    s->now.terminal = false;
    if (is_other_version(s)) {
        plan_set(s, DEPLOYMENT_FAILED, REASON(CHART_VERSION_MISMATCH),
                 str_fmt(p->arena,
                         "version %.*s was asked for and %.*s was installed; see whether the "
                         "repository has exactly that version",
                         STR_ARG(s->desired->version),
                         STR_ARG(str_shown(p->arena, app->chart_version, 64))));
        fail_as_seen(s);
    } else {
        plan_set(s, DEPLOYMENT_DEPLOYED, REASON(DEPLOYED), STR(""));
    }
    return true;
}

bool plan_is_drifted(const struct slot *s)
{
    const struct observed_release *app = s->app;

    /* On its way, too: nobody but Helm itself ends an upgrade or rollback that somebody began. */
    return app && s->desired &&
           (app->phase == RELEASE_DEPLOYED || app->phase == RELEASE_PENDING) &&
           !str_eq(app->digest, s->desired->digest) && s->before &&
           plan_last_known(s->before) == DEPLOYMENT_DEPLOYED &&
           str_eq(s->before->digest, s->desired->digest);
}

/* Where it is not to be corrected, a drifted release stays as it is. */
static bool settle_drifted(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;

    if (p->stack->spec.drift == DRIFT_CORRECT || !plan_is_drifted(s))
        return false;
    s->now.version = app->chart_version.len ? app->chart_version : s->desired->version;
    /* `revision` stays the one that was ours: it tells later that this is no stranger's release. */
    if (p->stack->spec.drift == DRIFT_IGNORE) {
        plan_set(s, DEPLOYMENT_DEPLOYED, REASON(DEPLOYED), STR(""));
        return true;
    }
    s->drifted = true;
    plan_set(s, DEPLOYMENT_DEPLOYED, REASON(DRIFTED),
             str_fmt(p->arena,
                     "revision %u %s made by somebody else; spec.drift: Correct would undo it",
                     app->revision, app->phase == RELEASE_PENDING ? "is being" : "was"));
    return true;
}

/* A failure that was counted stands until its wait is over, or for good; a removal is tried again
 * for ever. */
bool plan_keep_failure(struct planner *p, struct slot *s)
{
    if (s->now.attempts == 0 || !s->before || plan_last_known(s->before) != DEPLOYMENT_FAILED)
        return false;
    if (s->chart == NONE || !s->now.terminal) {
        int64_t at = plan_retry_at(p, s);

        if (p->observed->now_ms >= at)
            return false;
        plan_wake(p, at);
    }
    plan_set(s, DEPLOYMENT_FAILED, s->before->reason,
             plan_failure_message(p, s, s->before->message));
    return true;
}

bool plan_runs_on(const struct planner *p, const struct slot *s)
{
    return s->app && s->app->phase == RELEASE_DEPLOYED &&
           (plan_is_ours(p, s->app) || plan_was_ours(s));
}

void plan_hold_back(struct planner *p, struct slot *s, enum deployment_state state,
                    struct str reason, struct str message)
{
    plan_set(s, state, reason,
             plan_runs_on(p, s)
                 ? str_fmt(p->arena, "%.*s; revision %u of before is still running",
                           STR_ARG(message), s->app->revision)
                 : message);
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
             str_fmt(p->arena, "asked for a ClusterRepo of %.*s", STR_ARG(url)));
}

static bool wait_for_repo(struct planner *p, struct slot *s, const struct observed_repo **ret_repo)
{
    const struct observed_repo *repo = map_get(p->clusters[s->cluster].repos, s->desired->repo);
    struct str url = s->desired->repo;

    switch (repo ? repo->state : REPO_ABSENT) {
    case REPO_UNREAD:
    case REPO_ABSENT:
        if (p->hold_reason.len)
            plan_hold_back(p, s, DEPLOYMENT_PENDING, p->hold_reason, p->hold_message);
        else
            ask_repo(p, s);
        return true;
    case REPO_DOWNLOADING:
        plan_set(s, DEPLOYMENT_WAITING, REASON(REPO_DOWNLOADING),
                 str_fmt(p->arena, "the cluster is downloading the index of %.*s", STR_ARG(url)));
        return true;
    case REPO_FAILED:
        plan_set(s, DEPLOYMENT_FAILED, REASON(REPO_UNREACHABLE),
                 str_fmt(p->arena, "repository %.*s: %.*s", STR_ARG(url),
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

static bool wait_for_version(struct planner *p, struct slot *s, const struct observed_repo *repo,
                             const struct observed_version **ret_version)
{
    const struct desired_release *d = s->desired;
    struct str key = str_fmt(p->arena, "%.*s\n%.*s\n%.*s", STR_ARG(d->repo),
                             STR_ARG(d->chart_in_repo), STR_ARG(d->version));
    const struct observed_version *version = map_get(p->clusters[s->cluster].versions, key);

    switch (version ? version->state : VERSION_UNREAD) {
    case VERSION_UNREAD:
        if (p->hold_reason.len) {
            plan_hold_back(p, s, DEPLOYMENT_PENDING, p->hold_reason, p->hold_message);
            return true;
        }
        struct action *action = plan_act(p, s, ACTION_RESOLVE_VERSION);

        action->repo = d->repo;
        action->repo_name = repo->name;
        action->chart_in_repo = d->chart_in_repo;
        action->version = d->version;
        plan_set(s, DEPLOYMENT_PENDING, REASON(RESOLVING_VERSION),
                 str_fmt(p->arena, "asking %.*s for %.*s %.*s", STR_ARG(d->repo),
                         STR_ARG(d->chart_in_repo), STR_ARG(d->version)));
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

        if (!need || need->now.state == DEPLOYMENT_DEPLOYED)
            continue;

        uint32_t root = need->root == NONE ? at : need->root;
        const struct release_state *trouble = &p->slots.items[root].now;

        s->root = root;
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_DEPENDENCY),
                 str_fmt(p->arena, "waiting for %.*s on %.*s: %.*s", STR_ARG(trouble->chart_name),
                         STR_ARG(trouble->cluster_id),
                         STR_ARG(trouble->message.len ? trouble->message
                                                      : str_of(deployment_state_name(
                                                            trouble->state)))));
        return true;
    }
    return false;
}

/* The release of this chart under its former name goes first: they would share what they make. */
static bool wait_for_former(struct planner *p, struct slot *s)
{
    const struct cluster_part *c = &p->clusters[s->cluster];

    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *other = &p->slots.items[c->slots.items[i]];

        if (other->chart != NONE || other->now.state == DEPLOYMENT_REMOVED ||
            !str_eq(other->now.chart_name, s->now.chart_name))
            continue;
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_REMOVAL),
                 str_fmt(p->arena, "waiting for its former release %.*s in %.*s to be removed",
                         STR_ARG(other->now.release_name), STR_ARG(other->now.namespace_)));
        return true;
    }
    return false;
}

static bool wait_for_room(struct planner *p, struct slot *s)
{
    if (p->hold_reason.len) {
        plan_hold_back(p, s, DEPLOYMENT_PENDING, p->hold_reason, p->hold_message);
        return true;
    }
    if (plan_has_room(p, s))
        return false;
    plan_set(s, DEPLOYMENT_PENDING, REASON(WAITING_FOR_ROOM), plan_room_message(p, s));
    return true;
}

/* A pending release whose operation is no more: Helm would refuse everything. */
static bool free_lock(struct planner *p, struct slot *s)
{
    const struct observed_release *app = s->app;
    bool pending = app && (app->phase == RELEASE_PENDING || app->phase == RELEASE_UNINSTALLING);
    bool known = s->before && (plan_last_known(s->before) == DEPLOYMENT_FAILED ||
                               str_eq(s->before->reason, REASON(RELEASE_PENDING)));
    int64_t since = !known ? p->observed->now_ms : s->before->last_updated_ms + 1000;
    const char *phase = pending && app->phase == RELEASE_PENDING ? "pending" : "uninstalling";

    if (!pending)
        return false;
    if (p->observed->now_ms < since + p->observed->settle_ms) {
        plan_wake(p, since + p->observed->settle_ms);
        plan_set(s, DEPLOYMENT_DEPLOYING, REASON(RELEASE_PENDING),
                 str_fmt(p->arena, "the release is %s and no operation of it is to be seen",
                         phase));
        return true;
    }
    if (wait_for_room(p, s))
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
    struct str last = s->before && plan_last_known(s->before) == DEPLOYMENT_FAILED
                          ? s->before->message : STR("");

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

void plan_release(struct planner *p, struct slot *s)
{
    const struct cluster_part *c = &p->clusters[s->cluster];
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
    if (plan_is_in_the_way(p, s)) {
        plan_report_conflict(p, s);
        return;
    }
    if (plan_is_behind(p, s) || settle_drifted(p, s) || plan_keep_failure(p, s))
        return;
    if (c->gate_reason.len) {
        plan_set(s, DEPLOYMENT_WAITING, c->gate_reason, c->gate_message);
        return;
    }
    if (wait_for_repo(p, s, &repo) || wait_for_version(p, s, repo, &version))
        return;
    s->now.terminal = false;
    if (free_lock(p, s) || wait_for_former(p, s) || wait_for_needs(p, s) || wait_for_room(p, s))
        return;
    upgrade(p, s, repo, version);
}
