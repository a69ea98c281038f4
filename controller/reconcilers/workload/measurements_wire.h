/* SPDX-License-Identifier: Apache-2.0 */
/* measurements_wire.h: what Prometheus is asked of all model servers at once, and what its answer
 * says of one. Pure. */
#ifndef HERD_CONTROLLER_WORKLOAD_MEASUREMENTS_WIRE_H
#define HERD_CONTROLLER_WORKLOAD_MEASUREMENTS_WIRE_H

#include "base/error.h"
#include "base/list.h"
#include "base/map.h"
#include "text/json.h"

/* Of all pods of a StatefulSet; below 0 = nothing is said (serving_metrics.def). Per second. */
struct serving_load {
    double completed;     /* requests that ended */
    double queued;        /* by how many the queue grows */
    double seconds;       /* that requests were served, without their wait */
    double served;        /* requests that this is about */
    double microseconds;  /* the same as seconds, of those that ended */
    struct str_list pods; /* that are scraped now: all above counts for five minutes after that */
};

/* A label NAME=VALUE as PromQL selects series by it, NAME="VALUE"; false: it is none, or VALUE
 * would have to be escaped. In the arena. */
bool measurements_matcher(struct arena *arena, struct str label, struct str *ret_matcher);
/* "/api/v1/query?query=...". `matcher` selects the series of this cluster; "" = all are. */
struct str measurements_path(struct arena *arena, struct str matcher);
/* The answer as a map, NAMESPACE/NAME of a StatefulSet -> struct serving_load. In the arena. */
int measurements_read(struct arena *arena, struct str body, struct map **ret_loads,
                      struct error *err);
/* As workload/model_server.h says of kind_observation.measured; NULL: nothing is said of it. */
struct str measurement_text(struct arena *arena, const struct serving_load *load);

#endif
