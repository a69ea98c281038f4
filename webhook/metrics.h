/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: the rows of metrics.def. */
#ifndef HERD_WEBHOOK_METRICS_H
#define HERD_WEBHOOK_METRICS_H

#include "base/metric.h"

enum webhook_metric {
#define METRIC(id, kind, name, a, b, c, buckets, help) WEBHOOK_##id,
#include "webhook/metrics.def"
#undef METRIC
    WEBHOOK_METRIC_COUNT
};

/* With every series whose labels are known in advance at zero, so that a rate over the first event
 * is not lost. */
struct metrics *webhook_metrics_create(void);

#endif
