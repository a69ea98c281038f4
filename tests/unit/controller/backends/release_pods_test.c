/* SPDX-License-Identifier: Apache-2.0 */
/* release_pods_test.c: pods find their release through what controls them. */
#include "support/rows.h"

#include "controller/backends/release_pods.h"

static struct json read(struct arena *arena, const char *text)
{
    struct error err = { .code = ERROR_NONE };
    struct json json = { NULL, 0 };

    if (json_read(arena, str_of(text), &json_limits_default, &json, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return json;
}

static void a_pod_belongs_to_what_controls_it(void **state)
{
    static const struct {
        const char *row, *owners, *want;
    } rows[] = {
        { "a Deployment's", "{\"kind\":\"ReplicaSet\",\"name\":\"web-5d4f8\",\"controller\":true}",
          "Deployment/shop/web" },
        { "whose name has dashes",
          "{\"kind\":\"ReplicaSet\",\"name\":\"my-web-5d4f8\",\"controller\":true}",
          "Deployment/shop/my-web" },
        { "a StatefulSet's", "{\"kind\":\"StatefulSet\",\"name\":\"db-1\",\"controller\":true}",
          "StatefulSet/shop/db-1" },
        { "a DaemonSet's", "{\"kind\":\"DaemonSet\",\"name\":\"agent\",\"controller\":true}",
          "DaemonSet/shop/agent" },
        { "the owner that controls it, of several",
          "{\"kind\":\"Node\",\"name\":\"n\"},"
          "{\"kind\":\"DaemonSet\",\"name\":\"agent\",\"controller\":true}",
          "DaemonSet/shop/agent" },
        { "nobody's", "", "" },
        { "of an owner that does not control it", "{\"kind\":\"DaemonSet\",\"name\":\"agent\"}", "" },
        { "a ReplicaSet without a hash", "{\"kind\":\"ReplicaSet\",\"name\":\"web\",\"controller\":true}",
          "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str pod = str_fmt(arena, "{\"metadata\":{\"namespace\":\"shop\",\"ownerReferences\":[%s]}}",
                                 rows[i].owners);

        rows_expect_str(rows[i].row, release_pod_workload(arena, read(arena, pod.at)),
                        str_of(rows[i].want));
    }
}

static void workloads_are_matched_whole(void **state)
{
    const struct str workloads = STR("Deployment/shop/web StatefulSet/data/db ");

    (void)state;
    rows_expect("the first", release_has_workload(workloads, STR("Deployment/shop/web")), "has it");
    rows_expect("the last", release_has_workload(workloads, STR("StatefulSet/data/db")), "has it");
    rows_expect("no prefix", !release_has_workload(workloads, STR("Deployment/shop/we")), "has not");
    rows_expect("no namesake of another kind",
                !release_has_workload(workloads, STR("DaemonSet/shop/web")), "has not");
    rows_expect("nobody's pod belongs nowhere", !release_has_workload(workloads, STR("")), "has not");
}

static void namespaces_come_once(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list list = str_list_new(arena, 2);

    (void)state;
    release_namespaces(STR("Deployment/shop/web Deployment/shop/api StatefulSet/data/db "), &list);
    release_namespaces(STR(""), &list);
    rows_expect_int("two", list.count, 2);
    rows_expect_str("in order", list.items[0], STR("shop"));
    rows_expect_str("then", list.items[1], STR("data"));
}

#define POD(meta, statuses)                                                                        \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"p\"" meta "},\"status\":{" statuses "}}"

static void only_what_runs_counts(void **state)
{
    static const struct {
        const char *row, *pods;
        uint32_t count;
    } rows[] = {
        { "a container that runs",
          POD("", "\"containerStatuses\":[{\"containerID\":\"containerd://a1\",\"state\":{\"running\":{}}}]"),
          1 },
        { "one that has ended",
          POD("", "\"containerStatuses\":[{\"containerID\":\"containerd://a1\",\"state\":{\"terminated\":{}}}]"),
          0 },
        { "one that waits, with the id of its last run",
          POD("", "\"containerStatuses\":[{\"containerID\":\"containerd://a1\",\"state\":{\"waiting\":{}}}]"),
          0 },
        { "one that has not begun", POD("", "\"containerStatuses\":[{\"name\":\"x\"}]"), 0 },
        { "of a pod that is being deleted",
          POD(",\"deletionTimestamp\":\"2024-01-15T10:30:00Z\"",
              "\"containerStatuses\":[{\"containerID\":\"containerd://a1\"}]"),
          0 },
        { "a sidecar, which is an init container that runs on",
          POD("", "\"initContainerStatuses\":[{\"containerID\":\"containerd://s1\",\"state\":{\"running\":{}}}],"
                  "\"containerStatuses\":[{\"containerID\":\"containerd://a1\",\"state\":{\"running\":{}}}]"),
          2 },
        { "no status at all", "{\"metadata\":{}}", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct release_containers list = release_containers_new(arena, 2);

        release_containers_read(
            read(arena, str_fmt(arena, "{\"items\":[%s]}", rows[i].pods).at), &list);
        rows_expect_int(rows[i].row, list.count, rows[i].count);
        if (rows[i].count == 1)
            rows_expect_str("without the runtime's name", list.items[0].id, STR("a1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_belongs_to_what_controls_it),
        cmocka_unit_test(workloads_are_matched_whole),
        cmocka_unit_test(namespaces_come_once),
        cmocka_unit_test(only_what_runs_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
