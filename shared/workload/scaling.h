/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h: decisions about replicas as status.scaling has them: with all their inputs, so that
 * they can be computed again from there. Pure. */
#ifndef HERD_WORKLOAD_SCALING_H
#define HERD_WORKLOAD_SCALING_H

#include "kube/condition.h"
#include "stack/model/fields.h"
#include "workload/sla.h"

/* As stored: rates are quantities, numbers below 0 are absent. */
struct scaling_inputs {
    int64_t replicas, min_replicas, max_replicas, gpus_per_replica, gpu_budget;
    int64_t max_latency_ms, permille, concurrency, stabilization_ms;
    struct str min_throughput, request_rate, service_rate;
    struct str request_rate_source, service_rate_source;
    enum condition_status has_sla, metrics_lost;
    int64_t unscraped;
    int64_t previous, fewer_since_ms, fewer;
};

struct scaling {
    int64_t replicas; /* -1: nothing was decided */
    struct str reason, message;
    int64_t decided_ms, generation;
    int64_t fewer_since_ms, fewer;
    struct scaling_inputs inputs;
};

extern const struct field_table fields_of_scaling;

/* Of an object with such a status. In the arena, or of the object. */
struct scaling scaling_read(struct arena *arena, struct json object);
/* As a member of the object that is open in `w`. */
void scaling_write(struct arena *arena, const struct scaling *scaling, struct json_writer *w);

/* What is decided by these inputs; `now_ms` counts in whole seconds, as it is stored. */
struct scaling scaling_decide(struct arena *arena, const struct sla_inputs *inputs,
                              int64_t generation);
/* The inputs of a decision. */
struct sla_inputs scaling_inputs_of(const struct scaling *scaling);
/* ScalingActive and ScalingLimited, as a HorizontalPodAutoscaler has them. */
void scaling_set_conditions(const struct scaling *scaling, struct kube_conditions *conditions,
                            int64_t now_ms);
/* Whether the SLA led to it: else spec.replicas did. */
/* Whether two say the same but for figures that only led to it. */
bool scaling_equal(const struct scaling *a, const struct scaling *b);

#endif
