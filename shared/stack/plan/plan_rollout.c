/* SPDX-License-Identifier: Apache-2.0 */
/* plan_rollout.c: which clusters may change now.
 *
 * A change is what the spec and its values say about charts; its name is a hash of these. A cluster
 * is done when all that is wanted there is deployed and all else of the Stack is gone; started when
 * the rollout has let it begin with this change; failed from when something failed there with this
 * change until it is done, the spec changes, or somebody resumes; and while a workload there is not
 * ready in a wave that still pauses. Which clusters are started, failed and lost (failed for good)
 * stands in the status for all of them (status.targetStates): that a failed one is being tried
 * again says nothing about the others. Started clusters always go on. A fresh one, be it to
 * install, to upgrade or to remove, starts when its wave has come: all earlier waves are complete,
 * their pauses over, and it is approved; fewer than maxConcurrentClusters are at work: started and
 * neither done nor lost, or still busy with what was wanted before; no more than maxFailures
 * clusters are failed. A wave is complete when all of its clusters are done and ready. Up to
 * maxFailures lost or not ready ones and up to maxUnavailable unreachable ones do not keep it from
 * that; with no limit of failures a wave still waits for all of them, because that is what a first
 * wave is for. After one with scans: Required, later ones wait for its scans, too. Clusters that
 * the Stack leaves have their turn, too, and no wave waits for them. */
#include "stack/plan/plan_parts.h"

#include "base/duration.h"
#include "base/set.h"
#include "stack/model/share.h"
#include "stack/plan/rollout.h"
#include "text/enumerate.h"
#include "text/time.h"

/* How many clusters a message names. */
enum { NAMED_MAX = 3 };

/* The name of the wave of all clusters that are in none. */
static const struct str rest_name = STR_INIT("*");

/* Whether it stands as it is wanted; what somebody changed since and nobody wants corrected was
 * rolled out, too. */
static bool is_deployed(struct planner *p, const struct slot *s)
{
    bool as_asked = s->desired && s->app && s->app->phase == RELEASE_DEPLOYED && plan_owns(p, s) &&
                    str_eq(s->app->digest, s->desired->digest) && !plan_needs_repair(p, s) &&
                    !plan_is_starting(p, s);

    return as_asked || (p->stack->spec.drift != DRIFT_CORRECT && plan_is_drifted(p, s));
}

/* A failure that was counted and is one of what is wanted now: to try it again is no change. */
bool plan_is_retry(const struct slot *s)
{
    return s->now.attempts > 0 &&
           (!s->desired || !s->now.digest.len || str_eq(s->now.digest, s->desired->digest));
}

static void stand(struct planner *p, const struct slot *s, struct standing *standing)
{
    bool wanted = s->chart != NONE;

    if (s->now.state == DEPLOYMENT_REMOVED)
        return;
    standing->counts = standing->counts || wanted;
    standing->busy = standing->busy || s->running || s->now.requested_ms ||
                     (wanted && plan_is_retry(s) && !s->now.terminal);
    if (!wanted || plan_cluster(p, s)->state != CLUSTER_READ || !is_deployed(p, s))
        standing->done = false;
    standing->not_ready = standing->not_ready || (wanted && s->app && s->app->health.message.len);
    if (wanted && plan_is_retry(s)) {
        standing->failed = true;
        standing->lost = standing->lost || s->now.terminal;
    }
}

/* What the status knows of the same change. */
struct memory {
    struct set started, failed, lost;
};

static struct memory recall(const struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    bool same = before && str_eq(before->change, p->change);
    bool stands = same && !p->fresh && !p->resumed;

    return (struct memory){
        set_of(p->arena, same ? &before->started_clusters : NULL),
        set_of(p->arena, stands ? &before->failed_clusters : NULL),
        set_of(p->arena, stands && !p->retried ? &before->lost_clusters : NULL),
    };
}

/* Since when the wave has been complete; 0 = it was not. One that is held back again has been so
 * with this change, or does not count. */
