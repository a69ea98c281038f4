/* room.h: how many Helm operations a cluster has under way, seen or about to be, and who waits.
 *
 * Each operation is a pod that works hard for a while; many at once starve the cluster's API and
 * fail (rancher/rancher#42440). A plan sees the operations of its own Stack; this is what makes it
 * see those of all others. A claim stands for an operation that was decided on and does not show
 * yet. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_ROOM_H
#define HERD_CONTROLLER_ESTATE_RANCHER_ROOM_H

#include "base/cleanup.h"
#include "base/list.h"

struct room;

struct room *room_create(void);
void room_free(struct room *room);
AUTO_DEFINE(room_free, struct room *)

/* An operation of `release` (namespace/name) is about to be asked for. */
void room_claim(struct room *room, struct str release, int64_t now_ms);
/* It was: it will show in a moment, or never. */
void room_asked(struct room *room, struct str release, int64_t now_ms);
/* It shows, or was refused. */
void room_drop(struct room *room, struct str release);
/* Claims that stand, at most `count_max` of them; in the arena. */
struct str_list room_claims(struct room *room, struct arena *arena, uint32_t count_max,
                            int64_t now_ms);

/* A Stack waits for room; first come, first served. */
void room_wait(struct room *room, struct str stack);
/* Take the first who waits; false if nobody does. */
bool room_next(struct room *room, struct arena *arena, struct str *ret_stack);
bool room_is_awaited(const struct room *room);

#endif
