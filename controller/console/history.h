/* SPDX-License-Identifier: Apache-2.0 */
/* history.h: the latest changes of objects, numbered, and as server-sent events. Pure.
 *
 * A ring: bounded in changes and in bytes, whichever comes first. Ids count from 1. Outside they
 * have the epoch before them, EPOCH-ID, which is another one in each process: an id of another
 * process, or of this one before it was started again, is never taken for one of ours.
 *
 * The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
#ifndef HERD_CONTROLLER_CONSOLE_HISTORY_H
#define HERD_CONTROLLER_CONSOLE_HISTORY_H

#include "kube/resource.h"
#include "text/json_write.h"

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

/* "ADDED", "MODIFIED", "DELETED"; false if it is none of them. */
const char *change_type_name(enum change_type type);
bool change_type_from(struct str name, enum change_type *ret_type);

/* A snapshot: change_ref / change_unref, on any thread. */
struct change {
    uint64_t id;
    enum change_type type;
    const struct kube_resource *resource; /* borrowed, constant */
    struct str namespace_, name, uid, resource_version;
    int64_t at_ms;    /* wall: when this process learned of it */
    struct str frame; /* the whole event, as it is sent */
};

struct change *change_ref(struct change *change);
void change_unref(struct change *change);
AUTO_DEFINE(change_unref, struct change *)

/* For one thread at a time. */
struct history;

/* At least the newest change is held, however large. `epoch` is copied: letters and digits. */
struct history *history_create(struct str epoch, uint32_t count_max, size_t bytes_max);
void history_free(struct history *history);
AUTO_DEFINE(history_free, struct history *)

/* `facts`: all but `id` and `frame`, borrowed for the call. `object` is its JSON, before the change
 * if it was deleted; one of more than `object_bytes_max` is named only. */
void history_add(struct history *history, const struct change *facts, struct str object,
                 size_t object_bytes_max);
/* The first change behind `after`, borrowed; NULL if there is none yet. */
struct change *history_next(const struct history *history, uint64_t after);
/* Whether changes behind `after` were dropped already. */
bool history_has_lost(const struct history *history, uint64_t after);
uint64_t history_newest(const struct history *history); /* 0 = none yet */
/* From what a client saw last, "" if nothing: behind which id to go on. False: changes since then
 * are not here, and ret_after is the newest. */
bool history_resume(const struct history *history, struct str last_event_id, uint64_t *ret_after);
/* "EPOCH-ID". */
struct str history_id(const struct history *history, struct arena *arena, uint64_t id);

/* A change for /events, without its object. */
void change_write(const struct history *history, struct arena *arena, const struct change *change,
                  struct json_writer *w);
/* The event that tells a client that it has missed some, and goes on behind `id`. */
void history_put_reset(const struct history *history, uint64_t id, struct strbuf *out);
/* A comment that keeps the connection alive, and the id to resume from: clients take that over
 * from an event without data, too. */
void history_put_heartbeat(const struct history *history, uint64_t id, struct strbuf *out);

#endif
