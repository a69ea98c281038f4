/* SPDX-License-Identifier: Apache-2.0 */
/* known_policies.h: the StackPolicies that there are, as the set that is put to Stacks. Used by the
 * thread that watches them; the sets that it gives out are any thread's. */
#ifndef HERD_WEBHOOK_KNOWN_POLICIES_H
#define HERD_WEBHOOK_KNOWN_POLICIES_H

#include "io/log.h"
#include "runtime/cache.h"
#include "stack/policy/policy_set.h"

struct known_policies;

struct known_policies *known_policies_create(struct log *log);
void known_policies_free(struct known_policies *known);

/* Some policy changed: the next set is made anew. */
void known_policies_changed(struct known_policies *known);
/* A reference to the set of all policies in the cache, as policy_keep keeps them. One that is not
 * in order (stored while no webhook was asked, or by a later Herd) is logged and left out. */
struct policy_set *known_policies_take(struct known_policies *known,
                                       const struct kube_cache *cache);

#endif
