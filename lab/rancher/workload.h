/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h: what a release puts into its cluster: pods, GPUs, objects. Pure. */
#ifndef HERD_LAB_RANCHER_WORKLOAD_H
#define HERD_LAB_RANCHER_WORKLOAD_H

#include "lab/rancher/catalogue.h"
#include "text/json.h"

enum { WORKLOAD_PODS_MAX = 10 };

struct workload {
    struct str release;
    struct str namespace_;
    struct str chart;
    struct str version;
    struct str image; /* "" = there is no workload */
    int64_t replicas;
    int64_t gpus;       /* of one pod */
    struct str gpu_key; /* "nvidia.com/gpu"; "" = none */
};

#define WORKLOAD_GPU_ANNOTATION "lab.herd.suse.com/gpus"

/* The chart's answer to `values` (a JSON object or absent). */
struct workload workload_of(const struct catalogue_chart *chart, struct json values);

/* The manifest that Helm stores: YAML; "" without a workload. */
struct str workload_manifest(struct arena *arena, const struct workload *workload);
struct str workload_deployment(struct arena *arena, const struct workload *workload);
/* The status of that metadata.generation, as a merge patch. */
struct str workload_status(struct arena *arena, const struct workload *workload, int64_t generation,
                           bool ready, struct str now);
/* What controls its pods; `owner` is the uid of its Deployment. */
struct str workload_replica_set(struct arena *arena, const struct workload *workload,
                                struct str owner);
struct str workload_replica_set_name(struct arena *arena, const struct workload *workload);
/* Pod number `index` on node `node` ("" = nowhere yet), and its status. */
struct str workload_pod_name(struct arena *arena, const struct workload *workload, int64_t index);
struct str workload_pod(struct arena *arena, const struct workload *workload, int64_t index,
                        struct str node, struct str replica_set_uid);
struct str workload_pod_status(struct arena *arena, const struct workload *workload, int64_t index,
                               bool scheduled, bool ready, struct str now);
/* As a runtime knows them: of the container of that pod, and of an image's configuration. */
struct str workload_container_id(struct arena *arena, struct str namespace_, struct str pod);
struct str workload_image_id(struct arena *arena, struct str image);

/* GPUs in a node's status.allocatable: the sum over all GPU resources. */
int64_t workload_gpus_of_node(struct json node);

#endif
