/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the rows of the workload kinds: runtime/kind.h with what shared/workload decides. */
#include "controller/parts.h"
#include "controller/reconcilers/workload/kinds.h"
#include "runtime/kind.h"
#include "workload/abi_instance.h"
#include "workload/application.h"

static void *start(struct controller *controller, enum workload_kind which,
                   const struct kube_kind *kind, uint64_t seed)
{
    if (!controller->options->kinds[which])
        return NULL;
    return kind_reconciler_create(&(struct kind_options){
        .kind = kind,
        .loop = controller->loop,
        .client = controller->connections.api,
        .log = controller->log,
        .namespace_ = controller->options->namespace_,
        .seed = seed,
    });
}

#define WORKLOAD_KIND(id, kind, check)                                                             \
    static void *start_##id(void *context, uint64_t seed)                                          \
    {                                                                                              \
        return start(context, WORKLOAD_KIND_##id, &(kind), seed);                                  \
    }                                                                                              \
    const struct manager_part id##_part = {                                                        \
        .name = #id,                                                                               \
        .start = start_##id,                                                                       \
        .free = kind_reconciler_free,                                                              \
        .pause = kind_reconciler_pause,                                                            \
        .busy = kind_reconciler_busy,                                                              \
        .checks = { { check, kind_reconciler_trouble, kind_reconciler_note } },                    \
    };
#include "controller/reconcilers/workload/kinds.def"
#undef WORKLOAD_KIND
