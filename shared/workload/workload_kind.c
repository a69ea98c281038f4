/* SPDX-License-Identifier: Apache-2.0 */
/* workload_kind.c: see workload_kind.h. */
#include "workload/workload_kind.h"

#include "kube/meta.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "workload/abi_instance.h"
#include "workload/application.h"
#include "workload/model_server.h"

const struct workload_kind *const workload_kinds[WORKLOAD_KIND_COUNT] = {
#define WORKLOAD_KIND(name, row, check) &(row),
#include "workload/workload_kinds.def"
#undef WORKLOAD_KIND
};

const struct workload_kind *workload_kind_of(const struct kube_kind *kind)
{
    return (const struct workload_kind *)kind;
}

struct workload workload_begin(const struct workload_kind *kind, struct arena *arena,
                               const struct kind_observation *seen, void *spec,
                               struct problems *problems)
{
    struct kube_meta meta;

    kube_meta_read(seen->object, &meta);
    object_decode(arena, seen->object, &kind->kind.resource, kind->spec, spec, problems);
    object_default(arena, kind->spec, spec);
    workload_check_name(arena, meta.name, problems);
    return (struct workload){ .name = meta.name,
                              .app = str_of(kind->app),
                              .label = str_of(kind->kind.label),
                              .label_value = meta.name,
                              .controller = WORKLOAD_DEPLOYMENTS,
                              .env = workload_envs_new(arena, 8),
                              .ports = workload_ports_new(arena, 3) };
}

void workload_kind_render(const struct kube_kind *kind, struct arena *arena,
                          const struct kind_observation *seen, struct kube_children *children,
                          struct problems *problems)
{
    struct workload workload = { 0 };

    workload_kind_of(kind)->read(workload_kind_of(kind), arena, seen, &workload, problems);
    workload_check_repeated(arena, &workload, problems);
    workload_check_volumes(arena, &workload, seen, problems);
    workload_render(arena, &workload, seen, children);
}

void workload_kind_summarize(const struct kube_kind *kind, struct arena *arena,
                             const struct kind_observation *seen, struct json_writer *w,
                             struct kube_conditions *conditions)
{
    const struct workload_kind *row = workload_kind_of(kind);
    struct problems ignored = problems_new(arena);
    struct workload workload = { 0 };
    struct workload_status status;

    row->read(row, arena, seen, &workload, &ignored);
    status = workload_summarize(arena, seen, &workload, &row->phases, w, conditions);
    if (row->summarize)
        row->summarize(row, arena, seen, &workload, &status, w, conditions);
}
