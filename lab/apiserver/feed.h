/* feed.h: the latest changes, in order, for those who watch.
 *
 * A ring in memory of immutable, counted events. The store pushes each change right after its
 * commit and in the order of versions, so a reader that asks for "all after N" sees no gap and no
 * repeat; or it is told that N was compacted away (410). Safe from any thread. */
#ifndef HERD_LAB_APISERVER_FEED_H
#define HERD_LAB_APISERVER_FEED_H

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

struct feed_options {
    uint32_t changes_max;
    size_t bytes_max;
    int64_t age_max_ms;
};

struct feed;

/* Everything up to `version` counts as compacted. */
struct feed *feed_create(const struct feed_options *options, uint64_t version);
void feed_free(struct feed *feed);
AUTO_DEFINE(feed_free, struct feed *)

/* A change with copies of all texts, in one piece of memory. */
struct change *change_create(uint64_t version, enum change_type type, const struct store_key *key,
                             struct str object, struct str previous, int64_t at_ms);
void change_unref(struct change *change);

/* Takes the change over. Versions only grow. */
void feed_push(struct feed *feed, struct change *change);
uint64_t feed_version(struct feed *feed);
/* Changes with a version up to this one are no longer known. */
uint64_t feed_compacted(struct feed *feed);
/* Drop what is too old; returns the compacted version. */
uint64_t feed_trim(struct feed *feed, int64_t now_ms);
/* Until the feed has reached `version`. */
void feed_wait(struct feed *feed, uint64_t version);

enum feed_answer { FEED_CHANGES, FEED_NOTHING, FEED_COMPACTED, FEED_CLOSED };

/* Changes of a collection after *version, at most `most`, each with a reference for the caller;
 * waits up to wait_ms for the first. *version moves on to what was looked at. */
enum feed_answer feed_after(struct feed *feed, const struct collection *of, uint64_t *version,
                            int64_t wait_ms, struct change **ret_changes, uint32_t most,
                            uint32_t *ret_count);
/* All readers are told FEED_CLOSED from now on. */
void feed_close(struct feed *feed);

#endif
