/* collector.h: garbage collection by ownerReferences, as kube-controller-manager does it.
 *
 * A dependent goes when its last owner is gone or was never there; of several owners, the absent
 * one is taken off the list. Foreground: the owner waits, with finalizer foregroundDeletion, for
 * the dependents that block it. Orphan: it waits, with finalizer orphan, until they have forgotten
 * it. Owners are looked for in the cluster of the dependent. Source: k8s.io/kubernetes
 * pkg/controller/garbagecollector. */
#ifndef HERD_LAB_APISERVER_COLLECTOR_H
#define HERD_LAB_APISERVER_COLLECTOR_H

#include "lab/apiserver/request.h"

#define COLLECTOR_FOREGROUND "foregroundDeletion"
#define COLLECTOR_ORPHAN "orphan"

struct collector;

/* Looks through the store for dependents: some may have lost their owner when
 * the last run ended. */
struct collector *collector_create(struct api *api);
void collector_free(struct collector *collector);

/* An object changed; true: collector_run has something to do. Cheap for what neither owns nor is
 * owned. NULL is no collector. */
bool collector_note(struct collector *collector, const struct request *rq, enum change_type type,
                    struct str object);
/* Work on what was noted; from one thread. */
void collector_run(struct collector *collector);

#endif