static int64_t completed_before(const struct planner *p, struct str name, bool held_back)
{
    const struct stack_status *before = p->observed->before;
    int64_t now_ms = p->observed->now_ms / 1000 * 1000;

    if (held_back && before && !str_eq(before->change, p->change))
        return 0;
    for (uint32_t i = 0; before && i < before->waves.count; i++) {
        int64_t since = before->waves.items[i].completed_ms;

        /* One that is still to come was written by a clock that was ahead, or forged. */
        if (str_eq(before->waves.items[i].name, name))
            return since < now_ms ? since : now_ms;
    }
    return 0;
}

/* While a wave that pauses is not complete, or complete for a shorter time than its pause. */
static bool is_soaking(const struct planner *p, uint32_t wave)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    int64_t pause = 0;
    int64_t completed_ms;

    if (wave >= waves->count || !duration_parse(waves->items[wave].pause, &pause) || !pause)
        return false;
    completed_ms = completed_before(p, waves->items[wave].name, true);
    return !completed_ms || p->observed->now_ms < completed_ms + pause;
}

void plan_stand(struct planner *p)
{
    struct rollout_waves waves = rollout_waves_new(p->arena, &p->stack->spec.rollout);
    struct memory memory = recall(p);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];
        const struct observed_cluster *o = c->observed;
        struct standing *standing = &c->standing;
        bool seen = o->state == CLUSTER_READ;

        *standing = (struct standing){
            .wave = rollout_wave_of(&waves, NULL, o->labels),
            .done = seen && !c->left_out,
            .started = set_has(memory.started, o->id) && !c->left_out,
            .failed = set_has(memory.failed, o->id),
            .lost = set_has(memory.lost, o->id),
            /* A target that Rancher does not know counts as one that cannot be reached. */
            .counts = o->targeted && !p->deleting && o->state == CLUSTER_GONE,
            .unreachable = !seen && o->state != CLUSTER_NOT_SYNCED,
        };
        for (uint32_t k = 0; k < c->slots.count; k++)
            stand(p, &p->slots.items[c->slots.items[k]], standing);
        if (standing->done)
            standing->started = standing->failed = standing->lost = false;
        if (standing->done && standing->not_ready && is_soaking(p, standing->wave))
            standing->failed = true;
        /* Where nothing may be installed or upgraded it gives its place away, and waits for another
         * turn. */
        if (c->access_reason.len && !standing->busy)
            standing->started = false;
    }
}

static void block(struct cluster_part *c, struct str reason, struct str message)
{
    c->gate_reason = reason;
    c->gate_message = message;
}

/* How far the waves have come: the first one that may not start yet, and why. */
struct tide {
    uint32_t closed_from;
    struct str reason;
    struct str message;
    struct str trouble; /* what of that does not end by itself; "" = nothing */
    struct str help;    /* the reason, if no release of the Stack has it */
};

struct tally {
    uint32_t undone; /* neither done, lost nor unreachable */
    uint32_t lost;
    uint32_t not_ready; /* of those that are done */
    bool fresh;         /* one of them has not begun */
    struct wave_state state;
};

static struct tally count_wave(const struct planner *p, uint32_t wave)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    struct tally tally = {
        .state.name = wave < waves->count ? waves->items[wave].name : rest_name,
    };

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct standing *s = &p->clusters[i].standing;

        if (s->wave == wave && !s->done)
            tally.fresh = tally.fresh || !s->started;
        if (!s->counts || s->wave != wave)
            continue;
        tally.state.clusters++;
        tally.state.deployed += s->done;
        tally.not_ready += s->done && s->not_ready;
        tally.state.failed += s->failed;
        tally.state.unreachable += !s->done && s->unreachable;
        if (!s->done && s->lost)
            tally.lost++;
        else if (!s->done && !s->unreachable)
            tally.undone++;
    }
    return tally;
}

/* "wave canary: 2 of 5 clusters deployed, 1 failed, 1 unreachable (c-m-3)" */
static struct str wave_progress(const struct planner *p, const struct tally *tally)
{
    const struct wave_state *state = &tally->state;
    struct strbuf text = strbuf_new(p->arena, 128);

