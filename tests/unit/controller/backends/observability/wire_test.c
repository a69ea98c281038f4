/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: what Prometheus is asked, what its answers say, and whose pods they are about. */
#include "support/rows.h"

#include "controller/backends/observability/wire.h"

static void pods_are_named_after_their_workload(void **state)
{
    static const struct {
        const char *row, *pod, *kind, *name;
        bool is;
    } rows[] = {
        { "of a ReplicaSet", "web-5d8f7c9b4-x7k2p", "Deployment", "web", true },
        { "of another Deployment whose name goes on", "web-api-5d8f7c9b4-x7k2p", "Deployment", "web", false },
        { "of that one", "web-api-5d8f7c9b4-x7k2p", "Deployment", "web-api", true },
        { "of a Job", "web-migrate-x7k2p", "Deployment", "web-migrate", false },
        { "with a suffix that is too long", "web-5d8f7c9b4-x7k2pq", "Deployment", "web", false },
        { "of a StatefulSet", "db-0", "StatefulSet", "db", true },
        { "of a StatefulSet, by number", "db-12", "StatefulSet", "db", true },
        { "of none", "db-x", "StatefulSet", "db", false },
        { "without a number", "db-", "StatefulSet", "db", false },
        { "of a DaemonSet", "agent-x7k2p", "DaemonSet", "agent", true },
        { "of a Deployment, not of a DaemonSet", "agent-5d8f7c9b4-x7k2p", "DaemonSet", "agent", false },
        { "of a name that is cut",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-control-x7k2p", "Deployment",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-controller", false },
        { "of a name that is cut, by 58 characters and 5",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-controlx7k2p", "Deployment",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-controller", true },
        { "of a DaemonSet whose name is cut", "a-name-of-more-than-fifty-characters-is-cut-by-its-controlx7k2p", "DaemonSet",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-controller", true },
        { "of one whose name just fits, with its dash", "a-name-of-more-than-fifty-characters-is-cut-by-its-contro-x7k2p", "Deployment",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-contro", true },
        { "of one that begins so and goes on without a dash", "a-name-of-more-than-fifty-characters-is-cut-by-its-controlx7k2p", "Deployment",
          "a-name-of-more-than-fifty-characters-is-cut-by-its-contro", false },
        { "whose hash is cut", "a-name-of-fifty-characters-leaves-no-room-for-all-5d8f7cx7k2p", "Deployment",
          "a-name-of-fifty-characters-leaves-no-room-for-all", false },
        { "whose hash is cut, by 58 characters and 5", "a-name-of-fifty-characters-leaves-no-room-for-all-5d8f7c9bx7k2p", "Deployment",
          "a-name-of-fifty-characters-leaves-no-room-for-all", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        rows_expect_int(rows[i].row,
                        wire_pod_is_of(str_of(rows[i].pod), str_of(rows[i].kind), str_of(rows[i].name)),
                        rows[i].is);
}

#define UP(ns, pod, value) \
    "{\"metric\":{\"__name__\":\"up\",\"namespace\":\"" ns "\",\"pod\":\"" pod "\",\"job\":\"x\"},\"value\":[1.5,\"" value "\"]}"
#define GPU(ns, pod, uuid, more, value)                                                                      \
    "{\"metric\":{\"UUID\":\"" uuid "\"," more "\"namespace\":\"gpu\",\"pod\":\"dcgm-x7k2p\",\"exported_pod\":\"" pod "\"," \
    "\"exported_namespace\":\"" ns "\"},\"value\":[1.5,\"" value "\"]}"
#define OWN_GPU(ns, pod, uuid, value) \
    "{\"metric\":{\"UUID\":\"" uuid "\",\"namespace\":\"" ns "\",\"pod\":\"" pod "\"},\"value\":[1.5,\"" value "\"]}"
#define VECTOR(samples) "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" samples "]}}"
#define WEB "web-5d8f7c9b4-x7k2p"

static const char *const state_names[] = { "not asked", "unknown", "pending", "inactive", "active" };

/* "state message gpu" */
static struct str told(struct arena *arena, const char *body, const char *namespace_, const char *workloads)
{
    struct samples samples;
    struct error err = { 0 };

    if (wire_samples_read(arena, str_of(body), &samples, &err) < 0)
        return str_fmt(arena, "error: %s", err.text);

    struct sample_index index = sample_index_new(arena, &samples);
    struct observed_metrics metrics = wire_metrics_of(arena, &index, str_of(namespace_), str_of(workloads));
    struct str gpus = metrics.has_gpus ? str_fmt(arena, "%.1f", metrics.gpu_percent) : STR("none");

    return str_fmt(arena, "%s '%.*s' %.*s", state_names[metrics.state], STR_ARG(metrics.message),
                   STR_ARG(gpus));
}

static void samples_tell_of_releases(void **state)
{
    static const struct {
        const char *row, *body, *want;
    } rows[] = {
        { "a target that is up", VECTOR(UP("shop", WEB, "1")), "active '' none" },
        { "no target", VECTOR(""), "pending 'none of its pods is scraped' none" },
        { "a target of another namespace", VECTOR(UP("other", WEB, "1")), "pending 'none of its pods is scraped' none" },
        { "a target of another release", VECTOR(UP("shop", "api-5d8f7c9b4-x7k2p", "1")),
          "pending 'none of its pods is scraped' none" },
        { "one of two that is down", VECTOR(UP("shop", WEB, "1") "," UP("shop", "db-0", "0")),
          "inactive '1 of 2 targets are down, such as that of pod db-0' none" },
        { "GPUs, whose is in exported labels",
          VECTOR(UP("shop", WEB, "1") "," GPU("shop", WEB, "GPU-1", "", "40") "," GPU("shop", WEB, "GPU-2", "", "61")),
          "active '' 50.5" },
        { "GPUs, whose exporter is honored", VECTOR(UP("shop", WEB, "1") "," OWN_GPU("shop", WEB, "GPU-1", "0")),
          "active '' 0.0" },
        { "a GPU that two jobs report counts once",
          VECTOR(UP("shop", WEB, "1") "," GPU("shop", WEB, "GPU-1", "\"job\":\"a\",", "10") "," GPU(
              "shop", WEB, "GPU-1", "\"job\":\"b\",", "90") "," GPU("shop", WEB, "GPU-2", "", "20")),
          "active '' 15.0" },
        { "slices of one GPU are GPUs",
          VECTOR(UP("shop", WEB, "1") "," GPU("shop", WEB, "GPU-1", "\"GPU_I_ID\":\"1\",", "10") "," GPU(
              "shop", WEB, "GPU-1", "\"GPU_I_ID\":\"2\",", "30")),
          "active '' 20.0" },
        { "a pod that two of its workloads could have counts once",
          VECTOR(UP("shop", "agent-5d8f7-x7k2p", "0")), "inactive '1 of 1 targets is down, such as that of pod agent-5d8f7-x7k2p' none" },
        { "a name that is cut",
          VECTOR(UP("shop", "a-name-of-more-than-fifty-characters-is-cut-by-its-controlx7k2p", "1")), "active '' none" },
        { "a workload in another namespace", VECTOR(UP("elsewhere", "web-5d8f7c9b4-x7k2p", "1")), "active '' none" },
        { "NaN is no number", VECTOR(UP("shop", WEB, "1") "," GPU("shop", WEB, "GPU-1", "", "NaN")), "active '' none" },
        { "an error in Prometheus' words",
          "{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"unavailable with Prometheus Agent\"}",
          "error: Prometheus says: unavailable with Prometheus Agent" },
        { "what is no JSON", "<html>",
          "error: Prometheus answered with what is not JSON: line 1, column 1: expected a value" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str got = told(arena, rows[i].body, "shop", "Deployment/shop/web StatefulSet//db Deployment/shop/agent "
                              "DaemonSet/shop/agent-5d8f7 Deployment/elsewhere/web "
                              "Deployment/shop/a-name-of-more-than-fifty-characters-is-cut-by-its-controller ");

        rows_expect_str(rows[i].row, str_slice(got, 0, strlen(rows[i].want)), str_of(rows[i].want));
    }
}

static void what_herd_has_scraped_is_told_apart(void **state)
{
    static const struct {
        const char *row, *body;
        bool scraped;
    } rows[] = {
        { "by a monitor of somebody else's", VECTOR(UP("shop", WEB, "0")), true },
        { "by Herd's own", VECTOR("{\"metric\":{\"__name__\":\"up\",\"namespace\":\"shop\",\"pod\":\"" WEB "\",\"herd_release\":\"web\"},"
                                  "\"value\":[1,\"1\"]}"), false },
        { "its GPUs alone", VECTOR(GPU("shop", WEB, "GPU-1", "", "40")), false },
        { "nothing", VECTOR(""), false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct samples samples;
        struct sample_index index;
        struct error err = { 0 };

        rows_expect_int(rows[i].row, wire_samples_read(arena, str_of(rows[i].body), &samples, &err), 0);
        index = sample_index_new(arena, &samples);
        rows_expect_int(rows[i].row, wire_is_scraped(arena, &index, STR("shop"), STR("Deployment/shop/web ")), rows[i].scraped);
    }
}

static void the_query_names_the_namespaces(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list namespaces = str_list_new(arena, 2);
    struct str path;

    (void)state;
    str_list_push(&namespaces, STR("a"));
    str_list_push(&namespaces, STR("b-c"));
    path = wire_samples_path(arena, &namespaces);
    rows_expect("it is encoded", str_starts(path, STR("/api/v1/query?query=up%7Bnamespace%3D~%22a%7Cb-c%22%2Cpod")),
                path.at);
    rows_expect("without a plus or a blank", str_find_char(path, '+', 0) < 0 && str_find_char(path, ' ', 0) < 0, path.at);
    for (int i = 0; i < 100; i++)
        str_list_push(&namespaces, STR("d"));
    path = wire_samples_path(arena, &namespaces);
    rows_expect("of many, all are asked for", str_find(path, STR("namespace%21%3D%22%22"), 0) >= 0, path.at);
}

#define PROMETHEUS(ns, name, available)                                                        \
    "{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\"},\"status\":{\"conditions\":" \
    "[{\"type\":\"Reconciled\",\"status\":\"True\"},{\"type\":\"Available\",\"status\":\"" available "\"}]}}"
#define LIST(items) "{\"items\":[" items "]}"

static void one_prometheus_is_asked(void **state)
{
    static const struct {
        const char *row, *body, *want;
    } rows[] = {
        { "none", LIST(""), "/" },
        { "one that is not Available", LIST(PROMETHEUS("a", "p", "False")), "/" },
        { "the first", LIST(PROMETHEUS("b", "p", "True") "," PROMETHEUS("a", "q", "True")), "a/q" },
        { "that of rancher-monitoring",
          LIST(PROMETHEUS("a", "p", "True") "," PROMETHEUS("cattle-monitoring-system", "q", "True") "," PROMETHEUS("b", "r", "True")),
          "cattle-monitoring-system/q" },
        { "unless it is not Available", LIST(PROMETHEUS("a", "p", "True") "," PROMETHEUS("cattle-monitoring-system", "q", "False")),
          "a/p" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct wire_prometheus one;
        struct error err = { 0 };

        rows_expect_int(rows[i].row, wire_prometheus_read(arena, str_of(rows[i].body), &one, &err), 0);
        rows_expect_str(rows[i].row, str_fmt(arena, "%.*s/%.*s", STR_ARG(one.namespace_), STR_ARG(one.name)),
                        str_of(rows[i].want));
    }
}

static void the_agent_runs_where_a_pod_is_available(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_agent agent = { .runs = true };
    struct error err = { 0 };

    (void)state;
    rows_expect_int("none", wire_agent_read(arena, STR(LIST("{\"status\":{}}")), &agent, &err), 0);
    rows_expect("none", !agent.runs, "it does not run");
    rows_expect_int("one", wire_agent_read(arena, STR(LIST("{\"status\":{\"availableReplicas\":1}},{}")), &agent, &err), 0);
    rows_expect("one", agent.runs, "it runs");
    rows_expect_str("it does not say the cluster's name", agent.cluster_name, STR(""));
    rows_expect_int("no JSON", wire_agent_read(arena, STR("x"), &agent, &err), -1);
}

#define CONTAINERS(env) "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"sidecar\"},{\"env\":[" env "]}]}}}}"

static void the_agent_says_what_it_calls_the_cluster(void **state)
{
    static const struct {
        const char *row, *list, *want;
    } rows[] = {
        { "in a variable of any of its Deployments",
          LIST("{}," CONTAINERS("{\"name\":\"STS_LOG_LEVEL\",\"value\":\"INFO\"},{\"name\":\"STS_CLUSTER_NAME\",\"value\":\"lab-a\"}")),
          "lab-a" },
        { "the first counts", LIST(CONTAINERS("{\"name\":\"STS_CLUSTER_NAME\",\"value\":\"a\"}") ","
                                   CONTAINERS("{\"name\":\"STS_CLUSTER_NAME\",\"value\":\"b\"}")), "a" },
        { "from elsewhere", LIST(CONTAINERS("{\"name\":\"STS_CLUSTER_NAME\",\"valueFrom\":{}}")), "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct wire_agent agent;
        struct error err = { 0 };

        rows_expect_int(rows[i].row, wire_agent_read(arena, str_of(rows[i].list), &agent, &err), 0);
        rows_expect_str(rows[i].row, agent.cluster_name, str_of(rows[i].want));
    }
}

#define RULE(type, stack, health) \
    "{\"type\":\"" type "\",\"health\":\"" health "\",\"labels\":{\"herd_stack\":\"" stack "\",\"herd_release\":\"web\"}}"

static void rules_are_counted_by_stack(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_rules rules;
    struct error err = { 0 };

    (void)state;
    rows_expect_int("they are read",
                    wire_rules_read(arena,
                                    STR("{\"status\":\"success\",\"data\":{\"groups\":[{\"rules\":["
                                        RULE("alerting", "a/x", "ok") "," RULE("alerting", "a/x", "err") "," RULE(
                                            "recording", "a/x", "ok") "]},{\"rules\":[" RULE("alerting", "a/y", "unknown")
                                        ",{\"type\":\"alerting\",\"health\":\"ok\",\"labels\":{}}]}]}}"),
                                    &rules, &err), 0);
    rows_expect_int("alerts that work, of Stacks", rules.stacks.count, 2);
    rows_expect_str("the first", rules.stacks.items[0], STR("a/x"));
    rows_expect_str("what was not evaluated yet, too", rules.stacks.items[1], STR("a/y"));
    rows_expect_str("of a release", rules.releases.items[0], STR("a/x web"));
}

/* 20,000 samples of pods have more values than one review may have. */
static void a_long_answer_is_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf body = strbuf_new(arena, 4 * 1024 * 1024);
    struct samples samples;
    struct error err = { 0 };

    (void)state;
    strbuf_lit(&body, "{\"status\":\"success\",\"data\":{\"result\":[");
    for (int i = 0; i < 20000; i++)
        strbuf_fmt(&body, "%s{\"metric\":{\"__name__\":\"up\",\"namespace\":\"shop\",\"pod\":\"p-%d\",\"job\":\"j\",\"service\":\"s\","
                          "\"endpoint\":\"e\",\"container\":\"c\"},\"value\":[1,\"1\"]}", i ? "," : "", i);
    strbuf_lit(&body, "]}}");
    rows_expect_int(err.text, wire_samples_read(arena, strbuf_str(&body), &samples, &err), 0);
    rows_expect_int("all of them", samples.count, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_named_after_their_workload),
        cmocka_unit_test(samples_tell_of_releases),
        cmocka_unit_test(what_herd_has_scraped_is_told_apart),
        cmocka_unit_test(the_query_names_the_namespaces),
        cmocka_unit_test(one_prometheus_is_asked),
        cmocka_unit_test(the_agent_runs_where_a_pod_is_available),
        cmocka_unit_test(the_agent_says_what_it_calls_the_cluster),
        cmocka_unit_test(rules_are_counted_by_stack),
        cmocka_unit_test(a_long_answer_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
