/* SPDX-License-Identifier: Apache-2.0 */
/* stack_plan_property_test.c: laws of plan and status on generated worlds. A failure prints the seed;
 * HERD_SEED=N runs that one alone. */
#include "support/rows.h"

#include "base/rng.h"
#include "support/observed_builder.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { GRAPHS = 250, WORLDS_OF_A_GRAPH = 50, CHARTS = 5, CLUSTERS = 3 };

static const char *const chart_names[CHARTS] = { "c0", "c1", "c2", "c3", "c4" };
static const char *const cluster_names[CLUSTERS] = { "k0", "k1", "k2" };

static const char *one_of(struct rng *rng, const char *const *texts, size_t count)
{
    return texts[rng_below(rng, count)];
}

#define ONE_OF(rng, ...)                                                                           \
    one_of((rng), (const char *const[]){ __VA_ARGS__ },                                            \
           sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* "c0 c1<c0 c2": needs point back, so that there is no cycle. */
static const char *random_charts(struct rng *rng, struct arena *arena)
{
    struct strbuf text = strbuf_new(arena, 64);
    uint32_t count = 1 + (uint32_t)rng_below(rng, CHARTS);

    for (uint32_t i = 0; i < count; i++) {
        bool first = true;

        strbuf_fmt(&text, "%s%s", i ? " " : "", chart_names[i]);
        for (uint32_t need = 0; need < i; need++)
            if (rng_below(rng, 2)) {
                strbuf_fmt(&text, "%s%s", first ? "<" : ",", chart_names[need]);
                first = false;
            }
    }
    return str_z(arena, strbuf_str(&text));
}

/* Anything that may be seen of one release. */
static void random_release(struct rng *rng, struct strbuf *words, const char *chart,
                           const char *cluster)
{
    const char *app = ONE_OF(rng, "", "", "deployed", "deployed", "deployed", "failed", "pending",
                             "uninstalling", "other");
    const char *op = ONE_OF(rng, "", "", "running", "succeeded", "failed");

    if (app[0])
        strbuf_fmt(words, "app %s@%s %s %u %s;", chart, cluster, app,
                   1 + (uint32_t)rng_below(rng, 3),
                   ONE_OF(rng, "", "", "", "old", "foreign", "other", "former"));
    else
        strbuf_fmt(words, "gone %s@%s;", chart, cluster);
    if (op[0])
        strbuf_fmt(words, "%s %s@%s o%u-%s %s because;", ONE_OF(rng, "op", "op", "stranger"), chart,
                   cluster, (uint32_t)rng_below(rng, 3), chart, op);
    if (rng_below(rng, 3) == 0)
        strbuf_fmt(words, "log %s@%s o%u-%s%s;", chart, cluster, (uint32_t)rng_below(rng, 3), chart,
                   ONE_OF(rng, "", " because"));
    if (rng_below(rng, 3) == 0)
        strbuf_fmt(words, "version %s@%s %s;", chart, cluster,
                   ONE_OF(rng, "not_synced", "found", "missing", "failed"));
}

static const char *random_world(struct rng *rng, const struct scene *scene)
{
    struct strbuf words = strbuf_new(scene->arena, 512);
    uint32_t clusters = 1 + (uint32_t)rng_below(rng, CLUSTERS);

    for (uint32_t k = 0; k < clusters; k++) {
        strbuf_fmt(&words, "cluster %s %s;", cluster_names[k],
                   ONE_OF(rng, "read", "read", "read", "read", "disconnected", "not_synced", "stale",
                          "gone", "read untargeted"));
        strbuf_fmt(&words, "repo %s %s;", cluster_names[k],
                   ONE_OF(rng, "ready", "ready", "ready", "absent", "downloading", "failed"));
        for (uint32_t i = 0; i < scene->stack->spec.charts.count; i++)
            random_release(rng, &words, chart_names[i], cluster_names[k]);
    }
    strbuf_fmt(&words, "room %u;+%us;", 1 + (uint32_t)rng_below(rng, 3),
               (uint32_t)rng_below(rng, 100));
    if (rng_below(rng, 10) == 0)
        strbuf_lit(&words, "stack base waiting;");
    return str_z(scene->arena, strbuf_str(&words));
}

static void forget_world(struct scene *s)
{
    s->observed.clusters = observed_clusters_new(s->arena, CLUSTERS);
    s->observed.stacks.count = 0;
    s->written.len = 0;
}

static const struct observed_release *app_of(const struct scene *s, uint32_t cluster,
                                             struct str name)
{
    const struct observed_releases *all = &s->observed.clusters.items[cluster].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, name))
            return &all->items[i];
    return NULL;
}

