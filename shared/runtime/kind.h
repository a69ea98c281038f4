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
 *   and what `summarize` adds   from how the children fare
 *
 * Of a child that lacks pods and whose status does not say why, Events tell (kube/pod_shortage.h):
 * they are read, and are its cause.
 *
 * An object that cannot be rendered keeps the children that it has. Of one that is being deleted
 * only the status is kept up to date: the garbage collector takes its children. */
#ifndef HERD_RUNTIME_KIND_H
#define HERD_RUNTIME_KIND_H

#include "io/log.h"
#include "kube/kind.h"
#include "runtime/cache.h"
#include "runtime/client.h"

/* A status that was sent; borrowed for the call. */
struct kind_write {
    struct arena *arena;         /* of the reconcile */
    struct json object;          /* as it was: with the status before */
    struct json status;          /* as it was sent */
    struct str resource_version; /* of the object with it; "" = it was not taken */
    const struct error *error;   /* code ERROR_NONE: it was taken */
};

/* Who counts, and tells people. */
struct kind_listener {
    /* An object came, changed or went: one of both may be NULL. */
    void (*changed)(void *context, const struct kube_kind *kind, const struct kube_object *before,
                    const struct kube_object *after);
    /* A reconcile: "done", "retry", or "gone": the object is no more. */
    void (*reconciled)(void *context, const struct kube_kind *kind, struct str result);
    void (*written)(void *context, const struct kube_kind *kind, const struct kind_write *write);
};

/* All borrowed. */
struct kind_options {
    const struct kube_kind *kind;
    struct loop *loop;
    struct kube_client *client;
    struct log *log;
    struct str namespace_; /* "" = all */
    uint32_t workers;      /* 0 = as runtime/controller.h */
    bool optional;         /* not to be allowed to list the objects is no trouble: it is as if the
                              kind were not installed */
    uint64_t seed;
    /* NULL: nobody measures. kind_observation.measured of the object; in the arena. */
    struct json (*measured)(void *context, struct arena *arena, struct str key);
    const struct kind_listener *listener; /* NULL: nobody listens */
    void *context;                        /* of both */
};

/* Follows objects and children from now on; reconciles once it is resumed. */
void *kind_reconciler_create(const struct kind_options *options);

/* What is created, as a row of runtime/manager.h takes it; `free` before the client. */
void kind_reconciler_free(void *reconciler);
void kind_reconciler_pause(void *reconciler, bool paused);
uint32_t kind_reconciler_busy(const void *reconciler);
/* What was measured is new: look at all objects again, if any is measured. */
void kind_reconciler_wake(void *reconciler);
/* "" = its objects and their children are followed; or the kind is not installed, which the note
 * says. */
struct str kind_reconciler_trouble(const void *reconciler);
struct str kind_reconciler_note(const void *reconciler);

#endif
