/* SPDX-License-Identifier: Apache-2.0 */
/* downstream.h: the clusters of the simulation that are real, and what works on them: one loop in a
 * thread of its own for requests, watches and helm's processes. */
#ifndef HERD_LAB_DOWNSTREAM_DOWNSTREAM_H
#define HERD_LAB_DOWNSTREAM_DOWNSTREAM_H

#include "lab/downstream/charts.h"
#include "lab/downstream/helm.h"
#include "lab/downstream/remote.h"

struct downstream;

struct downstream_options {
    struct str kubeconfigs; /* ID=FILE,... */
    const char *helm;       /* the program: a path, or a name that PATH has */
    const char *folder;     /* of helm's files */
    struct log *log;
    uint64_t seed;
    remote_changed *changed;
    /* A helm process ended. From the loop. */
    void (*helm_ended)(void *context, struct str cluster, struct str namespace_,
                       struct str operation);
    void *context;
};

/* With no kubeconfigs: NULL and no error, and nothing is real. */
int downstream_create(const struct downstream_options *options, struct downstream **ret_downstream,
                      struct error *err);
/* Ends helm's processes, too. Nobody may wait for an answer any more. */
void downstream_free(struct downstream *downstream);
AUTO_DEFINE(downstream_free, struct downstream *)

uint32_t downstream_count(const struct downstream *downstream);
struct remote *downstream_at(const struct downstream *downstream, uint32_t index);
/* NULL: the cluster is simulated. `downstream` may be NULL. */
struct remote *downstream_of(const struct downstream *downstream, struct str cluster);
struct charts *downstream_charts(const struct downstream *downstream);
struct helm *downstream_helm(const struct downstream *downstream);

#endif
