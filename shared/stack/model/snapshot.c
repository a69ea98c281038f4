/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c: counted references. */
#include "stack/model/snapshot.h"

void snapshot_ref(struct snapshot *snapshot)
{
    if (snapshot)
        snapshot->refs++;
}

void snapshot_unref(struct snapshot *snapshot)
{
    if (snapshot && !--snapshot->refs)
        arena_free(snapshot->arena);
}

static void give_back(void *snapshot)
{
    snapshot_unref(snapshot);
}

void snapshot_lend(struct arena *arena, struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    snapshot_ref(snapshot);
    arena_defer(arena, give_back, snapshot);
}
