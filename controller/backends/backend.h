/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h: what delivers releases to clusters: actions of a plan in, observed releases out.
 *
 * The reconciler of Stacks knows clusters, connections and this; which back end it is, only main.c
 * knows. A back end keeps something of each cluster that is open: it follows what it needs through
 * the cluster's connection, and answers from memory.
 *
 * What a back end cannot do, it says by what it observes, and the plan never asks for that: without
 * logs of operations each is `log_read`, without pods `pods_read`; releases that carry their stamp
 * themselves are `marked`; where charts need no repository each is REPO_READY and has no version to
 * resolve. `actions` says the same to whoever reads the code, and is asserted. */
#ifndef HERD_CONTROLLER_BACKENDS_BACKEND_H
#define HERD_CONTROLLER_BACKENDS_BACKEND_H

#include "controller/backends/capacity.h"
#include "controller/clusters/connection.h"
#include "stack/plan/plan.h"

/* Called from the loop. */
struct backend_events {
    /* Something about one release: its namespace/name. */
    void (*release_changed)(void *context, struct str release);
    /* A release that says it is that Stack's came, changed or went; or what the Stack waits for was
     * answered. */
    void (*stack_changed)(void *context, struct str stack);
    /* Something that concerns all that use the cluster, beside what its connection tells. */
    void (*cluster_changed)(void *context, struct str id);
    /* An operation ended: there is capacity for another one. */
    void (*capacity_freed)(void *context, struct str id);
    void *context;
};

/* What a Stack wants to know of a cluster. */
struct backend_question {
    struct str stack;                  /* its key */
    struct str_list releases;          /* namespace/name of those that are to be, or were */
    struct str_list repos;             /* URLs, without trailing slash */
    struct observed_versions versions; /* repo, chart and version to fill in */
    bool asked;  /* something was asked for there, and its outcome is not known */
    bool leaves; /* it is told of repositories of Herd's that no release there comes from, too */
};

/* One action of a plan. Everything is read before `act` returns. */
struct backend_order {
    struct str cluster_id;
    struct str key; /* of the Stack that asks */
    const struct stack *stack;
    const struct action *action;
    int64_t now_wall_ms;
};

struct backend {
    uint32_t actions; /* of each enum action_kind that it carries out, 1 << kind */
    /* Keep what is needed of that cluster from now on. `events` is borrowed until `close`. */
    void (*open)(void *context, struct connection *connection, const struct backend_events *events);
    /* Drop all that was followed there; id "" = of all that are open. */
    void (*close)(void *context, struct str cluster_id);
    /* Fill releases, operations, repos and versions of `ret_cluster`, of a cluster that is read.
     * Operations and repositories are what changes need: where they are not read, because nothing
     * changed for a while, `unlisted_message` says so; and where what is observed cannot be
     * understood without them the state is NOT_SYNCED, and reading them begins.
     * Gives when a remembered failure ends (monotonic), or -1. Everything is in the arena. */
    int64_t (*observe)(void *context, struct str cluster_id, struct arena *arena,
                       const struct backend_question *question, int64_t now_ms,
                       struct observed_cluster *ret_cluster);
    /* The Stack would change something there: read what `unlisted_message` says is missing. It is
     * told that there is capacity once that is read. True: reading begins now. May be NULL, where
     * nothing is ever missing. */
    bool (*prepare)(void *context, struct str cluster_id, struct str stack);
    /* False: nothing is sent, because the same is asked already, or may not be asked yet. Else
     * `done` is called once, though not after the back end or the connection is freed. */
    bool (*act)(void *context, const struct backend_order *order, request_done *done,
                void *done_context);
    /* These two may be NULL, where operations take no capacity of a cluster. */
    /* Who may begin an operation there; NULL: it is not open. */
    struct capacity *(*capacity)(void *context, struct str cluster_id);
    /* Call `wake(wake_context, stack)` for as many of those who wait for capacity as there is, if
     * at most `operations_max` may be under way; id "" = on all that are open. */
    void (*offer_capacity)(void *context, struct str cluster_id, uint32_t operations_max,
                           int64_t now_ms, void (*wake)(void *context, struct str stack),
                           void *wake_context);
    void *context;
};

#endif
