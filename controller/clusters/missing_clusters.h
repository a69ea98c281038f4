/* SPDX-License-Identifier: Apache-2.0 */
/* missing_clusters.h: whether clusters that Rancher's list lacks are gone, asked of each by its
 * name.
 *
 * A list can be well-formed and empty, or short, and be wrong: a restored database, a proxy's
 * cache, rights that were taken away. What it lacks is no proof, and a wrong "gone" leaves releases
 * behind for ever. So a cluster is gone only once a GET of it was answered with its own 404. One
 * request at a time; what fails is asked again with backoff. */
#ifndef HERD_CONTROLLER_CLUSTERS_MISSING_CLUSTERS_H
#define HERD_CONTROLLER_CLUSTERS_MISSING_CLUSTERS_H

#include "runtime/client.h"

struct missing_clusters;

struct missing_clusters_options {
    struct kube_client *api; /* of the management cluster */
    uint64_t seed;
    /* What is known of a cluster changed. */
    void (*settled)(void *context, struct str id);
    void *context;
};

struct missing_clusters *missing_clusters_create(const struct missing_clusters_options *options);
/* Before the client. */
void missing_clusters_free(struct missing_clusters *missing);
AUTO_DEFINE(missing_clusters_free, struct missing_clusters *)

/* Somebody wants to know of a cluster that is not in the list. */
void missing_clusters_add(struct missing_clusters *missing, struct str id);
/* It is in the list, or nobody wants to know any more. */
void missing_clusters_remove(struct missing_clusters *missing, struct str id);

bool missing_clusters_is_gone(const struct missing_clusters *missing, struct str id);
/* While it is not known to be gone: what is known instead. Borrowed until the next change. */
struct str missing_clusters_message(const struct missing_clusters *missing, struct str id);

#endif
