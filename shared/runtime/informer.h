/* SPDX-License-Identifier: Apache-2.0 */
/* informer.h: a cache that follows one collection: list in pages, then watch, for ever; or, where
 * what is a little old is good enough, list at intervals.
 *
 * Recovers by itself (kube/reflector.h); notices a dead connection within LIMIT_WATCH_DEAD_TIME by
 * asking the same peer something small. Between loss and recovery the cache keeps what it had;
 * informer_heard_ms says how old that may be. */
#ifndef HERD_RUNTIME_INFORMER_H
#define HERD_RUNTIME_INFORMER_H

#include "runtime/cache.h"
#include "runtime/client.h"
#include "text/json.h"

struct informer;

struct informer_options {
    struct kube_client *client;
    struct str prefix; /* kube_request.prefix */
    struct kube_resource resource;
    struct str namespace_; /* "" = all */
    struct str label_selector;
    struct str field_selector;
    uint64_t seed; /* of jitter */
    /* What to keep of `object`, which says its apiVersion and kind whichever way it came: put it
     * into `kept`; false = this object is of no interest (it is treated as absent). NULL keeps the
     * object without managedFields and the last-applied annotation. */
    bool (*keep)(void *context, struct json object, struct strbuf *kept);
    /* One of both is NULL on added and deleted. Also for each object that a
     * relist found changed. */
    void (*on_change)(void *context, struct kube_object *before, struct kube_object *after);
    void (*on_synced)(void *context); /* once, after the first whole list */
    /* It cannot list or watch at present, and goes on trying; NULL error: it can again. */
    void (*on_trouble)(void *context, const struct error *error);
    void *context;
    /* A watch that is silent for so long is probed, and given up when the probe is not answered in
     * time. 0 = LIMIT_WATCH_PROBE_AFTER and LIMIT_WATCH_PROBE_ANSWER. */
    int64_t probe_after_ms;
    int64_t probe_answer_ms;
    int64_t interval_ms; /* list again after so long, and do not watch; 0 = watch */
    bool secret;         /* what is read and kept is zeroed before its memory is given back */
    /* `keep` gets PartialObjectMetadata, and nothing else of an object is sent here. */
    bool metadata_only;
    uint32_t page_limit; /* 0 = LIMIT_LIST_PAGE */
};

/* Starts at once. Strings of the options are copied. */
struct informer *informer_create(const struct informer_options *options);
void informer_free(struct informer *informer);
AUTO_DEFINE(informer_free, struct informer *)
/* What made it fail is over, or something is new: if it waits to try or to list again, it does so
 * now. If it lists at intervals and a list is under way, which may be older than what is new,
 * another one follows. NULL is none. */
void informer_retry(struct informer *informer);
/* Change options.interval_ms; what is held stays. An informer that watched, or waited for its
 * interval, lists at once; so from then on nothing is missed that a list shows. */
void informer_set_interval(struct informer *informer, int64_t interval_ms);
const struct kube_cache *informer_cache(const struct informer *informer);
bool informer_synced(const struct informer *informer);
/* The last trouble; code ERROR_NONE while all is well. */
const struct error *informer_trouble(const struct informer *informer);
/* When (loop_now_ms) the server last proved that what it says comes here: a page of a list,
 * the begin of a watch, an object or bookmark of it, or a probe that succeeded. -1 = never yet.
 * While the watch stands this is at most `probe_after_ms` + `probe_answer_ms` ago; a rejection
 * proves a way to somebody, not to it. */
int64_t informer_heard_ms(const struct informer *informer);
/* When (loop_now_ms) its watch was resumed after trouble: what happened before may still be on its
 * way. Now, while it is in trouble; 0, if there was none since its last list. */
int64_t informer_resumed_ms(const struct informer *informer);

#endif