    strbuf_fmt(&text, "wave %.*s: %u of %u %s deployed", STR_ARG(state->name), state->deployed,
               state->clusters, state->clusters == 1 ? "cluster" : "clusters");
    if (tally->not_ready)
        strbuf_fmt(&text, ", %u not ready", tally->not_ready);
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

static bool is_approved(const struct planner *p, struct str wave)
{
    struct str rest = kube_annotation(&p->stack->meta, STR(STACK_APPROVE));
    struct str wanted = str_fmt(p->arena, "%.*s@%.*s", STR_ARG(wave), STR_ARG(p->change));
    struct str part;

    while (str_split(&rest, ',', &part))
        if (str_eq(str_trim(part), wanted))
            return true;
    return false;
}

static bool needs_approval(const struct planner *p, uint32_t wave, const struct tally *tally)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;

    return wave < waves->count && tally->fresh && waves->items[wave].approval == APPROVAL_MANUAL &&
           !is_approved(p, waves->items[wave].name);
}

static struct tide wait_for_approval(const struct planner *p, uint32_t wave,
                                     const struct tally *tally)
{
    const struct kube_meta *meta = &p->stack->meta;

    return (struct tide){
        .closed_from = wave,
        .reason = REASON(WAITING_FOR_APPROVAL),
        .message = str_fmt(
            p->arena,
            "wave %.*s waits for approval: kubectl annotate stack %.*s -n %.*s " STACK_APPROVE
            "=%.*s@%.*s --overwrite",
            STR_ARG(tally->state.name), STR_ARG(meta->name), STR_ARG(meta->namespace_),
            STR_ARG(tally->state.name), STR_ARG(p->change)),
    };
}

/* Whether later waves wait for this one; `*unreachable` counts those of earlier waves, too. */
static bool holds_back(const struct planner *p, uint32_t wave, const struct tally *tally,
                       uint32_t *unreachable, struct tide *ret_tide)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    uint64_t tolerated = rollout->max_failures > 0 ? (uint64_t)rollout->max_failures : 0;
    uint64_t available = share_of(rollout->max_unavailable, p->targets);

    *unreachable += tally->state.unreachable;
    *ret_tide = (struct tide){
        .closed_from = wave + 1,
        .reason = REASON(WAITING_FOR_WAVE),
        .message = str_fmt(p->arena, "waiting for %.*s", STR_ARG(wave_progress(p, tally))),
    };
    if (tally->undone || tally->lost + tally->not_ready > tolerated)
        return true;
    if (tally->state.unreachable && *unreachable > available) {
        ret_tide->trouble = name_unreachable(p, wave);
        ret_tide->message =
            str_fmt(p->arena, "%.*s; %.*s", STR_ARG(ret_tide->message), STR_ARG(ret_tide->trouble));
        return true;
    }
    return false;
}

static bool pauses(struct planner *p, uint32_t wave, const struct wave_state *state,
                   struct tide *ret_tide)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    int64_t until;

    if (wave >= waves->count || !state->completed_ms)
        return false;
    until = state->completed_ms + rollout_pause_ms(&waves->items[wave]);
    if (p->observed->now_ms >= until)
        return false;
    p->tide_wake = until;
    *ret_tide = (struct tide){
        .closed_from = wave + 1,
        .reason = REASON(WAITING_FOR_WAVE),
        .message = str_fmt(p->arena, "waiting for wave %.*s: it pauses until %.*s",
                           STR_ARG(state->name), STR_ARG(time_rfc3339(p->arena, p->tide_wake))),
    };
    return true;
}

static bool awaits_scans(struct planner *p, uint32_t wave, const struct wave_state *state,
                         struct tide *ret_tide)
{
    struct release_verdict scans = plan_wave_scans(p, wave);

