/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_survey.h: what validate_gpu.c hands to its parts. Internal to stack/. */
#ifndef HERD_STACK_GPU_SURVEY_H
#define HERD_STACK_GPU_SURVEY_H

#include "stack/gpu/gpu_demand.h"
#include "stack/gpu/gpu_offer.h"
#include "stack/rules/validate_areas.h"

/* One chart: vendors are bits (gpu.h). */
struct gpu_chart {
    struct gpu_requests asks;
    uint32_t provides;
    uint32_t awaits; /* a provider of these, directly or not */
};

/* Who asks for GPUs, and who could provide them. Borrowed. */
struct gpu_survey {
    const struct stack *stack;
    const struct facts *facts;
    const struct gpu_chart *charts;
    const struct fact_clusters *clusters; /* those that the Stack chooses (resolved_targets.h) */
    const struct gpu_groups *groups;      /* what they are asked for; NULL: not known */
    uint32_t provides;                    /* by charts of the Stack, wherever they are skipped */
    struct stacks_provide given;          /* by Stacks that this one depends on */
};

/* Whether anything provides what charts ask for: gpu.not-offered, gpu.no-provider. */
void validate_providers(const struct gpu_survey *survey, struct findings *findings);
/* Whether what the Stack asks for fits: gpu.fit, gpu.busy, gpu.unknown. With groups. */
void validate_fit(const struct gpu_survey *survey, struct findings *findings);

/* The same for one object that asks one cluster of which an inventory is kept. `field` says so, and
 * of several `asks` each is told there. */
void validate_fit_workload(const struct gpu_asks *asks, struct str field, struct str namespace_,
                           const struct fact_cluster *cluster, const struct facts *facts,
                           struct findings *findings);

#endif
