/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus.h: the envelope of the query API of Prometheus, and of what speaks it, too
 * (prometheus.io/docs/prometheus/latest/querying/api). Pure. */
#ifndef HERD_CONTROLLER_PROMETHEUS_H
#define HERD_CONTROLLER_PROMETHEUS_H

#include "base/error.h"
#include "text/json.h"

/* What the Prometheus API of `who` answered, without its envelope; -1 with its words. */
int prometheus_data_read(struct arena *arena, struct str body, const char *who,
                         struct json *ret_data, struct error *err);
/* [time, "number"] of a sample: true and a number that is finite. */
bool prometheus_value_read(struct arena *arena, struct json pair, double *ret_value);

#endif
