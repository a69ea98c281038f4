/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the row of PolicyReports, and of the status of StackPolicies. */
#include "controller/parts.h"
#include "controller/reconcilers/policy_report/audit.h"

static bool stacks_are_known(void *context)
{
    const struct controller *controller = context;

    return stack_reconciler_stacks_trouble(controller->stacks).len == 0;
}

static void *start(void *context, uint64_t seed)
{
    struct controller *controller = context;
    const struct options *options = controller->options;

    if (!options->policy_audit)
        return NULL;
    return audit_create(&(struct audit_options){
        .loop = controller->loop,
        .api = controller->connections.api,
        .log = controller->log,
        .metrics = controller->metrics,
        .policies = controller->policies,
        .stacks = stack_reconciler_stacks(controller->stacks),
        .stacks_known = stacks_are_known,
        .context = controller,
        .namespace_ = options->namespace_,
        .seed = seed,
    });
}

static void free_audit(void *audit)
{
    audit_free(audit);
}

static void pause_audit(void *audit, bool paused)
{
    audit_pause(audit, paused);
}

static void hear(void *audit, const struct manager_event *event)
{
    switch ((enum controller_event)event->kind) {
    case EVENT_STACK_CHANGED:
        audit_stack_changed(audit, event->name);
        return;
    case EVENT_POLICIES_CHANGED:
        audit_policies_changed(audit);
        return;
    case EVENT_POLICY_CHANGED:
        audit_policy_changed(audit, event->name);
        return;
    case EVENT_CLUSTER_CHANGED:
    case EVENT_CLUSTERS_LISTED:
    case EVENT_RANCHER_TROUBLE:
    case EVENT_MEASURED:
    case EVENT_CONFIGURED:
        return;
    }
}

const struct manager_part policy_report_part = {
    .name = "policy_report",
    .start = start,
    .free = free_audit,
    .pause = pause_audit,
    .notify = hear,
};
