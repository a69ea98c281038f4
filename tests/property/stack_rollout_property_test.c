/* SPDX-License-Identifier: Apache-2.0 */
/* stack_rollout_property_test.c: laws of the rollout on generated Stacks, fleets and lives: clusters
 * come and go, operations end well, fail or are lost, the spec changes in the middle. What is at
 * work is counted here from what was requested and what is there, not from the plan's marks. A
 * failure prints the seed; HERD_SEED=N runs that one alone. */
#include "support/rows.h"

#include "base/rng.h"
#include "stack/model/limits.h"
#include "support/observed_builder.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLEETS = 200, STORM_STEPS = 40, CALM_STEPS = 600, CHARTS = 3, CLUSTERS = 6, WAVES = 2,
       WORDS_BYTES_MAX = 128 };

static const char *const chart_names[CHARTS] = { "c0", "c1", "c2" };
static const char *const graphs[] = { "c0", "c0 c1", "c0 c1<c0", "c0 c1<c0 c2", "c0 c1<c0 c2<c1" };

/* Helm's side of one release. */
struct work {
    bool running;
    struct str digest; /* that was asked for */
    uint32_t revision, operations;
};

struct fleet {
    char row[64];
    struct rng rng;
    struct scene scene;
    uint32_t charts, waves;
    int64_t concurrent, failures_max, pause_ms;
    uint32_t wave_of[CLUSTERS];
    uint32_t changes;
    bool stops;  /* onFailure: Stop */
    bool storms; /* operations fail, requests are lost, clusters go, the spec changes */
    struct work work[CLUSTERS][CHARTS];
    bool started[CLUSTERS];   /* something was asked for since the spec is what it is */
    int64_t done_ms[CLUSTERS]; /* when all of it was seen deployed first; 0 = it is not */
};

static bool chance(struct fleet *f, uint32_t per_cent)
{
    return rng_below(&f->rng, 100) < per_cent;
}

/* The Stack */

static void put_waves(struct fleet *f, struct strbuf *out)
{
    for (uint32_t w = 0; w < f->waves; w++) {
        strbuf_fmt(out, "%s{\"name\":\"w%u\",\"pause\":\"%lldms\",\"selector\":{\"matchExpressions\":"
                   "[{\"key\":\"id\",\"operator\":\"In\",\"values\":[\"none\"", w ? "," : "", w,
                   (long long)f->pause_ms);
        for (uint32_t k = 0; k < CLUSTERS; k++)
            if (f->wave_of[k] == w)
                strbuf_fmt(out, ",\"k%u\"", k);
        strbuf_lit(out, "]}]}}");
    }
}

/* The spec after so many changes of values. */
static const char *members(struct fleet *f)
{
    struct strbuf out = strbuf_new(f->scene.arena, 1024);

    strbuf_fmt(&out, "\"rollout\":{\"maxConcurrentClusters\":%lld,\"maxFailures\":%lld,\"waves\":[",
               (long long)f->concurrent, (long long)f->failures_max);
    put_waves(f, &out);
    strbuf_fmt(&out, "]},\"overrides\":[{\"clusterIds\":[\"k0\",\"k1\",\"k2\",\"k3\",\"k4\",\"k5\"],"
               "\"charts\":[{\"name\":\"c0\",\"values\":{\"inline\":{\"n\":%u}}}]}]%s", f->changes,
               f->stops ? ",\"onFailure\":\"Stop\"" : "");
    return str_z(f->scene.arena, strbuf_str(&out));
}

static void make_fleet(struct fleet *f, struct arena *arena, uint64_t seed)
{
    const char *graph;

    (void)snprintf(f->row, sizeof(f->row), "HERD_SEED=%llu", (unsigned long long)seed);
    f->rng = rng_from_seed(seed);
    f->scene.arena = arena;
    f->waves = (uint32_t)rng_below(&f->rng, WAVES + 1);
    f->concurrent = (int64_t)rng_below(&f->rng, 4); /* 0 = no bound */
    f->failures_max = (int64_t)rng_below(&f->rng, 4) - 1;
    f->stops = chance(f, 30);
    f->pause_ms = (int64_t)rng_below(&f->rng, 3) * 60000;
    for (uint32_t k = 0; k < CLUSTERS; k++)
        f->wave_of[k] = (uint32_t)rng_below(&f->rng, f->waves + 1);
    graph = graphs[rng_below(&f->rng, sizeof(graphs) / sizeof(graphs[0]))];
    f->scene = a_scene(arena, graph, members(f));
    f->charts = f->scene.stack->spec.charts.count;
    for (uint32_t k = 0; k < CLUSTERS; k++)
        scene_play(&f->scene, str_fmt(arena, "cluster k%u", k).at);
}

