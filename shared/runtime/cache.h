/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h: objects as immutable snapshots, kept small.
 *
 * What is kept of an object is decided by whoever opens the informer: bytes that it makes from the
 * object once, and reads again with json_read when a reconcile needs them. One allocation each. */
#ifndef HERD_RUNTIME_CACHE_H
#define HERD_RUNTIME_CACHE_H

#include "base/cleanup.h"
#include "base/str.h"

/* A snapshot: kube_object_ref / kube_object_unref. */
struct kube_object;

struct kube_object *kube_object_create(struct str namespace_, struct str name, struct str uid,
                                       struct str resource_version, struct str kept);
/* What was kept is secret: zeroed before its memory is given back. */
void kube_object_keep_secret(struct kube_object *object);
struct kube_object *kube_object_ref(struct kube_object *object);
void kube_object_unref(struct kube_object *object);
AUTO_DEFINE(kube_object_unref, struct kube_object *)

struct str kube_object_key(const struct kube_object *object); /* namespace/name or name */
struct str kube_object_namespace(const struct kube_object *object);
struct str kube_object_name(const struct kube_object *object);
struct str kube_object_uid(const struct kube_object *object);
struct str kube_object_resource_version(const struct kube_object *object);
struct str kube_object_kept(const struct kube_object *object);

struct kube_cache;

struct kube_cache *kube_cache_create(void);
void kube_cache_free(struct kube_cache *cache);
AUTO_DEFINE(kube_cache_free, struct kube_cache *)
/* Borrowed until the cache changes; kube_object_ref to keep it. */
struct kube_object *kube_cache_get(const struct kube_cache *cache, struct str key);
/* Takes over one reference; gives back the one that stood there (the caller's now), or NULL. */
struct kube_object *kube_cache_put(struct kube_cache *cache, struct kube_object *object);
struct kube_object *kube_cache_remove(struct kube_cache *cache, struct str key);

/* To compare the cache with a whole list: begin a round, mark (or put) each object of the list,
 * then take out, one after the other from *cursor 0 on, those that were not; NULL at the end. The
 * caller owns what comes out. */
void kube_cache_begin_round(struct kube_cache *cache);
void kube_cache_mark(struct kube_cache *cache, struct str key);
struct kube_object *kube_cache_remove_unmarked(struct kube_cache *cache, size_t *cursor);

size_t kube_cache_count(const struct kube_cache *cache);
/* What the table and its objects take; and the objects alone, which others may hold as well. */
size_t kube_cache_bytes(const struct kube_cache *cache);
size_t kube_cache_object_bytes(const struct kube_cache *cache);
/* Walk as dict_next does. */
bool kube_cache_next(const struct kube_cache *cache, size_t *cursor,
                     struct kube_object **ret_object);

#endif
