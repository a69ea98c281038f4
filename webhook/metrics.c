/* metrics.c: the rows of metrics.def. */
#include "webhook/metrics.h"

/* From a tenth of what a review should take to the API server's patience. */
static const double review_buckets[] = { 0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001,
                                         0.0025,  0.005,    0.01,   0.05,   0.25,    1,      5,
                                         0 };

const struct metric_row webhook_metrics[WEBHOOK_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [WEBHOOK_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "webhook/metrics.def"
#undef METRIC
};
