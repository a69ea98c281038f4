/* SPDX-License-Identifier: Apache-2.0 */
/* others.h: what other Stacks have to do with one, from what is kept of them.
 *
 * Each of them is unpacked once in a pass, however many clusters and releases it shares with this
 * one. All is in the arena of the pass. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_OTHERS_H
#define HERD_CONTROLLER_RECONCILERS_STACK_OTHERS_H

#include "controller/clusters/clusters.h"
#include "base/multimap.h"
#include "runtime/cache.h"
#include "stack/model/observed.h"
#include "stack/model/stack.h"

/* Borrowed. */
struct others_sources {
    const struct kube_cache *stacks;   /* as keep_stack keeps them */
    const struct multimap *adopters;   /* namespace/release -> Stacks whose STACK_ADOPT names it */
    const struct multimap *dependents; /* Stack -> those that name it in spec.dependsOn */
};

struct others {
    const struct others_sources *sources;
    struct arena *arena;
    struct str key; /* of the Stack itself */
    const struct stack *stack;
    struct map *read; /* key -> those that were unpacked */
};

struct others others_of(const struct others_sources *sources, struct arena *arena, struct str key,
                        const struct stack *stack);

/* Fills in `owner_wants` and `adopter` of the cluster's releases. */
void others_observe_owners(struct others *others, struct observed_cluster *cluster);
/* Takes out the repositories that another Stack uses on the cluster. */
void others_leave_wanted_repos(struct others *others, const struct listed_cluster *cluster,
                               struct observed_leftovers *leftovers);
/* Those that the Stack waits for, and whom these wait for in turn, to find a dependency
 * cycle. */
void others_observe_awaited(struct others *others, struct observed_stacks *ret_stacks);
/* Of a Stack that is deleted: who needs it. */
void others_observe_dependents(struct others *others, struct observed_stacks *ret_dependents);

#endif
