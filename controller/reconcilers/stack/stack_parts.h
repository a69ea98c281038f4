/* SPDX-License-Identifier: Apache-2.0 */
/* stack_parts.h: what stack.c (who wakes whom) and pass.c (one reconcile) share. Internal. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_STACK_PARTS_H
#define HERD_CONTROLLER_RECONCILERS_STACK_STACK_PARTS_H

#include "controller/metrics.h"
#include "controller/reconcilers/stack/act.h"
#include "controller/reconcilers/stack/gather.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "controller/reconcilers/stack/scan_reports.h"
#include "controller/reconcilers/stack/stack.h"
#include "controller/reconcilers/stack/targets_index.h"
#include "runtime/controller.h"
#include "runtime/expectations.h"
#include "io/worker.h"
#include "runtime/informer.h"

struct pass;

struct stack_reconciler {
    struct stack_reconciler_options options;
    struct informer *stacks;
    struct clusters *clusters;
    struct backend_events backend_events;
    struct observer_events observer_events;
    struct references *references;
    struct inherited *inherited;
    struct access_cache *access_cache; /* NULL: nobody is asked */
    struct dependency_tracker *tracker;
    struct multimap *adopters;   /* namespace/release -> Stacks whose STACK_ADOPT names it */
    struct multimap *dependents; /* Stack -> those that name it in spec.dependsOn */
    struct targets_index *targets;
    struct actor *actor;
    struct scan_reports *scan_reports;
    struct kube_controller *queue; /* paused unless leading, and all Stacks were listed */
    bool leading;
    int64_t led_ms;               /* since when */
    struct loop_timer *offer;     /* capacity of clusters, now and then, to whoever waits */
    struct expectations *written; /* of Stacks, by us */
    struct status_pace *pace;
    struct pass *passes; /* under way, newest first */
    /* One is planned at a time, since a plan claims what the next one may not have. */
    struct pass *planned, *first_waiting, **waiting_end;
    struct loop_timer *go_on; /* gathering for `planned` */
    struct worker *worker;    /* makes large plans */
    struct dict *unopened;    /* ids of clusters that are about to be opened */
    struct loop_timer *open;  /* some of these */
    struct error clusters_trouble;
    struct arena *rancher_trouble; /* of these two */
    struct str rancher_trouble_reason, rancher_trouble_message;
};

/* For kube_controller_options.reconcile. */
void pass_begin(void *context, struct str key);
/* Before the first one. */
void passes_create(struct stack_reconciler *reconciler);
/* For actor_options.shown. */
struct str pass_shown(void *context, struct arena *arena, struct str key,
                      struct str secret_versions, struct str words);
/* Without an end: the clients are about to go. */
void passes_free(struct stack_reconciler *reconciler);

/* Our own write of the Stack is on its way back through the watch: until it shows, the cache is
 * older than what was acted on. */
void stack_await(struct stack_reconciler *reconciler, struct str key, struct str resource_version);
/* Whether `object` is not yet what we wrote; then its key comes back once it is. */
bool stack_is_stale(struct stack_reconciler *reconciler, const struct kube_object *object);
/* The Stack is no more: nothing is remembered of it. */
void stack_forget(struct stack_reconciler *reconciler, struct str key);

#endif
