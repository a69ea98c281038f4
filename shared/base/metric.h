/* SPDX-License-Identifier: Apache-2.0 */
/* metric.h: counters, gauges and histograms from a table, in Prometheus' text format.
 *
 * A program declares its metrics as rows (metrics.def). A label is a name, "code", or a name and
 * all values that it can have, "result=written|failed". Where values are given for all labels of a
 * row, its series are present from the start, at zero: the first failure is an increase. Safe to
 * use from several threads. */
#ifndef HERD_BASE_METRIC_H
#define HERD_BASE_METRIC_H

#include "base/str.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

enum { METRIC_LABELS_MAX = 3, METRIC_SERIES_MAX = 2000 };

struct metric_row {
    enum metric_kind kind;
    const char *name;                      /* with its unit: herd_lab_request_duration_seconds */
    const char *labels[METRIC_LABELS_MAX]; /* NULL behind the last */
    const double *buckets;                 /* of a histogram: upper bounds, 0 ends; else NULL */
    const char *help;                      /* one sentence */
};

struct metrics;

/* `rows` outlives it. */
struct metrics *metrics_create(const struct metric_row *rows, uint32_t count);
void metrics_free(struct metrics *metrics);
AUTO_DEFINE(metrics_free, struct metrics *)

/* `id` is the row's index. `labels` holds as many values as the row names; NULL where it names
 * none. Beyond METRIC_SERIES_MAX series of one metric, all go to one whose labels are "other". */
void metrics_add(struct metrics *metrics, uint32_t id, const struct str *labels, double amount);
/* A gauge; or a counter that somebody else keeps, and that never goes down. */
void metrics_set(struct metrics *metrics, uint32_t id, const struct str *labels, double value);
/* The same where the value may be unknown: then there is no such series. */
void metrics_set_known(struct metrics *metrics, uint32_t id, const struct str *labels, bool known,
                       double value);
void metrics_observe(struct metrics *metrics, uint32_t id, const struct str *labels, double value);
/* For tests and status pages: a counter's or gauge's value, a histogram's count; 0 if absent. */
double metrics_value(struct metrics *metrics, uint32_t id, const struct str *labels);
/* Remove a series, e.g. of a deleted object. */
void metrics_remove(struct metrics *metrics, uint32_t id, const struct str *labels);

/* Text exposition format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */
void metrics_render(struct metrics *metrics, struct strbuf *out);
#define METRIC_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#endif
