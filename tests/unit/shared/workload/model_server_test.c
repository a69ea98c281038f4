/* SPDX-License-Identifier: Apache-2.0 */
/* model_server_test.c: which replicas, GPUs and reason follow from a spec, the decision before, what was measured and the pods. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "workload/model_server.h"

#define NOW 1760000000000
#define BEFORE(replicas, reason, more) "{\"scaling\":{\"replicas\":" replicas ",\"reason\":\"" reason "\",\"observedGeneration\":1," more
#define MEASURED                                                                                                                           \
    "\"inputs\":{\"requestRate\":\"10\",\"requestRateSource\":\"Measured\",\"serviceRate\":\"2\","                                         \
    "\"serviceRateSource\":"                                                                                                               \
    "\"Measured\",\"concurrency\":1,\"maxLatencyMilliseconds\":2000,\"latencyPermille\":950,"                                              \
    "\"sla\":true}}}"
#define SLA "\"sla\":{\"maxLatency\":\"2s\",\"minThroughput\":10,\"serviceRate\":2}"

static const struct {
    const char *row;
    const char *spec, *status, *measured;
    int replicas;
    const char *reason;
} rows[] = {
    { "without an sla spec.replicas counts", "\"replicas\":4", "", "", 4, "SpecReplicas" },
    { "the budget counts there, too", "\"replicas\":4,\"tensorParallelSize\":4,\"gpuBudget\":8", "", "", 2, "LimitedByGPUBudget" },
    { "an sla without a service rate: spec.replicas", "\"replicas\":4,\"sla\":{\"maxLatency\":\"100ms\"}", "", "", 4,
      "ServiceRateUnknown" },
    /* M/M/c with 5 Erlangs: at 6 servers 59 % wait, and 2.9 % longer than 1.5 s. */
    { "the declared rates give the replicas", SLA, "", "", 6, "Computed" },
    { "throughput alone", "\"sla\":{\"minThroughput\":10,\"serviceRate\":4}", "", "", 3, "Computed" },
    { "the throughput is a load: a queue as fast as it grows without end", "\"sla\":{\"minThroughput\":8,\"serviceRate\":4}", "", "", 3,
      "Computed" },
    { "a latency that no number of replicas keeps", "\"sla\":{\"maxLatency\":\"100ms\",\"minThroughput\":10,\"serviceRate\":4}", "", "", 3,
      "LatencyUnreachable" },
    { "the budget limits them", SLA ",\"tensorParallelSize\":2,\"gpuBudget\":8", "", "", 4, "LimitedByGPUBudget" },
    { "what not even the most replicas keep", "\"sla\":{\"minThroughput\":1000000,\"serviceRate\":1}", "", "", 10000, "TooManyReplicas" },
    { "nor in time", "\"sla\":{\"maxLatency\":\"1s\",\"minThroughput\":10000,\"serviceRate\":1}", "", "", 10000, "TooManyReplicas" },
    { "with autoscaling, the fewest that the autoscaler may choose",
      "\"replicas\":4,\"autoscaling\":{\"enabled\":true,\"minReplicas\":5,\"maxReplicas\":10}", "", "", 5, "SpecReplicas" },
    { "not fewer than those, whatever the sla needs", SLA ",\"autoscaling\":{\"enabled\":true,\"minReplicas\":7,\"maxReplicas\":10}", "", "", 7,
      "Computed" },
    { "which the budget limits", "\"gpuBudget\":2,\"autoscaling\":{\"enabled\":true,\"minReplicas\":5,\"maxReplicas\":10}", "", "", 2,
      "LimitedByGPUBudget" },
    { "a profile of this hardware counts more",
      "\"gpuType\":\"H100\",\"tensorParallelSize\":2,\"sla\":{\"minThroughput\":10,\"serviceRate\":"
      "2,\"profiles\":[{\"gpuType\":\"A100\","
      "\"serviceRate\":1},{\"gpuType\":\"H100\",\"tensorParallelSize\":4,\"serviceRate\":1},{"
      "\"gpuType\":\"H100\",\"serviceRate\":20}]}",
      "", "", 1, "Computed" },
    { "until Prometheus answers what is declared counts", SLA, "", "{}", 6, "Computed" },
    { "what it measures counts more", SLA, "", "{\"requestRate\":20000,\"serviceTime\":100000}", 3, "Computed" },
    { "it never goes below the throughput", SLA, "", "{\"requestRate\":0,\"serviceTime\":100000}", 1, "Computed" },
    { "without requests the service rate is the declared one", SLA, "", "{\"requestRate\":0}", 5, "Computed" },
    { "more at once", SLA, BEFORE("3", "Computed", MEASURED), "{\"requestRate\":10000,\"serviceTime\":500000}", 6, "Computed" },
    { "fewer not yet", SLA, BEFORE("9", "Computed", MEASURED), "{\"requestRate\":10000,\"serviceTime\":500000}", 9, "Stabilizing" },
    { "fewer when they were enough for long, and as many as then", SLA,
      BEFORE("9", "Stabilizing", "\"fewerSince\":\"2025-10-09T08:45:00Z\",\"fewer\":8," MEASURED),
      "{\"requestRate\":10000,\"serviceTime\":500000}", 8, "Computed" },
    { "metrics that are lost keep the decision", SLA, BEFORE("9", "Computed", MEASURED), "{\"error\":\"x\"}", 9, "MetricsLost" },
    { "nobody measures any more: what is declared counts", SLA, BEFORE("9", "Computed", MEASURED), "", 6, "Computed" },
    { "after a restart nothing is decided before the first answer", SLA, BEFORE("9", "Stabilizing", MEASURED), "{}", 9, "Stabilizing" },
    { "another spec is decided by the last load, though it is lost", "\"sla\":{\"minThroughput\":1}",
      "{\"scaling\":{\"replicas\":9,\"reason\":\"Computed\",\"observedGeneration\":0," MEASURED, "{\"error\":\"x\"}", 9, "Stabilizing" },
};

