/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h: the one way to a downstream cluster, through Rancher's proxy.
 *
 * Whoever wants something of a cluster (a back end, the inventories, a client of a Service there)
 * holds its connection (clusters_open). All of them share what depends on the cluster and on the
 * way to it: whether Rancher reaches it, whether it is heard of, how many requests it gets, and how
 * long it gets none after it asked for fewer. The token, and what a rejected one means, are the
 * business of the clients (rancher_probe.h).
 *
 * An App on its way: the back end follows the cluster's Apps; once Rancher reaches the cluster they
 * are listed and watched; `keep` makes a few bytes of each, the cache holds them, `on_change` wakes
 * the Stack. After the first whole lists the cluster counts as read, and the Stack is planned. The
 * plan's upgrade is a request below the same prefix; Rancher's Retry-After becomes the backoff that
 * the next plan sees. When the agent disconnects, what was read is forgotten, and `on_forgotten`
 * has the back end clear its indexes. */
#ifndef HERD_CONTROLLER_CLUSTERS_CONNECTION_H
#define HERD_CONTROLLER_CLUSTERS_CONNECTION_H

#include "controller/clusters/request_backoff.h"
#include "runtime/informer.h"

struct connection;

struct connection_options {
    struct kube_client *requests; /* to Rancher; borrowed, both */
    struct kube_client *watches;  /* the same for what stays open, so that requests never wait */
    struct str id;                /* of the cluster; copied */
    uint64_t seed;
    /* Another answer than before, of those below: it was read, is stale, is heard of again. */
    void (*changed)(void *context, struct str id);
    /* A required collection cannot be read at present; NULL: it can again. */
    void (*trouble)(void *context, struct str id, const struct error *error);
    /* The last request was answered. The connection may be freed from within. */
    void (*idle)(void *context, struct str id);
    void *context;
};

struct connection *connection_create(const struct connection_options *options);
/* After all that was followed was dropped. Requests under way are cancelled without calling back.
 */
void connection_free(struct connection *connection);
AUTO_DEFINE(connection_free, struct connection *)

struct str connection_id(const struct connection *connection);
struct loop *connection_loop(const struct connection *connection);
/* Rancher reaches the cluster, or does not any more. Not, at first. */
void connection_use(struct connection *connection, bool reached);

/* Collections. */

struct collection;

enum collection_need {
    COLLECTION_OPTIONAL, /* keeps what it had while Rancher does not reach the cluster */
    /* Followed for a while. The cluster counts as stale while this is not heard of once it was
     * listed, and what was read is forgotten when Rancher does not reach the cluster any more. */
    COLLECTION_TEMPORARY,
    COLLECTION_REQUIRED, /* the same; and the cluster counts as read only once this was listed */
};

struct collection_options {
    struct kube_resource resource; /* its texts are borrowed */
    struct str label_selector;     /* borrowed, too; "" = all */
    enum collection_need need;
    uint32_t page_limit; /* these five as in informer_options; `keep`, `on_synced` may be NULL */
    int64_t interval_ms;
    bool (*keep)(void *context, struct json object, struct strbuf *kept);
    void (*on_change)(void *context, struct kube_object *before, struct kube_object *after);
    void (*on_synced)(void *context);
    void (*on_trouble)(void *context, const struct error *error); /* may be NULL */
    void (*on_forgotten)(void *context); /* its objects are gone without on_change; may be NULL */
    void *context;
};

/* List and watch whenever Rancher reaches the cluster, until it is dropped. */
struct collection *connection_follow(struct connection *connection,
                                     const struct collection_options *options);
/* Not from within its own callbacks; calls none. NULL is none. */
void connection_drop(struct collection *collection);
/* What it has may be old: ask again now, if it waits. */
void collection_refresh(struct collection *collection);
/* NULL while it is not read: Rancher never reached the cluster yet, or what was read is forgotten.
 */
const struct informer *collection_informer(const struct collection *collection);

/* Liveness, by the required and the temporary collections: times are monotonic. */

/* All that are required were listed. False, if there are none. */
bool connection_is_read(const struct connection *connection);
/* It is read, but one of them has not been heard of for LIMIT_CLUSTER_DEAD_TIME: what is known of
 * the cluster may be shown, and not acted on. */
bool connection_is_stale(const struct connection *connection, int64_t now_ms);
/* Of one that is read: informer_resumed_ms of the collection that is latest. */
int64_t connection_resumed_ms(const struct connection *connection);
/* The very first lists are under way, or nobody follows what is required yet, and nothing speaks
 * against their coming soon. A cluster that comes and goes does not begin anew each time. */
bool connection_is_starting(const struct connection *connection, int64_t now_ms);
/* Why one cannot be read, and what to do about it; "" if all can. */
struct str connection_trouble(const struct connection *connection, struct arena *arena);
/* Objects held in memory, for metrics. */
size_t connection_objects(const struct connection *connection);
/* What kept requests back is over: lists and watches are tried again at once, requests as soon as
 * somebody has one. */
void connection_retry(struct connection *connection);

/* Requests. */

/* `raw->path` stands below the cluster's API: "/api/v1/..." or steve's "/v1/...". At most
 * LIMIT_CLUSTER_REQUESTS are under way; others wait their turn. What `raw` points to is copied,
 * but for method and content_type, which are constants. `done` is called once, from the loop, never
 * from within: see request_outcome_of. */
void connection_send(struct connection *connection, const struct kube_raw *raw, kube_done *done,
                     void *context);
bool connection_is_busy(const struct connection *connection);
/* Whoever sends asks it first, and notes each outcome in it. */
struct request_backoff *connection_backoff(const struct connection *connection);

/* A Service of the cluster, through its API server's proxy. That removes Authorization: a session
 * belongs into a header of its own (kube_raw.headers). */
struct connection_service {
    const char *scheme; /* http or https */
    struct str namespace_;
    struct str name;
    uint16_t port;
};
/* For kube_raw.path; `path` is the Service's own, with its query, and begins with '/'. */
struct str connection_service_path(struct arena *arena, const struct connection_service *service,
                                   struct str path);

#endif
