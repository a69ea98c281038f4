/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c: the table of parts, and those that reconcilers share. */
#include "controller/parts.h"

#include "controller/metrics.h"
#include "workload/abi_instance.h"
#include "workload/application.h"

#define PART(name) &name##_part,
const struct manager_part *const controller_parts[] = {
#include "controller/parts.def"
};
#undef PART
const uint32_t controller_part_count = sizeof(controller_parts) / sizeof(controller_parts[0]);

void controller_notify(const struct controller *controller, enum controller_event kind,
                       struct str name, struct str message)
{
    manager_notify(controller->manager, &(struct manager_event){ kind, name, message });
}

/* --- Rancher: is it there, and does it take the token? --- */

static void on_token_changed(void *context, struct str reason, struct str message)
{
    controller_notify(context, EVENT_RANCHER_TROUBLE, reason, message);
}

static void *start_rancher(void *context, uint64_t seed)
{
    struct controller *controller = context;
    const struct options *options = controller->options;
    struct connections *connections = &controller->connections;

    connections->rancher_probe = rancher_probe_create(&(struct rancher_probe_options){
        .loop = controller->loop,
        .login = connections->rancher_login,
        .recorder = connections->recorder,
        .log = controller->log,
        .metrics = controller->metrics,
        .server = options->rancher.server,
        .token_file = options->rancher.token_file,
        .token_changed = on_token_changed,
        .context = controller,
        .pod_namespace = options->lease_namespace,
        .pod_name = options->pod_name,
        .pod_uid = options->pod_uid,
        .seed = seed,
    });
    return connections->rancher_probe; /* freed with the connections */
}

static void pause_rancher(void *probe, bool paused)
{
    if (!paused)
        rancher_probe_publish(probe);
}

/* Rancher's trouble keeps nobody from being ready: another replica would have it, too. But who
 * waits for this one to be ready learns of it in time. A token that only somebody else can renew
 * does keep it from being ready. */
static struct str rancher_trouble(const void *probe)
{
    if (!rancher_probe_is_known(probe))
        return STR("Rancher has not answered yet");
    return rancher_probe_needs_token(probe) ? rancher_probe_trouble(probe) : STR("");
}

static struct str rancher_note(const void *probe)
{
    return rancher_probe_trouble(probe);
}

const struct manager_part rancher_part = {
    .name = "rancher",
    .start = start_rancher,
    .pause = pause_rancher,
    .checks = { { "rancher", rancher_trouble, rancher_note } },
};

/* --- the configuration --- */

static void *start_configuration(void *context, uint64_t seed)
{
    struct controller *controller = context;

    (void)seed;
    controller->configured_teller = (struct configured_teller){
        .log = controller->log,
        .metrics = controller->metrics,
        .reloads = CONTROLLER_CONFIGURATION_RELOADS,
        .rejected = CONTROLLER_CONFIGURATION_REJECTED,
        .health = manager_health(controller->manager),
        .check = manager_check_of(controller->manager, "configuration"),
    };
    configured_tell(controller->configured, &controller->configured_teller);
    return controller;
}

static void look_for_configuration(void *part)
{
    struct controller *controller = part;

    if (configured_look(controller->configured, &controller->configured_teller))
        controller_notify(controller, EVENT_CONFIGURED, STR(""), STR(""));
}

const struct manager_part configuration_part = {
    .name = "configuration",
    .start = start_configuration,
    .tick = look_for_configuration,
    .checks = { { .name = "configuration" } },
};

/* --- StackPolicies --- */

static void on_policies_changed(void *context)
{
    controller_notify(context, EVENT_POLICIES_CHANGED, STR(""), STR(""));
}

static void on_policy_changed(void *context, struct str policy)
{
    controller_notify(context, EVENT_POLICY_CHANGED, policy, STR(""));
}

static void *start_policies(void *context, uint64_t seed)
{
    struct controller *controller = context;

    controller->policies = policies_create(&(struct policies_options){
        .loop = controller->loop,
        .api = controller->connections.api,
        .log = controller->log,
        .seed = seed,
        .changed = on_policies_changed,
        .one_changed = on_policy_changed,
        .context = controller,
    });
    return controller->policies;
}

static void free_policies(void *policies)
{
    policies_free(policies);
}

static void notify_policies(void *policies, const struct manager_event *event)
{
    if (event->kind == EVENT_CLUSTER_CHANGED || event->kind == EVENT_CLUSTERS_LISTED)
        policies_clusters_changed(policies);
}

const struct manager_part policies_part = {
    .name = "policies",
    .start = start_policies,
    .free = free_policies,
    .notify = notify_policies,
};

/* --- the console --- */

static bool is_reconciled(const struct options *options, const struct crd *crd)
{
    for (int which = 0; which < WORKLOAD_KIND_COUNT; which++) {
        const struct kube_resource *resource = &workload_kinds[which]->kind.resource;

        if (str_eq(resource->plural, str_of(crd->plural)) &&
            str_eq(resource->group, str_of(crd->group)))
            return options->kinds[which];
    }
    return !crd->workload;
}

int controller_open_console(struct controller *controller, uint64_t seed, struct error *err)
{
    struct console_kinds kinds = { .count = 0 };

    if (!controller->options->console.is_on)
        return 0;
    for (const struct crd *crd = crds; crd->kind; crd++)
        if (is_reconciled(controller->options, crd))
            console_kinds_add(&kinds, crd);
    controller->console =
        console_create(&(struct console_options){ .settings = &controller->options->console,
                                                  .api = &controller->options->api,
                                                  .client = controller->connections.api,
                                                  .health = manager_health(controller->manager),
                                                  .metrics = controller->metrics,
                                                  .log = controller->log,
                                                  .kinds = &kinds,
                                                  .namespace_ = controller->options->namespace_,
                                                  .seed = seed,
                                                  .on_request = connections_count_api_request,
                                                  .on_request_context = &controller->connections },
                       err);
    return controller->console ? 0 : -1;
}

static void *start_console(void *context, uint64_t seed)
{
    const struct controller *controller = context;

    (void)seed;
    return controller->console;
}

static void free_console(void *console)
{
    console_free(console);
}

/* It serves on every replica, and ends with the process. */
static void pause_console(void *console, bool paused)
{
    if (paused)
        console_stop(console);
}

static uint32_t console_is_busy(const void *console)
{
    return console_busy(console);
}

static void tick_console(void *console)
{
    console_tick(console);
}

const struct manager_part console_part = {
    .name = "console",
    .start = start_console,
    .free = free_console,
    .pause = pause_console,
    .busy = console_is_busy,
    .tick = tick_console,
};
