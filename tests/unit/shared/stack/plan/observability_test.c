/* SPDX-License-Identifier: Apache-2.0 */
/* observability_test.c: from what was observed to status and condition; silence is never a number. */
#include "support/rows.h"

#include "stack/plan/observability.h"

enum { PROM = MONITORING_PROMETHEUS, SUSE = MONITORING_SUSE };

/* A cluster, and the one release there. */
struct place {
    enum cluster_state state;
    struct observed_monitoring monitoring;
    struct observed_metrics metrics;
    const char *workloads; /* NULL: one */
};

#define ASKED(which) .state = CLUSTER_READ, .monitoring = { .asked = true, .found = true, .backends = (which) }
#define COUNTED(n) .state = CLUSTER_READ, \
    .monitoring = { .asked = true, .found = true, .backends = PROM, .counts_alerts = true, .alerts = (n) }
#define TRACED(opted_in, arrive) .state = CLUSTER_READ, .monitoring = { .asked = true, .found = true, .backends = PROM, \
    .counts_traces = true, .traced = (opted_in), .arriving = (arrive), .untraced = STR_INIT("db") }
#define RUNS .metrics = { .state = METRICS_ACTIVE }
#define GPU(percent) .metrics = { .state = METRICS_ACTIVE, .has_gpus = true, .gpu_percent = (percent) }

struct row {
    const char *row;
    struct place places[2];
    const char *condition; /* status/reason: message */
    const char *releases;  /* metrics and GPUs of each */
    const char *summary;   /* SUSE, collected, alerts, back end */
    const char *traces;    /* NULL: not looked at */
    const char *metrics_before, *gpu_before;
    bool before; /* there is a status before, with a condition True/PrometheusActive */
    bool disabled;
};

static const char *truth_name(enum condition_status truth)
{
    return condition_status_name(truth);
}

static void make_place(struct arena *arena, struct observed *observed, struct stack_status *status, const struct row *r,
                       uint32_t i)
{
    const struct place *place = &r->places[i];
    static const char *const ids[] = { "a", "b" };
    struct observed_cluster cluster = { .id = str_of(ids[i]), .targeted = true, .state = place->state,
                                        .message = STR("the agent is gone"), .monitoring = place->monitoring };
    struct release_state entry = { .chart_name = STR("web"), .cluster_id = str_of(ids[i]), .namespace_ = STR("shop"),
                                   .release_name = STR("web"), .metrics = str_of(r->metrics_before),
                                   .gpu_utilization = str_of(r->gpu_before) };
    struct observed_release release = { .namespace_ = STR("shop"), .name = STR("web"), .metrics = place->metrics,
                                        .workloads = place->workloads ? str_of(place->workloads) : STR("Deployment/shop/web ") };

    cluster.releases = observed_releases_new(arena, 1);
    observed_releases_push(&cluster.releases, release);
    observed_clusters_push(&observed->clusters, cluster);
    release_states_push(&status->deployments, entry);
}

static void check(const struct row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack stack = { .spec.observability = r->disabled ? TOGGLE_DISABLED : TOGGLE_ENABLED };
    struct stack_status before = { .conditions = kube_conditions_new(arena, 1),
                                   .observability = { CONDITION_TRUE, CONDITION_TRUE, 7, 8, STR_INIT("Prometheus") } };
    struct observed observed = { .clusters = observed_clusters_new(arena, 2), .before = r->before ? &before : NULL };
    struct stack_status status = { .deployments = release_states_new(arena, 2) };
    struct strbuf releases = strbuf_new(arena, 64);

    kube_conditions_push(&before.conditions, (struct kube_condition){ .type = STR("ObservabilityConfigured"), .status = CONDITION_TRUE,
                                              .reason = STR("PrometheusActive"), .message = STR("as before") });
    for (uint32_t i = 0; i < 2; i++)
        make_place(arena, &observed, &status, r, i);

    struct observability_verdict verdict = observability_of(arena, &stack, &observed, &status);
    const struct observability_state *o = &status.observability;

    for (uint32_t i = 0; i < 2; i++)
        strbuf_fmt(&releases, "%.*s %.*s,", STR_ARG(status.deployments.items[i].metrics),
                   STR_ARG(status.deployments.items[i].gpu_utilization));
    rows_expect_str(r->row, str_fmt(arena, "%s/%.*s: %.*s", condition_status_name(verdict.status), STR_ARG(verdict.reason),
                                    STR_ARG(verdict.message)), str_of(r->condition));
    rows_expect_str(r->row, strbuf_str(&releases), str_of(r->releases));
    rows_expect_str(r->row, str_fmt(arena, "%s %s %d %.*s", truth_name(o->suse_enabled), truth_name(o->metrics_collected),
                                    (int)o->alerts, STR_ARG(o->backend)), str_of(r->summary));
    if (r->traces)
        rows_expect_str(r->row, str_of(truth_name(o->traces_collected)), str_of(r->traces));
}

