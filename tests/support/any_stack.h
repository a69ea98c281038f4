/* SPDX-License-Identifier: Apache-2.0 */
/* any_stack.h: generated Stacks, as JSON. */
#ifndef HERD_TESTS_SUPPORT_ANY_STACK_H
#define HERD_TESTS_SUPPORT_ANY_STACK_H

#include "base/rng.h"
#include "base/str.h"

/* Mostly right, now and then wrong, sometimes with members of another type. Equal seeds give equal
 * Stacks. */
struct str any_stack(struct arena *arena, struct rng *rng);

/* Nearly always right, and of every form that is: names, repositories, versions, selectors and cluster ids at the edges
 * of what is taken. */
struct str any_sound_stack(struct arena *arena, struct rng *rng);

#endif
