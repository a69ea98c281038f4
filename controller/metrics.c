/* metrics.c: the rows of metrics.def. */
#include "controller/metrics.h"

/* From a cached reconcile to the API server's patience. */
static const double reconcile_buckets[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                            0.25,  0.5,    1,     2.5,  5,     10,   0 };
static const double plan_buckets[] = { 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                       0.005,   0.01,   0.025,   0.1,    1,     0 };
/* Actions of Rancher's take seconds, up to two minutes. */
static const double request_buckets[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                          2.5,   5,    10,    30,   60,  120,  0 };

const struct metric_row controller_metrics[CONTROLLER_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [CONTROLLER_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "controller/metrics.def"
#undef METRIC
};