static struct json object_of(struct arena *arena, const char *spec, const char *status)
{
    return test_json(arena, str_fmt(arena,
                                    "{\"apiVersion\":\"herd.suse.com/"
                                    "v1\",\"kind\":\"ModelDeployment\",\"metadata\":{\"name\":"
                                    "\"m\",\"namespace\":\"d\",\"generation\":1},"
                                    "\"spec\":{\"model\":\"x\",%s},\"status\":%s}",
                                    spec, *status ? status : "{}"));
}

static struct workload read_one(struct arena *arena, const struct kind_observation *seen)
{
    struct problems problems = problems_new(arena);
    struct workload workload;

    model_deployment_kind.read(&model_deployment_kind, arena, seen, &workload, &problems);
    rows_expect_int("findings", problems.list.count, 0);
    return workload;
}

static void replicas_follow_from_the_sla(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children none = seen_children_new(arena, 1);
        struct kube_conditions conditions = kube_conditions_new(arena, 4);
        struct kind_observation seen = { .object = object_of(arena, rows[i].spec, rows[i].status), .children = &none, .now_ms = NOW };
        struct strbuf out = strbuf_new(arena, 1024);
        struct json_writer w = json_writer(&out);
        struct workload workload;
        struct json status;

        if (*rows[i].measured)
            seen.measured = test_json(arena, str_of(rows[i].measured));
        workload = read_one(arena, &seen);
        rows_expect_int(rows[i].row, workload.replicas, rows[i].replicas);
        json_open_object(&w);
        workload_kind_summarize(&model_deployment_kind.kind, arena, &seen, &w, &conditions);
        json_close_object(&w);
        status = test_json(arena, strbuf_str(&out));
        rows_expect_str(rows[i].row, json_str(json_walk(status, "scaling", "reason", NULL)), str_of(rows[i].reason));
        assert_non_null(kube_condition_find(&conditions, STR("ScalingActive")));
    }
}

/* --- pods that Prometheus does not scrape --- */

