/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: all objects of all clusters, in one SQLite file.
 *
 * One writer at a time; each write is one transaction and gives the next version of one counter. A
 * write names the version that it was computed from, so two writers cannot lose each other's work.
 * Beside the objects stands an undo log: for each of the latest changes, what was there before.
 * From it come resumed watches after a restart, and lists at an older version.
 *
 * Journal: WAL with synchronous=NORMAL. A commit is in the kernel's hands when it is acknowledged,
 * so kill -9 loses nothing; only a power cut could lose the last moments (never consistency). FULL
 * would cost one fsync for each write, some 30 times a small write, for a promise that a lab on
 * one machine does not give. */
#ifndef HERD_LAB_APISERVER_STORE_H
#define HERD_LAB_APISERVER_STORE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "lab/apiserver/watch_cache.h"

struct store;

struct store_options {
    const char *folder;
    const struct clock *clock;
    struct watch_cache_options watch_cache;
};

struct store *store_create(const struct store_options *options, struct error *err);
void store_free(struct store *store);
AUTO_DEFINE(store_free, struct store *)

struct watch_cache *store_watch_cache(struct store *store);

enum store_answer {
    STORE_DONE,
    STORE_EXISTS,  /* a creation found an object */
    STORE_MISSING, /* an update or deletion found none */
    STORE_CHANGED, /* it found another version */
    STORE_FAILED,  /* the disk; nothing was written, nothing is known */
};

struct store_write {
    enum change_type type;
    struct store_key key;
    uint64_t expected; /* version that stands there; 0 for an addition */
    /* The object's JSON before and behind the digits of its resourceVersion. */
    struct str head, tail;
};

enum store_answer store_write(struct store *store, const struct store_write *write,
                              uint64_t *ret_version, struct error *err);

struct store_row {
    struct str namespace_, name;
    struct str object;
    uint64_t version;
};

LIST_DEFINE(store_rows, struct store_row)

/* STORE_DONE, STORE_MISSING or STORE_FAILED. */
enum store_answer store_get(struct store *store, struct arena *arena, const struct store_key *key,
                            struct store_row *ret_row, struct error *err);

struct store_page {
    struct store_rows rows; /* by namespace, then name */
    uint64_t version;       /* that they all are of */
    bool more;
    uint64_t remaining; /* rows behind these, if more */
};

/* At most `limit` (0: all) rows behind the place `after`, as they were at `version` (0: now).
 * STORE_CHANGED: that version is compacted. STORE_FAILED: never a part of a list. */
enum store_answer store_list(struct store *store, struct arena *arena, const struct collection *of,
                             const struct store_row *after, uint32_t limit, uint64_t version,
                             struct store_page *ret_page, struct error *err);

/* Calls `each` for every object of all clusters whose JSON holds `text`. */
int store_find(struct store *store, struct str text,
               void (*each)(void *context, const struct store_key *key, struct str object),
               void *context, struct error *err);

/* Forget old changes; call now and then. */
void store_trim(struct store *store);

/* Which clusters there are: a list that outlives restarts. */
int store_add_cluster(struct store *store, struct str cluster, struct error *err);
int store_clusters(struct store *store, struct arena *arena, struct str_list *ret_clusters,
                   struct error *err);

#endif
