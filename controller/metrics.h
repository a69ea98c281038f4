/* metrics.h: the rows of metrics.def. */
#ifndef HERD_CONTROLLER_METRICS_H
#define HERD_CONTROLLER_METRICS_H

#include "base/metric.h"

enum controller_metric {
#define METRIC(id, kind, name, a, b, c, buckets, help) CONTROLLER_##id,
#include "controller/metrics.def"
#undef METRIC
    CONTROLLER_METRIC_COUNT
};

extern const struct metric_row controller_metrics[CONTROLLER_METRIC_COUNT];

#endif
