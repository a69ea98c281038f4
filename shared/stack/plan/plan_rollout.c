/* SPDX-License-Identifier: Apache-2.0 */
/* plan_rollout.c: which clusters may change now.
 *
 * Three questions are asked of every cluster and every kind of action (install, upgrade,
 * removal, correction), one after the other:
 *   turn     have the waves before its own come to their end, and may the rollout go on at all?
 *            Access, other Stacks and missing values play no part in it.
 *   ability  can the action be carried out there? plan_release.c, plan_removal.c
 *   place    is one of maxConcurrentClusters free? A place is taken when an action is requested,
 *            so a cluster that only waits, for whatever lasting cause, takes none. What Herd
 *            itself has just asked for (an access review, a version, a ClusterRepo) keeps a
 *            place for LIMIT_PLACE_KEPT at most: otherwise a cluster would lose its place
 *            between two charts.
 *
 * A cluster is done when all that is wanted there stands as wanted and has not failed, and all
 * else of the Stack is gone; started when something was requested there for the change
 * (plan_change.c); failed from when something failed there with this change until it is done,
 * another change begins, or somebody resumes, and while a workload there is not ready in a wave
 * that still pauses. Which clusters are started, failed and lost (failed for good) stands in the
 * status (targetStates): that a failed one is being tried again says nothing about the others. A
 * started cluster needs no turn any more, only a place.
 *
 * The turn has come when all earlier waves are complete, their pauses over, the wave is
 * approved, and no more than maxFailures other clusters are failed. A wave is complete when all
 * of its clusters are done and ready. Up to maxFailures lost or not ready ones and up to
 * maxUnavailable unreachable ones do not keep it from that, but at least one must have come
 * through the change; with no limit of failures a wave still waits for all of them, because that
 * is what a first wave is for. After one with scans: Required, later ones wait for its scans,
 * too. Clusters that the Stack leaves have their turn, too, and no wave waits for them. */
#include "stack/plan/plan_parts.h"

#include "base/set.h"
#include "stack/model/share.h"
#include "stack/plan/rollout.h"
#include "text/enumerate.h"
#include "text/time.h"

/* How many clusters a message names. */
enum { NAMED_MAX = 3 };

/* A failure that was counted and is one of what is wanted now: to try it again is no change. */
bool plan_is_retry(const struct slot *s)
{
    return s->now.attempts > 0 &&
           (!s->desired || !s->now.digest.len || str_eq(s->now.digest, s->desired->digest));
}

/* A request or operation of this Stack is under way, or one that failed is tried again. One that
 * is stuck, or fails again and again, only waits for somebody, and a ClusterRepo takes no
 * operation. */
static bool is_under_way(struct planner *p, const struct slot *s)
{
    bool retried = plan_is_retry(s) && !s->now.terminal && s->now.attempts < LIMIT_ATTEMPTS_STALLED;
    /* The operation of one that is deployed ends a moment later. */
    bool own = s->running && plan_is_own(p, s->running) && !plan_is_deployed(p, s);
    bool requested = s->now.requested_ms && plan_last_known(s->before) != DEPLOYMENT_WAITING;
    bool stuck = s->decided && str_eq(s->now.reason, REASON(OPERATION_STUCK));

    return (own || requested || retried) && !stuck;
}

static void add_slot(struct planner *p, const struct slot *s, struct standing *standing)
{
    bool wanted = s->chart != NONE;
    bool seen = plan_cluster(p, s)->state == CLUSTER_READ;
    bool broken = wanted && seen && plan_is_broken(p, s);

    if (s->now.state == DEPLOYMENT_REMOVED)
        return;
    standing->counts = standing->counts || wanted;
    standing->has_place = standing->has_place || is_under_way(p, s);
    if (!wanted || !seen || broken || !plan_is_deployed(p, s))
        standing->done = false;
    if (wanted && seen && s->app && s->app->health.message.len && plan_awaits_workloads(p, s)) {
        standing->not_ready = true;
        standing->has_place =
            standing->has_place || (plan_is_as_wanted(p, s) && plan_is_starting(p, s));
    }
    if (broken || (wanted && plan_is_retry(s))) {
        standing->failed = true;
        standing->lost = standing->lost || broken || s->now.terminal;
    }
}

