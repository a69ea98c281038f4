/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h: what never changes once it is made, and is shared by all who look at it. */
#ifndef HERD_STACK_SNAPSHOT_H
#define HERD_STACK_SNAPSHOT_H

#include "base/arena.h"

#include <stdint.h>

/* The first member of what is shared, which lives in that arena itself. */
struct snapshot {
    uint32_t refs;
    struct arena *arena;
};

/* NULL is none, in all of these. */
void snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot);
/* A reference that goes with the arena. */
void snapshot_lend(struct arena *arena, struct snapshot *snapshot);

#endif
