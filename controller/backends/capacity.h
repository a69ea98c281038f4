/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.h: how many Helm operations a cluster has under way, seen or about to be, and who waits.
 *
 * Each operation is a pod that works hard for a while; many at once starve the cluster's API and
 * fail (rancher/rancher#42440). A plan sees the operations of its own Stack; this is what makes it
 * see those of all others. A claim stands for an operation that was decided on and does not show
 * yet. It keeps other Stacks away until the release shows what became of it, because a moment
 * passes between the end of an operation and the App. */
#ifndef HERD_CONTROLLER_BACKENDS_CAPACITY_H
#define HERD_CONTROLLER_BACKENDS_CAPACITY_H

#include "base/cleanup.h"
#include "base/list.h"
#include "stack/model/observed.h"

struct capacity;

struct capacity *capacity_create(void);
void capacity_free(struct capacity *capacity);
AUTO_DEFINE(capacity_free, struct capacity *)

/* An operation of `release` (namespace/name) is about to be asked for, by that Stack. */
void capacity_claim(struct capacity *capacity, struct str release, struct str stack,
                    int64_t now_ms);
/* Which Stack that is; "" = none. Borrowed until the next change. */
struct str capacity_claimant(const struct capacity *capacity, struct str release, int64_t now_ms);
/* It was: it will show in a moment, or never. */
void capacity_asked(struct capacity *capacity, struct str release, int64_t now_ms);
/* It shows, and takes no place by its claim any more: it runs, or it ended and did not fail. */
void capacity_shown(struct capacity *capacity, struct str release, bool running, int64_t now_ms);
/* The release shows: a claim whose operation showed before has done its work. */
void capacity_settled(struct capacity *capacity, struct str release);
/* It failed, or was rejected. */
void capacity_drop(struct capacity *capacity, struct str release);
/* Claims that stand and do not show yet, at most `count_max` of them; in the arena. */
struct str_list capacity_claims(struct capacity *capacity, struct arena *arena, uint32_t count_max,
                                int64_t now_ms);

/* What stands for an operation that another Stack has asked for, and that does not show yet. */
struct observed_operation capacity_claimed_operation(struct arena *arena, struct str release,
                                                     struct str stack);

/* A Stack waits for capacity; first come, first served. */
void capacity_wait(struct capacity *capacity, struct str stack);
/* Take the first who waits; false if nobody does. */
bool capacity_next(struct capacity *capacity, struct arena *arena, struct str *ret_stack);
bool capacity_is_awaited(const struct capacity *capacity);

#endif
