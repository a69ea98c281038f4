/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h: one downstream cluster as its Apps, Operations and ClusterRepos tell it.
 *
 * They are followed through the cluster's connection; answers come from memory. Apps are followed
 * for as long as the cluster is open, the other two while something changes there, or is broken. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLUSTER_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLUSTER_H

#include "controller/backends/backend.h"
#include "controller/backends/rancher_apps/lookups.h"

struct apps_cluster;

/* Both are borrowed. */
struct apps_cluster *apps_cluster_create(struct connection *connection,
                                         const struct backend_events *events, uint64_t seed);
/* Before the connection. */
void apps_cluster_free(struct apps_cluster *cluster);
AUTO_DEFINE(apps_cluster_free, struct apps_cluster *)

struct connection *apps_cluster_connection(const struct apps_cluster *cluster);
struct lookups *apps_cluster_lookups(const struct apps_cluster *cluster);
struct capacity *apps_cluster_capacity(const struct apps_cluster *cluster);
/* See struct backend. */
void apps_cluster_offer_capacity(struct apps_cluster *cluster, uint32_t operations_max,
                                 int64_t now_ms, void (*wake)(void *context, struct str stack),
                                 void *context);
bool apps_cluster_prepare(struct apps_cluster *cluster, struct str stack);
/* Time passes (monotonic): Operations and ClusterRepos that nobody needs any more are let go. True:
 * they are followed still. It is called by itself, too, every LIMIT_CHANGES_IDLE. */
bool apps_cluster_rest(struct apps_cluster *cluster, int64_t now_ms);
int64_t apps_cluster_observe(struct apps_cluster *cluster, struct arena *arena,
                             const struct backend_question *question, int64_t now_ms,
                             struct observed_cluster *ret_cluster);
/* The Stack waited for an answer that is there now. For lookups_end. */
void apps_cluster_tell_waiter(void *cluster, struct str stack);

#endif
