/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the rows of the workload kinds: runtime/kind.h with what shared/workload decides. */
#include "controller/parts.h"
#include "controller/reconcilers/workload/listener.h"
#include "controller/reconcilers/workload/measurements.h"
#include "workload/workload_kind.h"

/* --- the load of model servers --- */

static void on_told(void *context)
{
    controller_notify(context, EVENT_MEASURED, STR(""), STR(""));
}

static void *start_measurements(void *context, uint64_t seed)
{
    struct controller *controller = context;
    const struct options *options = controller->options;
    struct error err;

    (void)seed;
    if (!options->prometheus_url.len)
        return NULL;
    controller->measurements = measurements_create(
        &(struct measurements_options){ .loop = controller->loop,
                                        .log = controller->log,
                                        .url = options->prometheus_url,
                                        .matcher = options->prometheus_matcher,
                                        .ca_pem = options->prometheus_ca,
                                        .interval_ms = options->prometheus_interval_ms,
                                        .told = on_told,
                                        .context = controller },
        &err);
    if (!controller->measurements)
        log_error(controller->log, "Prometheus cannot be asked", LOG_Z("error", err.text));
    return controller->measurements;
}

static void free_measurements(void *part)
{
    measurements_free(part);
}

const struct manager_part measurements_part = {
    .name = "measurements",
    .start = start_measurements,
    .free = free_measurements,
};

/* --- the kinds --- */

static struct json measured(void *context, struct arena *arena, struct str key)
{
    return measurements_of(((struct controller *)context)->measurements, arena, key);
}

static void notify(void *part, const struct manager_event *event)
{
    if (event->kind == EVENT_MEASURED)
        kind_reconciler_wake(part);
}

static void *start(struct controller *controller, enum workload_kind_id which, uint64_t seed)
{
    if (!controller->options->kinds[which])
        return NULL;
    return kind_reconciler_create(&(struct kind_options){
        .kind = &workload_kinds[which]->kind,
        .loop = controller->loop,
        .client = controller->connections.api,
        .log = controller->log,
        .namespace_ = controller->options->namespace_,
        .optional = !controller->options->kinds_named,
        .measured = controller->measurements && workload_kinds[which]->measured ? measured : NULL,
        .listener = &workload_listener,
        .context = controller,
        .seed = seed,
    });
}

#define WORKLOAD_KIND(id, row, check)                                                              \
    static void *start_##id(void *context, uint64_t seed)                                          \
    {                                                                                              \
        return start(context, WORKLOAD_KIND_##id, seed);                                           \
    }                                                                                              \
    const struct manager_part id##_part = {                                                        \
        .name = #id,                                                                               \
        .start = start_##id,                                                                       \
        .free = kind_reconciler_free,                                                              \
        .pause = kind_reconciler_pause,                                                            \
        .busy = kind_reconciler_busy,                                                              \
        .notify = notify,                                                                          \
        .checks = { { check, kind_reconciler_trouble, kind_reconciler_note } },                    \
    };
#include "workload/workload_kinds.def"
#undef WORKLOAD_KIND
