/* SPDX-License-Identifier: Apache-2.0 */
/* workload_kind.h: a kind of workload, as a row: how its spec is read, what it calls the phases,
 * and what its status says beside that of all workloads. Pure. */
#ifndef HERD_WORKLOAD_KIND_H
#define HERD_WORKLOAD_KIND_H

#include "stack/model/fields.h"
#include "workload/workload_status.h"

struct workload_kind {
    struct kube_kind kind; /* WORKLOAD_KUBE_KIND; the first member */
    const struct field_table *spec;
    const char *app;  /* app.kubernetes.io/name of what it is made into */
    const char *gpus; /* its field that says how many GPUs; NULL = the first named gpu... */
    bool measured;    /* kind_observation.measured counts */
    struct workload_phases phases;
    /* The object as a workload, with defaults; what is wrong with it goes to `problems`. It begins
     * with workload_begin. In the arena, or of the object. */
    void (*read)(const struct workload_kind *kind, struct arena *arena,
                 const struct kind_observation *seen, struct workload *ret_workload,
                 struct problems *problems);
    /* NULL = nothing. Further members of status and conditions, as kube_kind.summarize. */
    void (*summarize)(const struct workload_kind *kind, struct arena *arena,
                      const struct kind_observation *seen, const struct workload *workload,
                      const struct workload_status *status, struct json_writer *w,
                      struct kube_conditions *conditions);
};

/* The row that `kind` is the first member of. */
const struct workload_kind *workload_kind_of(const struct kube_kind *kind);

/* The kube_kind of a row: its resource (a KUBE_RESOURCE_INIT), what it is made into, the last of
 * which are claims of volumes, if there are any (claims_: 0 or 1), and pods, and the key of the
 * label that names the owner. */
#define WORKLOAD_KUBE_KIND(resource_, children_, claims_, label_)                                  \
    {                                                                                              \
        .resource = resource_, .children = children_,                                              \
        .child_count = sizeof(children_) / sizeof((children_)[0]), .watched_count = 1 + claims_,   \
        .patched_count = claims_, .label = label_, .field_manager = "herd-controller",             \
        .force = true, .render = workload_kind_render, .summarize = workload_kind_summarize        \
    }

/* Reads the object's spec into `spec`, a zeroed struct of the kind's table, with defaults; and a
 * workload that has its names and nothing else. */
struct workload workload_begin(const struct workload_kind *kind, struct arena *arena,
                               const struct kind_observation *seen, void *spec,
                               struct problems *problems);

/* For WORKLOAD_KUBE_KIND. */
void workload_kind_render(const struct kube_kind *kind, struct arena *arena,
                          const struct kind_observation *seen, struct kube_children *children,
                          struct problems *problems);
void workload_kind_summarize(const struct kube_kind *kind, struct arena *arena,
                             const struct kind_observation *seen, struct json_writer *w,
                             struct kube_conditions *conditions);

/* All of them (workload_kinds.def), in the order of enum workload_kind_id. */
enum workload_kind_id {
#define WORKLOAD_KIND(name, row, check) WORKLOAD_KIND_##name,
#include "workload/workload_kinds.def"
#undef WORKLOAD_KIND
    WORKLOAD_KIND_COUNT
};
extern const struct workload_kind *const workload_kinds[WORKLOAD_KIND_COUNT];

#endif
