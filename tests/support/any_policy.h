/* SPDX-License-Identifier: Apache-2.0 */
/* any_policy.h: generated StackPolicies, as JSON, and sets of those that are in order. */
#ifndef HERD_TESTS_SUPPORT_ANY_POLICY_H
#define HERD_TESTS_SUPPORT_ANY_POLICY_H

#include "base/list.h"
#include "base/rng.h"

/* Of that name. Mostly right and about what any_stack makes, now and then wrong in one place. Equal seeds give equal
 * policies. */
struct str any_policy(struct arena *arena, struct rng *rng, const char *name);

/* Up to `most` of different names, each of which admission takes; perhaps none. */
struct str_list any_policies(struct arena *arena, struct rng *rng, uint32_t most);

#endif