static void check_needs(const char *row, const struct scene *s, const struct action *a)
{
    const struct chart *chart = &s->stack->spec.charts.items[a->desired->chart];
    struct str id = s->observed.clusters.items[a->cluster].id;

    for (uint32_t i = 0; i < chart->depends_on.count; i++) {
        const struct observed_release *app = app_of(s, a->cluster, chart->depends_on.items[i]);
        struct str who = str_fmt(s->arena, "%.*s@%.*s", STR_ARG(chart->depends_on.items[i]),
                                 STR_ARG(id));

        rows_expect(row, app && app->phase == RELEASE_DEPLOYED, "a need is deployed first");
        rows_expect(row, scene_state(s, who.at)->state == DEPLOYMENT_DEPLOYED,
                    "a need counts as deployed");
    }
}

static bool is_proven(const struct observed_cluster *c, struct str release)
{
    for (uint32_t i = 0; i < c->operations.count; i++)
        if (c->operations.items[i].proven && c->operations.items[i].stack_uid.len &&
            str_eq(c->operations.items[i].release_name, release))
            return true;
    return false;
}

/* A release without stamp that was ours before somebody upgraded it by hand: the status or the end
 * of our operation says so. */
static bool was_had(const struct stack_status *earlier, const struct action *a,
                    const struct observed_cluster *c, const struct observed_release *app)
{
    for (uint32_t i = 0; i < earlier->deployments.count; i++) {
        const struct release_state *r = &earlier->deployments.items[i];

        if (str_eq(r->cluster_id, c->id) && str_eq(r->release_name, a->release_name))
            return !app->stack.len && r->digest.len && app->revision > 1 &&
                   ((r->revision > 0 && app->revision + 1 >= r->revision) ||
                    is_proven(c, a->release_name));
    }
    return false;
}

static void check_actions(const char *row, const struct scene *s,
                          const struct stack_status *earlier)
{
    const struct actions *all = &s->plan.actions;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct action *a = &all->items[i];
        const struct observed_cluster *c;
        uint32_t operations = 0;

        if (a->cluster == UINT32_MAX)
            continue;
        c = &s->observed.clusters.items[a->cluster];
        rows_expect(row, c->state == CLUSTER_READ, "only what was read is acted on");
        for (uint32_t k = 0; k < all->count; k++) {
            rows_expect(row, i == k || all->items[k].cluster != a->cluster ||
                        !str_eq(all->items[k].release_name, a->release_name),
                        "one action for a release at a time");
            operations += all->items[k].cluster == a->cluster &&
                          (all->items[k].kind == ACTION_UPGRADE ||
                           all->items[k].kind == ACTION_UNINSTALL);
        }
        for (uint32_t k = 0; k < c->operations.count; k++) {
            bool runs = c->operations.items[k].state == OPERATION_RUNNING;

            operations += runs;
            rows_expect(row, !runs || !action_changes(a->kind) || a->kind == ACTION_ENSURE_REPO ||
                        !str_eq(c->operations.items[k].release_name, a->release_name),
                        "a release with a running operation is left alone");
        }
        if (a->kind == ACTION_UPGRADE || a->kind == ACTION_UNINSTALL)
            rows_expect(row, operations <= s->observed.cluster_operations_max,
                        "no more operations than there is room for");
        if (a->kind == ACTION_UPGRADE)
            check_needs(row, s, a);
        if (a->kind == ACTION_UPGRADE || a->kind == ACTION_UNINSTALL ||
            a->kind == ACTION_REMOVE_LOCK) {
            const struct observed_release *app = app_of(s, a->cluster, a->release_name);

            rows_expect(row,
                        !app || str_eq(app->stack, STR("team/shop")) ||
                            was_had(earlier, a, c, app),
                        "nothing of somebody else is touched");
        }
        if (action_changes(a->kind)) {
            struct str who = str_fmt(s->arena, "%.*s@%.*s", STR_ARG(a->chart_name),
                                     STR_ARG(c->id));

            rows_expect(row, scene_state(s, who.at)->requested_ms == s->observed.now_ms,
                        "what changes something stands in the status");
        }
    }
}

