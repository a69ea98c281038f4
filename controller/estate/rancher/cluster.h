/* cluster.h: one downstream cluster as its Apps, Operations and ClusterRepos tell it.
 *
 * Followed by watches through Rancher's proxy for as long as some Stack is interested and the
 * cluster's agent is connected; answers come from memory. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_CLUSTER_H
#define HERD_CONTROLLER_ESTATE_RANCHER_CLUSTER_H

#include "controller/estate/rancher/client.h"
#include "controller/estate/rancher/lookups.h"
#include "controller/estate/rancher/room.h"

struct cluster;

struct cluster_options {
    struct rancher_client *rancher;
    struct str id;
    uint64_t seed;
    /* Something about one release: its namespace/name. */
    void (*release_changed)(void *context, struct str release);
    /* A release with that Stack's stamp came, changed or went: the Stack's key. */
    void (*stack_changed)(void *context, struct str stack);
    /* Something that concerns all that use the cluster: it was read, or a repository changed. */
    void (*cluster_changed)(void *context, struct str id);
    /* An operation ended: there is room for another one. */
    void (*room_freed)(void *context, struct str id);
    /* It cannot be read at present; NULL: it can again. */
    void (*trouble)(void *context, struct str id, const struct error *error);
    void *context;
};

/* Silent until it is told to follow. */
struct cluster *cluster_create(const struct cluster_options *options);
void cluster_free(struct cluster *cluster);
AUTO_DEFINE(cluster_free, struct cluster *)

/* Follow it, or stop and forget what was read. */
void cluster_follow(struct cluster *cluster, bool follow);
bool cluster_is_read(const struct cluster *cluster);
/* It is read, but one of its collections has not been heard of for LIMIT_WATCH_DEAD_TIME: what is
 * known of it may be shown, and not acted on. */
bool cluster_is_stale(const struct cluster *cluster, int64_t now_ms);
/* Its very first lists are under way, and nothing speaks against their coming soon. One that comes
 * and goes does not begin anew each time. */
bool cluster_is_starting(const struct cluster *cluster, int64_t now_ms);
/* While it is not read: why, as far as known, and what to do about it. */
struct str cluster_trouble(const struct cluster *cluster, struct arena *arena);
struct lookups *cluster_lookups(struct cluster *cluster);
struct room *cluster_room(struct cluster *cluster);
/* Call `wake(context, stack)` for as many of those who wait as there is room for, if at most
 * `operations_max` may be under way. */
void cluster_offer_room(struct cluster *cluster, uint32_t operations_max, int64_t now_ms,
                        void (*wake)(void *context, struct str stack), void *context);
/* Objects held in memory, for metrics. */
size_t cluster_objects(const struct cluster *cluster);

/* What a Stack wants to know of it. */
struct cluster_question {
    struct str stack;          /* its key */
    struct str_list releases;  /* namespace/name of those that are to be, or were */
    struct str_list repos;     /* URLs, without trailing slash */
    struct observed_versions versions; /* repo, chart and version to fill in */
};

/* Fill releases, operations, repos and versions of `ret_cluster`; for one that is read only.
 * Gives when a remembered failure ends (monotonic), or -1. Everything is in the arena. */
int64_t cluster_observe(struct cluster *cluster, struct arena *arena,
                        const struct cluster_question *question, int64_t now_ms,
                        struct observed_cluster *ret_cluster);

#endif
