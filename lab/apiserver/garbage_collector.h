/* SPDX-License-Identifier: Apache-2.0 */
/* garbage_collector.h: garbage collection by ownerReferences, as kube-controller-manager does it.
 *
 * A dependent goes when its last owner is gone or was never there; of several owners, the absent
 * one is taken off the list. Foreground: the owner waits, with finalizer foregroundDeletion, for
 * the dependents that block it. Orphan: it waits, with finalizer orphan, until they have forgotten
 * it. Owners are looked for in the cluster of the dependent. Source: k8s.io/kubernetes
 * pkg/controller/garbagecollector. */
#ifndef HERD_LAB_APISERVER_GARBAGE_COLLECTOR_H
#define HERD_LAB_APISERVER_GARBAGE_COLLECTOR_H

#include "lab/apiserver/request.h"

#define GARBAGE_COLLECTOR_FOREGROUND "foregroundDeletion"
#define GARBAGE_COLLECTOR_ORPHAN "orphan"

struct garbage_collector;

/* Looks through the store for dependents: some may have lost their owner when
 * the last run ended. */
struct garbage_collector *garbage_collector_create(struct api *api);
void garbage_collector_free(struct garbage_collector *collector);

/* An object changed; true: garbage_collector_run has something to do. Cheap for what neither owns
 * nor is owned. False if the collector is NULL. */
bool garbage_collector_note(struct garbage_collector *collector, const struct request *rq,
                            enum change_type type, struct str object);
/* Work on what was noted; from one thread. */
void garbage_collector_run(struct garbage_collector *collector);

#endif
