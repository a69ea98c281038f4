/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.c: the laws, each with what broke it. */
#include "invariants.h"

#include <stdio.h>

/* Longer than anything is seen late. */
enum { SEEN_LATE_MS = 10000 };

__attribute__((format(printf, 3, 4))) static void broke(struct world *w, const char *law,
                                                        const char *format, ...)
{
    va_list args;

    if (w->broken)
        return;
    w->broken = law;
    va_start(args, format);
    (void)vsnprintf(w->where, sizeof(w->where), format, args);
    va_end(args);
    world_trace(w, "BROKEN %s: %s", law, w->where);
}

void check_send(struct world *w, const struct sim_object *seen, const struct sim_landing *landing)
{
    const struct sim_cluster *c = &w->clusters[landing->cluster];

    if (landing->kind != ACTION_UPGRADE)
        return;
    for (uint32_t need = 0; need < w->chart_count; need++) {
        const struct sim_app *app = &c->apps[need];
        AUTO(arena_free) struct arena *arena = arena_create(0);

        if (!w->needs[landing->chart][need])
            continue;
        /* A drifted one counts as deployed; what a stranger does is seen some seconds later. */
        if ((app->by_hand && strcmp(w->drift, "Correct") != 0) ||
            (app->touched_ms && w->now_ms < app->touched_ms + SEEN_LATE_MS))
            continue;
        if (!app->exists || app->phase != RELEASE_DEPLOYED ||
            !str_eq(str_of(app->digest), world_digest(w, arena, seen->variant, need)))
            broke(w, "a chart starts when its needs are deployed", "c%u on k%u before c%u",
                  landing->chart, landing->cluster, need);
    }
}

/* Of ours. */
static uint32_t running(const struct sim_cluster *c, uint32_t chart)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        if (c->operations[i].exists && c->operations[i].state == OPERATION_RUNNING &&
            !c->operations[i].by_hand &&
            (chart == UINT32_MAX || c->operations[i].chart == chart))
            count++;
    return count;
}

static void check_upgrade(struct world *w, const struct sim_landing *l, const struct sim_app *app)
{
    if (app->exists && app->phase == RELEASE_DEPLOYED && str_eq(str_of(app->digest),
                                                                str_of(l->digest)))
        broke(w, "no revision is installed twice", "c%u on k%u", l->chart, l->cluster);
    /* A stranger's release was in the way since, and went: it begins anew. */
    if (!app->exists && app->touched_ms > w->failed_ms[l->cluster][l->chart])
        return;
    /* The default backoff is 30 s; its jitter takes at most half of it. */
    if (str_eq(str_of(w->failed_digest[l->cluster][l->chart]), str_of(l->digest)) &&
        w->failed_generation[l->cluster][l->chart] == w->object.generation &&
        w->now_ms < w->failed_ms[l->cluster][l->chart] + 15000)
        broke(w, "what failed is not tried again at once", "c%u on k%u after %lld ms", l->chart,
              l->cluster, (long long)(w->now_ms - w->failed_ms[l->cluster][l->chart]));
}

static void check_uninstall(struct world *w, const struct sim_landing *l,
                            const struct sim_app *app)
{
    const struct sim_cluster *c = &w->clusters[l->cluster];

    /* A first revision that is freed from a lock was never used by anything. */
    if (!w->object.deleting || app->phase == RELEASE_PENDING)
        return;
    for (uint32_t user = 0; user < w->chart_count; user++)
        if (w->needs[user][l->chart] && c->apps[user].exists && !c->apps[user].foreign)
            broke(w, "teardown goes in reverse order", "c%u on k%u while c%u is there", l->chart,
                  l->cluster, user);
}

void check_landing(struct world *w, const struct sim_landing *l)
{
    const struct sim_cluster *c = &w->clusters[l->cluster];
    const struct sim_app *app = &c->apps[l->chart];

    if (l->kind == ACTION_ENSURE_REPO || l->kind == ACTION_MARK)
        return;
    /* Of what was made while the request was on its way nobody could know. */
    if (app->foreign && (app->uid == l->uid ||
                         w->now_ms >= app->touched_ms + LATE_MS + SEEN_LATE_MS))
        broke(w, "foreign releases stay untouched", "c%u on k%u", l->chart, l->cluster);
    if (l->kind != ACTION_UPGRADE && app->helm_ends_ms && l->revision == app->revision)
        broke(w, "Helm that a stranger runs is left alone", "c%u on k%u", l->chart, l->cluster);
    if (running(c, l->chart))
        broke(w, "one operation for a release at a time", "c%u on k%u", l->chart, l->cluster);
    if (l->kind != ACTION_REMOVE_LOCK && running(c, UINT32_MAX) + 1 > ROOM)
        broke(w, "operations of a cluster are bounded", "k%u", l->cluster);
    if (!w->object.exists)
        broke(w, "nothing is done for a Stack that is gone", "c%u on k%u", l->chart, l->cluster);
    if (l->kind == ACTION_UPGRADE)
        check_upgrade(w, l, app);
    if (l->kind == ACTION_UNINSTALL)
        check_uninstall(w, l, app);
}

void check_status(struct world *w, int64_t observed_generation)
{
    if (observed_generation < w->observed_generation)
        broke(w, "observedGeneration never falls", "%lld after %lld",
              (long long)observed_generation, (long long)w->observed_generation);
    w->observed_generation = observed_generation;
}

void check_finalizer(struct world *w, bool put)
{
    if (put && w->object.deleting)
        broke(w, "no finalizer is added once deletion began", "generation %lld",
              (long long)w->object.generation);
    for (uint32_t k = 0; !put && k < w->cluster_count; k++) {
        if (running(&w->clusters[k], UINT32_MAX))
            broke(w, "a Stack goes after its operations ended", "k%u", k);
        for (uint32_t i = 0; i < w->chart_count; i++)
            if (w->clusters[k].apps[i].exists && !w->clusters[k].apps[i].foreign)
                broke(w, "a Stack goes after its releases", "c%u on k%u", i, k);
    }
}
