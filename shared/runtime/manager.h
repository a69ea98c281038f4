/* SPDX-License-Identifier: Apache-2.0 */
/* manager.h: the parts of a controller's process: started, resumed on leadership, watched, stopped.
 *
 * A part is a reconciler, or something that reconcilers share. It registers itself as a row; the
 * manager does for all of them what they have in common:
 *
 *   start       in the order of the rows, each paused
 *   lead        the Lease is held: each is resumed, in the same order
 *   lost        the Lease is lost: each is paused and the process ends, for another replica acts
 *   signal      /readyz fails, each is paused, requests under way are awaited for a moment, the
 *               Lease is released, the process ends; a second signal ends it at once
 *   every second  `tick` of each, its checks for /readyz, and the heartbeat for /healthz
 *
 * Everything happens on the loop. */
#ifndef HERD_RUNTIME_MANAGER_H
#define HERD_RUNTIME_MANAGER_H

#include "io/log.h"
#include "runtime/health.h"
#include "runtime/leader.h"

struct manager;

/* What happened in one part and concerns others; the program says what `kind` means. */
struct manager_event {
    int kind;
    struct str name, message; /* borrowed for the call */
};

enum { MANAGER_CHECKS_MAX = 2 };

/* A line of /readyz. A part that sets it itself (manager_health) leaves both functions out. */
struct manager_check {
    const char *name;                        /* NULL behind the last */
    struct str (*trouble)(const void *part); /* "" = fine */
    struct str (*note)(const void *part);    /* for people, when it is ready all the same */
};

/* All but `name` and `start` may be NULL. */
struct manager_part {
    const char *name;
    /* NULL: not asked for; its other functions are never called, and its checks are fine. */
    void *(*start)(void *context, uint64_t seed);
    void (*free)(void *part); /* in reverse order of the start */
    void (*pause)(void *part, bool paused);
    uint32_t (*busy)(const void *part); /* requests under way that a stop should wait for */
    void (*tick)(void *part);           /* bring gauges up to date, look at what tells nobody */
    void (*notify)(void *part, const struct manager_event *event);
    struct manager_check checks[MANAGER_CHECKS_MAX];
};

/* All borrowed. */
struct manager_options {
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    uint32_t leader_gauge; /* of `metrics`: 1 while this process leads */
    const struct manager_part *const *parts;
    uint32_t part_count;
    void *context; /* of `start` */
    uint64_t seed;
    struct str identity; /* of this replica */
};

/* Starts nothing. */
struct manager *manager_create(const struct manager_options *options);
/* Frees the parts; before the clients that they use. */
void manager_free(struct manager *manager);
AUTO_DEFINE(manager_free, struct manager *)

/* Serve probes and metrics, with the checks of all parts as "starting". -1: the port is taken. */
int manager_listen(struct manager *manager, const char *host, uint16_t port, struct error *err);
struct health *manager_health(const struct manager *manager);
/* Its number, for health_set and health_note. The check exists. */
uint32_t manager_check_of(const struct manager *manager, const char *name);

/* Start the parts and run the loop to the end; the exit code. `lease` NULL: there is no other
 * replica, and this one leads at once. `began`, `lost` and `context` of it are not used. */
int manager_run(struct manager *manager, const struct leader_options *lease);

/* The fence, for kube_client_options.may_write; `manager` is the context. */
bool manager_may_write(void *manager);
/* Tell every part that was started and wants to hear. */
void manager_notify(struct manager *manager, const struct manager_event *event);

#endif
