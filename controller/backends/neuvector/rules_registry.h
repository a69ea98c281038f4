/* SPDX-License-Identifier: Apache-2.0 */
/* rules_registry.h: which Stacks want rules in one cluster's NeuVector, and of which it is not
 * known yet that none of theirs are left. Without I/O.
 *
 * Each pass of a Stack says anew what it wants. What it wants no more, and what a process before
 * may have left, stays here until a list of NeuVector's rules has shown none with its mark. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_REGISTRY_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_REGISTRY_H

#include "base/cleanup.h"
#include "controller/backends/neuvector/rules_look.h"
#include "stack/model/observed.h"

struct rules_registry;

struct rules_registry *rules_registry_create(void);
void rules_registry_free(struct rules_registry *registry);
AUTO_DEFINE(rules_registry_free, struct rules_registry *)

/* A pass of the Stack `key` on the cluster. True: there is something else to do than before. */
bool rules_registry_renew(struct rules_registry *registry, struct str key,
                          const struct stack *stack, const struct observed_cluster *cluster);
/* The Stack is gone. */
void rules_registry_forget(struct rules_registry *registry, struct str key);

/* Of all whose rules are to be compared; in the arena. */
struct rules_wishes rules_registry_wishes(const struct rules_registry *registry,
                                          struct arena *arena);
/* Those were looked at. `news` is called for each Stack that wants none and has none any more, and
 * for each of whose own trouble another one is known than before. */
void rules_registry_settle(struct rules_registry *registry, const struct rules_wishes *wishes,
                           const struct rules_result *result,
                           void (*news)(void *context, struct str key), void *context);
/* The same where nothing of Herd's can be or be deleted. */
void rules_registry_settle_without(struct rules_registry *registry,
                                   const struct rules_wishes *wishes,
                                   void (*news)(void *context, struct str key), void *context);

bool rules_registry_wants(const struct rules_registry *registry, struct str key,
                          enum rules_kind kind);
/* Of this Stack alone; reason "" = none. Borrowed until the next pass or look. */
struct rules_trouble rules_registry_trouble(const struct rules_registry *registry, struct str key);
/* It wants none there any more, and some may be left. */
bool rules_registry_leaves(const struct rules_registry *registry, struct str key);
/* Each Stack of which that is so. */
void rules_registry_each_leaving(const struct rules_registry *registry,
                                 void (*each)(void *context, struct str key), void *context);

#endif