/* Since when the wave has been complete; 0 = it was not, or with another change. */
static int64_t completed_before(const struct planner *p, uint32_t wave)
{
    const struct wave_state *before = plan_wave_before(p, wave);
    int64_t now_ms = p->observed->now_ms / 1000 * 1000;

    if (!before || !p->wave_changes[wave].same)
        return 0;
    /* One that is still to come was written by a clock that was ahead, or forged. */
    return before->completed_ms < now_ms ? before->completed_ms : now_ms;
}

/* While a wave that pauses is not complete, or complete for a shorter time than its pause. */
static bool is_soaking(const struct planner *p, uint32_t wave)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    int64_t pause = wave < waves->count ? rollout_pause_ms(&waves->items[wave]) : 0;
    int64_t completed_ms = completed_before(p, wave);

    return pause && (!completed_ms || p->observed->now_ms < completed_ms + pause);
}

/* Clusters as the status names them. */
struct memory {
    struct set targets, started, failed, lost;
};

static struct memory recall(const struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    bool stands = before && !p->fresh && !p->resumed;

    return (struct memory){
        set_of(p->arena, before ? &before->target_clusters : NULL),
        set_of(p->arena, before ? &before->started_clusters : NULL),
        set_of(p->arena, stands ? &before->failed_clusters : NULL),
        set_of(p->arena, stands && !p->retried ? &before->lost_clusters : NULL),
    };
}

static void stand(struct planner *p, const struct memory *memory, struct cluster_part *c)
{
    const struct observed_cluster *o = c->observed;
    const struct wave_change *change = &p->wave_changes[c->standing.wave];
    struct standing *standing = &c->standing;
    bool seen = o->state == CLUSTER_READ;
    /* To leave is another thing than what a target has begun. */
    bool begun = change->remembered && set_has(memory->started, o->id) && !c->left_out &&
                 (o->targeted || !set_has(memory->targets, o->id));

    *standing = (struct standing){
        .wave = standing->wave,
        .done = seen && !c->left_out,
        .started = begun && !change->unknown,
        .begun = begun,
        .failed = change->remembered && set_has(memory->failed, o->id),
        .lost = change->remembered && set_has(memory->lost, o->id),
        /* A target that Rancher does not know counts as one that cannot be reached. */
        .counts = o->targeted && !p->deleting && o->state == CLUSTER_GONE,
        .unreachable = !seen && o->state != CLUSTER_NOT_SYNCED,
    };
    for (uint32_t k = 0; k < c->slots.count; k++)
        add_slot(p, &p->slots.items[c->slots.items[k]], standing);
    if (standing->done)
        standing->started = standing->begun = standing->failed = standing->lost = false;
    if (standing->done && standing->not_ready && is_soaking(p, standing->wave))
        standing->failed = true;
    /* Nobody knows how far one has come that cannot be seen. */
    standing->has_place = standing->has_place || (standing->begun && !seen && !standing->lost);
}

/* How many of a wave's clusters are how far. */
struct wave_count {
    uint32_t undone; /* neither done, lost nor unreachable */
    uint32_t lost;
    uint32_t not_ready; /* of those that are done */
    bool fresh;         /* one of them has not begun */
    struct wave_state state;
};

static struct wave_count count_wave(const struct planner *p, uint32_t wave)
{
    struct wave_count count = {
        .state.name = plan_wave_name(p, wave),
        .state.change = p->wave_changes[wave].name,
    };

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct standing *s = &p->clusters[i].standing;

        if (s->wave == wave && !s->done)
            count.fresh = count.fresh || !s->started;
        if (!s->counts || s->wave != wave)
            continue;
        count.state.clusters++;
        count.state.deployed += s->done;
        count.not_ready += s->done && s->not_ready;
        count.state.failed += s->failed;
        count.state.unreachable += !s->done && s->unreachable;
        if (!s->done && s->lost)
            count.lost++;
        else if (!s->done && !s->unreachable)
            count.undone++;
    }
    return count;
}

/* "wave canary: 2 of 5 clusters deployed, 1 failed, 1 unreachable (c-m-3)" */
static struct str wave_progress(const struct planner *p, const struct wave_count *count)
{
    const struct wave_state *state = &count->state;
    struct strbuf text = strbuf_new(p->arena, 128);

