/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the Stack reconciler's row: what it starts with, what it hears and what it tells. */
#include "controller/parts.h"
#include "controller/reconcilers/stack/stack.h"

static void on_stack_changed(void *context, struct str key)
{
    controller_notify(context, EVENT_STACK_CHANGED, key, STR(""));
}

static void on_cluster_changed(void *context, struct str id)
{
    controller_notify(context, EVENT_CLUSTER_CHANGED, id, STR(""));
}

static void on_clusters_listed(void *context)
{
    controller_notify(context, EVENT_CLUSTERS_LISTED, STR(""), STR(""));
}

static void *start(void *context, uint64_t seed)
{
    struct controller *controller = context;
    const struct options *options = controller->options;

    controller->stacks = stack_reconciler_create(&(struct stack_reconciler_options){
        .loop = controller->loop,
        .api = controller->connections.api,
        .rancher_requests = controller->connections.rancher_requests,
        .rancher_watches = controller->connections.rancher_watches,
        .backend = controller->backend,
        .observers = controller->observers,
        .recorder = controller->connections.recorder,
        .spans = controller->spans,
        .log = controller->log,
        .metrics = controller->metrics,
        .namespace_ = options->namespace_,
        .workers = options->workers,
        .settle_ms = options->settle_ms,
        .resync_ms = options->resync_ms,
        .cluster_operations_max = options->cluster_operations,
        .configuration = configured_take(controller->configured),
        .policies = controller->policies,
        .check_access = options->check_access,
        .seed = seed,
        .stack_changed = on_stack_changed,
        .cluster_changed = on_cluster_changed,
        .clusters_listed = on_clusters_listed,
        .context = controller,
    });
    policies_use_clusters(controller->policies, stack_reconciler_clusters(controller->stacks));
    return controller;
}

static struct stack_reconciler *stacks_of(const void *part)
{
    return ((const struct controller *)part)->stacks;
}

static void free_stacks(void *part)
{
    stack_reconciler_free(stacks_of(part));
}

static void pause_stacks(void *part, bool paused)
{
    stack_reconciler_pause(stacks_of(part), paused);
}

static uint32_t busy(const void *part)
{
    return stack_reconciler_busy(stacks_of(part));
}

static void measure(void *part)
{
    stack_reconciler_measure(stacks_of(part));
}

static void hear(void *part, const struct manager_event *event)
{
    struct stack_reconciler *stacks = stacks_of(part);
    struct configuration now;

    switch ((enum controller_event)event->kind) {
    case EVENT_POLICIES_CHANGED:
        stack_reconciler_policies_changed(stacks);
        return;
    case EVENT_RANCHER_TROUBLE:
        stack_reconciler_rancher_trouble(stacks, event->name, event->message);
        return;
    case EVENT_CONFIGURED:
        now = configured_take(((struct controller *)part)->configured);
        stack_reconciler_configure(stacks, &now);
        return;
    case EVENT_MEASURED:
    case EVENT_STACK_CHANGED:
    case EVENT_CLUSTER_CHANGED:
    case EVENT_CLUSTERS_LISTED:
    case EVENT_POLICY_CHANGED:
        return;
    }
}

static struct str stacks_trouble(const void *part)
{
    return stack_reconciler_stacks_trouble(stacks_of(part));
}

static struct str clusters_trouble(const void *part)
{
    return stack_reconciler_clusters_trouble(stacks_of(part));
}

const struct manager_part stack_part = {
    .name = "stack",
    .start = start,
    .free = free_stacks,
    .pause = pause_stacks,
    .busy = busy,
    .tick = measure,
    .notify = hear,
    .checks = { { "stacks", stacks_trouble, NULL }, { "clusters", clusters_trouble, NULL } },
};
