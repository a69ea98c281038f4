/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_test.c: the simulation on a real store: an operation goes on through kills at any moment. */
#include "support/folder.h"
#include "support/rows.h"

#include "io/file.h"
#include "io/log.h"
#include "lab/rancher/simulation.h"
#include "lab/rancher/inside.h"

#include <stdio.h>

static _Atomic int64_t now_ms = 1700000000000;

static int64_t fake_now(void *context)
{
    (void)context;
    return now_ms;
}

static const struct clock fake_clock = { fake_now, fake_now, NULL };

struct world {
    struct arena *arena;
    const char *folder;
    struct api *api;
    struct log *log;
    struct simulation *simulation;
    double scale;
};

static const struct str small_simulation =
    STR_INIT("clusters:\n- {id: c-m-1, labels: {env: prod}, nodes: 2, gpus: 2}\n"
             "- {id: c-m-2, connected: false}\n");

static void start(struct world *world)
{
    struct error err = { 0 };
    const char *file = folder_name(world->arena, world->folder, "simulation.yaml");

    folder_put(file, small_simulation, 0644);
    world->log = log_create(2, LOG_WARN, LOG_TEXT, &fake_clock, "simulation-test");
    world->api = api_create(&(struct api_options){ .data_folder = world->folder,
                                                     .clock = &fake_clock,
                                                     .log = world->log,
                                                     .seed = 1 },
                            &err);
    rows_expect("the API starts", world->api != NULL, err.text);
    world->simulation = simulation_create(
        &(struct simulation_options){ .api = world->api, .clock = &fake_clock, .log = world->log,
                                  .simulation_file = file, .time_scale = world->scale, .seed = 3 },
        &err);
    rows_expect("the simulation starts", world->simulation != NULL, err.text);
}

/* All that is only in memory goes. */
static void kill_world(struct world *world)
{
    simulation_free(world->simulation);
    api_free(world->api);
    log_free(world->log);
    world->simulation = NULL;
    world->api = NULL;
}

static struct world new_world(double scale)
{
    struct world world = { .arena = arena_create(0), .scale = scale };

    world.folder = folder_create(world.arena);
    start(&world);
    return world;
}

static void end(struct world *world)
{
    kill_world(world);
    folder_remove(world->folder);
    arena_free(world->arena);
}

/* Until nothing is due: what the simulation's thread does, without a thread. */
static void settle(struct world *world)
{
    struct arena *arena = arena_create(0);

    engine_run(world->simulation, arena, STR("c-m-1"), STR("demo"), STR("helm-operation-abcde"), NULL);
    world_sync_app(world->simulation, arena, STR("c-m-1"), STR("demo"), STR("web"));
    arena_free(arena);
}

static struct task a_task(const struct world *world, enum task_action action, const char *name)
{
    const struct task_pace pace = { world->scale, 40000, 60000, 20 };

    return (struct task){ .cluster = STR_INIT("c-m-1"),
                          .namespace_ = STR_INIT("demo"),
                          .operation = str_of(name),
                          .action = action,
                          .release = STR_INIT("web"),
                          .repo = STR_INIT("herd-1"),
                          .chart = STR_INIT("web"),
                          .version = STR_INIT("1.2.3"),
                          .values = STR_INIT("{\"replicaCount\":2}"),
                          .command = STR_INIT("[\"helm\",\"upgrade\"]"),
                          .wait = true,
                          .reset_values = true,
                          .history_max = 5,
                          .instant = world->scale <= 0,
                          .times = task_times_of(now_ms, &pace) };
}

static void accept(struct world *world, const struct task *task)
{
    struct arena *arena = arena_create(0);
    struct error err = { 0 };

    rows_expect("namespace",
                world_make_namespace(world->simulation, arena, task->cluster, task->namespace_,
                                     &err) == 0,
                err.text);
    rows_expect("accepted", engine_accept(world->simulation, arena, task, &err) == 0, err.text);
    arena_free(arena);
}

static bool count_release(void *context, struct str object)
{
    int *count = context;

    if (str_find(object, STR("\"sh.helm.release.v1.web."), 0) >= 0)
        ++*count;
    return true;
}

static int revisions_of(struct world *world)
{
    struct arena *arena = arena_create(0);
    struct error err = { 0 };
    int count = 0;

    api_list(world->api, arena, STR("c-m-1"), &res_secrets, STR("demo"), count_release, &count,
             &err);
    arena_free(arena);
    return count;
}

static void expect_app(struct world *world, const char *row, const char *state, int64_t revision)
{
    struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct str app = STR("");
    struct json json;
    int64_t version = 0;

    rows_expect_int(row,
                    api_get(world->api, arena, STR("c-m-1"), &res_apps, STR("demo"), STR("web"),
                            &app, &err),
                    0);
    assert_int_equal(json_read(arena, app, &json_limits_default, &json, &err), 0);
    json_int64(json_walk(json, "spec", "version", NULL), &version);
    rows_expect_str(row, json_str(json_walk(json, "status", "summary", "state", NULL)),
                    str_of(state));
    rows_expect_int(row, version, revision);
    arena_free(arena);
}

