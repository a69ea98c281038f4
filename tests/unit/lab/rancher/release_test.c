/* SPDX-License-Identifier: Apache-2.0 */
/* release_test.c: releases there and back, roads, shapes, and the simulation's description. */
#include "support/rows.h"

#include "lab/rancher/describe.h"
#include "lab/rancher/objects.h"
#include "lab/rancher/release.h"
#include "lab/rancher/route.h"
#include "lab/rancher/shape.h"
#include "lab/rancher/workload.h"

static void test_round_trip(void **state)
{
    struct arena *arena = arena_create(0);
    const struct release release = {
        .name = STR_INIT("web.app"),
        .namespace_ = STR_INIT("demo"),
        .revision = 12,
        .status = RELEASE_PENDING_UPGRADE,
        .first_deployed_ms = 1700000000000,
        .last_deployed_ms = 1700000060000,
        .description = STR_INIT("Preparing \"upgrade\""),
        .metadata = STR_INIT("{\"name\":\"nginx\",\"version\":\"1.2.3\"}"),
        .chart_values = STR_INIT("{}"),
        .config = STR_INIT("{\"replicaCount\":2}"),
        .manifest = STR_INIT("---\nkind: Deployment\n"),
        .repo = STR_INIT("herd-1"),
        .operation = STR_INIT("helm-operation-abcde"),
        .notes = STR_INIT(""),
    };
    struct str secret = release_secret(arena, &release, 1700000060000);
    struct release back = { 0 };
    struct error err = { 0 };
    struct json json, app;

    (void)state;
    rows_expect_int(err.text, release_read(arena, secret, &back, &err), 0);
    rows_expect_str("the name with its dot", back.name, release.name);
    rows_expect_int("revision", back.revision, 12);
    rows_expect_int("status", back.status, RELEASE_PENDING_UPGRADE);
    rows_expect_int("time", back.last_deployed_ms, release.last_deployed_ms);
    rows_expect_str("config", back.config, release.config);
    rows_expect_str("description", back.description, release.description);
    rows_expect_str("repo", back.repo, release.repo);
    rows_expect_str("operation", back.operation, release.operation);
    rows_expect_str("it encodes to the same again", release_json(arena, &back),
                    release_json(arena, &release));
    assert_int_equal(json_read(arena,
                               STR("{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":"
                                   "{\"a\":\"b\"}}}"),
                               &json_limits_default, &app, &err),
                     0);
    assert_int_equal(json_read(arena, release_app(arena, &back, app), &json_limits_default, &json,
                               &err),
                     0);
    rows_expect_str("what others annotated stays",
                    json_raw(json_walk(json, "metadata", "annotations", NULL)),
                    STR("{\"a\":\"b\"}"));
    rows_expect_str("it takes that one's place",
                    json_str(json_walk(json, "metadata", "resourceVersion", NULL)), STR("7"));
    rows_expect_str("values stay out of the App",
                    json_raw(json_walk(json, "spec", "values", NULL)), STR("{}"));
    arena_free(arena);
}

static const struct {
    const char *name;
    struct str secret;
    bool is_release;
    struct str release;
    int64_t revision;
} names[] = {
    { "a release", STR_INIT("sh.helm.release.v1.web.v3"), true, STR_INIT("web"), 3 },
    { "a name with dots", STR_INIT("sh.helm.release.v1.a.v1.b.v10"), true, STR_INIT("a.v1.b"), 10 },
    { "no revision", STR_INIT("sh.helm.release.v1.web"), false, STR_INIT(""), 0 },
    { "revision zero", STR_INIT("sh.helm.release.v1.web.v0"), false, STR_INIT(""), 0 },
    { "no name", STR_INIT("sh.helm.release.v1..v1"), false, STR_INIT(""), 0 },
    { "another Secret", STR_INIT("herd-token"), false, STR_INIT(""), 0 },
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct str release = STR("");
        int64_t revision = 0;

        rows_expect_int(names[i].name,
                        release_secret_name_read(names[i].secret, &release, &revision),
                        names[i].is_release);
        rows_expect_str(names[i].name, release, names[i].release);
        rows_expect_int(names[i].name, revision, names[i].revision);
    }
}

static const struct {
    const char *name;
    struct str path;
    enum route_kind kind;
    struct str cluster;
    struct str rest;
} roads[] = {
    { "plain, local", STR_INIT("/apis/apps/v1"), ROUTE_PLAIN, STR_INIT("local"),
      STR_INIT("/apis/apps/v1") },
    { "plain, downstream", STR_INIT("/k8s/clusters/c-m-1/api/v1/nodes"), ROUTE_PLAIN,
      STR_INIT("c-m-1"), STR_INIT("/api/v1/nodes") },
    { "the alias", STR_INIT("/k8s/proxy/c-m-1/version"), ROUTE_PLAIN, STR_INIT("c-m-1"),
      STR_INIT("/version") },
    { "steve, downstream", STR_INIT("/k8s/clusters/c-m-1/v1/catalog.cattle.io.apps/a/b"),
      ROUTE_STEVE, STR_INIT("c-m-1"), STR_INIT("catalog.cattle.io.apps/a/b") },
    { "steve, local", STR_INIT("/v1/management.cattle.io.clusters"), ROUTE_STEVE, STR_INIT("local"),
      STR_INIT("management.cattle.io.clusters") },
    { "norman", STR_INIT("/v3/clusters/c-m-1"), ROUTE_NORMAN, STR_INIT(""),
      STR_INIT("clusters/c-m-1") },
    { "a prefix alone is no road", STR_INIT("/v3x"), ROUTE_UNKNOWN, STR_INIT("local"),
      STR_INIT("/v3x") },
    { "nothing behind the cluster", STR_INIT("/k8s/clusters/c-m-1"), ROUTE_UNKNOWN,
      STR_INIT("c-m-1"), STR_INIT("") },
};

