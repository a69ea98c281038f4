/* stack_parts.h: what stack.c (who wakes whom) and pass.c (one reconcile) share. Internal. */
#ifndef HERD_CONTROLLER_RECONCILE_STACK_PARTS_H
#define HERD_CONTROLLER_RECONCILE_STACK_PARTS_H

#include "controller/metrics.h"
#include "controller/reconcile/act.h"
#include "controller/reconcile/gather.h"
#include "controller/reconcile/kept_stack.h"
#include "controller/reconcile/stack.h"
#include "runtime/controller.h"
#include "runtime/informer.h"

struct pass;

struct stack_reconciler {
    struct stack_reconciler_options options;
    struct informer *stacks;
    struct estate *estate;
    struct references *references;
    struct receipts *receipts;
    struct accesses *accesses; /* NULL: nobody is asked */
    struct interests *interests;
    struct actor *actor;
    struct kube_controller *queue; /* paused unless leading, and all Stacks were listed */
    bool leading;
    struct loop_timer *offer; /* room on clusters, now and then, to whoever waits */
    struct dict *awaited; /* Stack -> struct awaited */
    struct pass *passes;  /* under way, newest first */
    struct error clusters_trouble;
};

/* For kube_controller_options.reconcile. */
void pass_begin(void *context, struct str key);
/* For actor_options.shown. */
struct str pass_shown(void *context, struct arena *arena, struct str key, struct str chart_name,
                      struct str secret_versions, struct str words);
/* Without an end: the clients are about to go. */
void passes_free(struct stack_reconciler *reconciler);

/* Our own write of the Stack is on its way back through the watch: until it shows, the cache is
 * older than what was acted on. */
void stack_await(struct stack_reconciler *reconciler, struct str key,
                 struct str resource_version);
/* Whether `object` is not yet what we wrote; then its key comes back once it is. */
bool stack_is_stale(struct stack_reconciler *reconciler, const struct kube_object *object);
/* The Stack is no more: nothing is remembered of it. */
void stack_forget(struct stack_reconciler *reconciler, struct str key);

#endif