#define BEFORE_OF_6 BEFORE("6", "Computed", MEASURED)
#define PARTLY(rate, pods) "{\"requestRate\":" rate ",\"serviceTime\":500000,\"pods\":[" pods "]}"
static const struct {
    const char *row, *spec, *status, *measured;
    const char *pods; /* of the pod with that ordinal: r = ready, '-' = not ready, p = pending, of which no readiness is said */
    int replicas;
    const char *reason;
    int unscraped; /* as stored; 0 = absent */
} scrapes[] = {
    { "all that are ready are scraped", SLA, BEFORE_OF_6, PARTLY("10000", "\"m-0\",\"m-1\""), "rr", 6, "Computed", 0 },
    { "fewer for a whole load, after a while", SLA, BEFORE_OF_6, PARTLY("3333", "\"m-0\",\"m-1\""), "rr", 6, "Stabilizing", 0 },
    { "two of six: the decision stays", SLA, BEFORE_OF_6, PARTLY("3333", "\"m-0\",\"m-1\""), "rrrrrr", 6, "PodsNotScraped", 4 },
    { "however long fewer seem enough", SLA,
      BEFORE("6", "Stabilizing", "\"fewerSince\":\"2025-10-09T07:00:00Z\",\"fewer\":3," MEASURED),
      PARTLY("3333", "\"m-0\",\"m-1\""), "rrrrrr", 6, "PodsNotScraped", 4 },
    { "a part of the load that needs more counts", SLA, BEFORE("3", "Computed", MEASURED), PARTLY("10000", "\"m-0\",\"m-1\""), "rrr", 6,
      "Computed", 1 },
    { "pods that are not ready serve nothing", SLA, BEFORE_OF_6, PARTLY("3333", "\"m-0\",\"m-1\""), "rr--pp", 6, "Stabilizing", 0 },
    { "names count, not numbers", SLA, BEFORE_OF_6, PARTLY("3333", "\"m-4\",\"m-5\""), "rr", 6, "PodsNotScraped", 2 },
    { "another sla is not decided with fewer, either", "\"sla\":{\"minThroughput\":1,\"serviceRate\":2,\"stabilizationWindow\":\"0s\"}",
      "{\"scaling\":{\"replicas\":6,\"reason\":\"Computed\",\"observedGeneration\":0," MEASURED, PARTLY("1000", "\"m-0\""), "rrrrrr", 6,
      "PodsNotScraped", 5 },
    { "nor when the rest of the load is lost, too", "\"sla\":{\"minThroughput\":1,\"serviceRate\":2,\"stabilizationWindow\":\"0s\"}",
      "{\"scaling\":{\"replicas\":6,\"reason\":\"PodsNotScraped\",\"observedGeneration\":0,\"inputs\":{\"requestRate\":\"1\",\"requestRateSource\":"
      "\"Measured\",\"serviceRate\":\"2\",\"serviceRateSource\":\"Measured\",\"concurrency\":1,\"podsNotScraped\":5,\"sla\":true}}}",
      "{\"error\":\"x\"}", "rrrrrr", 6, "PodsNotScraped", 5 },
    { "without measurements what is declared counts", SLA, "", "", "rrrrrr", 6, "Computed", 0 },
};

static void a_load_without_some_pods_lowers_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scrapes) / sizeof(scrapes[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children children = seen_children_new(arena, 8);
        struct kube_conditions conditions = kube_conditions_new(arena, 4);
        struct json object = object_of(arena, scrapes[i].spec, scrapes[i].status);
        struct kind_observation seen = { .object = object, .children = &children, .now_ms = NOW };
        struct strbuf out = strbuf_new(arena, 1024);
        struct json_writer w = json_writer(&out);
        struct json scaling;
        int64_t replicas = -1, unscraped = 0;

        if (*scrapes[i].measured)
            seen.measured = test_json(arena, str_of(scrapes[i].measured));
        for (int pod = 0; scrapes[i].pods[pod]; pod++)
            seen_children_push(&children,
                               (struct seen_child){ .resource = &workload_child_resources[WORKLOAD_PODS],
                                                    .name = str_fmt(arena, "m-%d", pod),
                                                    .health = { .state = scrapes[i].pods[pod] == '-' ? OBJECT_IN_PROGRESS : OBJECT_CURRENT,
                                                                .status = test_json(arena, scrapes[i].pods[pod] == 'p'
                                                                                               ? STR("{\"phase\":\"Pending\"}")
                                                                                               : STR("{\"phase\":\"Running\"}")) } });
        json_open_object(&w);
        workload_kind_summarize(&model_deployment_kind.kind, arena, &seen, &w, &conditions);
        json_close_object(&w);
        scaling = json_get(test_json(arena, strbuf_str(&out)), STR("scaling"));
        json_int64(json_get(scaling, STR("replicas")), &replicas);
        json_int64(json_walk(scaling, "inputs", "podsNotScraped", NULL), &unscraped);
        rows_expect_int(scrapes[i].row, replicas, scrapes[i].replicas);
        rows_expect_str(scrapes[i].row, json_str(json_get(scaling, STR("reason"))), str_of(scrapes[i].reason));
        rows_expect_int(scrapes[i].row, unscraped, scrapes[i].unscraped);
    }
}

