/* SPDX-License-Identifier: Apache-2.0 */
/* api.h: a Kubernetes-style API over the lab's store, for every cluster of the simulation.
 *
 * One `struct api` serves all clusters: the management cluster ("local") and each downstream one
 * have their own objects under one process-wide resourceVersion. Requests come by HTTP (api_handle)
 * or straight from the lab's own parts (the functions below), and pass the same path: admission is
 * called for HTTP requests only. Safe from any thread. */
#ifndef HERD_LAB_APISERVER_API_H
#define HERD_LAB_APISERVER_API_H

#include "io/http_server.h"
#include "kube/resource.h"
#include "text/value.h"

struct api;
struct findings;

struct api_options {
    const char *data_folder; /* the SQLite file lives here */
    const struct clock *clock;
    struct log *log;
    uint64_t seed;          /* of uids and generated names */
    struct str token_key;   /* a secret that signs tokens of ServiceAccounts; "" = none are given */
    struct str admin_token; /* bearer token of the administrator, "" = none */
};

struct api *api_create(const struct api_options *options, struct error *err);
void api_free(struct api *api);
AUTO_DEFINE(api_free, struct api *)

/* Webhooks that name a Service of a cluster are called at this "host:port" instead. */
void api_set_service(struct api *api, struct str namespace_, struct str name, struct str address);

/* End all watches (they see their stream close) and reject new ones: before the server is freed. */
void api_close_watches(struct api *api);

/* Who asks, as authentication found. */
struct api_caller {
    struct str user;
    struct str_list groups;
    struct str uid;            /* "" = none */
    const struct value *extra; /* what else is known: names with lists of texts; NULL = nothing */
};

/* Whose a bearer token is: the administrator's, or a ServiceAccount's of the cluster. -1: what is
 * wrong with it. */
int api_authenticate(struct api *api, struct arena *arena, struct str cluster, struct str token,
                     struct api_caller *ret_caller, struct error *err);

/* A cluster's API begins to exist, with namespaces default, kube-system, kube-public and
 * kube-node-lease, and the kinds that every cluster serves. Idempotent. */
int api_add_cluster(struct api *api, struct str cluster, struct error *err);
/* Serve a kind by CustomResourceDefinition, given as YAML or JSON. Idempotent. */
int api_add_definition(struct api *api, struct str cluster, struct str definition,
                       struct error *err);

/* Answer one request. `path` is what stands behind the cluster's prefix: "/api/v1/...". */
void api_handle(struct api *api, struct http_exchange *exchange, struct str cluster,
                struct str path, const struct api_caller *caller);

/* May the caller ask what the exchange asks? If not, that was answered. For paths that are served
 * elsewhere, such as /metrics. */
bool api_allows(struct api *api, struct http_exchange *exchange, struct str cluster,
                const struct api_caller *caller);

/* The same verbs for the lab's own parts. Objects are JSON text in the arena. Failures are those
 * that HTTP would answer with (NOT_FOUND, ALREADY_EXISTS, CONFLICT, INVALID, ...). */
int api_get(struct api *api, struct arena *arena, struct str cluster,
            const struct kube_resource *resource, struct str namespace_, struct str name,
            struct str *ret_object, struct error *err);
int api_create_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_,
                      struct str object, struct str *ret_object, struct error *err);
/* With metadata.resourceVersion: only if it is still that one. `sub_resource` "" or "status". */
int api_update_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_, struct str name,
                      struct str sub_resource, struct str object, struct str *ret_object,
                      struct error *err);
/* RFC 7386 patch, retried by itself on conflict. */
int api_merge_object(struct api *api, struct arena *arena, struct str cluster,
                     const struct kube_resource *resource, struct str namespace_, struct str name,
                     struct str sub_resource, struct str patch, struct str *ret_object,
                     struct error *err);
int api_delete_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_, struct str name,
                      struct error *err);
/* Calls `each` for every object, namespace "" = all; false from it ends the walk. */
int api_list(struct api *api, struct arena *arena, struct str cluster,
             const struct kube_resource *resource, struct str namespace_,
             bool (*each)(void *context, struct str object), void *context, struct error *err);

/* Called after every committed change, from the changing thread, with no lock held. */
void api_on_change(struct api *api,
                   void (*changed)(void *context, struct str cluster,
                                   const struct kube_resource *resource, struct str namespace_,
                                   struct str name),
                   void *context);

/* Called with every object that is about to be stored, on any thread: who is behind the API adds to
 * `found` what makes the object useless to it, and the request is rejected with that. */
void api_on_check(struct api *api,
                  void (*check)(void *context, struct str cluster,
                                const struct kube_resource *resource, const struct value *object,
                                struct findings *found),
                  void *context);

#endif
