/* SPDX-License-Identifier: Apache-2.0 */
/* management_cluster.h: Rancher's object of a downstream cluster (management.cattle.io/v3 Cluster):
 * what Herd reads of it, and the few bytes that are kept of each. Pure. */
#ifndef HERD_CONTROLLER_CLUSTERS_MANAGEMENT_CLUSTER_H
#define HERD_CONTROLLER_CLUSTERS_MANAGEMENT_CLUSTER_H

#include "base/str.h"
#include "kube/resource.h"
#include "text/json.h"

extern const struct kube_resource management_cluster_resource;

struct management_cluster {
    struct str display_name;
    struct json labels;
    struct str size;    /* nodeCount and capacity: another one when nodes come or go */
    bool internal;      /* Rancher's own */
    bool disconnected;  /* Connected is False: it is not to be called */
    bool usable;        /* Ready is True, and not disconnected */
    struct str message; /* of one that is not usable: why */
};

/* For informer_options.keep; the context is not used. */
bool management_cluster_keep(void *context, struct json object, struct strbuf *kept);
/* Back from those bytes; strings borrow from them and from the arena. */
void management_cluster_kept(struct arena *arena, struct str kept,
                             struct management_cluster *ret_cluster);

#endif
