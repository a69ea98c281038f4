/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h: the Stack reconciler: observe, plan, write the status, act.
 *
 * The status is written and acknowledged before anything that changes the clusters is sent: it says
 * what is about to be asked for, and so a controller that is killed in between finds it there. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_STACK_H
#define HERD_CONTROLLER_RECONCILERS_STACK_STACK_H

#include "base/metric.h"
#include "controller/backends/backend.h"
#include "controller/backends/observer.h"
#include "controller/clusters/clusters.h"
#include "io/log.h"
#include "runtime/cache.h"
#include "runtime/recorder.h"
#include "runtime/span_exporter.h"
#include "controller/policies.h"
#include "stack/model/configuration.h"

struct stack_reconciler;

/* All borrowed. */
struct stack_reconciler_options {
    struct loop *loop;
    struct kube_client *api;
    struct kube_client *rancher_requests; /* see struct clusters_options */
    struct kube_client *rancher_watches;
    const struct backend *backend;
    const struct observer *const *observers; /* the last one is NULL */
    struct recorder *recorder;
    struct span_exporter *spans; /* NULL: nothing is traced */
    struct log *log;
    struct metrics *metrics;
    struct str namespace_; /* follow the Stacks of this one only; "" = all */
    uint32_t workers;
    int64_t settle_ms;
    int64_t resync_ms; /* look at each Stack at least so often; 0 = only when something happens */
    uint32_t cluster_operations_max;
    struct configuration configuration; /* how Stacks are validated, to begin with */
    struct policies *policies;          /* put to stored Stacks; NULL = none */
    bool check_access;
    uint64_t seed;
    /* A Stack came, changed in what is kept of it, or went; may be NULL. */
    void (*stack_changed)(void *context, struct str key);
    /* Something about a cluster; the list of clusters was read whole. May be NULL. */
    void (*cluster_changed)(void *context, struct str id);
    void (*clusters_listed)(void *context);
    void *context;
};

/* Follows Stacks and clusters from now on; reconciles once it is resumed. */
struct stack_reconciler *stack_reconciler_create(const struct stack_reconciler_options *options);
/* Before the clients, the back end and the recorder. */
void stack_reconciler_free(struct stack_reconciler *reconciler);
AUTO_DEFINE(stack_reconciler_free, struct stack_reconciler *)

/* Validate all Stacks anew, by this. */
void stack_reconciler_configure(struct stack_reconciler *reconciler,
                                const struct configuration *configuration);
/* There are others, or they were read for the first time: until then nothing is done. */
void stack_reconciler_policies_changed(struct stack_reconciler *reconciler);
void stack_reconciler_pause(struct stack_reconciler *reconciler, bool paused);
/* Reconciles and actions under way. */
uint32_t stack_reconciler_busy(const struct stack_reconciler *reconciler);

/* The Stacks that are followed, as keep_stack keeps them. */
const struct kube_cache *stack_reconciler_stacks(const struct stack_reconciler *reconciler);
/* And the clusters. */
struct clusters *stack_reconciler_clusters(const struct stack_reconciler *reconciler);

/* What /readyz tells: "" = fine. */
struct str stack_reconciler_stacks_trouble(const struct stack_reconciler *reconciler);
struct str stack_reconciler_clusters_trouble(const struct stack_reconciler *reconciler);
/* Bring gauges, and what others count, up to date. */
/* Why Rancher gets no request until somebody helps, as every Stack that needs it is to say. A
 * reason of "" ends that, and what waited to try again tries at once. Copied. */
void stack_reconciler_rancher_trouble(struct stack_reconciler *reconciler, struct str reason,
                                      struct str message);
void stack_reconciler_measure(const struct stack_reconciler *reconciler);

#endif
