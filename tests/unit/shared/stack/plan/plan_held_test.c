/* SPDX-License-Identifier: Apache-2.0 */
/* plan_held_test.c: clusters that hold releases are not forgotten, however many there are. The
 * world is larger than what the status has room for; like gather, a plan sees of it the targets and
 * what the status names. */
#include "support/rows.h"

#include "base/map.h"
#include "stack/model/limits.h"
#include "support/observed_builder.h"

enum { MANY = 1500, ROUNDS_MAX = 60 };

struct large {
    struct arena *arena;
    struct scene scene;
    struct observed_clusters world;
    uint32_t uninstalled;
};

static void set_up(struct large *l, uint32_t count)
{
    l->arena = arena_create(0);
    l->scene = a_scene(l->arena, "db", "");
    l->uninstalled = 0;
    for (uint32_t i = 0; i < count; i++)
        scene_play(&l->scene,
                   str_fmt(l->arena, "cluster c-%05u; app db@c-%05u deployed 1", i, i).at);
    l->world = l->scene.observed.clusters;
}

static void note(struct map *seen, const struct str_list *ids)
{
    for (uint32_t i = 0; i < ids->count; i++)
        map_put(seen, ids->items[i], seen);
}

static void plan(struct large *l)
{
    const struct stack_status *before = &l->scene.before;
    struct map *named = map_new(l->arena, MANY);
    struct observed_clusters seen = observed_clusters_new(l->arena, MANY);

    if (l->scene.written.len) {
        note(named, &before->target_clusters);
        note(named, &before->held_clusters);
        for (uint32_t i = 0; i < before->deployments.count; i++)
            map_put(named, before->deployments.items[i].cluster_id, named);
    }
    for (uint32_t i = 0; i < l->world.count; i++)
        if (l->world.items[i].targeted || map_get(named, l->world.items[i].id))
            observed_clusters_push(&seen, l->world.items[i]);
    l->scene.observed.clusters = seen;
    scene_plan(&l->scene);
}

static struct observed_cluster *in_world(struct large *l, struct str id)
{
    for (uint32_t i = 0; i < l->world.count; i++)
        if (str_eq(l->world.items[i].id, id))
            return &l->world.items[i];
    fail_msg("no such cluster");
    return NULL;
}

/* What was asked for happens at once. */
static void carry_out(struct large *l)
{
    for (uint32_t i = 0; i < l->scene.plan.actions.count; i++) {
        const struct action *a = &l->scene.plan.actions.items[i];
        struct observed_cluster *c;

        if (a->kind != ACTION_UNINSTALL)
            continue;
        c = in_world(l, l->scene.observed.clusters.items[a->cluster].id);
        c->releases.count = 0;
        observed_operations_push(&c->operations, (struct observed_operation){
            .namespace_ = STR("db"), .name = STR("o1"), .release_name = STR("db"),
            .stack_uid = STR("uid-1"),
            .uninstall = true, .state = OPERATION_SUCCEEDED });
        l->uninstalled++;
    }
}

static uint32_t left(const struct large *l)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->world.count; i++)
        count += l->world.items[i].releases.count;
    return count;
}

/* Until nothing is asked for any more. */
static void go_on(struct large *l)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        plan(l);
        rows_expect("it is within its budget", l->scene.written.len <= LIMIT_STATUS_BYTES,
                    "256 KiB");
        carry_out(l);
        if (l->scene.plan.torn_down || (!l->scene.plan.actions.count && !l->scene.plan.unwanted))
            return;
        l->scene.observed.now_ms += 1000;
    }
}

static bool is_written(const struct large *l, const char *text)
{
    return str_find(l->scene.written, str_of(text), 0) >= 0;
}

