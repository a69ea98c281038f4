/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h: the nodes of one cluster, as its own API tells them through Rancher's proxy.
 *
 * Listed at intervals, and of each node a few bytes kept: a stream for each cluster that Rancher
 * knows would cost more than what a moment's delay does. Rancher tells when nodes come or go. */
#ifndef HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_NODES_H
#define HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_NODES_H

#include "controller/clusters/clusters.h"
#include "stack/gpu/inventory.h"

struct nodes;

struct nodes_options {
    struct clusters *clusters; /* borrowed */
    struct str id;             /* of the cluster */
    int64_t interval_ms;
    /* What nodes_fill says may be another than before. */
    void (*changed)(void *context, struct str id);
    void *context;
};

/* Follows from now on. */
struct nodes *nodes_create(const struct nodes_options *options);
void nodes_free(struct nodes *nodes);
AUTO_DEFINE(nodes_free, struct nodes *)

/* They may be others than before: list them now. */
void nodes_refresh(struct nodes *nodes);
/* Time passes (monotonic): what was not heard of for too long counts as unknown. */
void nodes_look(struct nodes *nodes, int64_t now_ms);
/* Count the nodes in, or say why they are not known. False: they are being listed for the first
 * time, and it is too early to say anything. */
bool nodes_fill(const struct nodes *nodes, struct arena *arena, int64_t now_ms,
                struct inventory *inventory);
bool nodes_are_known(const struct nodes *nodes, int64_t now_ms);
size_t nodes_count(const struct nodes *nodes);

#endif
