/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: the rows of metrics.def. */
#ifndef HERD_CONTROLLER_METRICS_H
#define HERD_CONTROLLER_METRICS_H

#include "base/metric.h"
#include "io/loop.h"

enum controller_metric {
#define METRIC(id, kind, name, a, b, c, buckets, help) CONTROLLER_##id,
#include "controller/metrics.def"
#undef METRIC
    CONTROLLER_METRIC_COUNT
};

/* With every series whose labels are known in advance at zero, so that a rate over the first event
 * is not lost. */
struct metrics *controller_metrics_create(void);
/* Count what the callbacks of `loop`, which goes first, take. */
void controller_metrics_follow(struct metrics *metrics, struct loop *loop);

#endif
