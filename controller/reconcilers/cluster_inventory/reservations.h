/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.h: which Stacks ask for which GPUs on which clusters. */
#ifndef HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_RESERVATIONS_H
#define HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_RESERVATIONS_H

#include "base/cleanup.h"
#include "stack/gpu/gpu_demand.h"
#include "stack/gpu/inventory.h"

struct reservations;

struct reservations *reservations_create(void);
void reservations_free(struct reservations *reservations);
AUTO_DEFINE(reservations_free, struct reservations *)

/* What the Stack (namespace/name) asks for from now on, in groups of `clusters`. `told` gets each
 * cluster on which that is something else than before. */
void reservations_put(struct reservations *reservations, struct str stack,
                      const struct gpu_groups *groups, const struct fact_clusters *clusters,
                      void (*told)(void *context, struct str cluster), void *context);
/* The Stack is no more, or asks for nothing on any cluster that there could be. */
void reservations_forget(struct reservations *reservations, struct str stack,
                         void (*told)(void *context, struct str cluster), void *context);
/* Each Stack that was put and not forgotten, though it may ask for nothing today. */
void reservations_each(const struct reservations *reservations,
                       void (*told)(void *context, struct str stack), void *context);

/* Add what is asked for on the cluster, by Stacks in the order of their keys. Strings are in the
 * arena. */
void reservations_add_to(const struct reservations *reservations, struct arena *arena,
                         struct str cluster, struct inventory *inventory);

#endif