/* --- the pods on their way to another number of GPUs --- */

static const struct {
    const char *row;
    const char *spec;
    int set_replicas, set_gpus; /* -1: there is no StatefulSet */
    const char *pods;           /* GPUs of the pod with ordinal 0, 1, ...; '-' = it is not there */
    int replicas, gpus, min, max;
    int autoscaler; /* its maxReplicas; 0 = there is none */
} steps[] = {
    { "nothing is there", "\"replicas\":4,\"tensorParallelSize\":2,\"gpuBudget\":8", -1, 0, "", 4, 2, 0, 0, 0 },
    { "no budget", "\"replicas\":4,\"tensorParallelSize\":4", 4, 2, "2222", 4, 4, 0, 0, 0 },
    { "first fewer pods", "\"replicas\":2,\"tensorParallelSize\":4,\"gpuBudget\":8", 4, 2, "2222", 2, 2, 0, 0, 0 },
    { "while they go", "\"replicas\":2,\"tensorParallelSize\":4,\"gpuBudget\":8", 2, 2, "222", 2, 2, 0, 0, 0 },
    { "then the others", "\"replicas\":2,\"tensorParallelSize\":4,\"gpuBudget\":8", 2, 2, "22", 2, 4, 0, 0, 0 },
    { "one is replaced, and there is no room for more", "\"replicas\":3,\"tensorParallelSize\":4,\"gpuBudget\":8", 2, 4, "42", 2, 4, 0, 0,
      0 },
    { "more pods where there is room", "\"replicas\":3,\"tensorParallelSize\":2,\"gpuBudget\":8", 2, 2, "24", 3, 2, 0, 0, 0 },
    { "pods that go count until they are gone", "\"replicas\":4,\"tensorParallelSize\":2,\"gpuBudget\":8", 1, 2, "2---22", 2, 2, 0, 0, 0 },
    { "pods that are about to be made count, too", "\"replicas\":2,\"tensorParallelSize\":8,\"gpuBudget\":16", 4, 4, "", 2, 4, 0, 0, 0 },
    { "without an sla an autoscaler may choose fewer than spec.replicas",
      "\"replicas\":5,\"autoscaling\":{\"enabled\":true,\"minReplicas\":1,\"maxReplicas\":10}", 3, 1, "111", 5, 1, 1, 10, 0 },
    { "it begins with spec.replicas", "\"replicas\":2,\"gpuBudget\":16,\"autoscaling\":{\"enabled\":true,\"minReplicas\":1,\"maxReplicas\":8}", -1, 0,
      "", 2, 1, 1, 8, 0 },
    { "with an autoscaler the budget is its most",
      "\"tensorParallelSize\":2,\"gpuBudget\":8,\"autoscaling\":{\"enabled\":true,\"minReplicas\":"
      "1,\"maxReplicas\":10}," SLA,
      3, 2, "222", 4, 2, 4, 4, 0 },
    { "an autoscaler that may make more pods with the GPUs of before is limited first",
      "\"tensorParallelSize\":4,\"gpuBudget\":16,\"autoscaling\":{\"enabled\":true,\"minReplicas\":"
      "1,\"maxReplicas\":8}",
      2, 2, "22", 1, 2, 1, 4, 8 },
    { "and then the GPUs change",
      "\"tensorParallelSize\":4,\"gpuBudget\":16,\"autoscaling\":{\"enabled\":true,\"minReplicas\":"
      "1,\"maxReplicas\":8}",
      2, 2, "22", 1, 4, 1, 4, 4 },
    { "and the sla its fewest", "\"autoscaling\":{\"enabled\":true,\"minReplicas\":1,\"maxReplicas\":10}," SLA, 3, 1, "111", 6, 1, 6, 10,
      0 },
};

