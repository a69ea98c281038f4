/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h: which clusters an simulation has, as its YAML says. Pure.
 *
 *     clusters:
 *     - id: c-m-gpu01            displayName, labels, annotations, provider, version
 *       nodes: 2                 workers; cpu, memory, gpus and gpuResource are those of each
 *       connected: false         and provisioned: false: how the cluster begins
 *       monitoring: true         rancher-monitoring is installed; its Prometheus is simulated
 *       count: 200               that many, numbered: c-m-edge -> c-m-edge-0001 ...
 *     faults:
 *     - fault=slow cluster=c-m-gpu01     as in faults.h
 */
#ifndef HERD_LAB_RANCHER_DESCRIBE_H
#define HERD_LAB_RANCHER_DESCRIBE_H

#include "base/list.h"
#include "base/error.h"

struct described_cluster {
    struct str id;
    struct str display_name;
    struct str labels;      /* JSON object */
    struct str annotations; /* JSON object */
    struct str provider;
    struct str version;
    int64_t nodes;
    int64_t cpu;
    struct str memory;
    int64_t gpus;
    struct str gpu_resource;
    bool connected;
    bool provisioned;
    bool monitoring;
};

LIST_DEFINE(described_clusters, struct described_cluster)

struct description {
    struct described_clusters clusters;
    struct str_list faults;
};

enum { DESCRIBE_CLUSTERS_MAX = 10000, DESCRIBE_NODES_MAX = 1000 };

/* The simulation when no file is given. */
extern const struct str describe_builtin;

/* What a Cluster has whose maker said nothing: that of one added by kubectl. */
struct described_cluster described_cluster_default(struct str id);

/* -1 with the field and what is wrong with it. "local" is added if it was left out. */
int describe_read(struct arena *arena, struct str yaml, struct description *ret_description,
                  struct error *err);

#endif
