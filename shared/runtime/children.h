/* SPDX-License-Identifier: Apache-2.0 */
/* children.h: the children of owners, made so: applied, and pruned when no longer desired.
 *
 * One object for each kind of owner. It follows the kinds of the children by a label that names the
 * owner, and for one owner at a time sends what is missing: server-side applies with a field
 * manager, and deletes of children that this owner controls and does not desire any more. A child
 * that is as it was left after its last apply costs no request. An object that exists and is not
 * controlled by the owner is never touched. A kind that the API server does not have is an outcome,
 * and its children are applied once it comes. What is decided: kube/children.h. */
#ifndef HERD_RUNTIME_CHILDREN_H
#define HERD_RUNTIME_CHILDREN_H

#include "kube/children.h"
#include "runtime/client.h"

struct children;

/* All borrowed. */
struct children_options {
    struct kube_client *client;
    struct kube_resource owner;                   /* the kind of the owners */
    const struct kube_resource *const *resources; /* the kinds of their children */
    uint32_t resource_count;
    uint32_t
        watched_count;     /* the last of them, which are followed and never applied or pruned: what
                               children make of themselves, such as pods with the same label */
    struct str namespace_; /* follow this one only; "" = all */
    struct str label;      /* key of the label that names the owner; of this kind of owner alone */
    struct str field_manager;
    bool force;            /* take over fields that others manage; else they are conflicts */
    uint32_t requests_max; /* under way at once, for all owners; 0 = 8 */
    uint32_t page_limit;   /* as in informer_options, of large children */
    uint64_t seed;
    /* A child of the owner (its key) changed, and not by us; look at the owner again. */
    void (*changed)(void *context, struct str owner);
    /* Another kind was read whole, or came: look at all owners again. */
    void (*synced)(void *context);
    void *context;
};

/* Follows children from now on, and writes nothing by itself. */
struct children *children_create(const struct children_options *options);
/* Before the client. What is under way is cancelled, and its `done` is not called. */
void children_free(struct children *children);
AUTO_DEFINE(children_free, struct children *)

/* Every kind was read whole, or is known to be missing. Until then nothing can be pruned. */
bool children_synced(const struct children *children);
/* Why a kind that is there cannot be followed, e.g. that a right is missing; "" = all can. */
struct str children_trouble(const struct children *children);

/* The owner's children as they were last seen: those that it controls, and those of kinds that are
 * watched only and carry its label; by kind, and of a kind by name. In the arena. */
struct seen_children children_seen(const struct children *children, struct arena *arena,
                                   const struct kube_owner *owner);

/* `results` is borrowed for the call: the desired children in their order, then the pruned. */
typedef void children_done(void *context, const struct child_results *results);

/* Make the owner's children be `desired`, each of a kind of the options; all is copied. `done`
 * comes once, possibly at once. Never two at a time for one owner. */
void children_apply(struct children *children, const struct kube_owner *owner,
                    const struct kube_children *desired, children_done *done, void *context);

#endif