/* Killed and started anew before and after each second of an install: one revision, deployed. */
static void test_kill_anywhere(void **state)
{
    struct world world = new_world(1);
    struct task task = a_task(&world, TASK_UPGRADE, "helm-operation-abcde");

    (void)state;
    accept(&world, &task);
    for (int second = 0; second < 56; second++) {
        if (second % 4 == 0) {
            kill_world(&world);
            start(&world);
        }
        settle(&world);
        rows_expect("never two revisions", revisions_of(&world) <= 1, "revisions <= 1");
        now_ms += 1000;
    }
    rows_expect_int("one revision", revisions_of(&world), 1);
    expect_app(&world, "deployed", "deployed", 1);

    /* An hour later the Operation is gone, and the App is not. */
    now_ms += 3600 * 1000;
    kill_world(&world);
    start(&world);
    settle(&world);

    struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct str gone;

    assert_int_equal(api_get(world.api, arena, STR("c-m-1"), &res_operations, STR("demo"),
                             STR("helm-operation-abcde"), &gone, &err),
                     -1);
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    arena_free(arena);
    expect_app(&world, "the App stays", "deployed", 1);
    end(&world);
}

static void test_instant(void **state)
{
    struct world world = new_world(0);
    struct task task = a_task(&world, TASK_UPGRADE, "helm-operation-aaaaa");
    char names[7][32];

    (void)state;
    for (int i = 0; i < 7; i++) {
        snprintf(names[i], sizeof(names[i]), "helm-operation-bbbb%d", i);
        task.operation = str_of(names[i]);
        accept(&world, &task);
        expect_app(&world, "deployed in one go", "deployed", i + 1);
    }
    rows_expect_int("history keeps five", revisions_of(&world), 5);

    task = a_task(&world, TASK_UNINSTALL, "helm-operation-ccccc");
    task.at_revision = 7;
    accept(&world, &task);
    rows_expect_int("an uninstall leaves no revision", revisions_of(&world), 0);
    end(&world);
}

static void test_restart_changes_nothing(void **state)
{
    struct world world = new_world(0);
    struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct str token = str_dup(arena, simulation_token(world.simulation));
    struct cluster_state cluster;
    struct str before, after;

    (void)state;
    assert_int_equal(api_get(world.api, arena, STR("local"), &res_clusters, STR(""), STR("c-m-1"),
                             &before, &err), 0);
    assert_int_equal(api_delete_object(world.api, arena, STR("local"), &res_clusters, STR(""),
                                       STR("c-m-2"), &err), 0);
    kill_world(&world);
    start(&world);
    assert_int_equal(api_get(world.api, arena, STR("local"), &res_clusters, STR(""), STR("c-m-1"),
                             &after, &err), 0);
    rows_expect_str("the Cluster is not written again", after, before);
    rows_expect_str("the token stays", simulation_token(world.simulation), token);
    rows_expect("a deleted cluster stays away",
                !clusters_find(world.simulation, STR("c-m-2"), &cluster), "not found");
    arena_free(arena);
    end(&world);
}

/* People see at once that a rule cannot be read: kubectl prints it. */
static void test_wrong_fault_rules_are_rejected(void **state)
{
    static const struct {
        const char *row, *cluster, *name, *rule;
        const char *error; /* a part of it; NULL: it is stored */
    } rows[] = {
        { "a fault that there is not", "local", "herd-lab-faults", "fault=nonsens",
          "data[a]: Invalid value: \"fault=nonsens\": there is no fault \"nonsens\"; use one of " },
        { "a word that there is not", "local", "herd-lab-faults", "fault=slow custer=a",
          "\"custer\" is not one of fault, cluster" },
        { "a rule that can be read", "local", "herd-lab-faults", "fault=slow cluster=c-m-1", NULL },
        { "another ConfigMap", "local", "others", "fault=nonsens", NULL },
        { "that of another cluster", "c-m-1", "herd-lab-faults", "fault=nonsens", NULL },
    };
    struct world world = new_world(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str object = str_fmt(arena,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                                    "\"name\":\"%s\",\"namespace\":\"default\"},"
                                    "\"data\":{\"a\":\"%s\"}}", rows[i].name, rows[i].rule);
        struct str made;
        struct error err = { 0 };
        int result = api_create_object(world.api, arena, str_of(rows[i].cluster), &res_configmaps,
                                       STR("default"), object, &made, &err);

        rows_expect_int(rows[i].row, result, rows[i].error ? -1 : 0);
        rows_expect(rows[i].row, !rows[i].error || strstr(err.text, rows[i].error), err.text);
    }

    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct str merged;

    rows_expect_int("a change to a wrong one",
                    api_merge_object(world.api, arena, STR("local"), &res_configmaps,
                                     STR("default"), STR("herd-lab-faults"), STR(""),
                                     STR("{\"data\":{\"b\":\"slow\"}}"), &merged, &err), -1);
    rows_expect("it says why", strstr(err.text, "\"slow\" is not word=value") != NULL, err.text);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_anywhere),
        cmocka_unit_test(test_instant),
        cmocka_unit_test(test_restart_changes_nothing),
        cmocka_unit_test(test_wrong_fault_rules_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
