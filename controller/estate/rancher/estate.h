/* estate.h: all clusters that Rancher knows, and those of them that are followed.
 *
 * The list comes from the management cluster's API (management.cattle.io/v3 Clusters, watched). A
 * cluster is followed while somebody asked for it and its agent is connected. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_ESTATE_H
#define HERD_CONTROLLER_ESTATE_RANCHER_ESTATE_H

#include "controller/estate/rancher/cluster.h"

struct estate;

/* A cluster as Rancher's list has it. Owned by the estate; read it at once. */
struct estate_cluster {
    struct str id;
    struct str display_name;
    struct str labels;        /* JSON object */
    const struct str *pairs;  /* the same: key, value, key, value */
    uint32_t pair_count;
    bool internal;
    bool disconnected;
    bool usable;
    struct str message; /* why it is not usable */
};

struct estate_options {
    struct kube_client *api; /* of the management cluster */
    struct rancher_client *rancher;
    uint64_t seed;
    void (*release_changed)(void *context, struct str release);
    void (*stack_changed)(void *context, struct str stack);
    void (*cluster_changed)(void *context, struct str id);
    void (*room_freed)(void *context, struct str id);
    /* A cluster came, went or has other labels: the answer of a selector may be another one. One
     * of both is NULL when it came or went. */
    void (*labels_changed)(void *context, const struct estate_cluster *before,
                           const struct estate_cluster *after);
    /* The list was read whole for the first time. */
    void (*listed)(void *context);
    /* The list (id "") or a cluster cannot be read at present; NULL: it can again. */
    void (*trouble)(void *context, struct str id, const struct error *error);
    void *context;
};

struct estate *estate_create(const struct estate_options *options);
void estate_free(struct estate *estate);
AUTO_DEFINE(estate_free, struct estate *)

bool estate_is_listed(const struct estate *estate);
/* The list cannot be read at present. */
bool estate_is_troubled(const struct estate *estate);
/* NULL: Rancher's list lacks it, which proves nothing: see estate_is_gone. */
const struct estate_cluster *estate_get(const struct estate *estate, struct str id);
/* Of one that is open and not in the list: Rancher has no such cluster, it said so of this one. */
bool estate_is_gone(const struct estate *estate, struct str id);
/* While that is not known: what is, for people. */
struct str estate_doubt(const struct estate *estate, struct str id);
/* Walk all, in no order that means anything. */
bool estate_next(const struct estate *estate, size_t *cursor,
                 const struct estate_cluster **ret_cluster);

/* Somebody is interested in a cluster, known or not; nobody is any more. */
void estate_open(struct estate *estate, struct str id);
void estate_close(struct estate *estate, struct str id);
/* NULL if it is not open. */
struct cluster *estate_opened(const struct estate *estate, struct str id);
/* cluster_offer_room for all that are open. */
void estate_offer_room(const struct estate *estate, uint32_t operations_max, int64_t now_ms,
                       void (*wake)(void *context, struct str stack), void *context);
/* For metrics: clusters followed, and objects held of all of them. */
void estate_counts(const struct estate *estate, size_t *ret_followed, size_t *ret_objects);

#endif
