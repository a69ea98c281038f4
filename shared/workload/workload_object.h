/* SPDX-License-Identifier: Apache-2.0 */
/* workload_object.h: an object of a kind of workload, as admission and policies look at it.
 * Pure. */
#ifndef HERD_WORKLOAD_OBJECT_H
#define HERD_WORKLOAD_OBJECT_H

#include "kube/meta.h"
#include "stack/model/spec_change.h"
#include "workload/workload_kind.h"

/* Its environment: what spec.env is to a Stack. */
#define WORKLOAD_ENV_LABEL "herd.suse.com/env"

struct workload_object {
    const struct workload_kind *kind;
    struct kube_meta meta;
    struct spec_form spec; /* of kind->spec, with defaults */
    struct workload workload;
};

/* As herd-controller reads it: what is denied here keeps it from running, whatever an admission
 * says. In the arena, or of `object`. `patch` gets the RFC 6902 text of the defaults, as
 * stack_default says; NULL = nobody asks. A name that the API server has yet to make of
 * generateName counts as it will be. */
const struct workload_object *workload_object_read(struct arena *arena,
                                                   const struct workload_kind *kind,
                                                   struct json object, struct problems *problems,
                                                   struct str *ret_patch);

/* Where an object of the kind says "image", "resources" or the like: its first field
 * whose name begins so, under `spec`; `spec` itself if there is none. */
struct path workload_field(const struct workload_kind *kind, const char *begin,
                           const struct path *spec);
/* The same for the number of GPUs. */
struct path workload_gpu_field(const struct workload_kind *kind, const struct path *spec);

/* With all the pods that an autoscaler may make. */
int64_t workload_replicas_most(const struct workload *workload);

/* The kind of a resource; NULL: it is none. */
const struct workload_kind *workload_kind_find(const struct kube_resource *resource);

#endif
