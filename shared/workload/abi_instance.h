/* SPDX-License-Identifier: Apache-2.0 */
/* abi_instance.h: AbiInstances (abi.io/v1): a Deployment, or with storage a StatefulSet, and all
 * that goes with it. Pure. */
#ifndef HERD_WORKLOAD_ABI_INSTANCE_H
#define HERD_WORKLOAD_ABI_INSTANCE_H

#include "workload/common.h"
#include "workload/workload_kind.h"

enum abi_pull_policy {
    ABI_PULL_UNSET,
    ABI_PULL_IF_NOT_PRESENT,
    ABI_PULL_ALWAYS,
    ABI_PULL_NEVER,
};
enum abi_service_type {
    ABI_SERVICE_UNSET,
    ABI_SERVICE_CLUSTER_IP,
    ABI_SERVICE_NODE_PORT,
    ABI_SERVICE_LOAD_BALANCER,
};
enum abi_gpu_backend { ABI_GPU_UNSET, ABI_GPU_CUDA, ABI_GPU_ROCM, ABI_GPU_INTEL };
enum abi_anti_affinity {
    ABI_ANTI_AFFINITY_UNSET,
    ABI_ANTI_AFFINITY_SOFT,
    ABI_ANTI_AFFINITY_HARD,
};

struct abi_image {
    uint64_t given;
    struct str repository, tag;
    enum abi_pull_policy pull_policy;
    struct str_list pull_secrets;
};
struct abi_features {
    uint64_t given;
    bool ai, gpu, database, network, web, profiling;
};
struct abi_gpu {
    uint64_t given;
    enum abi_gpu_backend backend;
    int64_t count;
    struct str memory;
};
struct abi_storage {
    uint64_t given;
    bool enabled;
    struct str size, storage_class, mount_path;
};
struct abi_networking {
    uint64_t given;
    enum abi_service_type service_type;
    int64_t http_port, grpc_port, metrics_port;
};
struct abi_llm {
    uint64_t given;
    struct str provider, model, endpoint;
};
struct abi_disruption_budget {
    uint64_t given;
    struct str min_available, max_unavailable;
};
struct abi_high_availability {
    uint64_t given;
    bool enabled;
    enum abi_anti_affinity anti_affinity;
    struct abi_disruption_budget budget;
};
struct abi_spec {
    uint64_t given;
    int64_t replicas;
    struct abi_image image;
    struct abi_features features;
    struct abi_gpu gpu;
    struct json resources;
    struct abi_storage storage;
    struct abi_networking networking;
    struct json config;
    struct abi_llm llm;
    struct workload_secrets secrets;
    struct abi_high_availability high_availability;
    struct workload_autoscaling autoscaling;
};

extern const struct field_table fields_of_abi_spec;
extern const struct field_table fields_of_abi_status;
extern const struct workload_kind abi_instance_kind;

#endif