    if (scans.rank == RANK_NONE)
        return false;
    ret_tide->closed_from = wave + 1;
    if (scans.rank == RANK_EXCEEDED) {
        ret_tide->reason = REASON(ROLLOUT_STOPPED);
        ret_tide->trouble = ret_tide->message =
            str_fmt(p->arena,
                    "the rollout stopped after wave %.*s: %.*s; deploy a fixed version, accept the "
                    "vulnerability in NeuVector, or change spec.securityProfile.thresholds",
                    STR_ARG(state->name), STR_ARG(scans.message));
    } else {
        ret_tide->reason = REASON(WAITING_FOR_SCANS);
        ret_tide->message = str_fmt(
            p->arena,
            "waiting for the scans of wave %.*s: %.*s; to go on without them, set the wave's scans "
            "to Ignored",
            STR_ARG(state->name), STR_ARG(scans.message));
        if (plan_scans_need_help(scans.reason))
            ret_tide->help = scans.reason;
    }
    return true;
}

static struct tide find_tide(struct planner *p)
{
    struct tide tide = { .closed_from = NONE };
    uint32_t count = p->stack->spec.rollout.waves.count;
    uint32_t unreachable = 0;

    for (uint32_t wave = 0; count && wave <= count; wave++) {
        struct tally tally = count_wave(p, wave);
        bool open = tide.closed_from == NONE;
        struct tide here;

        if (open && needs_approval(p, wave, &tally))
            tide = wait_for_approval(p, wave, &tally);
        bool held_back = holds_back(p, wave, &tally, &unreachable, &here);

        /* Only a failure has the pause begin anew: not a cluster that is away for a moment. */
        if (tally.state.clusters && (!held_back || !tally.state.failed))
            tally.state.completed_ms = completed_before(p, tally.state.name, held_back);
        if (!held_back && tally.state.clusters) {
            if (!tally.state.completed_ms)
                tally.state.completed_ms = p->observed->now_ms / 1000 * 1000;
            if (tide.closed_from == NONE && (awaits_scans(p, wave, &tally.state, &here) ||
                                             pauses(p, wave, &tally.state, &here)))
                tide = here;
        } else if (tide.closed_from == NONE && tally.state.clusters) {
            tide = here;
        }
        wave_states_push(&p->waves, tally.state);
    }
    return tide;
}

/* Those that may start share these. */
struct crowd {
    bool goes_on_without; /* no more are unreachable than spec.rollout.maxUnavailable */
    int64_t at_work;
    int64_t failed;
    struct str names;       /* of those at work */
    struct str unavailable; /* which of them cannot be reached; "" = none */
};

/* A cluster at work: it takes one of maxConcurrentClusters. */
static bool is_at_work(const struct standing *s, const struct crowd *crowd)
{
    return !s->done && !s->lost && (s->started || s->busy) &&
           !(s->unreachable && crowd->goes_on_without);
}

static struct crowd count_crowd(struct planner *p)
{
    struct enumeration names = enumeration_new(p->arena, NAMED_MAX);
    struct crowd crowd = { 0 };
    uint64_t unreachable = 0;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct standing *s = &p->clusters[i].standing;

        unreachable += s->counts && !s->done && s->unreachable;
    }
    crowd.goes_on_without =
        unreachable <= share_of(p->stack->spec.rollout.max_unavailable, p->targets);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        crowd.failed += p->clusters[i].standing.failed;
        if (!is_at_work(&p->clusters[i].standing, &crowd))
            continue;
        if (p->clusters[i].standing.unreachable && !crowd.unavailable.len)
            crowd.unavailable = name_unreachable(p, NONE);
        enumeration_add(&names, p->observed->clusters.items[i].id);
    }
    crowd.at_work = names.count;
    crowd.names = enumeration_text(&names);
    return crowd;
}

static struct str stopped_message(const struct planner *p, const struct crowd *crowd)
{
    const struct kube_meta *meta = &p->stack->meta;

    return str_fmt(p->arena,
                   "the rollout stopped: %lld %s failed and spec.rollout.maxFailures is %lld; fix "
                   "the failure and change the spec, or go on with kubectl annotate stack %.*s -n "
                   "%.*s " STACK_RESUME "=$(date +%%s) --overwrite",
                   (long long)crowd->failed, crowd->failed == 1 ? "cluster" : "clusters",
                   (long long)p->stack->spec.rollout.max_failures, STR_ARG(meta->name),
                   STR_ARG(meta->namespace_));
}

