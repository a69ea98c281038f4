/* SPDX-License-Identifier: Apache-2.0 */
/* admission_registry.h: which Stacks want admission rules on one cluster, and of which it is not
 * known yet that none of theirs are left. Without I/O.
 *
 * Each pass of a Stack says anew what it wants. What it wants no more, and what a process before
 * may have left, stays here until a list of NeuVector's rules has shown none with its mark. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_REGISTRY_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_REGISTRY_H

#include "base/cleanup.h"
#include "controller/backends/neuvector/admission.h"
#include "stack/model/observed.h"

struct admission_registry;

struct admission_registry *admission_registry_create(void);
void admission_registry_free(struct admission_registry *registry);
AUTO_DEFINE(admission_registry_free, struct admission_registry *)

/* A pass of the Stack `key` on the cluster. True: there is something else to do than before. */
bool admission_registry_renew(struct admission_registry *registry, struct str key,
                              const struct stack *stack, const struct observed_cluster *cluster);
/* The Stack is gone. */
void admission_registry_forget(struct admission_registry *registry, struct str key);

/* Of all whose rules are to be compared; in the arena. */
struct admission_wishes admission_registry_wishes(const struct admission_registry *registry,
                                                  struct arena *arena);
/* Those were compared: `marked` has the uids of those that have rules. `cleared` is called for each
 * Stack that wants none and has none any more. */
void admission_registry_settle(struct admission_registry *registry,
                               const struct admission_wishes *wishes, struct set marked,
                               void (*cleared)(void *context, struct str key), void *context);

bool admission_registry_wants(const struct admission_registry *registry, struct str key);
/* It wants none there any more, and some may be left. */
bool admission_registry_leaves(const struct admission_registry *registry, struct str key);
/* Each Stack of which that is so. */
void admission_registry_each_leaving(const struct admission_registry *registry,
                                     void (*each)(void *context, struct str key), void *context);

#endif
