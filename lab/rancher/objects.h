/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h: Rancher's own objects: definitions, Clusters, Nodes, ClusterRepos, Operations.
 * Pure. */
#ifndef HERD_LAB_RANCHER_OBJECTS_H
#define HERD_LAB_RANCHER_OBJECTS_H

#include "lab/rancher/describe.h"
#include "lab/rancher/catalogue.h"
#include "lab/rancher/step.h"

/* CustomResourceDefinitions as YAML: those of the management cluster, and those that Rancher puts
 * into every cluster. NULL ends the list. */
extern const char *const definitions_local[];
extern const char *const definitions_everywhere[];
extern const char *const definitions_monitoring[]; /* where rancher-monitoring is */

/* ---- clusters */

#define CLUSTER_CONNECTED_ANNOTATION "lab.herd.suse.com/connected"
#define CLUSTER_PROVISIONED_ANNOTATION "lab.herd.suse.com/provisioned"
#define CLUSTER_SHAPE_ANNOTATION "lab.herd.suse.com/nodes"

/* The Cluster, without status; its shape (nodes, cpu, ...) stands in an annotation. */
struct str object_cluster(struct arena *arena, const struct described_cluster *cluster);
/* Back from a Cluster object, also one that a person made: what is missing is as by default. */
struct described_cluster object_cluster_read(struct arena *arena, struct json cluster);

struct cluster_health {
    bool connected;
    bool provisioned;
    struct str now; /* RFC 3339 */
};

/* Status as a merge patch: conditions, version, capacity summed over the workers. The times of
 * conditions that did not change are taken over from `before`, the Cluster as it stands. */
struct str object_cluster_status(struct arena *arena, const struct described_cluster *cluster,
                                 const struct cluster_health *health, struct json before);

/* Downstream nodes: `index` 0 is the control plane if there is more than one. */
struct str object_node_name(struct arena *arena, const struct described_cluster *cluster,
                            int64_t index);
struct str object_node(struct arena *arena, const struct described_cluster *cluster, int64_t index);
struct str object_node_status(struct arena *arena, const struct described_cluster *cluster,
                              int64_t index, struct str now);
/* management.cattle.io Node in the cluster's namespace: a copy of a downstream node's status. */
struct str object_machine(struct arena *arena, struct str cluster, struct json node);
struct str object_machine_status(struct arena *arena, struct json node);

/* ---- repositories */

struct str object_git_repo(struct arena *arena, struct str name, struct str url);
/* A downloaded index, as Rancher keeps it: gzip in a ConfigMap. */
struct str object_index(struct arena *arena, struct str name, struct str repo, struct str index);

struct repo_result {
    bool ok;
    struct str condition; /* Downloaded or OCIDownloaded */
    struct str message;   /* of a failure */
    struct str url;
    struct str config_map;
    struct str config_map_version;
    int64_t generation;
    int64_t retries;
    struct str next_retry; /* "" = none */
    struct str now;
};

struct str object_repo_status(struct arena *arena, const struct repo_result *result);

/* ---- operations */

#define OPERATION_TASK_ANNOTATION "lab.herd.suse.com/task"
#define OPERATION_LOG_ANNOTATION "lab.herd.suse.com/failure"

struct str object_operation(struct arena *arena, const struct task *task);
struct str object_operation_status(struct arena *arena, const struct task *task, struct str command,
                                   enum task_stage stage, bool failed, int exit_code,
                                   struct str now);
enum task_stage object_operation_stage(struct json operation);
/* The helm pod and the Secret with its values and the lab's record, in cattle-system. */
struct str object_operation_pod(struct arena *arena, const struct task *task);
struct str object_operation_secret(struct arena *arena, const struct task *task);

/* What the helm container has printed at this stage; `failure` "" unless it failed. */
struct str object_operation_log(struct arena *arena, const struct task *task, struct str command,
                                enum task_stage stage, struct str failure, struct str now);
/* The same around what a real helm has printed. */
struct str object_operation_log_of(struct arena *arena, struct str command, struct str output,
                                   bool succeeded);

#endif