    strbuf_fmt(&text, "wave %.*s: %u of %u %s deployed", STR_ARG(state->name), state->deployed,
               state->clusters, state->clusters == 1 ? "cluster" : "clusters");
    if (count->not_ready)
        strbuf_fmt(&text, ", %u not ready", count->not_ready);
    if (state->failed)
        strbuf_fmt(&text, ", %u failed", state->failed);
    if (state->unreachable)
        strbuf_fmt(&text, ", %u unreachable", state->unreachable);
    return strbuf_str(&text);
}

/* Those of waves up to `wave`, by id, and the field that would let others go on without them. */
static struct str name_unreachable(const struct planner *p, uint32_t wave)
{
    struct enumeration names = enumeration_new(p->arena, NAMED_MAX);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct standing *s = &p->clusters[i].standing;

        if (s->counts && !s->done && s->unreachable && s->wave <= wave)
            enumeration_add(&names, p->observed->clusters.items[i].id);
    }
    return str_fmt(p->arena,
                   "%.*s cannot be reached, and other clusters wait because "
                   "spec.rollout.maxUnavailable is %.*s",
                   STR_ARG(enumeration_text(&names)),
                   STR_ARG(p->stack->spec.rollout.max_unavailable));
}

static bool is_approved(const struct planner *p, uint32_t wave)
{
    struct str rest = kube_annotation(&p->stack->meta, STR(STACK_APPROVE));
    const struct wave_change *change = &p->wave_changes[wave];
    struct str wanted =
        str_fmt(p->arena, "%.*s@%.*s", STR_ARG(plan_wave_name(p, wave)), STR_ARG(change->name));
    struct str part;

    while (!change->unknown && str_split(&rest, ',', &part))
        if (str_eq(str_trim(part), wanted))
            return true;
    return false;
}

static bool needs_approval(const struct planner *p, uint32_t wave, const struct wave_count *count)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;

    return wave < waves->count && count->fresh && waves->items[wave].approval == APPROVAL_MANUAL &&
           !is_approved(p, wave);
}

static void close_from(struct planner *p, uint32_t wave, struct str reason, struct str message)
{
    p->progress.closed_from = wave;
    p->progress.reason = reason;
    p->progress.message = message;
}

static void wait_for_approval(struct planner *p, uint32_t wave)
{
    const struct kube_meta *meta = &p->stack->meta;
    const struct wave_change *change = &p->wave_changes[wave];
    struct str name = plan_wave_name(p, wave);

    if (change->unknown)
        close_from(p, wave, REASON(WAITING_FOR_APPROVAL),
                   str_fmt(p->arena,
                           "wave %.*s waits for approval, and what is to be approved is not known "
                           "while values of the wave's clusters are being read",
                           STR_ARG(name)));
    else
        close_from(
            p, wave, REASON(WAITING_FOR_APPROVAL),
            str_fmt(
                p->arena,
                "wave %.*s waits for approval: kubectl annotate stack %.*s -n %.*s " STACK_APPROVE
                "=%.*s@%.*s --overwrite",
                STR_ARG(name), STR_ARG(meta->name), STR_ARG(meta->namespace_), STR_ARG(name),
                STR_ARG(change->name)));
}

/* Why the wave is not complete, although none of its clusters is still to come: "" if it is. */
static struct str find_shortfall(const struct planner *p, uint32_t wave,
                                 const struct wave_count *count, uint32_t unreachable)
{
    uint64_t available = share_of(p->stack->spec.rollout.max_unavailable, p->targets);

    if (count->state.unreachable && unreachable > available)
        return name_unreachable(p, wave);
    if (count->state.deployed)
        return STR("");
    return str_fmt(p->arena,
                   "later waves begin once at least one cluster of wave %.*s is deployed with this "
                   "change; repair one, or change the wave's selector",
                   STR_ARG(count->state.name));
}

/* Whether later waves wait for this one; `*unreachable` counts those of earlier waves, too. Says
 * why if the waves are `open` so far. */
