/* SPDX-License-Identifier: Apache-2.0 */
/* client.h: what Herd asks of Rancher, one function for each kind of request.
 *
 * Asynchronous, on the loop. An outcome's text is the Operation's name, the exact version, or the
 * log. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLIENT_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLIENT_H

#include "controller/backends/rancher_apps/wire.h"
#include "controller/clusters/connection.h"

struct rancher_client;

/* The requests under way, of all clusters. */
struct rancher_client *rancher_client_create(void);
/* After the connections, which cancels what is under way; contexts of requests that were, stay
 * their owners'. */
void rancher_client_free(struct rancher_client *rancher);
AUTO_DEFINE(rancher_client_free, struct rancher_client *)

/* A ClusterRepo that is there already is DONE, too. */
void rancher_ensure_repo(struct rancher_client *rancher, struct connection *connection,
                         struct str name, struct str url, request_done *done, void *context);
/* Have its index downloaded anew: `now_wall_ms` becomes its spec.forceUpdate. */
void rancher_refresh_repo(struct rancher_client *rancher, struct connection *connection,
                          struct str name, int64_t now_wall_ms, request_done *done, void *context);
/* Delete that very ClusterRepo, as it was read. One that is not there is DONE, too. */
void rancher_remove_repo(struct rancher_client *rancher, struct connection *connection,
                         struct str name, struct str uid, struct str resource_version,
                         request_done *done, void *context);
/* Which exact version of a chart a repository gives for `version`. */
void rancher_resolve_version(struct rancher_client *rancher, struct connection *connection,
                             struct str repo_name, struct str chart, struct str version,
                             request_done *done, void *context);
/* Write the mark on a release's App; one that is gone, or is another one by now, is DONE, too. */
void rancher_mark(struct rancher_client *rancher, struct connection *connection,
                  struct str namespace_, struct str name, const struct wire_mark *mark,
                  request_done *done, void *context);
/* A release as it was seen when it was decided what to do about it. */
struct rancher_release {
    struct connection *connection; /* to its cluster */
    struct str namespace_;
    struct str name;
    struct str uid;   /* of its App; "" = none was there */
    struct str stack; /* namespace/name of the Stack that asks */
    struct str stack_uid;
    uint32_t revision;
    bool stuck; /* it is to be changed only while that revision is on its way */
};

/* All three look at the release first, as it is now: what was seen may be old by then. One that was
 * changed is left alone, which is DONE, too: the next look decides anew. */

/* One that is there has the uid and the revision that were seen; if none was, none is. */
void rancher_upgrade(struct rancher_client *rancher, const struct rancher_release *release,
                     const struct wire_upgrade *upgrade, request_done *done, void *context);
/* Not of one that is not there, that is another one of that name, that is not this Stack's by mark
 * or stamp, or that is not stuck any more; nor is the lock of such a one removed. */
void rancher_uninstall(struct rancher_client *rancher, const struct rancher_release *release,
                       request_done *done, void *context);
/* Take away the revision that an interrupted operation left pending: the release itself if it is
 * its first one, else just that revision's Secret, so that the one before counts again. */
void rancher_remove_lock(struct rancher_client *rancher, const struct rancher_release *release,
                         request_done *done, void *context);
/* The pods of a release's namespace, a bounded number of them. */
void rancher_read_pods(struct rancher_client *rancher, struct connection *connection,
                       struct str namespace_, request_done *done, void *context);
void rancher_read_log(struct rancher_client *rancher, struct connection *connection,
                      struct str namespace_, struct str operation, request_done *done,
                      void *context);

#endif