static void the_status_says_what_was_observed(void **state)
{
    static const struct row rows[] = {
        { .row = "all are collected", .places = { { COUNTED(3), RUNS }, { COUNTED(2), RUNS } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected", .releases = "Active ,Active ,",
          .summary = "False True 2 Prometheus" },
        { .row = "one has no target", .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .metrics = { METRICS_INACTIVE, STR_INIT("gone"), 0, 0 } } },
          .condition = "False/MetricsMissing: web on b: gone", .releases = "Active ,Inactive ,",
          .summary = "False False -1 Prometheus" },
        { .row = "one has a monitor that is not selected",
          .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .metrics = { METRICS_INACTIVE, STR_INIT("label it"), 0, 0,
                                                                         STR_INIT("MonitorsNotSelected") } } },
          .condition = "False/MonitorsNotSelected: web on b: label it", .releases = "Active ,Inactive ,",
          .summary = "False False -1 Prometheus" },
        { .row = "of one it is not known where its metrics are",
          .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .metrics = { METRICS_UNKNOWN, STR_INIT("no port"), 0, 0,
                                                                         STR_INIT("NoMetricsEndpoint") } } },
          .condition = "Unknown/NoMetricsEndpoint: web on b: no port", .releases = "Active ,Unknown ,",
          .summary = "False Unknown -1 Prometheus" },
        { .row = "alert rules are not loaded",
          .places = { { ASKED(PROM), RUNS }, { CLUSTER_READ, { .asked = true, .found = true, .backends = PROM,
                                                               .rules_trouble = STR_INIT("label it") },
                                              { .state = METRICS_ACTIVE }, NULL } },
          .condition = "False/RulesNotSelected: cluster b: label it", .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus" },
        { .row = "traces of all that opted in arrive",
          .places = { { TRACED(2, 2), RUNS }, { TRACED(0, 0), RUNS } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected; traces of 2 releases arrive",
          .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus", .traces = "True" },
        { .row = "those of one do not",
          .places = { { TRACED(1, 1), RUNS }, { TRACED(2, 1), RUNS } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected; traces of 2 of the 3 releases that opted in arrive, "
                       "and none of release db on b", .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus", .traces = "False" },
        { .row = "of one cluster it is not known", .places = { { TRACED(2, 2), RUNS }, { ASKED(PROM), RUNS } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected; traces of 2 releases arrive",
          .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus", .traces = "Unknown" },
        { .row = "and Jaeger does not answer there",
          .places = { { TRACED(2, 2), RUNS }, { CLUSTER_READ, { .asked = true, .found = true, .backends = PROM,
                                                                .traces_unknown = STR_INIT("503") },
                                               { .state = METRICS_ACTIVE }, NULL } },
          .condition = "Unknown/MonitoringUnreadable: cluster b: 503", .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus", .traces = "Unknown" },
        { .row = "nothing takes traces",
          .places = { { TRACED(0, 0), RUNS }, { CLUSTER_READ, { .asked = true, .found = true, .backends = PROM,
                                                                .traces_trouble = STR_INIT("install one") },
                                               { .state = METRICS_ACTIVE }, NULL } },
          .condition = "False/NoTraceEndpoint: cluster b: install one", .releases = "Active ,Active ,",
          .summary = "False True -1 Prometheus", .traces = "Unknown" },
        { .row = "one may get targets yet", .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .metrics = { .state = METRICS_PENDING } } },
          .condition = "Unknown/MetricsPending: a release has just started, and its metrics are not collected yet",
          .releases = "Active ,Unknown ,", .summary = "False Unknown -1 Prometheus" },
        { .row = "after a restart of Herd it is still inactive", .metrics_before = "Inactive",
          .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .metrics = { METRICS_PENDING, STR_INIT("none"), 0, 0 } } },
          .condition = "False/MetricsMissing: web on b: none", .releases = "Active ,Inactive ,", .summary = "False False -1 Prometheus" },
        { .row = "a Prometheus does not answer",
          .places = { { ASKED(PROM), RUNS }, { CLUSTER_READ, { .asked = true, .found = true, .backends = PROM, .trouble = STR_INIT("503") },
                                               { .state = METRICS_UNKNOWN }, NULL } },
          .gpu_before = "75%",
          .condition = "Unknown/MonitoringUnreadable: cluster b: 503", .releases = "Active ,Unknown ,",
          .summary = "False Unknown -1 Prometheus" },
        { .row = "what there is cannot be looked up",
          .places = { { CLUSTER_READ, { .asked = true, .trouble = STR_INIT("403") }, { .state = METRICS_UNKNOWN }, NULL },
                      { CLUSTER_READ, { .asked = true, .trouble = STR_INIT("403") }, { .state = METRICS_UNKNOWN }, NULL } },
          .condition = "Unknown/MonitoringUnreadable: cluster a: 403", .releases = "Unknown ,Unknown ,",
          .summary = "Unknown Unknown -1 " },
        { .row = "one has nothing", .places = { { ASKED(PROM), RUNS }, { ASKED(0), .metrics = { .state = METRICS_UNKNOWN } } },
          .condition = "False/NoMonitoring: cluster b has neither the agent of SUSE Observability nor a Prometheus that is Available",
          .releases = "Active ,Unknown ,", .summary = "False Unknown -1 Prometheus" },
        { .row = "the agent alone", .places = { { ASKED(SUSE), .metrics = { .state = METRICS_UNKNOWN } },
                                                { ASKED(SUSE), .metrics = { .state = METRICS_UNKNOWN } } },
          .condition = "True/SUSEObservabilityActive: the agent of SUSE Observability runs on every target cluster; no release "
                       "runs yet whose metrics could be collected",
          .releases = "Unknown ,Unknown ,", .summary = "True Unknown -1 SUSEObservability" },
        { .row = "the agent alone, and its server answers", .places = { { ASKED(SUSE), RUNS }, { ASKED(SUSE), RUNS } },
          .condition = "True/SUSEObservabilityActive: the agent of SUSE Observability runs on every target cluster, and metrics of 2 "
                       "releases are collected",
          .releases = "Active ,Active ,", .summary = "True True -1 SUSEObservability" },
        { .row = "the agent alone, and its server rejects the token",
          .places = { { ASKED(PROM), RUNS }, { CLUSTER_READ, { .asked = true, .found = true, .backends = SUSE, .trouble = STR_INIT("401"),
                                                               .trouble_reason = STR_INIT("SUSEObservabilityTokenRejected") },
                                               { .state = METRICS_UNKNOWN }, NULL } },
          .condition = "Unknown/SUSEObservabilityTokenRejected: cluster b: 401", .releases = "Active ,Unknown ,",
          .summary = "False Unknown -1 SUSEObservability,Prometheus" },
        { .row = "both", .places = { { ASKED(SUSE | PROM), RUNS }, { ASKED(SUSE | PROM), RUNS } },
          .condition = "True/SUSEObservabilityActive: the agent of SUSE Observability runs on every target cluster, and metrics of 2 "
                       "releases are collected",
          .releases = "Active ,Active ,", .summary = "True True -1 SUSEObservability,Prometheus" },
        { .row = "a cluster is out of sight", .places = { { ASKED(PROM), RUNS }, { .state = CLUSTER_DISCONNECTED } },
          .gpu_before = "75%",
          .condition = "Unknown/MonitoringNotAsked: cluster b: the agent is gone", .releases = "Active ,Unknown ,",
          .summary = "False Unknown -1 Prometheus" },
        { .row = "nobody was asked yet", .places = { { ASKED(PROM), RUNS }, { .state = CLUSTER_READ } },
          .condition = "Unknown/MonitoringNotAsked: cluster b: it was not asked yet what monitors it", .releases = "Active ,Unknown ,",
          .summary = "Unknown Unknown -1 " },
        { .row = "nobody was asked since Herd started", .before = true, .metrics_before = "Active", .gpu_before = "75%",
          .places = { { .state = CLUSTER_READ }, { .state = CLUSTER_READ } },
          .condition = "True/PrometheusActive: as before", .releases = "Active 75%,Active 75%,", .summary = "True True 8 Prometheus" },
        { .row = "GPUs, in steps", .gpu_before = "75%", .places = { { ASKED(PROM), GPU(79.4) }, { ASKED(PROM), GPU(70.4) } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected", .releases = "Active 75%,Active 70%,",
          .summary = "False True -1 Prometheus" },
        { .row = "GPUs that do nothing", .places = { { ASKED(PROM), GPU(0) }, { ASKED(PROM), GPU(99.6) } },
          .condition = "True/PrometheusActive: metrics of 2 releases are collected", .releases = "Active 0%,Active 100%,",
          .summary = "False True -1 Prometheus" },
        { .row = "what has no workload has no metrics", .metrics_before = "Active",
          .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), .workloads = "" } },
          .condition = "True/PrometheusActive: metrics of 1 release are collected", .releases = "Active , ,",
          .summary = "False True -1 Prometheus" },
        { .row = "disabled", .disabled = true, .metrics_before = "Active", .gpu_before = "75%",
          .places = { { ASKED(PROM), RUNS }, { ASKED(PROM), RUNS } },
          .condition = "Unknown/: ", .releases = " , ,", .summary = "Unknown Unknown -1 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_status_says_what_was_observed) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
