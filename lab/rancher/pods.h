/* SPDX-License-Identifier: Apache-2.0 */
/* pods.h: what Kubernetes' controllers make of a Deployment, StatefulSet or Job, and what a kubelet
 * makes of a pod. Pure: one step from what there is; the next one follows when that has changed.
 *
 * As in Kubernetes: names, labels, controller references, fields of the status; a Deployment's old
 * pods stay until new ones are ready; a StatefulSet is updated from its highest ordinal, one ready
 * pod at a time; a Job runs until as many pods succeeded as it wants. Not as there: pods of a
 * Deployment are its own, without a ReplicaSet between; nothing waits for minReadySeconds or a
 * deadline, no probe fails, and no resource runs out.
 * Sources: k8s.io/kubernetes pkg/controller/{deployment,statefulset,job}, k8s.io/api
 * {apps,batch}/v1. */
#ifndef HERD_LAB_RANCHER_PODS_H
#define HERD_LAB_RANCHER_PODS_H

#include "base/list.h"
#include "text/value.h"

/* Of one object: as many as a node takes (the kubelet's maxPods). What wants more does not become
 * ready. */
enum { PODS_MAX = 110 };

enum pods_maker { PODS_DEPLOYMENT, PODS_STATEFUL_SET, PODS_JOB };

struct pods_seen {
    enum pods_maker maker;
    const struct value *object; /* the Deployment, StatefulSet or Job */
    const struct value *pods;   /* an array: those that it controls */
    struct str node;            /* on which new pods run; "" = none is known */
    struct str now;             /* RFC 3339 */
};

struct pods_step {
    struct str_list removes; /* names of pods */
    struct str_list creates; /* pods as JSON */
    struct str status;       /* merge patch for the object's status; "" = it stays */
};

/* Is the object, by its uid, the pod's controller? */
bool pods_controls(const struct value *object, const struct value *pod);
/* Equal input gives equal steps, but for names that the API server generates. */
struct pods_step pods_next(struct arena *arena, const struct pods_seen *seen);

/* Names of the Secrets and ConfigMaps that a pod cannot start without. */
struct pods_needs {
    struct str_list secrets, config_maps;
};
struct pods_needs pods_needs_of(struct arena *arena, const struct value *pod);

/* The pod's next status, as a merge patch: its containers start, or wait for an image with name or
 * tag `missing` for ever, or for what they need (CreateContainerConfigError; for a volume without a
 * word, as a kubelet does), of which `found` is an array of what there is; what is not to be
 * restarted ends. "" = it stays. */
struct str pods_run(struct arena *arena, const struct value *pod, const struct value *found,
                    struct str now);

#endif
