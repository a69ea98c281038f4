/* SPDX-License-Identifier: Apache-2.0 */
/* release_pods.h: which pods and containers belong to a release. Pure.
 *
 * A release knows its workloads by its manifest (observed_release.workloads), and a pod knows the
 * workload that controls it: a StatefulSet or DaemonSet by itself, a Deployment through the
 * ReplicaSet in between, whose name is the Deployment's with a hash behind it. */
#ifndef HERD_CONTROLLER_BACKENDS_RELEASE_PODS_H
#define HERD_CONTROLLER_BACKENDS_RELEASE_PODS_H

#include "base/list.h"
#include "text/json.h"

/* A container that runs. */
struct release_container {
    struct str workload; /* of its pod: "Deployment/shop/web"; "" = nobody controls that */
    struct str id;       /* as the runtime has it, without the runtime's name */
    struct str image;    /* as the pod's spec has it, or as the runtime resolved it */
    struct str image_id; /* what the runtime resolved it to; "" = it does not say */
};
LIST_DEFINE(release_containers, struct release_container)

/* Where the pods of a namespace are listed, for kube_raw.path. */
struct str release_pods_path(struct arena *arena, struct str namespace_, struct str continue_);
/* Of a list of pods; a pod that is being deleted has none. */
void release_containers_read(struct json pods, struct release_containers *to);

/* What controls the pod, as in observed_release.workloads; "" = nobody. */
struct str release_pod_workload(struct arena *arena, struct json pod);
/* Whether `workload` is one of an observed_release.workloads. */
bool release_has_workload(struct str workloads, struct str workload);
/* The namespaces that those are in, each once. */
void release_namespaces(struct str workloads, struct str_list *to);

#endif