static void clears_all_clusters_that_it_leaves(void **state)
{
    struct large l;

    set_up(&l, MANY);
    plan(&l);
    rows_expect("the status has no room for all", is_written(&l, "deploymentsOmitted"), "omitted");
    rows_expect("targets are not named twice", !is_written(&l, "heldClusters"), "no heldClusters");
    for (uint32_t i = 1; i < MANY; i++)
        l.world.items[i].targeted = false;
    plan(&l);
    rows_expect_int("nothing goes unconfirmed", l.scene.plan.actions.count, 0);
    scene_play(&l.scene, "confirm; +5m");
    go_on(&l);
    rows_expect_int("every one but the target is cleared", l.uninstalled, MANY - 1);
    rows_expect_int("the target keeps its release", left(&l), 1);
    rows_expect("and nothing is held any more", !is_written(&l, "heldClusters"), "no heldClusters");
    rows_expect_int("it is Deployed", l.scene.status.phase, PHASE_DEPLOYED);
    arena_free(l.arena);
    (void)state;
}

static void tears_all_down(void **state)
{
    struct large l;

    set_up(&l, MANY);
    plan(&l);
    for (uint32_t i = 1; i < MANY; i++)
        l.world.items[i].targeted = false;
    plan(&l);
    scene_play(&l.scene, "delete");
    go_on(&l);
    rows_expect_int("nothing is left", left(&l), 0);
    rows_expect("then it is let go", l.scene.plan.torn_down, "torn down");
    arena_free(l.arena);
    (void)state;
}

static void waits_for_those_that_cannot_be_read(void **state)
{
    struct large l;

    set_up(&l, MANY);
    plan(&l);
    for (uint32_t i = 1; i < MANY; i++)
        l.world.items[i].targeted = false;
    l.world.items[MANY - 1].state = CLUSTER_DISCONNECTED;
    plan(&l);
    scene_play(&l.scene, "confirm; +5m");
    go_on(&l);
    rows_expect_int("all but it are cleared", left(&l), 2);
    rows_expect("it is held", is_written(&l, "\"heldClusters\":[\"c-01499\"]"), "heldClusters");
    rows_expect_int("that is work to do", l.scene.status.phase, PHASE_DEPLOYING);
    rows_expect("and told", is_written(&l, "cluster c-01499 cannot be reached"), "its name");
    l.world.items[MANY - 1].state = CLUSTER_READ;
    go_on(&l);
    rows_expect_int("once it is back it is cleared, too", left(&l), 1);
    rows_expect("and not held", !is_written(&l, "heldClusters"), "no heldClusters");
    arena_free(l.arena);
    (void)state;
}

static void a_reached_state_is_written_once(void **state)
{
    static const uint32_t counts[] = { 1, 3, 400, MANY };

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct large l;
        struct str first;

        set_up(&l, counts[i]);
        plan(&l);
        first = l.scene.written;
        for (int round = 0; round < 3; round++) {
            l.scene.observed.now_ms += 3600000;
            plan(&l);
            rows_expect_str("equal bytes", l.scene.written, first);
        }
        arena_free(l.arena);
    }
    (void)state;
}

static struct str joined(struct arena *arena, const struct str_list *ids)
{
    struct strbuf out = strbuf_new(arena, 16);

    for (uint32_t i = 0; i < ids->count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? " " : "", STR_ARG(ids->items[i]));
    return strbuf_str(&out);
}

