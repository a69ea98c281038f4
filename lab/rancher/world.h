/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: what is in the clusters of the simulation, whether simulated or real: objects as the API
 * has them, and what Helm and Rancher left there. */
#ifndef HERD_LAB_RANCHER_WORLD_H
#define HERD_LAB_RANCHER_WORLD_H

#include "base/error.h"
#include "kube/resource.h"
#include "lab/rancher/release.h"
#include "lab/rancher/step.h"

struct simulation;

/* ---- world_api.c: objects of any cluster, as api.h has them for the simulated ones */

int world_get(struct simulation *simulation, struct arena *arena, struct str cluster,
              const struct kube_resource *resource, struct str namespace_, struct str name,
              struct str *ret_object, struct error *err);
int world_create(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str object,
                 struct str *ret_object, struct error *err);
/* `object` has the resourceVersion that it replaces. */
int world_update(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str name,
                 struct str object, struct str *ret_object, struct error *err);
int world_merge(struct simulation *simulation, struct arena *arena, struct str cluster,
                const struct kube_resource *resource, struct str namespace_, struct str name,
                struct str sub_resource, struct str patch, struct str *ret_object,
                struct error *err);
int world_delete(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str name,
                 struct error *err);
int world_list(struct simulation *simulation, struct arena *arena, struct str cluster,
               const struct kube_resource *resource, struct str namespace_,
               bool (*each)(void *context, struct str object), void *context, struct error *err);

/* ---- world.c: what Helm and Rancher left in a cluster */

struct revision {
    int64_t number;
    enum release_status status;
    struct str operation;
    struct str secret; /* the whole object */
};

LIST_DEFINE(revisions, struct revision)

/* Newest first. */
struct revisions world_history(struct simulation *simulation, struct arena *arena,
                               struct str cluster, struct str namespace_, struct str release);
void world_hint(struct simulation *simulation, struct str cluster, struct str namespace_,
                struct str release, int64_t revision, bool is_there);
/* Store a revision: a new Secret, or what changed in one that is there. */
int world_store_release(struct simulation *simulation, struct arena *arena, struct str cluster,
                        const struct release *release, bool is_new, struct error *err);
void world_remove_release(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct str namespace_, struct str release, int64_t revision);
/* Make, bring up to date or remove the App of a release. */
void world_sync_app(struct simulation *simulation, struct arena *arena, struct str cluster,
                    struct str namespace_, struct str release);
/* Look through a whole cluster once, at start: hints, Apps, operations under way, repositories. */
void world_scan(struct simulation *simulation, struct arena *arena, struct str cluster);
bool world_fits(struct simulation *simulation, struct arena *arena, const struct task *task);
/* Deployment and pods of a release, or their end. */
void world_workload(struct simulation *simulation, struct arena *arena, const struct task *task,
                    bool ready);
void world_remove_workload(struct simulation *simulation, struct arena *arena,
                           const struct task *task);
int world_make_namespace(struct simulation *simulation, struct arena *arena, struct str cluster,
                         struct str name, struct error *err);
/* create, and if it is there already, leave it. */
int world_ensure(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str object,
                 struct error *err);
/* True while this thread writes as the simulation itself, which needs no echo. */
bool world_is_own_write(void);

#endif
