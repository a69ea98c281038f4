/* SPDX-License-Identifier: Apache-2.0 */
/* round.h: one round of questions to a cluster about its monitoring, asked one after the other. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_ROUND_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_ROUND_H

#include "controller/backends/observability/known.h"
#include "controller/clusters/connection.h"

/* The rounds under way, of all clusters. */
struct rounds;

struct rounds *rounds_create(void);
/* After the connections, which cancels what is under way. */
void rounds_free(struct rounds *rounds);

struct round_options {
    struct connection *connection;
    const struct known *before;
    bool looks;                        /* for back ends; else they are those of `before` */
    const struct str_list *namespaces; /* of the samples; read before round_begin returns */
    /* What is to be there, if this Prometheus is: asked in rounds that look. */
    void (*add_upkeep)(void *context, const struct wire_prometheus *prometheus,
                       struct upkeep *upkeep);
    /* Called once, from the loop, never from within round_begin. `known` is the callee's now;
     * `samples` is NULL if there are none to be had. */
    void (*done)(void *context, struct known *known, const struct sample_index *samples);
    void *context;
};

struct round *round_begin(struct rounds *rounds, const struct round_options *options);
/* Nobody waits for it any more: `done` is not called. NULL is none. */
void round_abandon(struct round *round);

#endif