static bool holds_back(struct planner *p, uint32_t wave, const struct wave_count *count,
                       uint32_t *unreachable, bool open)
{
    int64_t limit = p->stack->spec.rollout.max_failures;
    uint64_t tolerated = limit > 0 ? (uint64_t)limit : 0;
    struct str shortfall = { "", 0 };
    struct str message;

    *unreachable += count->state.unreachable;
    if (!count->undone && count->lost + count->not_ready <= tolerated) {
        shortfall = find_shortfall(p, wave, count, *unreachable);
        if (!shortfall.len)
            return false;
    }
    if (!open || !count->state.clusters)
        return true;
    message = str_fmt(p->arena, "waiting for %.*s", STR_ARG(wave_progress(p, count)));
    if (shortfall.len)
        message = str_fmt(p->arena, "%.*s; %.*s", STR_ARG(message), STR_ARG(shortfall));
    close_from(p, wave + 1, REASON(WAITING_FOR_WAVE), message);
    p->progress.trouble = shortfall;
    return true;
}

static bool pauses(struct planner *p, uint32_t wave, const struct wave_state *state)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    int64_t until;

    if (wave >= waves->count || !state->completed_ms)
        return false;
    until = state->completed_ms + rollout_pause_ms(&waves->items[wave]);
    if (p->observed->now_ms >= until)
        return false;
    p->progress.wake_ms = until;
    close_from(p, wave + 1, REASON(WAITING_FOR_WAVE),
               str_fmt(p->arena, "waiting for wave %.*s: it pauses until %.*s",
                       STR_ARG(state->name), STR_ARG(time_rfc3339(p->arena, until))));
    return true;
}

static bool awaits_scans(struct planner *p, uint32_t wave, const struct wave_state *state)
{
    struct release_verdict scans = plan_wave_scans(p, wave);

    if (scans.rank == RANK_NONE)
        return false;
    if (scans.rank == RANK_EXCEEDED) {
        close_from(
            p, wave + 1, REASON(ROLLOUT_STOPPED),
            str_fmt(p->arena,
                    "the rollout stopped after wave %.*s: %.*s; deploy a fixed version, accept the "
                    "vulnerability in NeuVector, or change spec.securityProfile.thresholds",
                    STR_ARG(state->name), STR_ARG(scans.message)));
        p->progress.trouble = p->progress.message;
    } else {
        close_from(p, wave + 1, REASON(WAITING_FOR_SCANS),
                   str_fmt(p->arena,
                           "waiting for the scans of wave %.*s: %.*s; to go on without them, set "
                           "the wave's scans to Ignored",
                           STR_ARG(state->name), STR_ARG(scans.message)));
        if (plan_scans_need_help(scans.reason))
            p->progress.help = scans.reason;
    }
    return true;
}

/* The first wave that may not begin yet, and how far each one is. */
static void find_progress(struct planner *p)
{
    uint32_t waves = p->stack->spec.rollout.waves.count;
    uint32_t unreachable = 0;

    for (uint32_t wave = 0; waves && wave <= waves; wave++) {
        struct wave_count count = count_wave(p, wave);
        bool open = p->progress.closed_from == NONE;

        if (open && needs_approval(p, wave, &count)) {
            wait_for_approval(p, wave);
            open = false;
        }
        bool held_back = holds_back(p, wave, &count, &unreachable, open);

        /* Only a failure has the pause begin anew: not a cluster that is away for a moment. */
        if (count.state.clusters && (!held_back || !count.state.failed))
            count.state.completed_ms = completed_before(p, wave);
        if (!held_back && count.state.clusters) {
            if (!count.state.completed_ms)
                count.state.completed_ms = p->observed->now_ms / 1000 * 1000;
            if (open && !awaits_scans(p, wave, &count.state))
                (void)pauses(p, wave, &count.state);
        }
        wave_states_push(&p->waves, count.state);
    }
}

static bool is_gated(const struct planner *p)
{
    const struct rollout *rollout = &p->stack->spec.rollout;

    return !p->deleting && (rollout->max_concurrent_clusters > 0 || rollout->max_failures >= 0 ||
                            rollout->waves.count);
}

static void give_place(struct planner *p, struct cluster_part *c)
{
    c->standing.has_place = true;
    p->progress.places++;
    p->progress.full = STR("");
    enumeration_add(&p->progress.names, c->observed->id);
}

