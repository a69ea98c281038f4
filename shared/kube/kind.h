/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h: a kind whose objects are made into other objects: what is decided about one of them.
 * Pure; runtime/kind.h does it. */
#ifndef HERD_KUBE_KIND_H
#define HERD_KUBE_KIND_H

#include "base/problem.h"
#include "kube/children.h"
#include "text/json_write.h"

/* An object with what became of it; borrowed. */
struct kind_observation {
    struct json object;
    bool deleted;                                    /* it is being deleted */
    const struct kube_condition *accepted, *applied; /* NULL: not decided, not tried yet */
    const struct seen_children *children;
    struct json measured; /* of it, by whoever measures; as its kind says, absent = nobody does */
    int64_t now_ms;       /* since 1970 */
};

/* A row; constant. */
struct kube_kind {
    struct kube_resource resource;
    /* The kinds that `render` may give, then the watched. */
    const struct kube_resource *const *children;
    uint32_t child_count;
    uint32_t watched_count;    /* the last of them; as in runtime/children.h */
    uint32_t patched_count;    /* the first of those: `render` may give partial children of them */
    const char *label;         /* key of the label that names the owner; of this kind alone */
    const char *field_manager; /* of children and status */
    bool force;                /* take over fields of children that others manage */
    /* The object as desired children; what is wrong with it goes to `problems`, and any that is
     * denied keeps all children as they are. Everything in the arena, or of what was seen. */
    void (*render)(const struct kube_kind *kind, struct arena *arena,
                   const struct kind_observation *seen, struct kube_children *children,
                   struct problems *problems);
    /* NULL = nothing. Members of status beside those above, into the object that is open in
     * `w`; and conditions beside those two. */
    void (*summarize)(const struct kube_kind *kind, struct arena *arena,
                      const struct kind_observation *seen, struct json_writer *w,
                      struct kube_conditions *conditions);
};

#endif