/* The world */

__attribute__((format(printf, 2, 3))) static void play(struct fleet *f, const char *format, ...)
{
    char *words = arena_alloc(f->scene.arena, WORDS_BYTES_MAX); /* the scene borrows from them */
    va_list args;

    va_start(args, format);
    (void)vsnprintf(words, WORDS_BYTES_MAX, format, args);
    va_end(args);
    scene_play(&f->scene, words);
}

static struct observed_release *app_of(const struct fleet *f, uint32_t k, uint32_t chart)
{
    struct observed_releases *all = &f->scene.observed.clusters.items[k].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, str_of(chart_names[chart])))
            return &all->items[i];
    return NULL;
}

static void end_operation(struct fleet *f, uint32_t k, uint32_t chart)
{
    struct work *w = &f->work[k][chart];
    bool fails = f->storms && chance(f, 25);
    const char *name = chart_names[chart];

    w->running = false;
    play(f, "op %s@k%u o%u-%u %s", name, k, chart, w->operations, fails ? "failed" : "succeeded");
    if (fails)
        play(f, "log %s@k%u o%u-%u no", name, k, chart, w->operations);
    if (fails && chance(f, 50))
        return; /* before it stored a revision */
    play(f, "app %s@k%u %s %u", name, k, fails ? "failed" : "deployed", ++w->revision);
    app_of(f, k, chart)->digest = w->digest;
}

static void move_world(struct fleet *f)
{
    play(f, "+%us", 1 + (uint32_t)rng_below(&f->rng, 90));
    for (uint32_t k = 0; k < CLUSTERS; k++) {
        for (uint32_t i = 0; i < f->charts; i++)
            if (f->work[k][i].running && chance(f, 40))
                end_operation(f, k, i);
        if (f->storms && chance(f, 3))
            play(f, "cluster k%u disconnected", k);
        else if (!f->storms || chance(f, 30))
            play(f, "cluster k%u read", k);
    }
    if (f->storms && chance(f, 4)) {
        f->changes++;
        f->scene.next_members = members(f);
        play(f, "change");
        memset(f->started, 0, sizeof(f->started));
        memset(f->done_ms, 0, sizeof(f->done_ms));
    }
}

static void send(struct fleet *f, const struct action *a)
{
    uint32_t chart = (uint32_t)(a->chart_name.at[1] - '0');
    struct work *w = &f->work[a->cluster][chart];

    if (a->kind != ACTION_UPGRADE || (f->storms && chance(f, 10)))
        return; /* lost */
    w->running = true;
    w->digest = a->desired->digest;
    w->operations++;
    play(f, "op %s@k%u o%u-%u running", chart_names[chart], a->cluster, chart, w->operations);
}

/* What is known of it */

static const struct release_state *entry_of(const struct fleet *f, uint32_t k, uint32_t chart)
{
    return scene_state(&f->scene, str_fmt(f->scene.arena, "c%u@k%u", chart, k).at);
}

static struct desired_release desired_of(const struct fleet *f, uint32_t k, uint32_t chart)
{
    return scene_desired(&f->scene, str_of(chart_names[chart]),
                         f->scene.observed.clusters.items[k].id);
}

static bool is_done(const struct fleet *f, uint32_t k)
{
    for (uint32_t i = 0; i < f->charts; i++) {
        const struct observed_release *app = app_of(f, k, i);
        struct desired_release desired = desired_of(f, k, i);

        if (!app || app->phase != RELEASE_DEPLOYED || !str_eq(app->digest, desired.digest))
            return false;
    }
    return true;
}

/* With what is wanted now, and also where it is out of sight since. */
static bool is_failed(const struct fleet *f, uint32_t k, bool for_good)
{
    for (uint32_t i = 0; i < f->charts; i++) {
        const struct release_state *r = entry_of(f, k, i);
        struct desired_release desired = desired_of(f, k, i);
        bool failed = r->state == DEPLOYMENT_FAILED ||
                      (r->state == DEPLOYMENT_UNKNOWN && r->last_known == DEPLOYMENT_FAILED);

        if (failed && str_eq(r->digest, desired.digest) && (r->terminal || !for_good))
            return true;
    }
    return false;
}

static bool is_busy(const struct fleet *f, uint32_t k)
{
    for (uint32_t i = 0; i < f->charts; i++)
        if (f->work[k][i].running || entry_of(f, k, i)->requested_ms)
            return true;
    return false;
}

/* It fails again and again, so it keeps no other cluster waiting between two tries. */
static bool is_stalled(const struct fleet *f, uint32_t k)
{
    for (uint32_t i = 0; i < f->charts; i++)
        if (entry_of(f, k, i)->attempts >= LIMIT_ATTEMPTS_STALLED)
            return true;
    return false;
}

