/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h: a reconciler for a kind whose objects are made into other objects.
 *
 * A row says what the kind is and how an object of it is rendered; all else is done here, once for
 * all such kinds: following it, one reconcile at a time for each object, children applied and
 * pruned (runtime/children.h), status written when it differs, retries.
 *
 *   status.observedGeneration   the generation that the rest is about
 *   status.children             how many are desired, and how many applied
 *   status.conditions           Accepted: whether the object can be rendered, else what is wrong
 *                               Applied: whether its children are as desired (kube/children.h)
 *
 * An object that cannot be rendered keeps the children that it has. One that is being deleted is
 * left alone: the garbage collector takes its children. */
#ifndef HERD_RUNTIME_KIND_H
#define HERD_RUNTIME_KIND_H

#include "base/problem.h"
#include "io/log.h"
#include "kube/children.h"
#include "runtime/client.h"
#include "text/json.h"

/* A row; constant. */
struct kube_kind {
    struct kube_resource resource;
    const struct kube_resource *children; /* the kinds that `render` may give */
    uint32_t child_count;
    const char *label;         /* key of the label that names the owner; of this kind alone */
    const char *field_manager; /* of children and status */
    bool force;                /* take over fields of children that others manage */
    /* Pure: the object as desired children; what is wrong with it goes to `problems`, and any
     * that is denied keeps all children as they are. Everything in the arena, or of the object. */
    void (*render)(struct arena *arena, struct json object, struct kube_children *children,
                   struct problems *problems);
};

/* All borrowed. */
struct kind_options {
    const struct kube_kind *kind;
    struct loop *loop;
    struct kube_client *client;
    struct log *log;
    struct str namespace_; /* "" = all */
    uint32_t workers;      /* 0 = as runtime/controller.h */
    uint64_t seed;
};

/* Follows objects and children from now on; reconciles once it is resumed. */
void *kind_reconciler_create(const struct kind_options *options);

/* What is created, as a row of runtime/manager.h takes it; `free` before the client. */
void kind_reconciler_free(void *reconciler);
void kind_reconciler_pause(void *reconciler, bool paused);
uint32_t kind_reconciler_busy(const void *reconciler);
/* "" = its objects and their children are followed; or the kind is not installed, which the note
 * says. */
struct str kind_reconciler_trouble(const void *reconciler);
struct str kind_reconciler_note(const void *reconciler);

#endif
