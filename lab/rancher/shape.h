/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h: Kubernetes objects as norman and steve show them. Pure. */
#ifndef HERD_LAB_RANCHER_SHAPE_H
#define HERD_LAB_RANCHER_SHAPE_H

#include "text/json.h"

/* metadata.state of steve, and state of norman (wrangler pkg/summary, for our kinds). */
struct shape_state {
    struct str name;
    bool error;
    bool transitioning;
    struct str message;
};

struct shape_state shape_state_of(struct json object);

struct shape_steve {
    struct str type; /* catalog.cattle.io.app */
    struct str base; /* https://host/k8s/clusters/<id>/v1 */
    bool helm_data;  /* ?includeHelmData=true: data.release of a Secret decoded */
};

/* id, type, links, actions and metadata.state around the object. */
struct str shape_steve(struct arena *arena, struct json object, const struct shape_steve *how);
/* A Cluster or a Node, flattened. `base` is https://host/v3. */
struct str shape_norman_cluster(struct arena *arena, struct json cluster, struct str base);
struct str shape_norman_node(struct arena *arena, struct json node, struct str base);

#endif