static void says_where_something_may_be(void **state)
{
    static const struct {
        const char *row, *words, *held;
    } rows[] = {
        { "a target where something was asked for", "cluster a; plan", "a" },
        { "not one where nothing was", "cluster a disconnected; plan", "" },
        { "one that was left, until it is cleared",
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "cluster b untargeted; plan", "a b" },
        { "not after it", "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "cluster b untargeted; plan; gone db@b; uninstall db@b o1 succeeded; plan", "a" },
        { "one that was left and cannot be reached",
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "cluster b untargeted disconnected; plan; +9h; plan", "a b" },
        { "a paused Stack's own on a cluster that went out of sight",
          "cluster a; app db@a deployed 1; cluster b untargeted; app old@b deployed 1; room 0; "
          "plan; cluster b disconnected; plan", "a b" },
        { "not one that is gone", "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; "
          "plan; cluster b gone; plan", "a" },
        { "not one that is abandoned",
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "cluster b untargeted disconnected; abandon b; plan", "a" },
        { "what was known stands while the clusters are unknown",
          "cluster a; app db@a deployed 1; plan; clusters unknown; plan", "a" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", "");

        scene_play(&s, rows[i].words);
        rows_expect_str(rows[i].row, joined(arena, &s.before.held_clusters), str_of(rows[i].held));
    }
    (void)state;
}

/* By the plan that leaves them, and by no other. */
static void says_once_which_clusters_it_leaves(void **state)
{
#define TWO "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
    static const struct {
        const char *row, *words, *gone, *abandoned;
    } rows[] = {
        { "one that is gone", TWO "cluster b gone; plan", "b", "" },
        { "is told of once", TWO "cluster b gone; plan; plan", "", "" },
        { "one that is abandoned", TWO "cluster b untargeted disconnected; abandon b; plan", "",
          "b" },
        { "is told of once, too", TWO "cluster b untargeted disconnected; abandon b; plan; plan",
          "", "" },
        { "all of them, of a Stack that goes", TWO "delete; abandon *; plan", "", "a b" },
        { "also while the list of clusters is unknown",
          TWO "delete; clusters unknown; abandon *; plan", "", "a b" },
        { "not one that is a target", TWO "abandon b; plan", "", "" },
        { "not one where nothing was", "cluster a; cluster b untargeted; abandon b; plan", "", "" },
        { "one that is gone is not abandoned as well", TWO "cluster b gone; abandon b; delete; plan",
          "b", "" },
    };
#undef TWO

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", "");

        scene_play(&s, rows[i].words);
        rows_expect_str(rows[i].row, joined(arena, &s.plan.gone), str_of(rows[i].gone));
        rows_expect_str(rows[i].row, joined(arena, &s.plan.abandoned), str_of(rows[i].abandoned));
    }
}

static void reads_what_is_held(void **state)
{
    static const struct {
        const char *row, *status, *held;
    } rows[] = {
        { "sorted, each once", "{\"heldClusters\":[\"c\",\"a\",\"c\",\"\",7]}", "a c" },
        { "entries with which something was asked for",
          "{\"heldClusters\":[\"c\"],\"deployments\":[{\"clusterId\":\"b\",\"digest\":\"x\"},"
          "{\"clusterId\":\"d\",\"requestedAt\":\"2024-01-01T00:00:00Z\"},{\"clusterId\":\"e\"}]}",
          "b c d" },
        { "targets, where entries were left out",
          "{\"targetClusters\":[\"b\",\"a\"],\"deploymentsOmitted\":1}", "a b" },
        { "not targets, where none was", "{\"targetClusters\":[\"b\",\"a\"]}", "" },
        { "nothing of a wrong kind", "{\"heldClusters\":{\"a\":1}}", "" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_status status;
        struct json json;
        struct error err = { 0 };

        assert_int_equal(
            json_read(arena, str_of(rows[i].status), &json_limits_default, &json, &err), 0);
        status = stack_status_read(arena, json);
        rows_expect_str(rows[i].row, joined(arena, &status.held_clusters), str_of(rows[i].held));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clears_all_clusters_that_it_leaves),
        cmocka_unit_test(tears_all_down),
        cmocka_unit_test(waits_for_those_that_cannot_be_read),
        cmocka_unit_test(a_reached_state_is_written_once),
        cmocka_unit_test(says_where_something_may_be),
        cmocka_unit_test(says_once_which_clusters_it_leaves),
        cmocka_unit_test(reads_what_is_held),
    };

    return cmocka_run_group_tests_name("shared/stack/plan/plan_held", tests, NULL, NULL);
}
