/* plan_rollout.c: which clusters may change now.
 *
 * What is wanted on a cluster has a mark: a hash of the digests of all its releases. A cluster is
 * done when all of them are deployed, and started when anything was asked for there since its mark
 * is what it is; then the status has that mark on the releases that are not deployed yet. That a
 * chart which did not change is deployed says nothing: else an upgrade would begin everywhere.
 * Started clusters always go on; a fresh one starts when
 *   its wave has come: all of the earlier waves are done, and their pause is over;
 *   fewer than maxConcurrentClusters are started and not done, or still busy with what was wanted
 *   before (one that failed for good is not counted, or a single one would stop everything);
 *   no more than maxFailures clusters have failed with what is wanted now.
 * Up to maxFailures clusters of an earlier wave may have failed for good; with no limit (-1) a
 * wave still waits for all of them, because that is what a first wave is for. */
#include "stack/plan_parts.h"

#include "base/flag.h"
#include "text/time.h"

struct standing {
    uint32_t wave;
    bool counts; /* something is wanted there */
    bool done;
    bool started;
    bool busy;     /* something is under way there, no matter since when */
    bool failed;   /* a release of it failed, */
    bool terminal; /* for good */
    int64_t deployed_at;
};

/* What is wanted on a cluster, in one word. */
static struct str mark_of(const struct planner *p, const struct cluster_part *c)
{
    struct strbuf all = strbuf_new(p->arena, 1024);

    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *s = &p->slots.items[c->slots.items[i]];

        if (s->chart != NONE)
            strbuf_fmt(&all, "%.*s %.*s\n", STR_ARG(s->now.chart_name),
                       STR_ARG(s->desired ? s->desired->digest : STR("unknown")));
    }
    return str_fmt(p->arena, "%016llx", (unsigned long long)str_hash(strbuf_str(&all)));
}

/* A status that was written without marks tells by what was asked for. */
static bool is_started(const struct slot *s, struct str mark)
{
    if (s->now.rollout.len)
        return str_eq(s->now.rollout, mark);
    return s->desired && str_eq(s->now.digest, s->desired->digest) &&
           (s->now.requested_ms || s->now.attempts > 0);
}

/* Its failure is one of what is wanted now, not one that was forgiven (plan_failure.c); also where
 * it went out of sight since. */
static bool is_failed(const struct planner *p, const struct slot *s)
{
    const struct release_state *b = s->before;

    if (s->desired && s->now.digest.len && !str_eq(s->now.digest, s->desired->digest))
        return false;
    if (s->now.state == DEPLOYMENT_UNKNOWN)
        return s->now.last_known == DEPLOYMENT_FAILED;
    if (s->now.state != DEPLOYMENT_FAILED)
        return false;
    return s->decided || !b ||
           !(p->fresh || (b->attempts && !s->now.attempts) || (b->terminal && !s->now.terminal));
}

static void stand(const struct planner *p, const struct slot *s, struct str mark,
                  struct standing *standing)
{
    bool as_asked = s->desired && s->app && s->app->phase == RELEASE_DEPLOYED &&
                    plan_is_ours(p, s->app) && str_eq(s->app->digest, s->desired->digest);
    /* What somebody changed since and nobody wants corrected was rolled out, too. */
    bool drifted = p->stack->spec.drift != DRIFT_CORRECT && plan_is_drifted(s);
    bool deployed = (as_asked || drifted) && plan_cluster(p, s)->state == CLUSTER_READ;

    standing->counts = true;
    if (!deployed)
        standing->done = false;
    standing->started = standing->started || is_started(s, mark);
    standing->busy = standing->busy || s->running || s->now.requested_ms;
    standing->failed = standing->failed || is_failed(p, s);
    standing->terminal = standing->terminal || (is_failed(p, s) && s->now.terminal);
    if (!deployed)
        return;

    /* An entry that the status had no room for says nothing about when. */
    int64_t at = s->before && s->before->state == DEPLOYMENT_DEPLOYED ? s->before->last_updated_ms
                 : s->before                                          ? p->observed->now_ms
                                                                      : 0;

    if (at > standing->deployed_at)
        standing->deployed_at = at;
}

static uint32_t wave_of(const struct selector *waves, uint32_t count,
                        const struct observed_cluster *c)
{
    for (uint32_t i = 0; i < count; i++)
        if (selector_matches(&waves[i], c->labels))
            return i;
    return count;
}

static struct standing *stand_all(struct planner *p)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    struct selector *selectors = arena_array(p->arena, struct selector, waves->count);
    struct standing *all = arena_array(p->arena, struct standing, p->observed->clusters.count);

    for (uint32_t i = 0; i < waves->count; i++)
        selectors[i] = label_selector_compile(p->arena, &waves->items[i].selector);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];
        struct str mark = mark_of(p, c);

        all[i].done = true;
        all[i].wave = wave_of(selectors, waves->count, c->observed);
        for (uint32_t k = 0; k < c->slots.count; k++) {
            const struct slot *s = &p->slots.items[c->slots.items[k]];

            if (s->chart != NONE)
                stand(p, s, mark, &all[i]);
        }
    }
    return all;
}

static void shut(struct cluster_part *c, struct str reason, struct str message)
{
    c->gate_reason = reason;
    c->gate_message = message;
}

/* How far the waves have come: the first one that may not start yet, and why. */
struct tide {
    uint32_t closed_from;
    struct str message;
};

