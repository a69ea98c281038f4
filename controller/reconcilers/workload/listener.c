/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c: see listener.h. */
#include "controller/reconcilers/workload/listener.h"

#include "controller/metrics.h"
#include "controller/parts.h"
#include "runtime/recorder.h"
#include "workload/workload_events.h"

static void count(const struct controller *controller, const struct kube_kind *kind,
                  const struct kube_object *object, double by)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored;
    struct json json;

    /* The cache's own bytes: they read back. */
    if (object && json_read(arena, str_dup(arena, kube_object_kept(object)), &json_limits_default,
                            &json, &ignored) == 0)
        metrics_add(controller->metrics, CONTROLLER_WORKLOADS,
                    (struct str[]){ kind->resource.kind,
                                    workload_phase_word(workload_kind_of(kind),
                                                        json_get(json, STR("status"))) },
                    by);
}

static void on_changed(void *context, const struct kube_kind *kind,
                       const struct kube_object *before, const struct kube_object *after)
{
    count(context, kind, before, -1);
    count(context, kind, after, 1);
}

static void on_reconciled(void *context, const struct kube_kind *kind, struct str result)
{
    metrics_add(((struct controller *)context)->metrics, CONTROLLER_WORKLOAD_RECONCILES,
                (struct str[]){ kind->resource.kind, result }, 1);
}

static void on_written(void *context, const struct kube_kind *kind, const struct kind_write *write)
{
    const struct controller *controller = context;
    bool taken = write->error->code == ERROR_NONE;
    struct kube_events events;

    metrics_add(controller->metrics, CONTROLLER_WORKLOAD_STATUS_WRITES,
                (struct str[]){ kind->resource.kind, taken ? STR("written") : STR("failed") }, 1);
    if (!taken)
        return;
    events = workload_events(write->arena, workload_kind_of(kind), write->object, write->status,
                             write->resource_version);
    for (uint32_t i = 0; i < events.count; i++)
        recorder_emit(controller->connections.recorder, &events.items[i]);
}

const struct kind_listener workload_listener = {
    .changed = on_changed,
    .reconciled = on_reconciled,
    .written = on_written,
};