/* The first that is worth telling of the rollout as a whole. */
static void tell_trouble(struct planner *p, struct str trouble)
{
    if (!p->rollout_trouble.len)
        p->rollout_trouble = trouble;
}

/* Lets a cluster that has not started begin now, or says why not. */
static void gate(struct planner *p, struct cluster_part *c, const struct tide *tide,
                 struct crowd *crowd)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    const struct standing *standing = &c->standing;
    int64_t concurrent = rollout->max_concurrent_clusters;
    /* A busy one has its place already. */
    bool has_place = is_at_work(standing, crowd);

    /* Its own failure does not keep a cluster from what may end it. */
    if (rollout->max_failures >= 0 && crowd->failed - standing->failed > rollout->max_failures) {
        p->rollout_trouble = stopped_message(p, crowd);
        block(c, REASON(ROLLOUT_STOPPED), p->rollout_trouble);
    } else if (standing->wave >= tide->closed_from) {
        block(c, tide->reason, tide->message);
        tell_trouble(p, tide->trouble);
        p->help_reason = tide->help;
        p->help_message = tide->message;
        if (p->tide_wake)
            plan_wake(p, p->tide_wake); /* a pause that nobody waits for wakes nobody */
    } else if (concurrent > 0 && crowd->at_work - has_place >= concurrent) {
        block(c, REASON(WAITING_FOR_ROLLOUT),
              str_fmt(p->arena,
                      "waiting for %.*s: spec.rollout.maxConcurrentClusters is %lld%s%.*s",
                      STR_ARG(crowd->names.len ? crowd->names : STR("other clusters")),
                      (long long)concurrent, crowd->unavailable.len ? "; " : "",
                      STR_ARG(crowd->unavailable)));
        tell_trouble(p, crowd->unavailable);
    } else if (!has_place && c->observed->state == CLUSTER_READ) {
        crowd->at_work++;
    }
}

bool plan_is_gated(const struct planner *p)
{
    const struct rollout *rollout = &p->stack->spec.rollout;

    return !p->deleting && (rollout->max_concurrent_clusters > 0 || rollout->max_failures >= 0 ||
                            rollout->waves.count);
}

/* Something is to be done there, and has not begun. */
static bool is_fresh(const struct cluster_part *c)
{
    return !c->standing.started && !c->standing.done && c->slots.count && !c->access_reason.len;
}

void plan_rollout(struct planner *p)
{
    uint32_t waves = p->stack->spec.rollout.waves.count;
    struct crowd crowd;
    struct tide tide;

    if (!plan_is_gated(p))
        return;
    tide = find_tide(p);
    crowd = count_crowd(p);
    /* Clusters are sorted by id; waves before that order, so that a place goes to the earliest. */
    for (uint32_t wave = 0; wave <= waves; wave++)
        for (uint32_t i = 0; i < p->observed->clusters.count; i++)
            if (p->clusters[i].standing.wave == wave && is_fresh(&p->clusters[i]))
                gate(p, &p->clusters[i], &tide, &crowd);
}

/* Something is asked for by this very plan. */
static bool is_new(const struct planner *p, const struct slot *s)
{
    return s->now.requested_ms == p->observed->now_ms &&
           !(s->before && s->before->requested_ms == s->now.requested_ms);
}

void plan_rollout_mark(struct planner *p)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];
        struct standing *standing = &c->standing;

        if (c->observed->state == CLUSTER_READ)
            standing->lost = false;
        for (uint32_t k = 0; k < c->slots.count; k++) {
            const struct slot *s = &p->slots.items[c->slots.items[k]];
            bool failed = s->chart != NONE && s->now.state == DEPLOYMENT_FAILED;

            /* Where its turn has not come it is only a retry. */
            standing->started = standing->started || (!c->gate_reason.len && is_new(p, s));
            standing->failed =
                standing->failed || (failed && (s->now.terminal || plan_is_retry(s)));
            standing->lost = standing->lost || (failed && s->now.terminal);
        }
        standing->started = standing->started && !standing->done;
    }
}
