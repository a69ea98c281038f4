/* stack.h: the Stack reconciler: observe, plan, write the status, act.
 *
 * The status is written and acknowledged before anything that changes the estate is sent: it says
 * what is about to be asked for, and so a controller that is killed in between finds it there. */
#ifndef HERD_CONTROLLER_RECONCILE_STACK_H
#define HERD_CONTROLLER_RECONCILE_STACK_H

#include "base/metric.h"
#include "controller/estate/rancher/estate.h"
#include "io/log.h"
#include "runtime/cache.h"
#include "runtime/recorder.h"
#include "stack/admitted.h"
#include "stack/configuration.h"

struct stack_reconciler;

/* All borrowed. */
struct stack_reconciler_options {
    struct loop *loop;
    struct kube_client *api;
    struct rancher_client *rancher;
    struct recorder *recorder;
    struct log *log;
    struct metrics *metrics;
    struct str namespace_; /* follow the Stacks of this one only; "" = all */
    uint32_t workers;
    int64_t settle_ms;
    int64_t resync_ms; /* look at each Stack at least so often; 0 = only when something happens */
    uint32_t cluster_operations_max;
    struct configuration configuration; /* how Stacks are judged, to begin with */
    const char *receipt_key_file; /* may not exist */
    enum receipts_mode receipts_mode;
    int64_t receipts_settle_ms;
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
/* Before the clients and the recorder. */
void stack_reconciler_free(struct stack_reconciler *reconciler);
AUTO_DEFINE(stack_reconciler_free, struct stack_reconciler *)

/* Judge all Stacks anew, by this. */
void stack_reconciler_configure(struct stack_reconciler *reconciler,
                                const struct configuration *configuration);
void stack_reconciler_pause(struct stack_reconciler *reconciler, bool paused);
/* Reconciles and actions under way. */
uint32_t stack_reconciler_busy(const struct stack_reconciler *reconciler);

/* The Stacks that are followed, as keep_stack keeps them. */
const struct kube_cache *stack_reconciler_stacks(const struct stack_reconciler *reconciler);
/* And the clusters. */
const struct estate *stack_reconciler_estate(const struct stack_reconciler *reconciler);

/* What /readyz tells: "" = fine. */
struct str stack_reconciler_stacks_trouble(const struct stack_reconciler *reconciler);
struct str stack_reconciler_clusters_trouble(const struct stack_reconciler *reconciler);
/* Bring gauges, and what others count, up to date. */
void stack_reconciler_measure(const struct stack_reconciler *reconciler);

#endif
