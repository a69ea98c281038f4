/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h: from a key to everything that a plan may know: all reading is here, and only from
 * caches.
 *
 * What a Stack reads is also what it wants to hear of: gathering says so anew each time, which
 * starts and ends the informers behind it.
 *
 * It goes cluster by cluster, and in pieces, since the loop has other work, too. Each cluster is
 * seen at one moment, and all of them within one gathering, not all at the same. Nothing that is
 * gathered is borrowed from what may change meanwhile, so a plan may be made on another thread. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_GATHER_H
#define HERD_CONTROLLER_RECONCILERS_STACK_GATHER_H

#include "controller/backends/backend.h"
#include "controller/backends/observer.h"
#include "controller/clusters/clusters.h"
#include "controller/dependency_tracker.h"
#include "controller/policies.h"
#include "controller/reconcilers/stack/access_cache.h"
#include "controller/reconcilers/stack/inherited.h"
#include "controller/reconcilers/stack/others.h"
#include "controller/reconcilers/stack/references.h"
#include "stack/model/configuration.h"
#include "stack/model/observed.h"
#include "stack/rules/validate.h"

/* Borrowed. */
struct gather_sources {
    struct others_sources others;
    const struct clusters *clusters;
    const struct backend *backend;
    const struct observer *const *observers; /* the last one is NULL */
    const struct references *references;
    const struct inherited *inherited;
    struct dependency_tracker *tracker;
    struct policies *policies;         /* NULL = none */
    struct access_cache *access_cache; /* NULL: nobody is asked what users may do */
    int64_t settle_ms;
    int64_t led_ms; /* since when this process leads (monotonic) */
    uint32_t cluster_operations_max;
    const struct configuration *configuration;
    bool all_stacks; /* `others.stacks` has those of all namespaces */
    struct str rancher_trouble_reason, rancher_trouble_message; /* see struct observed */
};

/* All in the arena; `stack` borrows from the object's kept bytes, too, and the verdict from the
 * policies. */
struct gathered {
    struct verdict verdict;
    const struct stack *stack; /* defaulted */
    struct stack_status before;
    struct observed observed; /* points to `before` and the verdict's problems */
    /* Something is being read for the first time and will soon be there. A Stack that has releases
     * waits for it, so that a restart does not turn what is Deployed into Unknown and back. */
    bool settling;
    int64_t look_again_ms; /* a remembered failure ends then: from now; -1 = none does */
};

struct gathering;

/* Begin, in the arena. NULL: the kept bytes cannot be read, which is our own mistake. `object` and
 * `sources` stay until it is over. */
struct gathering *gather_begin(const struct gather_sources *sources, struct arena *arena,
                               const struct kube_object *object, int64_t now_wall_ms,
                               int64_t now_ms, struct gathered *ret_gathered, struct error *err);
/* Go on, until `clock` says `until_ms` (monotonic). True: all is gathered. */
bool gather_some(struct gathering *gathering, const struct clock *clock, int64_t until_ms);
/* Ask whether the Stack's author may deploy to these clusters; the Stack is woken when an answer
 * comes. May bring look_again_ms nearer. */
void gather_ask_access(const struct gather_sources *sources, struct arena *arena, struct str key,
                       int64_t now_ms, const struct str_list *cluster_ids,
                       struct gathered *gathered);

#endif
