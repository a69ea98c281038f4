/* cluster_parts.h: what cluster.c, which follows a cluster, and cluster_observe.c share. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_CLUSTER_PARTS_H
#define HERD_CONTROLLER_ESTATE_RANCHER_CLUSTER_PARTS_H

#include "base/map.h"
#include "controller/estate/rancher/cluster.h"
#include "controller/multimap.h"
#include "runtime/informer.h"

enum { FOLLOWED_APPS, FOLLOWED_OPERATIONS, FOLLOWED_REPOS, FOLLOWED_COUNT };

/* An operation under way. */
struct running {
    size_t len;
    char release[]; /* namespace/name */
};

struct cluster {
    struct cluster_options options;
    char *id;
    struct informer *informers[FOLLOWED_COUNT]; /* NULL while it is not followed */
    struct multimap *apps_of_stack;             /* Stack -> namespace/name */
    struct multimap *operations_of_release;     /* namespace/name -> namespace/operation */
    struct dict *running;                       /* namespace/operation -> struct running */
    struct lookups *lookups;
    struct room *room;
    bool was_read;    /* since it is followed, */
    bool ever_read;   /* and since it was opened */
    int64_t began_ms; /* when it was followed first; -1 = never yet */
    struct loop_timer *listen;
    bool was_stale; /* as was told last */
};

#endif
