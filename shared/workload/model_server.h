/* SPDX-License-Identifier: Apache-2.0 */
/* model_server.h: what serves a model: ModelDeployments (herd.suse.com/v1) and LLMModels
 * (ai.example.com/v1), a StatefulSet with as many replicas as its SLA needs, and all that goes with
 * it. Pure. */
#ifndef HERD_WORKLOAD_MODEL_SERVER_H
#define HERD_WORKLOAD_MODEL_SERVER_H

#include "workload/common.h"
#include "workload/workload_kind.h"

struct model_sla_profile {
    uint64_t given;
    struct str gpu_type;
    int64_t tensor_parallel_size;
    struct str service_rate;
    int64_t concurrency;
};
LIST_DEFINE(model_sla_profiles, struct model_sla_profile)
struct model_sla {
    uint64_t given;
    struct str max_latency, percentile, min_throughput, service_rate;
    int64_t concurrency;
    struct model_sla_profiles profiles;
    struct str stabilization_window;
};
struct model_storage {
    uint64_t given;
    bool enabled;
    struct str size, storage_class, mount_path;
};
struct model_spec {
    uint64_t given;
    struct str model, image;
    int64_t replicas;
    struct str_list args;
    int64_t port;
    struct str gpu_type;
    int64_t tensor_parallel_size, gpu_budget;
    struct json resources;
    struct model_storage storage;
    struct json config;
    struct workload_secrets secrets;
    struct workload_autoscaling autoscaling;
    struct model_sla sla;
};

extern const struct field_table fields_of_model_spec;
extern const struct field_table fields_of_llm_model_spec;
extern const struct field_table fields_of_model_status;
extern const struct workload_kind model_deployment_kind;
extern const struct workload_kind llm_model_kind;

/* What kind_observation.measured is for them: {} = nothing was answered yet; else
 * {"error": "why nothing can be measured"}, or what Prometheus says of the last minutes:
 * {"requestRate": thousandths of a request per second that arrive,
 *  "serviceTime": microseconds that a request takes without its wait; absent = unknown,
 *  "pods": names of the pods that are scraped now: the load of others is not in requestRate}.
 * Absent: nobody measures. */

#endif
