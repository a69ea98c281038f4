/* SPDX-License-Identifier: Apache-2.0 */
/* mirror.h: what the console shows: the objects of each kind as they are now, and what changed.
 *
 * An informer of its own for each kind keeps whole objects, where those of reconcilers keep what
 * they need. It is fed on the loop; all functions but mirror_create and mirror_free are for any
 * thread. Snapshots are shared with the informers, not copied. */
#ifndef HERD_CONTROLLER_CONSOLE_MIRROR_H
#define HERD_CONTROLLER_CONSOLE_MIRROR_H

#include "controller/console/history.h"
#include "controller/console/kinds.h"
#include "controller/console/wire.h"
#include "io/log.h"
#include "runtime/cache.h"
#include "runtime/client.h"

struct mirror;

struct mirror_options {
    struct kube_client *client;
    const struct console_kinds *kinds; /* borrowed */
    struct str namespace_;             /* "": all */
    struct str epoch;                  /* of the history */
    struct log *log;
    uint64_t seed;
};

struct mirror *mirror_create(const struct mirror_options *options);
void mirror_free(struct mirror *mirror);
AUTO_DEFINE(mirror_free, struct mirror *)
/* Whoever waits here waits no more. */
void mirror_end(struct mirror *mirror);

/* False until all objects of the kind were read once; why, if that fails, in the arena. */
bool mirror_is_synced(struct mirror *mirror, const struct console_kind *kind,
                      struct error *ret_trouble);
/* A reference, or NULL. `key` is kube_key's. */
struct kube_object *mirror_get(struct mirror *mirror, const struct console_kind *kind,
                               struct str key);
/* References to all of a namespace ("": of all), sorted by key, in the arena, which has no budget;
 * the caller gives each back. */
struct kube_object **mirror_list(struct mirror *mirror, const struct console_kind *kind,
                                 struct str namespace_, struct arena *arena, uint32_t *ret_count);

/* After a write: wait until it shows here, or for LIMIT_CONSOLE_WRITE_SHOWS. */
void mirror_await(struct mirror *mirror, const struct console_kind *kind, struct str key,
                  const struct wire_written *written);

enum mirror_found {
    MIRROR_CHANGE,
    MIRROR_NOTHING, /* not in this time */
    MIRROR_MISSED,  /* changes behind `after` are gone; *after is the newest */
    MIRROR_ENDED,
};

/* The first change behind *after, which becomes its id; waits for at most wait_ms. `ret_change` is
 * a reference. */
enum mirror_found mirror_next(struct mirror *mirror, uint64_t *after, int64_t wait_ms,
                              struct change **ret_change);
/* References to all that are held, oldest first, as mirror_list; and the newest id. */
struct change **mirror_changes(struct mirror *mirror, struct arena *arena, uint32_t *ret_count,
                               uint64_t *ret_newest);
bool mirror_has_lost(struct mirror *mirror, uint64_t after);
/* As history_resume. */
bool mirror_resume(struct mirror *mirror, struct str last_event_id, uint64_t *ret_after);
/* For what the functions of history.h that take no change from it need: the epoch, which stays. */
const struct history *mirror_history(const struct mirror *mirror);

#endif
