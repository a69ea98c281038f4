/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_parts.h: what cluster.c, which follows a cluster, and cluster_observe.c share. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLUSTER_PARTS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLUSTER_PARTS_H

#include "base/map.h"
#include "controller/backends/rancher_apps/cluster.h"
#include "controller/backends/rancher_apps/workloads.h"
#include "base/multimap.h"

enum { FOLLOWED_APPS, FOLLOWED_OPERATIONS, FOLLOWED_REPOS, FOLLOWED_COUNT };

/* An operation under way. */
struct running {
    size_t len;
    char release[]; /* namespace/name */
};

struct apps_cluster {
    struct connection *connection;
    const struct backend_events *events;
    struct collection *followed[FOLLOWED_COUNT];  /* Operations and ClusterRepos: NULL at rest */
    struct loop_timer *rest;                      /* looks whether these two are still needed */
    int64_t began_ms;                             /* when these two were begun last */
    int64_t needed_ms;                            /* when they were last */
    struct collection *workloads[WORKLOAD_KINDS]; /* NULL: no App of a Stack has one */
    uint32_t apps_of_workload[WORKLOAD_KINDS];    /* how many have */
    struct multimap *apps_of_stack;               /* Stack -> namespace/name */
    struct multimap *operations_of_release;       /* namespace/name -> namespace/operation */
    struct dict *running;                         /* namespace/operation -> struct running */
    struct dict *apps_of_repo;                    /* ClusterRepo of Herd's -> uint32_t, how many */
    struct lookups *lookups;
    struct capacity *capacity;
};

/* Whether Operations and ClusterRepos are listed. */
bool apps_cluster_knows_changes(const struct apps_cluster *cluster);

#endif
