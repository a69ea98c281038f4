/* SPDX-License-Identifier: Apache-2.0 */
/* route.h: which of Rancher's APIs a path belongs to. Pure.
 *
 * Three flavours share one port (norman /v3, steve /v1, plain Kubernetes), and below
 * /k8s/clusters/<id> stand the last two again for a downstream cluster. */
#ifndef HERD_LAB_RANCHER_ROUTE_H
#define HERD_LAB_RANCHER_ROUTE_H

#include "base/str.h"

enum route_kind {
    ROUTE_UNKNOWN,
    ROUTE_PING,
    ROUTE_CACERTS,
    ROUTE_NORMAN,   /* rest: behind "/v3/", "" for the root */
    ROUTE_STEVE,    /* rest: behind "/v1/" */
    ROUTE_PLAIN,    /* rest: from "/api" on */
    ROUTE_COUNTERS, /* the lab's own, */
    ROUTE_EXPORTER, /* and this; cluster: whose */
    ROUTE_SUSE_OBSERVABILITY,
};

struct route {
    enum route_kind kind;
    struct str cluster; /* of STEVE and PLAIN; "local" without a prefix */
    bool proxied;       /* it stood behind /k8s/clusters/<id> or /k8s/proxy/<id> */
    struct str rest;
};

struct route route_of(struct str path);

/* "type/namespace/name/link" of a steve path: what stands there, "" for the rest. `namespaced`
 * tells how to read the second part. False if there is more. */
struct steve_path {
    struct str type;
    struct str namespace_;
    struct str name;
    struct str link;
};

bool steve_path_of(struct str rest, bool namespaced, struct steve_path *ret_path);

#endif
