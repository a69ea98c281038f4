/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_demand.h: how many GPUs a Stack asks of one cluster. Internal to stack/ and for the
 * controller's inventories. Pure.
 *
 * Summed over charts, with the overrides of that cluster laid over: what each map of limits asks
 * for (of requests, where limits do not say), times the replicas that are nearest to it: the
 * number `replicas` or `replicaCount` of the map that holds it, or of one around that; else one. A
 * part that is switched off (`enabled: false`) asks for nothing, nor does a chart that is skipped.
 * Values of ConfigMaps and Secrets are not seen, so it is the least that the Stack asks for. */
#ifndef HERD_STACK_GPU_DEMAND_H
#define HERD_STACK_GPU_DEMAND_H

#include "stack/targets/claims.h"
#include "stack/model/facts.h"
#include "stack/model/stack.h"

struct gpu_ask {
    struct str resource;
    int64_t total;
    int64_t pod;        /* the most that one pod asks for */
    uint32_t chart;     /* the first that asks */
    uint32_t pod_chart; /* whose pod that is */
};
LIST_DEFINE(gpu_asks, struct gpu_ask)

/* Sums up for one Stack, as often as clusters and overrides differ. In the arena. */
struct gpu_counter;
/* It gives up once it has looked at so many values; LIMIT_GPU_STEPS in a review. */
struct gpu_counter *gpu_counter_new(struct arena *arena, const struct stack *stack,
                                    uint64_t steps_max);
/* Where these overrides (indexes into spec.overrides, in order) apply. Sorted by resource. */
struct gpu_asks gpu_demand(struct gpu_counter *counter, const struct u32_list *overrides);
/* If so, what it said last, and says from then on, is too little. */
bool gpu_counter_gave_up(const struct gpu_counter *counter);

/* That a chart asks for GPUs of one vendor; the resource is the first by the alphabet. */
struct gpu_need {
    uint32_t chart;
    struct str resource;
};
LIST_DEFINE(gpu_needs, struct gpu_need)

/* Clusters to which the same overrides apply: they are asked for the same. */
struct gpu_group {
    struct gpu_asks asks;
    struct gpu_needs needs;   /* by chart */
    uint32_t provides;        /* vendors whose GPUs a chart brings that is not skipped */
    struct u32_list clusters; /* indexes */
};
LIST_DEFINE(gpu_groups, struct gpu_group)
struct gpu_groups gpu_demand_on(struct gpu_counter *counter, const struct fact_clusters *clusters);
/* The same for a Stack that must be counted somehow: one that takes more than LIMIT_GPU_STEPS is
 * counted without its overrides, on all clusters alike. */
struct gpu_groups gpu_demand_bounded(struct arena *arena, const struct stack *stack,
                                     const struct fact_clusters *clusters);

/* Vendors whose GPUs a Stack brings wherever it goes, or to some of its clusters: as bits. What an
 * override skips everywhere does not count, as far as LIMIT_OVERLAP_WORK goes to see that. */
uint32_t gpu_provided_by(struct arena *arena, const struct stack *stack,
                         const struct claims *claims);

/* GPUs and parts of them in all, of all vendors. */
int64_t gpu_asks_total(const struct gpu_asks *asks);

#endif
