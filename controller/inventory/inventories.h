/* inventories.h: writes a ClusterInventory for each cluster that Rancher knows.
 *
 * What is in it: stack/inventory.h. The figures come from the cluster's nodes, the promises from
 * the Stacks that go there and were not refused. Only the leader follows nodes and writes. */
#ifndef HERD_CONTROLLER_INVENTORY_INVENTORIES_H
#define HERD_CONTROLLER_INVENTORY_INVENTORIES_H

#include "base/metric.h"
#include "controller/estate/rancher/estate.h"
#include "io/log.h"
#include "runtime/cache.h"

struct inventories;

/* All borrowed. */
struct inventories_options {
    struct loop *loop;
    struct kube_client *api;
    struct rancher_client *rancher;
    struct log *log;
    struct metrics *metrics;
    const struct kube_cache *stacks; /* as keep_stack keeps them */
    const struct estate *estate;
    uint64_t seed;
};

/* Reads what inventories there are; all else begins once it is resumed. */
struct inventories *inventories_create(const struct inventories_options *options);
/* Before the clients and the estate. */
void inventories_free(struct inventories *inventories);
AUTO_DEFINE(inventories_free, struct inventories *)

/* `inventories` NULL does nothing, here and below. */
void inventories_pause(struct inventories *inventories, bool paused);
/* The Stack came, changed or went. */
void inventories_stack_changed(struct inventories *inventories, struct str key);
/* Something is new about a cluster in Rancher's list. */
void inventories_cluster_changed(struct inventories *inventories, struct str id);
/* The list was read whole for the first time. */
void inventories_clusters_listed(struct inventories *inventories);
void inventories_measure(const struct inventories *inventories);

#endif
