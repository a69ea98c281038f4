/* client.h: what Herd asks of Rancher, one function for each kind of request.
 *
 * Asynchronous, on the loop. Each request ends in one of three ways: it worked; it was refused, and
 * so certainly changed nothing; or its answer was lost, and nobody knows. Which of them it was
 * decides whether the request may be repeated at once or only after a while. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_CLIENT_H
#define HERD_CONTROLLER_ESTATE_RANCHER_CLIENT_H

#include "controller/estate/rancher/wire.h"
#include "runtime/client.h"

struct rancher_client;

/* Both are borrowed: Rancher's address and token, once for requests and once for watches, so that
 * many open watches never take the connections that requests need. Free them first, which cancels
 * what is under way; contexts of requests that were, stay their owners'. */
struct rancher_client *rancher_client_create(struct kube_client *requests,
                                             struct kube_client *watches);
void rancher_client_free(struct rancher_client *rancher);
AUTO_DEFINE(rancher_client_free, struct rancher_client *)

/* For informers. */
/* For the options of `watches`: errors in Rancher's shapes, as requests read them by themselves. */
void rancher_read_error(int http_status, struct str body, struct error *ret_error);
struct kube_client *rancher_client_watches(struct rancher_client *rancher);
/* "/k8s/clusters/<id>": what stands before /api, /apis and /v1 of a cluster. */
struct str rancher_prefix(struct arena *arena, struct str cluster_id);

enum rancher_result {
    RANCHER_DONE,
    RANCHER_REFUSED, /* definitely without effect */
    RANCHER_UNKNOWN, /* it may have had its effect */
};

/* Borrowed for the callback. */
struct rancher_outcome {
    enum rancher_result result;
    struct str text;    /* of DONE: the Operation's name, the exact version, or the log */
    struct error error; /* of the two others */
    int64_t retry_after_ms; /* -1: Rancher did not say */
};

/* Called once, from the loop, never from within the request. */
typedef void rancher_done(void *context, const struct rancher_outcome *outcome);

/* Anything that only Rancher itself answers, and to nobody without a token. */
void rancher_ask(struct rancher_client *rancher, rancher_done *done, void *context);
/* A ClusterRepo that is there already is DONE, too. */
void rancher_ensure_repo(struct rancher_client *rancher, struct str cluster_id, struct str name,
                         struct str url, rancher_done *done, void *context);
/* Which exact version of a chart a repository gives for `version`. */
void rancher_resolve_version(struct rancher_client *rancher, struct str cluster_id,
                             struct str repo_name, struct str chart, struct str version,
                             rancher_done *done, void *context);
void rancher_upgrade(struct rancher_client *rancher, struct str cluster_id,
                     const struct wire_upgrade *upgrade, rancher_done *done, void *context);
/* A release as it was seen when it was decided what to do about it. */
struct rancher_release {
    struct str cluster_id;
    struct str namespace_;
    struct str name;
    struct str uid;    /* of its App; "" = not known, and not compared */
    struct str stack;  /* namespace/name of the Stack that asks */
    struct str stack_uid;
    uint32_t revision;
    bool stuck;        /* it is to be changed only while that revision is on its way */
};

/* Both look at the release first, as it is now: what was seen may be old by then. One that is not
 * there, that is another one of that name, or that is not stuck any more is left alone, which is
 * DONE, too: the next look decides anew. */
void rancher_uninstall(struct rancher_client *rancher, const struct rancher_release *release,
                       rancher_done *done, void *context);
/* Take away the revision that an interrupted operation left pending: the release itself if it is
 * its first one, else just that revision's Secret, so that the one before counts again. */
void rancher_remove_lock(struct rancher_client *rancher, const struct rancher_release *release,
                         rancher_done *done, void *context);
/* The pods of a release's namespace, a bounded number of them. */
void rancher_read_pods(struct rancher_client *rancher, struct str cluster_id,
                       struct str namespace_, rancher_done *done, void *context);
void rancher_read_log(struct rancher_client *rancher, struct str cluster_id,
                      struct str namespace_, struct str operation, rancher_done *done,
                      void *context);

#endif