static void count_places(struct planner *p)
{
    struct rollout_progress *progress = &p->progress;
    uint64_t unreachable = 0;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct standing *s = &p->clusters[i].standing;

        unreachable += s->counts && !s->done && s->unreachable;
    }
    progress->goes_on_without =
        unreachable <= share_of(p->stack->spec.rollout.max_unavailable, p->targets);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];
        struct standing *s = &c->standing;

        progress->failed += s->failed;
        if (s->unreachable && progress->goes_on_without)
            s->has_place = false;
        if (!s->has_place)
            continue;
        if (s->unreachable && !progress->unavailable.len)
            progress->unavailable = name_unreachable(p, NONE);
        give_place(p, c);
    }
}

void plan_rollout(struct planner *p)
{
    struct memory memory = recall(p);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        stand(p, &memory, &p->clusters[i]);
    p->progress = (struct rollout_progress){ .closed_from = NONE,
                                             .names = enumeration_new(p->arena, NAMED_MAX) };
    if (!is_gated(p))
        return;
    find_progress(p);
    count_places(p);
}

/* Turns */

static struct str stopped_message(const struct planner *p)
{
    const struct kube_meta *meta = &p->stack->meta;
    int64_t failed = p->progress.failed;

    return str_fmt(p->arena,
                   "the rollout stopped: %lld %s failed and spec.rollout.maxFailures is %lld; fix "
                   "the failure and change the spec, or go on with kubectl annotate stack %.*s -n "
                   "%.*s " STACK_RESUME "=$(date +%%s) --overwrite",
                   (long long)failed, failed == 1 ? "cluster" : "clusters",
                   (long long)p->stack->spec.rollout.max_failures, STR_ARG(meta->name),
                   STR_ARG(meta->namespace_));
}

/* Why clusters that are well wait for help: the first cause that is found. */
static void report_trouble(struct planner *p, struct str trouble)
{
    if (!p->rollout_trouble.len)
        p->rollout_trouble = trouble;
}

/* Whether the turn of a cluster has come that has not begun yet; says why not. */
static void find_turn(struct planner *p, struct cluster_part *c)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    const struct rollout_progress *progress = &p->progress;
    const struct standing *standing = &c->standing;

    if (standing->started || standing->done || !c->slots.count)
        return;
    /* Its own failure does not keep a cluster from what may end it. */
    if (rollout->max_failures >= 0 && progress->failed - standing->failed > rollout->max_failures) {
        p->rollout_trouble = stopped_message(p);
        c->gate_reason = REASON(ROLLOUT_STOPPED);
        c->gate_message = p->rollout_trouble;
    } else if (standing->wave >= progress->closed_from) {
        c->gate_reason = progress->reason;
        c->gate_message = progress->message;
        report_trouble(p, progress->trouble);
        p->help_reason = progress->help;
        p->help_message = progress->message;
        if (progress->wake_ms)
            plan_wake(p, progress->wake_ms); /* a pause that nobody waits for wakes nobody */
    }
}

/* Places */

/* Why the others wait, as long as no more clusters get a place. */
static struct str full_message(struct planner *p)
{
    struct rollout_progress *progress = &p->progress;

    if (!progress->full.len)
        progress->full =
            str_fmt(p->arena, "waiting for %.*s: spec.rollout.maxConcurrentClusters is %lld%s%.*s",
                    STR_ARG(enumeration_text(&progress->names)),
                    (long long)p->stack->spec.rollout.max_concurrent_clusters,
                    progress->unavailable.len ? "; " : "", STR_ARG(progress->unavailable));
    return progress->full;
}

bool plan_has_place(struct planner *p, const struct cluster_part *c, struct str *ret_message)
{
    const struct rollout_progress *progress = &p->progress;
    int64_t most = p->stack->spec.rollout.max_concurrent_clusters;

    if (p->deleting || most <= 0 || c->standing.has_place || progress->places < most)
        return true;
    *ret_message = full_message(p);
    report_trouble(p, progress->unavailable);
    return false;
}

bool plan_take_place(struct planner *p, struct cluster_part *c, struct str *ret_message)
{
    if (!plan_has_place(p, c, ret_message))
        return false;
    if (!c->standing.has_place)
        give_place(p, c);
    return true;
}