/* The laws */

static void check_concurrency(const struct fleet *f)
{
    int64_t at_work = 0;

    for (uint32_t k = 0; k < CLUSTERS; k++)
        at_work += is_busy(f, k) || (f->started[k] && !is_done(f, k) && !is_failed(f, k, true) &&
                                     !is_stalled(f, k));
    rows_expect(f->row, f->concurrent == 0 || at_work <= f->concurrent,
                "at most maxConcurrentClusters are at work");
}

/* Of a cluster that begins. */
static void check_waves(const struct fleet *f, uint32_t begins)
{
    uint32_t lost[WAVES + 1] = { 0 };
    int64_t tolerated = f->failures_max > 0 ? f->failures_max : 0;

    for (uint32_t k = 0; k < CLUSTERS; k++) {
        uint32_t wave = f->wave_of[k];

        if (wave >= f->wave_of[begins])
            continue;
        lost[wave] += is_failed(f, k, true);
        rows_expect(f->row, is_done(f, k) || is_failed(f, k, true), "earlier waves are done");
        rows_expect(f->row, lost[wave] <= tolerated, "or no more of them are lost than may be");
        rows_expect(f->row, !f->done_ms[k] ||
                    f->scene.observed.now_ms >= f->done_ms[k] / 1000 * 1000 + f->pause_ms,
                    "and paused");
    }
}

/* Of others than the one that begins. */
static void check_failures(const struct fleet *f, uint32_t begins)
{
    int64_t failed = 0;

    for (uint32_t k = 0; k < CLUSTERS; k++)
        failed += k != begins && is_failed(f, k, false);
    rows_expect(f->row, f->failures_max < 0 || failed <= f->failures_max,
                "nothing begins when more than maxFailures clusters failed");
}

/* What failed is tried again as it was: that begins nothing. */
static bool is_retry(const struct fleet *f, const struct action *a)
{
    return entry_of(f, a->cluster, (uint32_t)(a->chart_name.at[1] - '0'))->attempts > 0;
}

static void check_plan(struct fleet *f)
{
    const struct actions *all = &f->scene.plan.actions;

    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t k = all->items[i].cluster;

        if (all->items[i].kind != ACTION_UPGRADE || f->started[k] || is_retry(f, &all->items[i]))
            continue;
        check_waves(f, k);
        check_failures(f, k);
        f->started[k] = true;
    }
    for (uint32_t k = 0; k < CLUSTERS; k++)
        if (!f->done_ms[k] && is_done(f, k) &&
            f->scene.observed.clusters.items[k].state == CLUSTER_READ)
            f->done_ms[k] = f->scene.observed.now_ms;
    check_concurrency(f);
}

static void step(struct fleet *f)
{
    struct actions sent;

    move_world(f);
    scene_plan(&f->scene);
    check_plan(f);
    sent = f->scene.plan.actions;
    for (uint32_t i = 0; i < sent.count; i++)
        send(f, &sent.items[i]);
}

static uint32_t count_done(const struct fleet *f)
{
    uint32_t done = 0;

    for (uint32_t k = 0; k < CLUSTERS; k++)
        done += is_done(f, k);
    return done;
}

/* What failed in the storm counts until somebody forgives it. */
static void resume_if_stopped(struct fleet *f, uint32_t at)
{
    for (uint32_t i = 0; i < f->scene.plan.releases.count; i++)
        if (str_eq(f->scene.plan.releases.items[i].reason, REASON(ROLLOUT_STOPPED))) {
            play(f, "annotate resume %u", at);
            return;
        }
}

static void check_fleet(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct fleet f = { .storms = true };
    bool lost = false;

    make_fleet(&f, arena, seed);
    for (uint32_t i = 0; i < STORM_STEPS; i++)
        step(&f);
    f.storms = false;
    for (uint32_t i = 0; i < CALM_STEPS && count_done(&f) < CLUSTERS; i++) {
        step(&f);
        resume_if_stopped(&f, i);
        for (uint32_t k = 0; k < CLUSTERS; k++)
            lost = lost || is_failed(&f, k, true);
        if (lost)
            return; /* for good: it may stop the rollout */
    }
    rows_expect_int(f.row, count_done(&f), CLUSTERS);
}

static void rollouts_keep_their_bounds(void **state)
{
    const char *one = getenv("HERD_SEED");
    uint64_t seed = 0;

    (void)state;
    if (one && str_to_u64(str_of(one), &seed)) {
        check_fleet(seed);
        return;
    }
    for (seed = 0; seed < FLEETS; seed++)
        check_fleet(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollouts_keep_their_bounds),
    };

    return cmocka_run_group_tests_name("property/stack_rollout", tests, NULL, NULL);
}
