/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: the ClusterInventories on the API server: what stands there, and the writes.
 *
 * An inventory is created empty, for the API server takes a status only beside an object, and its
 * status applied. What was written is remembered until the watch shows it, so that nothing is
 * written twice. */
#ifndef HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_STORE_H
#define HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_STORE_H

#include "base/metric.h"
#include "io/log.h"
#include "runtime/client.h"
#include "runtime/controller.h"
#include "text/json.h"

struct inventory_store;

/* All borrowed. */
struct inventory_store_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    struct metrics *metrics;
    uint64_t seed;
    /* Somebody else wrote or took away the inventory of the cluster. */
    void (*changed)(void *context, struct str id);
    /* What there is was read whole. */
    void (*synced)(void *context);
    /* A write ended. */
    void (*done)(void *context, struct str id, enum reconcile_result result, int64_t after_ms);
    void *context;
};

/* Reads what there is; writes only when asked to. */
struct inventory_store *inventory_store_create(const struct inventory_store_options *options);
/* Before the client. Writes under way are cancelled. */
void inventory_store_free(struct inventory_store *store);
AUTO_DEFINE(inventory_store_free, struct inventory_store *)

bool inventory_store_synced(const struct inventory_store *store);
bool inventory_store_has(const struct inventory_store *store, struct str id);
/* False at the end. `*cursor` begins at 0; nothing may change on the way. */
bool inventory_store_next(const struct inventory_store *store, size_t *cursor, struct str *ret_id);
/* The status that stands there as far as it is known; absent if there is none. In the arena. */
struct json inventory_store_status(const struct inventory_store *store, struct arena *arena,
                                   struct str id);

/* Bring the status (JSON) there, the object too if there is none. One write of a cluster at a
 * time, as the queue gives its keys; `done` tells the end. */
void inventory_store_write(struct inventory_store *store, struct str id, struct str status);
/* Take the object away; that it is gone already is no failure. */
void inventory_store_remove(struct inventory_store *store, struct str id);

#endif
