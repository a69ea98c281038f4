/* SPDX-License-Identifier: Apache-2.0 */
/* observer.h: what reports how releases fare once they run: security scans, metrics.
 *
 * The back end (backend.h) delivers releases; each observer adds to what was observed of them.
 * Which observers there are, only main.c knows. An observer keeps something of each cluster that is
 * open, asks there by itself, at intervals, through the cluster's connection, for as long as a
 * Stack wants it, and answers from memory. It never guesses: what nobody reported is not observed,
 * and a number that was reported stands until another one is, with its time.
 *
 * A scan on its way: a pass of a Stack with security enabled observes cluster c; the observer notes
 * that the Stack's releases there are wanted, and gives what it knows: nothing yet. By its own
 * timer it asks c's NeuVector, joins the answer with the pods of the wanted releases, and calls
 * `stack_changed`; the pass that follows gets the figures, and the plan makes status and condition
 * of them. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVER_H
#define HERD_CONTROLLER_BACKENDS_OBSERVER_H

#include "controller/clusters/connection.h"
#include "stack/model/observed.h"

/* Called from the loop, never from within a function of the observer. */
struct observer_events {
    /* The next pass of that Stack would get another answer. */
    void (*stack_changed)(void *context, struct str stack);
    void *context;
};

struct observer {
    /* Something of the Stacks wants that cluster. `events` is borrowed until `close`. */
    void (*open)(void *context, struct connection *connection,
                 const struct observer_events *events);
    /* Drop all that is kept of it, and what is under way; id "" = of all that are open. */
    void (*close)(void *context, struct str cluster_id);
    /* A pass of the Stack `key`, on a cluster that is read, whose releases are filled in: add to
     * those that are the Stack's (observed_release_is_of), and to the cluster, what was reported.
     * What is asked for there from now on is what this Stack wants, by `stack`: each pass says it
     * anew. Everything that is given is in the arena. */
    void (*observe)(void *context, struct str cluster_id, struct arena *arena, struct str key,
                    const struct stack *stack, int64_t now_ms,
                    struct observed_cluster *ret_cluster);
    /* The Stack is gone: it wants nothing any more, anywhere. */
    void (*forget)(void *context, struct str key);
    /* The process ends: ask nothing more, and end what others would keep, such as sessions. These
     * two may be NULL. */
    void (*rest)(void *context);
    /* Whether the process should wait for that a moment longer. */
    bool (*is_busy)(const void *context);
    void *context;
};

#endif