static void check_status(const char *row, const struct scene *s)
{
    struct stack_status again = s->before;

    rows_expect_str(row, stack_status_write(s->arena, &again), s->written);
    rows_expect(row, s->status.message.len > 0, "the status has a message");
    for (uint32_t i = 0; i < s->status.conditions.count; i++)
        rows_expect(row, s->status.conditions.items[i].reason.len > 0 &&
                    s->status.conditions.items[i].last_transition_ms > 0,
                    "a condition has what its schema requires: a reason and a time");
    for (uint32_t i = 0; i < s->plan.releases.count; i++)
        rows_expect(row, s->plan.releases.items[i].state != DEPLOYMENT_FAILED ||
                    s->plan.releases.items[i].message.len > 0, "a failure has a message");
}

/* Each law on worlds of one graph, and each world moved on some times. */
static void check_graph(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rng rng = rng_from_seed(seed);
    char row[64];
    struct scene s = a_scene(arena, random_charts(&rng, arena),
                             ONE_OF(&rng, "", "\"drift\":\"Correct\"", "\"retry\":{\"limit\":1}",
                                    "\"rollout\":{\"maxConcurrentClusters\":1}"));

    (void)snprintf(row, sizeof(row), "HERD_SEED=%llu", (unsigned long long)seed);
    for (uint32_t i = 0; i < WORLDS_OF_A_GRAPH; i++) {
        if (rng_below(&rng, 4) == 0)
            forget_world(&s);
        if (rng_below(&rng, 8) == 0 && !s.deleting)
            scene_play(&s, "delete");
        scene_play(&s, random_world(&rng, &s));

        struct stack_status earlier = s.before;

        scene_plan(&s);
        check_actions(row, &s, &earlier);
        check_status(row, &s);
    }
}

/* HERD_SEED=N, or all of them. */
static void for_seeds(void (*check)(uint64_t seed), uint64_t count)
{
    const char *one = getenv("HERD_SEED");
    uint64_t seed = 0;

    if (one && str_to_u64(str_of(one), &seed)) {
        check(seed);
        return;
    }
    for (seed = 0; seed < count; seed++)
        check(seed);
}

static void plans_only_what_may_be_done(void **state)
{
    for_seeds(check_graph, GRAPHS);
    (void)state;
}

static void check_reached(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rng rng = rng_from_seed(seed);
    struct scene s = a_scene(arena, random_charts(&rng, arena), "");
    char row[64];

    (void)snprintf(row, sizeof(row), "HERD_SEED=%llu", (unsigned long long)seed);
    for (uint32_t i = 0; i < WORLDS_OF_A_GRAPH; i++) {
        struct strbuf words = strbuf_new(arena, 256);
        struct str first;

        forget_world(&s);
        for (uint32_t k = 0; k < 1 + (uint32_t)rng_below(&rng, CLUSTERS); k++) {
            strbuf_fmt(&words, "cluster %s;", cluster_names[k]);
            for (uint32_t c = 0; c < s.stack->spec.charts.count; c++)
                strbuf_fmt(&words, "app %s@%s deployed %u;", chart_names[c], cluster_names[k],
                           1 + (uint32_t)rng_below(&rng, 9));
        }
        scene_play(&s, str_z(arena, strbuf_str(&words)));
        scene_plan(&s);
        first = s.written;
        s.observed.now_ms += (int64_t)rng_below(&rng, 100000000);
        scene_plan(&s);
        rows_expect_int(row, s.plan.actions.count, 0);
        rows_expect_int(row, s.plan.wake_after_ms, -1);
        rows_expect_int(row, s.status.phase, PHASE_DEPLOYED);
        rows_expect_str(row, s.written, first);
    }
}

