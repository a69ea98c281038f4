/* gather.h: from a key to everything that a plan may know: all reading is here, and only from
 * caches.
 *
 * What a Stack reads is also what it wants to hear of: gathering says so anew each time, which
 * starts and ends the informers behind it. */
#ifndef HERD_CONTROLLER_RECONCILE_GATHER_H
#define HERD_CONTROLLER_RECONCILE_GATHER_H

#include "controller/estate/rancher/estate.h"
#include "controller/interest.h"
#include "controller/reconcile/accesses.h"
#include "controller/reconcile/receipts.h"
#include "controller/reconcile/references.h"
#include "runtime/cache.h"
#include "stack/configuration.h"
#include "stack/observed.h"
#include "stack/validate.h"

/* Borrowed. */
struct gather_sources {
    const struct kube_cache *stacks;
    const struct estate *estate;
    const struct references *references;
    struct interests *interests;
    const struct receipts *receipts;
    struct accesses *accesses; /* NULL: nobody is asked what users may do */
    int64_t settle_ms;
    uint32_t cluster_operations_max;
    const struct configuration *configuration;
};

/* All in the arena; `stack` borrows from the object's kept bytes, too. */
struct gathered {
    struct verdict verdict;
    const struct stack *stack; /* defaulted */
    struct stack_status before;
    struct admitted admitted;
    struct observed observed;  /* points to `before`, `admitted` and the verdict's problems */
    /* Something is being read for the first time and will soon be there. A Stack that has releases
     * waits for it, so that a restart does not turn what is Deployed into Unknown and back. */
    bool settling;
    int64_t look_again_ms;     /* a remembered failure ends then: from now; -1 = none does */
};

/* -1: the kept bytes cannot be read, which is our own mistake. */
int gather(const struct gather_sources *sources, struct arena *arena,
           const struct kube_object *object, int64_t now_wall_ms, int64_t now_ms,
           struct gathered *ret_gathered, struct error *err);
/* See values_shown; `object` is the Stack, or NULL if it is gone. */
struct str gather_shown(const struct gather_sources *sources, struct arena *arena,
                        const struct kube_object *object, struct str chart_name,
                        struct str secret_versions, struct str words);

#endif
