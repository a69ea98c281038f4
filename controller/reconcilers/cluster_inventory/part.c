/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the row of ClusterInventories. */
#include "controller/parts.h"
#include "controller/reconcilers/cluster_inventory/inventories.h"

static void *start(void *context, uint64_t seed)
{
    const struct controller *controller = context;

    if (!controller->options->cluster_inventories)
        return NULL;
    return inventories_create(&(struct inventories_options){
        .loop = controller->loop,
        .api = controller->connections.api,
        .log = controller->log,
        .metrics = controller->metrics,
        .stacks = stack_reconciler_stacks(controller->stacks),
        .clusters = stack_reconciler_clusters(controller->stacks),
        .interval_ms = controller->options->inventory_interval_ms,
        .seed = seed,
    });
}

static void free_inventories(void *inventories)
{
    inventories_free(inventories);
}

static void pause_inventories(void *inventories, bool paused)
{
    inventories_pause(inventories, paused);
}

static void measure(void *inventories)
{
    inventories_measure(inventories);
}

static void hear(void *inventories, const struct manager_event *event)
{
    switch ((enum controller_event)event->kind) {
    case EVENT_STACK_CHANGED:
        inventories_stack_changed(inventories, event->name);
        return;
    case EVENT_CLUSTER_CHANGED:
        inventories_cluster_changed(inventories, event->name);
        return;
    case EVENT_CLUSTERS_LISTED:
        inventories_clusters_listed(inventories);
        return;
    case EVENT_POLICIES_CHANGED:
    case EVENT_POLICY_CHANGED:
    case EVENT_RANCHER_TROUBLE:
    case EVENT_MEASURED:
    case EVENT_CONFIGURED:
        return;
    }
}

const struct manager_part cluster_inventory_part = {
    .name = "cluster_inventory",
    .start = start,
    .free = free_inventories,
    .pause = pause_inventories,
    .tick = measure,
    .notify = hear,
};