/* One life under three budgets: what the status shows to people decides nothing. */
static void check_budgets(uint64_t seed)
{
    static const uint32_t shown[] = { UINT32_MAX, 3, 0 };
    enum { BUDGETS = 3 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rng rng = rng_from_seed(seed);
    const char *charts = random_charts(&rng, arena);
    const char *members = ONE_OF(&rng, "", "\"drift\":\"Correct\"", "\"retry\":{\"limit\":1}",
                                 "\"rollout\":{\"maxConcurrentClusters\":1,\"maxFailures\":0}");
    struct scene scenes[BUDGETS];
    char row[64];

    (void)snprintf(row, sizeof(row), "HERD_SEED=%llu", (unsigned long long)seed);
    for (uint32_t b = 0; b < BUDGETS; b++) {
        scenes[b] = a_scene(arena, charts, members);
        scenes[b].shown_max = shown[b] + 1;
    }
    for (uint32_t i = 0; i < WORLDS_OF_A_GRAPH; i++) {
        const char *world = random_world(&rng, &scenes[0]);
        bool deletes = rng_below(&rng, 30) == 0 && !scenes[0].deleting;

        for (uint32_t b = 0; b < BUDGETS; b++) {
            if (deletes)
                scene_play(&scenes[b], "delete");
            scene_play(&scenes[b], world);
            scene_plan(&scenes[b]);
            if (!str_eq(scene_actions(&scenes[b]), scene_actions(&scenes[0])))
                print_error("%u: %s\n  all:  %.*s | %.*s\n  %u: %.*s | %.*s\n", i, world,
                            STR_ARG(scene_states(&scenes[0])), STR_ARG(scenes[0].plan.message),
                            shown[b], STR_ARG(scene_states(&scenes[b])),
                            STR_ARG(scenes[b].plan.message));
            rows_expect_str(row, scene_actions(&scenes[b]), scene_actions(&scenes[0]));
        }
    }
}

static void the_budget_of_the_status_decides_nothing(void **state)
{
    for_seeds(check_budgets, GRAPHS);
    (void)state;
}

static void a_reached_state_plans_and_writes_nothing(void **state)
{
    for_seeds(check_reached, GRAPHS);
    (void)state;
}

#define SHUFFLE(list, rng)                                                                         \
    for (uint32_t n_ = (list).count; n_ > 1; n_--) {                                               \
        uint32_t at_ = (uint32_t)rng_below((rng), n_);                                             \
        __typeof__(*(list).items) held_ = (list).items[n_ - 1];                                    \
        (list).items[n_ - 1] = (list).items[at_];                                                  \
        (list).items[at_] = held_;                                                                 \
    }

static void check_shuffled(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rng rng = rng_from_seed(seed);
    struct scene s = a_scene(arena, random_charts(&rng, arena), "");
    char row[64];

    (void)snprintf(row, sizeof(row), "HERD_SEED=%llu", (unsigned long long)seed);
    for (uint32_t i = 0; i < WORLDS_OF_A_GRAPH; i++) {
        struct stack_status before;
        struct str first;

        forget_world(&s);
        scene_play(&s, random_world(&rng, &s));
        scene_plan(&s);
        before = s.before;
        scene_plan(&s);
        first = s.written;
        for (uint32_t k = 0; k < s.observed.clusters.count; k++) {
            SHUFFLE(s.observed.clusters.items[k].releases, &rng)
            SHUFFLE(s.observed.clusters.items[k].operations, &rng)
            SHUFFLE(s.observed.clusters.items[k].versions, &rng)
        }
        SHUFFLE(before.deployments, &rng)
        s.before = before;
        scene_plan(&s);
        rows_expect_str(row, s.written, first);
    }
}

static void the_order_of_what_is_seen_does_not_count(void **state)
{
    for_seeds(check_shuffled, GRAPHS);
    (void)state;
}

static struct str random_text(struct rng *rng, struct arena *arena)
{
    static const char *const texts[] = { "", "x", "a\"b\\c", "\xc3\xa4\xe2\x82\xac", "line\nline",
                                         "sha256:0123", "</script>", "c-m-gpu01" };

    return str_dup(arena, str_of(texts[rng_below(rng, 8)]));
}

static struct release_state random_entry(struct rng *rng, struct arena *arena)
{
    struct release_state r = {
        .chart_name = random_text(rng, arena),
        .cluster_id = random_text(rng, arena),
        .namespace_ = random_text(rng, arena),
        .release_name = random_text(rng, arena),
        .state = (enum deployment_state)rng_below(rng, DEPLOYMENT_REMOVED),
        .reason = random_text(rng, arena),
        .message = random_text(rng, arena),
        .version = random_text(rng, arena),
        .digest = random_text(rng, arena),
        .revision = (uint32_t)rng_below(rng, 100),
        .last_updated_ms = (int64_t)rng_below(rng, 2000000000) * 1000,
        .requested_ms = rng_below(rng, 2) ? (int64_t)rng_below(rng, 2000000000000) : 0,
        .operation = random_text(rng, arena),
        .attempts = (uint32_t)rng_below(rng, 4),
        .terminal = rng_below(rng, 2),
        .last_known = (enum deployment_state)rng_below(rng, DEPLOYMENT_REMOVED),
    };

    r.installed = r.state == DEPLOYMENT_DEPLOYED || rng_below(rng, 2);
    return r;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* A cluster where something was asked for is held; so may be others. */
static void hold(struct rng *rng, struct arena *arena, struct stack_status *status)
{
    struct str_list *held = &status->held_clusters;
    struct str other = random_text(rng, arena);

    *held = str_list_new(arena, 4);
    for (uint32_t i = 0; i < status->deployments.count; i++) {
        const struct release_state *d = &status->deployments.items[i];

        if ((d->digest.len || d->requested_ms) && d->cluster_id.len &&
            !str_list_has(held, d->cluster_id))
            str_list_push(held, d->cluster_id);
    }
    if (other.len && !str_list_has(held, other))
        str_list_push(held, other);
    if (held->count > 1)
        qsort(held->items, held->count, sizeof(struct str), by_text);
}

static void check_round_trip(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rng rng = rng_from_seed(seed);
    char row[64];

    (void)snprintf(row, sizeof(row), "HERD_SEED=%llu", (unsigned long long)seed);
    for (uint32_t i = 0; i < WORLDS_OF_A_GRAPH; i++) {
        struct stack_status status = {
            .phase = (enum stack_phase)rng_below(&rng, PHASE_DELETING + 1),
            .message = random_text(&rng, arena),
            .observed_generation = (int64_t)rng_below(&rng, 1000),
            .counted = true,
            .clusters = (uint32_t)rng_below(&rng, 9),
            .charts = (uint32_t)rng_below(&rng, 9),
            .ready = (uint32_t)rng_below(&rng, 9),
            .releases = (uint32_t)rng_below(&rng, 9),
            .target_clusters = str_list_new(arena, 2),
            .deployments = release_states_new(arena, 4),
            .deployments_omitted = (uint32_t)rng_below(&rng, 3),
            .conditions = kube_conditions_new(arena, 0),
            .last_applied_by = random_text(&rng, arena),
        };
        struct json json;
        struct error err = { 0 };
        struct stack_status back;
        struct str text;

        for (uint32_t k = 0; k < rng_below(&rng, 4); k++)
            release_states_push(&status.deployments, random_entry(&rng, arena));
        str_list_push(&status.target_clusters, random_text(&rng, arena));
        hold(&rng, arena, &status);
        text = stack_status_write(arena, &status);
        if (json_read(arena, text, &json_limits_default, &json, &err) < 0)
            fail_msg("%s: %s", row, err.text);
        back = stack_status_read(arena, json);
        rows_expect_str(row, stack_status_write(arena, &back), text);
        rows_expect_int(row, back.phase, status.phase);
        rows_expect_int(row, back.ready, status.ready);
        rows_expect_int(row, back.releases, status.releases);
        rows_expect_int(row, back.deployments.count, status.deployments.count);
        rows_expect_int(row, back.deployments_omitted, status.deployments_omitted);
        rows_expect_str(row, back.message, status.message);
        for (uint32_t k = 0; k < back.deployments.count; k++) {
            bool found = false;

            for (uint32_t n = 0; n < status.deployments.count; n++) {
                const struct release_state *a = &back.deployments.items[k];
                const struct release_state *b = &status.deployments.items[n];

                found = found || (a->state == b->state && str_eq(a->digest, b->digest) &&
                                  a->requested_ms == b->requested_ms &&
                                  a->last_updated_ms == b->last_updated_ms &&
                                  a->attempts == b->attempts && a->revision == b->revision &&
                                  a->terminal == b->terminal && str_eq(a->message, b->message) &&
                                  str_eq(a->operation, b->operation) &&
                                  a->last_known == b->last_known &&
                                  a->installed == b->installed);
            }
            rows_expect(row, found, "an entry is read back as it was written");
        }
    }
}

static void what_is_written_is_read_back(void **state)
{
    for_seeds(check_round_trip, GRAPHS);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_only_what_may_be_done),
        cmocka_unit_test(the_budget_of_the_status_decides_nothing),
        cmocka_unit_test(a_reached_state_plans_and_writes_nothing),
        cmocka_unit_test(the_order_of_what_is_seen_does_not_count),
        cmocka_unit_test(what_is_written_is_read_back),
    };

    return cmocka_run_group_tests_name("property/stack_plan", tests, NULL, NULL);
}
