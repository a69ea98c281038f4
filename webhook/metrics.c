/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: the rows of metrics.def, and the series that are there from the start. */
#include "webhook/metrics.h"

#include "stack/rules/validate.h"

/* From a tenth of what a review should take to the API server's patience. */
static const double review_buckets[] = { 0.00001, 0.000025, 0.00005, 0.0001, 0.00025,
                                         0.0005,  0.001,    0.0025,  0.005,  0.01,
                                         0.05,    0.25,     1,       5,      0 };

static const struct metric_row webhook_metrics[WEBHOOK_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [WEBHOOK_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "webhook/metrics.def"
#undef METRIC
};

/* What the API server sends to each route, and how it can end. */
static const struct {
    struct str operation;
    struct str verdict;
} review_ends[] = {
    { STR_INIT("CREATE"), STR_INIT("allowed") }, { STR_INIT("CREATE"), STR_INIT("denied") },
    { STR_INIT("UPDATE"), STR_INIT("allowed") }, { STR_INIT("UPDATE"), STR_INIT("denied") },
    { STR_INIT("unknown"), STR_INIT("denied") }, { STR_INIT("unknown"), STR_INIT("failed") },
};

static void begin_reviews(struct metrics *metrics, struct str route)
{
    for (size_t i = 0; i < sizeof(review_ends) / sizeof(review_ends[0]); i++)
        metrics_add(metrics, WEBHOOK_REVIEWS,
                    (struct str[]){ route, review_ends[i].operation, review_ends[i].verdict }, 0);
    metrics_add(metrics, WEBHOOK_REQUESTS, (struct str[]){ route, STR("200") }, 0);
}

/* Of each rule, by the severities that configuration may give it. */
static void begin_findings(struct metrics *metrics)
{
    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        for (enum severity severity = SEVERITY_AUDIT; severity <= SEVERITY_DENY; severity++)
            if (severity == SEVERITY_DENY || !rule_fixed_why(id))
                metrics_add(
                    metrics, WEBHOOK_FINDINGS,
                    (struct str[]){ str_of(rule_of(id)->name), str_of(severity_name(severity)) },
                    0);
}

struct metrics *webhook_metrics_create(void)
{
    struct metrics *metrics = metrics_create(webhook_metrics, WEBHOOK_METRIC_COUNT);

    begin_reviews(metrics, STR("mutate"));
    begin_reviews(metrics, STR("validate"));
    begin_findings(metrics);
    metrics_set_known(metrics, WEBHOOK_CLUSTERS, NULL, false, 0);
    metrics_set_known(metrics, WEBHOOK_POLICIES, NULL, false, 0);
    metrics_set(metrics, WEBHOOK_BUILD_INFO, (struct str[]){ STR(HERD_VERSION) }, 1);
    return metrics;
}
