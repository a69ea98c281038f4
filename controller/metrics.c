/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: the rows of metrics.def, and the series that are there from the start. */
#include "controller/metrics.h"

#include "kube/serving_certificate.h"
#include "stack/model/status.h"
#include "stack/plan/plan.h"
#include "workload/workload_kind.h"

/* From a cached reconcile to the API server's patience. */
static const double reconcile_buckets[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                            0.25,  0.5,    1,     2.5,  5,     10,   0 };
static const double plan_buckets[] = { 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                       0.005,   0.01,   0.025,   0.1,    1,     0 };
/* Actions of Rancher's take seconds, up to two minutes. */
static const double request_buckets[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                          2.5,   5,    10,    30,   60,  120,  0 };

static const double callback_buckets[] = { 0.001, 0.005, 0.02, 0.1, 0.5, 2, 0 };
static const double late_buckets[] = { 0.01, 0.1, 0.5, 1, 2, 5, 10, 0 };

static const struct metric_row controller_metrics[CONTROLLER_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [CONTROLLER_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "controller/metrics.def"
#undef METRIC
};

/* The results of backends/rancher_apps/wire.h, as stack/act.c counts them. */
static void begin_actions(struct metrics *metrics)
{
    static const struct str results[] = { STR_INIT("done"), STR_INIT("rejected"),
                                          STR_INIT("unknown") };

    for (enum action_kind kind = 0; kind < ACTION_KIND_COUNT; kind++)
        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
            metrics_add(metrics, CONTROLLER_ACTIONS,
                        (struct str[]){ str_of(action_name(kind)), results[i] }, 0);
}

static void begin_certificates(struct metrics *metrics)
{
    for (enum serving_action step = SERVING_ISSUE_CA; step <= SERVING_ISSUE_LEAF; step++)
        metrics_add(metrics, CONTROLLER_CERTIFICATE_FAILURES,
                    (struct str[]){ str_of(serving_action_name(step)) }, 0);
    metrics_add(metrics, CONTROLLER_CERTIFICATE_FAILURES, (struct str[]){ STR("read") }, 0);
}

static void begin_stacks(struct metrics *metrics)
{
    for (enum stack_phase phase = PHASE_PENDING; phase <= PHASE_DELETING; phase++)
        metrics_set(metrics, CONTROLLER_STACKS, (struct str[]){ str_of(stack_phase_name(phase)) },
                    0);
    for (enum deployment_state state = DEPLOYMENT_UNKNOWN; state < DEPLOYMENT_REMOVED; state++)
        metrics_set(metrics, CONTROLLER_RELEASES,
                    (struct str[]){ str_of(deployment_state_name(state)) }, 0);
}

/* The results of reconcilers/workload/listener.c. */
static void begin_workloads(struct metrics *metrics, const struct workload_kind *kind)
{
    static const struct str reconciles[] = { STR_INIT("done"), STR_INIT("retry"),
                                             STR_INIT("gone") };
    static const struct str writes[] = { STR_INIT("written"), STR_INIT("failed") };
    struct str name = kind->kind.resource.kind;

    for (size_t i = 0; i < sizeof(reconciles) / sizeof(reconciles[0]); i++)
        metrics_add(metrics, CONTROLLER_WORKLOAD_RECONCILES, (struct str[]){ name, reconciles[i] },
                    0);
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
        metrics_add(metrics, CONTROLLER_WORKLOAD_STATUS_WRITES, (struct str[]){ name, writes[i] },
                    0);
    for (enum workload_phase phase = WORKLOAD_PENDING; phase < WORKLOAD_PHASES; phase++)
        metrics_set(metrics, CONTROLLER_WORKLOADS,
                    (struct str[]){ name, kind->phases.words[phase] }, 0);
}

struct metrics *controller_metrics_create(void)
{
    struct metrics *metrics = metrics_create(controller_metrics, CONTROLLER_METRIC_COUNT);

    begin_actions(metrics);
    begin_certificates(metrics);
    begin_stacks(metrics);
    for (int kind = 0; kind < WORKLOAD_KIND_COUNT; kind++)
        begin_workloads(metrics, workload_kinds[kind]);
    metrics_set(metrics, CONTROLLER_BUILD_INFO, (struct str[]){ STR(HERD_VERSION) }, 1);
    return metrics;
}

static void count_callback(void *context, const struct loop_callback *callback)
{
    struct metrics *metrics = context;

    metrics_observe(metrics, CONTROLLER_CALLBACK_DURATION, NULL, callback->took_s);
    if (callback->took_s > metrics_value(metrics, CONTROLLER_CALLBACK_LONGEST, NULL))
        metrics_set(metrics, CONTROLLER_CALLBACK_LONGEST, NULL, callback->took_s);
    if (callback->cpu_s > metrics_value(metrics, CONTROLLER_CALLBACK_CPU, NULL))
        metrics_set(metrics, CONTROLLER_CALLBACK_CPU, NULL, callback->cpu_s);
    if (callback->late_s >= 0)
        metrics_observe(metrics, CONTROLLER_TIMER_LATE, NULL, callback->late_s);
}

void controller_metrics_follow(struct metrics *metrics, struct loop *loop)
{
    loop_observe(loop, count_callback, metrics);
}
