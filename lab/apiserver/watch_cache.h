/* SPDX-License-Identifier: Apache-2.0 */
/* watch_cache.h: the latest changes, in order, for those who watch.
 *
 * A ring in memory of immutable, counted events. The store pushes each change right after its
 * commit and in the order of versions, so a reader that asks for "all after N" sees no gap and no
 * repeat; or it learns that N was compacted away (410). Safe from any thread. */
#ifndef HERD_LAB_APISERVER_WATCH_CACHE_H
#define HERD_LAB_APISERVER_WATCH_CACHE_H

#include "base/cleanup.h"
#include "base/str.h"

struct store_key {
    struct str cluster, group, plural, namespace_, name;
};

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
    uint64_t version;
    enum change_type type;
    struct store_key key;
    struct str object;   /* after the change; of a deletion: as it was last, with the new version */
    struct str previous; /* before it; "" of an addition */
    int64_t at_ms;       /* wall */
    size_t bytes_;
    unsigned uses_;
};

/* The parts of a key that must fit; `namespace_` "" = all. Borrowed while it is used. */
struct collection {
    struct str cluster, group, plural, namespace_;
};

struct watch_cache_options {
    uint32_t changes_max;
    size_t bytes_max;
    int64_t age_max_ms;
};

struct watch_cache;

/* Everything up to `version` counts as compacted. */
struct watch_cache *watch_cache_create(const struct watch_cache_options *options, uint64_t version);
void watch_cache_free(struct watch_cache *cache);
AUTO_DEFINE(watch_cache_free, struct watch_cache *)

/* A change with copies of all texts, in one piece of memory. */
struct change *change_create(uint64_t version, enum change_type type, const struct store_key *key,
                             struct str object, struct str previous, int64_t at_ms);
void change_unref(struct change *change);

/* Takes the change over. Versions only grow. */
void watch_cache_push(struct watch_cache *cache, struct change *change);
uint64_t watch_cache_version(struct watch_cache *cache);
/* Changes with a version up to this one are no longer known. */
uint64_t watch_cache_compacted(struct watch_cache *cache);
/* Drop what is too old; returns the compacted version. */
uint64_t watch_cache_trim(struct watch_cache *cache, int64_t now_ms);
/* Until the cache has reached `version`. */
void watch_cache_wait(struct watch_cache *cache, uint64_t version);

enum watch_cache_answer {
    WATCH_CACHE_CHANGES,
    WATCH_CACHE_NOTHING,
    WATCH_CACHE_COMPACTED,
    WATCH_CACHE_CLOSED
};

/* Changes of a collection after *version, at most `most`, each with a reference for the caller;
 * waits up to wait_ms for the first. *version moves on to what was looked at. */
enum watch_cache_answer watch_cache_after(struct watch_cache *cache, const struct collection *of,
                                          uint64_t *version, int64_t wait_ms,
                                          struct change **ret_changes, uint32_t most,
                                          uint32_t *ret_count);
/* From now on every reader gets WATCH_CACHE_CLOSED. */
void watch_cache_close(struct watch_cache *cache);

#endif
