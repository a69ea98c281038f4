/* SPDX-License-Identifier: Apache-2.0 */
/* inventories.h: writes a ClusterInventory for each cluster that Rancher knows.
 *
 * What is in it: stack/inventory.h. The figures come from the cluster's nodes, the reservations
 * from the Stacks that go there and were not rejected. Only the leader follows nodes and writes. */
#ifndef HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_INVENTORIES_H
#define HERD_CONTROLLER_RECONCILERS_CLUSTER_INVENTORY_INVENTORIES_H

#include "base/metric.h"
#include "controller/clusters/clusters.h"
#include "io/log.h"
#include "runtime/cache.h"

struct inventories;

/* All borrowed. */
struct inventories_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    struct metrics *metrics;
    const struct kube_cache *stacks; /* as keep_stack keeps them */
    struct clusters *clusters;
    int64_t interval_ms; /* between two lists of a cluster's nodes */
    uint64_t seed;
};

/* Reads what inventories there are; all else begins once it is resumed. */
struct inventories *inventories_create(const struct inventories_options *options);
/* Before the clients and the clusters. */
void inventories_free(struct inventories *inventories);
AUTO_DEFINE(inventories_free, struct inventories *)

void inventories_pause(struct inventories *inventories, bool paused);
/* The Stack came, changed or went. */
void inventories_stack_changed(struct inventories *inventories, struct str key);
/* Something is new about a cluster in Rancher's list. */
void inventories_cluster_changed(struct inventories *inventories, struct str id);
/* The list was read whole for the first time. */
void inventories_clusters_listed(struct inventories *inventories);
void inventories_measure(const struct inventories *inventories);

#endif