static void test_roads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(roads) / sizeof(roads[0]); i++) {
        struct route route = route_of(roads[i].path);

        rows_expect_int(roads[i].name, route.kind, roads[i].kind);
        rows_expect_str(roads[i].name, route.cluster, roads[i].cluster);
        rows_expect_str(roads[i].name, route.rest, roads[i].rest);
    }
}

static const struct {
    const char *name;
    struct str yaml;
    int64_t clusters; /* -1 = rejected */
    const char *error;
} simulations[] = {
    { "a generator makes numbered clusters, and local comes by itself",
      STR_INIT("clusters:\n- {id: edge, count: 300, nodes: 2}\n"), 301, "" },
    { "an unknown field is named", STR_INIT("clusters:\n- {id: a, gpu: 1}\n"), -1,
      "is no field of a cluster" },
    { "labels are texts", STR_INIT("clusters:\n- {id: a, labels: {gpu: true}}\n"), -1, "quotes" },
    { "ids are names", STR_INIT("clusters:\n- {id: A_B}\n"), -1, "" },
    { "memory is a quantity", STR_INIT("clusters:\n- {id: a, memory: lots}\n"), -1, "" },
    { "nothing else on top", STR_INIT("cluster: []\n"), -1, "neither clusters nor faults" },
};

static void test_simulations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(simulations) / sizeof(simulations[0]); i++) {
        struct arena *arena = arena_create(0);
        struct description description = { 0 };
        struct error err = { 0 };
        int result = describe_read(arena, simulations[i].yaml, &description, &err);

        rows_expect_int(simulations[i].name, result == 0 ? (int64_t)description.clusters.count : -1,
                        simulations[i].clusters);
        rows_expect(simulations[i].name, strstr(err.text, simulations[i].error) != NULL, err.text);
        arena_free(arena);
    }
}

/* What the examples rely on: the RAG example's labels match two clusters, each with GPUs. */
static void test_builtin(void **state)
{
    struct arena *arena = arena_create(0);
    struct description description;
    struct error err = { 0 };
    int matches = 0;

    (void)state;
    rows_expect_int(err.text, describe_read(arena, describe_builtin, &description, &err), 0);
    assert_int_equal(description.clusters.count, 8);
    for (uint32_t i = 0; i < description.clusters.count; i++) {
        const struct described_cluster *cluster = &description.clusters.items[i];
        struct json object;
        struct json labels;

        assert_int_equal(json_read(arena, object_cluster(arena, cluster), &json_limits_default,
                                   &object, &err), 0);
        labels = json_walk(object, "metadata", "labels", NULL);
        if (str_eq(json_str(json_get(labels, STR("env"))), STR("prod")) &&
            str_eq(json_str(json_get(labels, STR("workload"))), STR("ai-ml"))) {
            matches++;
            assert_true(cluster->gpus * cluster->nodes >= 3);
        }

        struct described_cluster back = object_cluster_read(arena, object);

        rows_expect_int("GPUs read back", back.gpus, cluster->gpus);
        rows_expect_str("the name reads back", back.display_name, cluster->display_name);
        rows_expect_int("connected reads back", back.connected, cluster->connected);
    }
    assert_int_equal(matches, 2);
    arena_free(arena);
}

static void test_shapes(void **state)
{
    struct arena *arena = arena_create(0);
    struct json object;
    struct json shaped;
    struct error err = { 0 };
    const struct shape_steve how = { .type = STR_INIT("catalog.cattle.io.app"),
                                     .base = STR_INIT("https://r/v1") };

    (void)state;
    assert_int_equal(json_read(arena,
                               STR("{\"kind\":\"App\",\"metadata\":{\"name\":\"web\","
                                   "\"namespace\":\"demo\"},\"status\":{\"summary\":{\"state\":"
                                   "\"failed\",\"error\":true}}}"),
                               &json_limits_default, &object, &err), 0);
    assert_int_equal(json_read(arena, shape_steve(arena, object, &how), &json_limits_default,
                               &shaped, &err), 0);
    rows_expect_str("id", json_str(json_get(shaped, STR("id"))), STR("demo/web"));
    rows_expect_str("state", json_str(json_walk(shaped, "metadata", "state", "name", NULL)),
                    STR("failed"));
    rows_expect_str("action", json_str(json_walk(shaped, "actions", "uninstall", NULL)),
                    STR("https://r/v1/catalog.cattle.io.apps/demo/web?action=uninstall"));
    arena_free(arena);
}

static void test_workload(void **state)
{
    struct arena *arena = arena_create(0);
    const struct catalogue_chart *ollama = NULL;
    struct json values;
    struct error err = { 0 };

    (void)state;
    catalogue_find(arena, catalogue_repo_of(STR("https://otwld.github.io/ollama-helm")),
                   STR("ollama"), STR("0.59.0"), &ollama, &err);
    assert_non_null(ollama);
    assert_int_equal(json_read(arena,
                               STR("{\"replicaCount\":3,\"resources\":{\"requests\":{"
                                   "\"nvidia.com/gpu\":1},\"limits\":{\"nvidia.com/gpu\":\"2\"}}}"),
                               &json_limits_default, &values, &err), 0);

    struct workload workload = workload_of(ollama, values);

    rows_expect_int("replicas", workload.replicas, 3);
    rows_expect_int("limits count before requests", workload.gpus, 2);
    rows_expect_str("resource", workload.gpu_key, STR("nvidia.com/gpu"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_names),
        cmocka_unit_test(test_roads),      cmocka_unit_test(test_simulations),
        cmocka_unit_test(test_builtin),    cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_workload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
