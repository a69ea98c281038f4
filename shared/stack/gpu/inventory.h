/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h: what a cluster has to give, and whom it is reserved for: a ClusterInventory
 * (herd.suse.com/v1, cluster-scoped, named by Rancher's id of the cluster).
 *
 * The controller makes it of the cluster's nodes and of the Stacks that go there; the webhook and
 * the offline review validate by it. It has no spec: nobody but the controller has anything to say
 * in it. Only GPU resources are counted (gpu_providers.def). An inventory that does not know its
 * nodes says nothing of them: unknown is never zero.
 *
 * Pure. Strings borrow from what was read; lists live in the arena. */
#ifndef HERD_STACK_INVENTORY_H
#define HERD_STACK_INVENTORY_H

#include "base/list.h"
#include "kube/resource.h"
#include "stack/model/counts.h"
#include "text/json.h"

extern const struct kube_resource inventory_resource;
extern const struct field_table fields_of_inventory; /* its status */

/* Of one resource, on one cluster. */
struct inventory_figures {
    struct str resource;
    int64_t allocatable;  /* on all nodes together */
    int64_t schedulable;  /* on those that are ready and take new pods */
    int64_t largest_node; /* the most that one node has */
    int64_t reserved;     /* to Stacks, listed in `reservations` or not */
};
LIST_DEFINE(inventory_figures_list, struct inventory_figures)

struct inventory_reservation {
    struct str stack;            /* namespace/name */
    struct named_counts amounts; /* by resource */
};
LIST_DEFINE(inventory_reservations, struct inventory_reservation)

struct inventory {
    struct str display_name;
    bool ready;         /* as Rancher has it */
    struct json labels; /* an object, or absent */
    bool known;         /* the nodes were read; else only reservations stand below */
    struct str reason;  /* of the condition Observed; "" = nothing was written yet */
    struct str message;
    int64_t nodes;
    int64_t ready_nodes;
    struct inventory_figures_list figures;      /* sorted by resource */
    struct inventory_reservations reservations; /* sorted by Stack */
    uint32_t reservations_omitted;
};

/* Nothing known and nothing reserved. */
struct inventory inventory_new(struct arena *arena);

/* What is kept of a Node: as many bytes as its GPUs need. Then count it in. Nodes come before
 * reservations: of more than LIMIT_INVENTORY_RESOURCES resources the first ones count. */
void inventory_keep_node(struct json node, struct strbuf *kept);
void inventory_add_node(struct inventory *inventory, struct str kept);
/* What a Stack asks for; Stacks in the order of their keys. Beyond LIMIT_INVENTORY_RESERVATIONS one
 * is counted and not listed. */
void inventory_add_reservation(struct inventory *inventory,
                               const struct inventory_reservation *reservation);

/* NULL: no node offers it and nobody asks for it. */
const struct inventory_figures *inventory_find(const struct inventory *inventory,
                                               struct str resource);
/* What of `resource` is reserved for the Stack, as far as it is listed. */
int64_t inventory_reserved_to(const struct inventory *inventory, struct str stack,
                              struct str resource);

/* The status as JSON if anything else stands in `before` (a status, or absent), whoever wrote it,
 * else "". `now_ms` (wall) is what it says of when; of times that stand there only such that can
 * not be are something else. Equal inventories give equal bytes. */
struct str inventory_status(struct arena *arena, const struct inventory *inventory,
                            struct json before, int64_t now_ms);
/* What informers keep of a ClusterInventory: an object with its status alone. */
void inventory_keep(struct json object, struct strbuf *kept);
/* Of a ClusterInventory; whatever stands there is read as far as it makes sense. */
struct inventory inventory_read(struct arena *arena, struct json object);

#endif
