/* SPDX-License-Identifier: Apache-2.0 */
/* references.h: the ConfigMaps and Secrets that Stacks name, each followed by itself.
 *
 * Each object is read by its name (metadata.name=...): only the Stacks that name it hear of it, and
 * nothing of other objects than their metadata is read. Where a namespace has many, one watch of
 * its metadata tells of their changes; without the right to that each has a watch of its own. An
 * object that was read once keeps its last content while it cannot be read. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_REFERENCES_H
#define HERD_CONTROLLER_RECONCILERS_STACK_REFERENCES_H

#include "controller/dependency_tracker.h"
#include "runtime/client.h"
#include "stack/model/values.h"

struct references;

struct references_options {
    struct kube_client *api;
    uint64_t seed;
    void (*changed)(void *context, enum tracked_kind kind, struct str name);
    void *context;
};

struct references *references_create(const struct references_options *options);
void references_free(struct references *references);
AUTO_DEFINE(references_free, struct references *)

/* `kind` is TRACKED_CONFIG_MAP or TRACKED_SECRET; `name` is namespace/name. */
void references_open(struct references *references, enum tracked_kind kind, struct str name);
void references_close(struct references *references, enum tracked_kind kind, struct str name);

struct reference_found {
    enum reference_state state;
    struct str text;
    struct str version; /* of READ: "uid/resourceVersion" */
};
/* All in the arena, which from then on is one that keeps secrets if it is a Secret. */
struct reference_found references_read(const struct references *references, struct arena *arena,
                                       enum tracked_kind kind, struct str name, struct str key);
size_t references_count(const struct references *references);

#endif