/* It waits for an answer to what Herd has just asked for, or for what it did to show. */
static bool is_passing(const struct slot *s)
{
    static const enum reason passing[] = {
        REASON_ACCESS_NOT_SYNCED,  REASON_CLUSTER_NOT_SYNCED,   REASON_VALUES_NOT_SYNCED,
        REASON_RESOLVING_VERSION,  REASON_REPO_REQUESTED,       REASON_REPO_DOWNLOADING,
        REASON_REPO_REFRESHING,    REASON_OPERATION_ENDED,      REASON_RELEASE_PENDING,
        REASON_WORKLOADS_STARTING, REASON_WAITING_FOR_CAPACITY, REASON_TOO_MANY_REQUESTS,
    };

    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        if (str_eq(s->now.reason, reason_rows[passing[i]].name))
            return true;
    /* What failed was something else than what is wanted now, which is requested next. */
    return s->now.state == DEPLOYMENT_FAILED && s->now.attempts && !plan_is_retry(s);
}

static bool waits_briefly(const struct planner *p, const struct cluster_part *c)
{
    for (uint32_t k = 0; k < c->slots.count; k++)
        if (is_passing(&p->slots.items[c->slots.items[k]]))
            return true;
    return false;
}

/* After a cluster was decided. The time is that of all clusters together: how long each one has
 * been waiting stands in entries that the status may have no room for. */
static void keep_place(struct planner *p, struct cluster_part *c)
{
    const struct stack_status *before = p->observed->before;
    int64_t now_ms = p->observed->now_ms / 1000 * 1000;
    int64_t since = before ? before->waiting_since_ms : 0;
    struct str ignored;

    if (p->stack->spec.rollout.max_concurrent_clusters <= 0 || c->standing.has_place ||
        c->gate_reason.len || c->observed->state != CLUSTER_READ || !waits_briefly(p, c))
        return;
    since = since && since < now_ms ? since : now_ms;
    p->progress.waiting_since_ms = since;
    if (p->observed->now_ms >= since + LIMIT_PLACE_KEPT || !plan_has_place(p, c, &ignored))
        return;
    plan_wake(p, since + LIMIT_PLACE_KEPT);
    give_place(p, c);
}

/* Something is requested by this very plan: not a ClusterRepo, which changes no release. */
static bool is_new(const struct planner *p, const struct slot *s)
{
    return s->now.requested_ms == p->observed->now_ms && s->now.state != DEPLOYMENT_WAITING &&
           !(s->before && s->before->requested_ms == s->now.requested_ms);
}

/* What the decisions about a cluster say of it. */
static void record(struct planner *p, struct cluster_part *c)
{
    struct standing *standing = &c->standing;
    bool failed_before = standing->failed;

    if (c->observed->state == CLUSTER_READ)
        standing->lost = false;
    for (uint32_t k = 0; k < c->slots.count; k++) {
        const struct slot *s = &p->slots.items[c->slots.items[k]];
        bool failed = s->chart != NONE && s->now.state == DEPLOYMENT_FAILED;

        /* Where its turn has not come it is only a retry. */
        standing->started = standing->started || (!c->gate_reason.len && is_new(p, s));
        standing->failed = standing->failed || (failed && (s->now.terminal || plan_is_retry(s)));
        /* Workloads recover by themselves, and are looked at anew by each plan. */
        standing->lost = standing->lost || (failed && s->now.terminal && !plan_is_broken(p, s));
    }
    standing->started = (standing->started || standing->begun) && !standing->done;
    p->progress.failed += standing->failed && !failed_before;
}

void plan_rollout_each(struct planner *p, void (*decide)(struct planner *, struct cluster_part *))
{
    uint32_t waves = p->stack->spec.rollout.waves.count;
    uint32_t clusters = p->observed->clusters.count;
    struct u32_list order = u32_list_new(p->arena, clusters);
    bool gated = is_gated(p);

    /* A place goes to a cluster that has begun before it goes to one of the earliest wave. */
    for (int begun = 1; begun >= 0; begun--)
        for (uint32_t wave = 0; wave <= waves; wave++)
            for (uint32_t i = 0; i < clusters; i++)
                if (p->clusters[i].standing.wave == wave && p->clusters[i].standing.begun == begun)
                    u32_list_push(&order, i);
    for (uint32_t i = 0; i < order.count; i++) {
        struct cluster_part *c = &p->clusters[order.items[i]];

        if (gated)
            find_turn(p, c);
        decide(p, c);
        if (gated)
            keep_place(p, c);
        record(p, c);
    }
}
