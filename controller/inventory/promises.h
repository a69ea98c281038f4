/* promises.h: which Stacks ask for which GPUs on which clusters. */
#ifndef HERD_CONTROLLER_INVENTORY_PROMISES_H
#define HERD_CONTROLLER_INVENTORY_PROMISES_H

#include "base/cleanup.h"
#include "stack/gpu_demand.h"
#include "stack/inventory.h"

struct promises;

struct promises *promises_create(void);
void promises_free(struct promises *promises);
AUTO_DEFINE(promises_free, struct promises *)

/* What the Stack (namespace/name) asks for from now on, in groups of `clusters`. `told` gets each
 * cluster on which that is something else than before. */
void promises_put(struct promises *promises, struct str stack, const struct gpu_groups *groups,
                  const struct fact_clusters *clusters,
                  void (*told)(void *context, struct str cluster), void *context);
/* The Stack is no more, or asks for nothing on any cluster that there could be. */
void promises_forget(struct promises *promises, struct str stack,
                     void (*told)(void *context, struct str cluster), void *context);
/* Each Stack that was put and not forgotten, though it may ask for nothing today. */
void promises_each(const struct promises *promises,
                   void (*told)(void *context, struct str stack), void *context);

/* Add what is asked for on the cluster, by Stacks in the order of their keys. Strings are in the
 * arena. */
void promises_add_to(const struct promises *promises, struct arena *arena, struct str cluster,
                     struct inventory *inventory);

#endif
