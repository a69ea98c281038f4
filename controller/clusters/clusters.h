/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.h: all clusters that Rancher knows, and a connection to each that somebody uses.
 *
 * The list comes from the management cluster's API (management.cattle.io/v3 Clusters, watched). A
 * connection is in use while its cluster's agent is connected. */
#ifndef HERD_CONTROLLER_CLUSTERS_CLUSTERS_H
#define HERD_CONTROLLER_CLUSTERS_CLUSTERS_H

#include "controller/clusters/connection.h"
#include "kube/selector.h"
#include "stack/model/facts.h"

struct clusters;

/* A cluster as Rancher's list has it. Owned by the clusters; read it at once. */
struct listed_cluster {
    struct str id;
    struct str display_name;
    struct str size;                /* another one when its nodes come or go */
    struct str labels;              /* JSON object */
    const struct label *label_list; /* the same */
    uint32_t label_count;
    bool internal;
    bool disconnected;
    bool usable;
    struct str message; /* why it is not usable */
};

struct clusters_options {
    struct kube_client *api; /* of the management cluster */
    /* To Rancher, once for requests and once for watches: many open watches never take the
     * connections that requests need. */
    struct kube_client *requests;
    struct kube_client *watches;
    uint64_t seed;
    /* Something about a cluster: its entry in the list, or what its connection tells. */
    void (*cluster_changed)(void *context, struct str id);
    /* A cluster came, went or has other labels: the answer of a selector may be another one. One
     * of both is NULL when it came or went. */
    void (*labels_changed)(void *context, const struct listed_cluster *before,
                           const struct listed_cluster *after);
    /* The list was read whole for the first time. */
    void (*listed)(void *context);
    /* The list (id "") or a cluster cannot be read at present; NULL: it can again. */
    void (*trouble)(void *context, struct str id, const struct error *error);
    void *context;
};

struct clusters *clusters_create(const struct clusters_options *options);
void clusters_free(struct clusters *clusters);
AUTO_DEFINE(clusters_free, struct clusters *)

bool clusters_is_listed(const struct clusters *clusters);
/* The list cannot be read at present. */
bool clusters_is_troubled(const struct clusters *clusters);
/* NULL: Rancher's list lacks it, which proves nothing: see clusters_is_gone. */
const struct listed_cluster *clusters_get(const struct clusters *clusters, struct str id);
/* Of one that is open and not in the list: Rancher has no such cluster, it said so of this one. */
bool clusters_is_gone(const struct clusters *clusters, struct str id);
/* While that is not known: what is, for people. */
struct str clusters_missing_message(const struct clusters *clusters, struct str id);
/* Walk all, in no order that means anything. */
bool clusters_next(const struct clusters *clusters, size_t *cursor,
                   const struct listed_cluster **ret_cluster);

/* What is known of a cluster, for whoever works out where Stacks go; copied into the arena. False:
 * its labels cannot be read. */
bool clusters_fact(struct arena *arena, const struct listed_cluster *cluster,
                   struct fact_cluster *ret_fact);

/* Hold the connection to a cluster, known or not: as many users as opened it close it, each after
 * dropping what it followed. Requests under way are still answered then. */
struct connection *clusters_open(struct clusters *clusters, struct str id);
void clusters_close(struct clusters *clusters, struct str id);
/* NULL if nobody holds it. */
struct connection *clusters_connection(const struct clusters *clusters, struct str id);
/* connection_retry for all. */
void clusters_retry(const struct clusters *clusters);
/* For metrics: clusters that are read, and objects held of all of them. */
void clusters_counts(const struct clusters *clusters, size_t *ret_followed, size_t *ret_objects);

#endif
