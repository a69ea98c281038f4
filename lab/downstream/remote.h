/* SPDX-License-Identifier: Apache-2.0 */
/* remote.h: a downstream cluster that is real: an API server at the end of a kubeconfig.
 *
 * Requests block their thread; changes come from watches, on the loop. */
#ifndef HERD_LAB_DOWNSTREAM_REMOTE_H
#define HERD_LAB_DOWNSTREAM_REMOTE_H

#include "io/http_client.h"
#include "kube/request.h"
#include "lab/apiserver/api.h"

struct remote;

/* An object came, changed or went. From the loop: must not block. */
typedef void remote_changed(void *context, struct str cluster, const struct kube_resource *resource,
                            struct str namespace_, struct str name, bool is_there);

struct remote_options {
    struct loop *loop; /* borrowed; remote_create and remote_free belong to its thread */
    struct str cluster;
    const char *kubeconfig; /* file */
    struct log *log;
    uint64_t seed;
    remote_changed *changed;
    void *context;
};

/* NULL: the kubeconfig cannot be used. */
struct remote *remote_create(const struct remote_options *options, struct error *err);
void remote_free(struct remote *remote);
AUTO_DEFINE(remote_free, struct remote *)

struct str remote_cluster(const struct remote *remote);
const char *remote_kubeconfig(const struct remote *remote);
/* Its version as it says it, "" while it does not answer. */
struct str remote_version(struct remote *remote, struct arena *arena);

/* 0 and the answer's body, in the arena; or -1 with what HTTP would answer with. */
int remote_call(struct remote *remote, struct arena *arena, const struct kube_request *request,
                struct str *ret_body, struct error *err);
/* Follow release Secrets, ClusterRepos and nodes from now on. Once. */
void remote_follow(struct remote *remote);

/* Hand a request on to the API server as `caller`, whom the kubeconfig's user impersonates, and its
 * answer back; a watch is streamed. `path` is what stands behind the cluster's prefix. */
void remote_forward(struct remote *remote, struct http_exchange *exchange, struct str path,
                    const struct api_caller *caller);

#endif