static struct tide tide_of(struct planner *p, const struct standing *all)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    uint32_t tolerated = rollout->max_failures > 0 ? (uint32_t)rollout->max_failures : 0;

    for (uint32_t wave = 0; wave < rollout->waves.count; wave++) {
        const struct wave *w = &rollout->waves.items[wave];
        uint32_t undone = 0;
        uint32_t lost = 0;
        int64_t deployed_at = 0;
        int64_t pause = 0;

        for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
            if (!all[i].counts || all[i].wave != wave)
                continue;
            if (all[i].terminal)
                lost++;
            else if (!all[i].done)
                undone++;
            if (all[i].deployed_at > deployed_at)
                deployed_at = all[i].deployed_at;
        }
        if (lost > tolerated)
            undone += lost;
        if (undone)
            return (struct tide){
                wave + 1, str_fmt(p->arena, "waiting for wave %.*s: %u %s not deployed yet",
                                  STR_ARG(w->name), undone,
                                  undone == 1 ? "cluster is" : "clusters are") };
        if (!duration_parse(w->pause, &pause) || deployed_at == 0)
            continue;
        if (p->observed->now_ms < deployed_at + pause) {
            plan_wake(p, deployed_at + pause);
            return (struct tide){
                wave + 1, str_fmt(p->arena, "waiting for wave %.*s: it pauses until %.*s",
                                  STR_ARG(w->name),
                                  STR_ARG(time_rfc3339(p->arena, deployed_at + pause))) };
        }
    }
    return (struct tide){ NONE, { "", 0 } };
}

/* Those that may start share these. */
struct crowd {
    int64_t under_way;
    int64_t failed;
    bool waits; /* one waits for a wave */
};

/* A cluster at work: it takes one of maxConcurrentClusters. */
static bool is_under_way(const struct standing *c)
{
    return c->counts && !c->done && !c->terminal && (c->started || c->busy);
}

/* Lets a cluster that has not started begin now, or says why not. */
static void gate(struct planner *p, struct cluster_part *c, const struct standing *standing,
                 const struct tide *tide, struct crowd *crowd)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    int64_t concurrent = rollout->max_concurrent_clusters;
    /* A busy one has its place already. */
    bool holds = is_under_way(standing);

    if (rollout->max_failures >= 0 && crowd->failed > rollout->max_failures) {
        shut(c, REASON(ROLLOUT_STOPPED),
             str_fmt(p->arena,
                     "the rollout stopped: %lld %s failed and spec.rollout.maxFailures is %lld; "
                     "mend what failed or raise it",
                     (long long)crowd->failed, crowd->failed == 1 ? "cluster" : "clusters",
                     (long long)rollout->max_failures));
    } else if (standing->wave >= tide->closed_from) {
        shut(c, REASON(WAITING_FOR_WAVE), tide->message);
        crowd->waits = true;
    } else if (concurrent > 0 && crowd->under_way - holds >= concurrent) {
        shut(c, REASON(WAITING_FOR_ROLLOUT),
             str_fmt(p->arena,
                     "waiting for other clusters: spec.rollout.maxConcurrentClusters is %lld",
                     (long long)concurrent));
    } else if (!holds && c->observed->state == CLUSTER_READ) {
        crowd->under_way++;
    }
}

static bool is_gated(const struct planner *p)
{
    const struct rollout *rollout = &p->stack->spec.rollout;

    return !p->deleting && (rollout->max_concurrent_clusters > 0 || rollout->max_failures >= 0 ||
                            rollout->waves.count);
}

/* Clusters where nothing may be begun at all. They take nobody's place, but later waves wait for
 * them as for any that is not deployed. */
static void shut_out(struct planner *p)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *cluster = &p->observed->clusters.items[i];

        if (cluster->shut_reason.len && !plan_held_before(p, cluster->id))
            shut(&p->clusters[i], cluster->shut_reason, cluster->shut_message);
    }
}

void plan_rollout(struct planner *p)
{
    uint32_t waves = p->stack->spec.rollout.waves.count;
    struct crowd crowd = { 0 };

    shut_out(p);
    if (!is_gated(p))
        return;

    struct standing *all = stand_all(p);
    int64_t wake = p->wake_at;
    struct tide tide = tide_of(p, all);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        crowd.under_way += is_under_way(&all[i]);
        crowd.failed += all[i].counts && all[i].failed;
    }
    /* Clusters are sorted by id; waves before that order, so that a slot goes to the earliest. */
    for (uint32_t wave = 0; wave <= waves; wave++)
        for (uint32_t i = 0; i < p->observed->clusters.count; i++)
            if (all[i].counts && all[i].wave == wave && !all[i].started && !all[i].done &&
                !p->clusters[i].gate_reason.len)
                gate(p, &p->clusters[i], &all[i], &tide, &crowd);
    /* A pause that nobody waits for wakes nobody. */
    if (!crowd.waits)
        p->wake_at = wake;
}

/* Something is asked for by this very plan. */
static bool is_new(const struct planner *p, const struct slot *s)
{
    return s->now.requested_ms == p->observed->now_ms &&
           !(s->before && s->before->requested_ms == s->now.requested_ms);
}

void plan_rollout_mark(struct planner *p)
{
    bool gated = is_gated(p);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];
        struct str mark = gated ? mark_of(p, c) : STR("");
        bool started = false;

        for (uint32_t k = 0; gated && k < c->slots.count; k++) {
            const struct slot *s = &p->slots.items[c->slots.items[k]];

            started = started || (s->chart != NONE && (is_started(s, mark) || is_new(p, s)));
        }
        for (uint32_t k = 0; k < c->slots.count; k++) {
            struct slot *s = &p->slots.items[c->slots.items[k]];

            if (!gated || s->chart == NONE || s->now.state == DEPLOYMENT_DEPLOYED)
                s->now.rollout = STR("");
            else if (started)
                s->now.rollout = mark;
        }
    }
}
