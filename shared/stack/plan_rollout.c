/* plan_rollout.c: which clusters may change now.
 *
 * A cluster is done when all that is wanted there is deployed, and started when anything of the
 * wanted set was asked for there. Started clusters always go on; a fresh one starts when
 *   its wave has come: all of the earlier waves are done, and their pause is over;
 *   fewer than maxConcurrentClusters are started and not done (one that failed for good is not
 *   counted, or a single one would stop everything);
 *   no more than maxFailures clusters have failed.
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
    bool failed;   /* a release of it failed, */
    bool terminal; /* for good */
    int64_t deployed_at;
};

static bool is_asked_for(const struct slot *s)
{
    if (s->now.requested_ms)
        return true;
    return s->desired && str_eq(s->now.digest, s->desired->digest) && s->now.attempts > 0;
}

static void stand(const struct planner *p, const struct slot *s, struct standing *standing)
{
    bool deployed = s->desired && s->app && s->app->phase == RELEASE_DEPLOYED &&
                    plan_is_ours(p, s->app) && str_eq(s->app->digest, s->desired->digest) &&
                    plan_cluster(p, s)->state == CLUSTER_READ;

    standing->counts = true;
    if (!deployed)
        standing->done = false;
    /* With only some of its releases as wanted, a cluster is under way. */
    standing->started = standing->started || deployed || is_asked_for(s);
    standing->failed = standing->failed || s->now.state == DEPLOYMENT_FAILED;
    standing->terminal = standing->terminal ||
                         (s->now.state == DEPLOYMENT_FAILED && s->now.terminal);
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

        all[i].done = true;
        all[i].wave = wave_of(selectors, waves->count, c->observed);
        for (uint32_t k = 0; k < c->slots.count; k++) {
            const struct slot *s = &p->slots.items[c->slots.items[k]];

            if (s->chart != NONE)
                stand(p, s, &all[i]);
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

void plan_rollout(struct planner *p)
{
    const struct rollout *rollout = &p->stack->spec.rollout;
    int64_t concurrent = rollout->max_concurrent_clusters;
    int64_t under_way = 0;
    int64_t failed = 0;

    if (p->deleting || (concurrent <= 0 && rollout->max_failures < 0 && !rollout->waves.count))
        return;

    struct standing *all = stand_all(p);
    int64_t wake = p->wake_at;
    struct tide tide = tide_of(p, all);
    bool waits = false;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        under_way += all[i].counts && all[i].started && !all[i].done && !all[i].terminal;
        failed += all[i].counts && all[i].failed;
    }
    /* Clusters are sorted by id; waves before that order, so that a slot goes to the earliest. */
    for (uint32_t wave = 0; wave <= rollout->waves.count; wave++)
        for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
            struct cluster_part *c = &p->clusters[i];

            if (!all[i].counts || all[i].wave != wave || all[i].started || all[i].done)
                continue;
            if (rollout->max_failures >= 0 && failed > rollout->max_failures) {
                shut(c, STR("RolloutStopped"),
                     str_fmt(p->arena,
                             "the rollout stopped: %lld clusters failed and "
                             "spec.rollout.maxFailures is %lld; mend them or raise it",
                             (long long)failed, (long long)rollout->max_failures));
            } else if (wave >= tide.closed_from) {
                shut(c, STR("WaitingForWave"), tide.message);
                waits = true;
            } else if (concurrent > 0 && under_way >= concurrent) {
                shut(c, STR("WaitingForRollout"),
                     str_fmt(p->arena,
                             "waiting for other clusters: spec.rollout.maxConcurrentClusters is "
                             "%lld",
                             (long long)concurrent));
            } else if (plan_cluster(p, &p->slots.items[c->slots.items[0]])->state ==
                       CLUSTER_READ) {
                under_way++;
            }
        }
    /* A pause that nobody waits for wakes nobody. */
    if (!waits)
        p->wake_at = wake;
}