static void no_step_exceeds_the_budget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children children = seen_children_new(arena, 8);
        struct kind_observation seen = { .object = object_of(arena, steps[i].spec, ""), .children = &children, .now_ms = NOW };
        struct workload workload;

        if (steps[i].set_replicas >= 0)
            seen_children_push(&children,
                               (struct seen_child){ .resource = &workload_child_resources[WORKLOAD_STATEFUL_SETS],
                                                    .name = STR("m"),
                                                    .health = { .replicas = steps[i].set_replicas,
                                                                .limits = test_json(arena, str_fmt(arena, "[{\"nvidia.com/gpu\":\"%d\"}]",
                                                                                                   steps[i].set_gpus)) } });
        if (steps[i].autoscaler)
            seen_children_push(&children, (struct seen_child){ .resource = &workload_child_resources[WORKLOAD_AUTOSCALERS],
                                                               .name = STR("m"),
                                                               .health = { .replicas = steps[i].autoscaler } });
        for (int pod = 0; steps[i].pods[pod]; pod++)
            if (steps[i].pods[pod] != '-')
                seen_children_push(
                    &children, (struct seen_child){ .resource = &workload_child_resources[WORKLOAD_PODS],
                                                    .name = str_fmt(arena, "m-%d", pod),
                                                    .health = { .limits = test_json(arena, str_fmt(arena, "[{\"nvidia.com/gpu\":\"%c\"}]",
                                                                                                   steps[i].pods[pod])) } });
        workload = read_one(arena, &seen);
        rows_expect_int(steps[i].row, workload.replicas, steps[i].replicas);
        rows_expect_int(steps[i].row, workload.gpus, steps[i].gpus);
        rows_expect_int(steps[i].row, workload.replicas_min, steps[i].min);
        rows_expect_int(steps[i].row, workload.replicas_max, steps[i].max);
    }
}

static const struct {
    const char *spec, *field;
} invalid[] = {
    { "\"tensorParallelSize\":8,\"gpuBudget\":4", "spec.gpuBudget" },
    { "\"sla\":{\"maxLatency\":\"1s\",\"percentile\":100}", "spec.sla.percentile" },
    { "\"sla\":{\"maxLatency\":\"1s\",\"percentile\":99.95}", "spec.sla.percentile" },
    { "\"autoscaling\":{\"enabled\":true,\"minReplicas\":3,\"maxReplicas\":2}", "spec.autoscaling.minReplicas" },
    { "\"sla\":{\"maxLatency\":\"soon\"}", "spec.sla.maxLatency" },
    { "\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}", "spec.resources.limits" },
    { "\"resources\":{\"requests\":{\"cpu\":1,\"amd.com/gpu\":\"1\"}}", "spec.resources.requests" },
};

static void what_cannot_be_is_a_finding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children none = seen_children_new(arena, 1);
        struct kind_observation seen = { .object = object_of(arena, invalid[i].spec, ""), .children = &none };
        struct problems problems = problems_new(arena);
        struct workload workload;

        model_deployment_kind.read(&model_deployment_kind, arena, &seen, &workload, &problems);
        rows_expect_int(invalid[i].field, problems.list.count, 1);
        rows_expect_str(invalid[i].spec, problems.list.items[0].field, str_of(invalid[i].field));
    }
}

/* As the tutorial of the kind has it. */
static void an_llm_model_is_named_after_its_model(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct seen_children none = seen_children_new(arena, 1);
    struct kind_observation seen = {
        .object = test_json(arena, STR("{\"apiVersion\":\"ai.example.com/v1\",\"kind\":\"LLMModel\",\"metadata\":{\"name\":"
                                       "\"llama-3-70b\",\"namespace\":\"d\"},\"spec\":{\"replicas\":3,\"gpuType\":\"H100\"}}")),
        .children = &none };
    struct problems problems = problems_new(arena);
    struct workload workload;

    (void)state;
    llm_model_kind.read(&llm_model_kind, arena, &seen, &workload, &problems);
    rows_expect_int("findings", problems.list.count, 0);
    rows_expect_str("the server's model", workload.args.items[0], STR("--model=llama-3-70b"));
    rows_expect_str("its settings", json_str(json_get(workload.config, STR("MODEL_NAME"))), STR("llama-3-70b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_follow_from_the_sla),
        cmocka_unit_test(a_load_without_some_pods_lowers_nothing),
        cmocka_unit_test(no_step_exceeds_the_budget),
        cmocka_unit_test(what_cannot_be_is_a_finding),
        cmocka_unit_test(an_llm_model_is_named_after_its_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
