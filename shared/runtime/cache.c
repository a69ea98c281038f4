/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c: snapshots of one allocation each, in a table of pointers.
 *
 * An object is its header and then, in this order: namespace '/' name (so that the key is one view,
 * with namespace and name inside), uid, resourceVersion, what was kept. The table holds no keys.
 *
 * References are counted atomically: snapshots may be handed to other threads, tables may not. */
#include "runtime/cache.h"

#include "base/memory.h"

#include <stdatomic.h>

struct kube_object {
    atomic_uint refs;
    uint32_t hash; /* of the key */
    uint32_t kept_len;
    uint16_t namespace_len, name_len, uid_len, version_len;
    bool secret;
    char bytes[];
};

static uint16_t short_len(struct str s)
{
    return s.len > UINT16_MAX ? UINT16_MAX : (uint16_t)s.len;
}

static char *put(char *at, struct str s, size_t len)
{
    if (len)
        memcpy(at, s.at, len);
    return at + len;
}

static uint32_t hash_of(struct str key)
{
    uint64_t hash = str_hash(key);

    return (uint32_t)(hash ^ hash >> 32);
}

struct kube_object *kube_object_create(struct str namespace_, struct str name, struct str uid,
                                       struct str resource_version, struct str kept)
{
    uint16_t namespace_len = short_len(namespace_);
    uint16_t name_len = short_len(name);
    uint16_t uid_len = short_len(uid);
    uint16_t version_len = short_len(resource_version);
    uint32_t kept_len = kept.len > UINT32_MAX ? UINT32_MAX : (uint32_t)kept.len;
    size_t bytes = (size_t)namespace_len + 1 + name_len + uid_len + version_len + kept_len;
    struct kube_object *object = mem_alloc(sizeof(*object) + bytes);
    char *at = object->bytes;

    atomic_init(&object->refs, 1);
    object->namespace_len = namespace_len;
    object->name_len = name_len;
    object->uid_len = uid_len;
    object->version_len = version_len;
    object->kept_len = kept_len;
    at = put(at, namespace_, namespace_len);
    *at++ = '/';
    at = put(at, name, name_len);
    at = put(at, uid, uid_len);
    at = put(at, resource_version, version_len);
    put(at, kept, kept_len);
    object->hash = hash_of(kube_object_key(object));
    return object;
}

void kube_object_keep_secret(struct kube_object *object)
{
    object->secret = true;
}

struct kube_object *kube_object_ref(struct kube_object *object)
{
    if (object)
        atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    return object;
}

void kube_object_unref(struct kube_object *object)
{
    if (!object || atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (object->secret) {
        struct str kept = kube_object_kept(object);

        explicit_bzero((char *)(uintptr_t)kept.at, kept.len);
    }
    mem_free(object);
}

struct str kube_object_key(const struct kube_object *object)
{
    if (object->namespace_len == 0)
        return kube_object_name(object);
    return str_make(object->bytes, (size_t)object->namespace_len + 1 + object->name_len);
}

struct str kube_object_namespace(const struct kube_object *object)
{
    return str_make(object->bytes, object->namespace_len);
}

struct str kube_object_name(const struct kube_object *object)
{
    return str_make(object->bytes + object->namespace_len + 1, object->name_len);
}

static const char *behind_name(const struct kube_object *object)
{
    return object->bytes + object->namespace_len + 1 + object->name_len;
}

struct str kube_object_uid(const struct kube_object *object)
{
    return str_make(behind_name(object), object->uid_len);
}

struct str kube_object_resource_version(const struct kube_object *object)
{
    return str_make(behind_name(object) + object->uid_len, object->version_len);
}

struct str kube_object_kept(const struct kube_object *object)
{
    return str_make(behind_name(object) + object->uid_len + object->version_len, object->kept_len);
}

static size_t object_bytes(const struct kube_object *object)
{
    return sizeof(*object) + (size_t)(behind_name(object) - object->bytes) + object->uid_len +
           object->version_len + object->kept_len;
}

/* Linear probing, at most three quarters full; a removal closes its gap by moving what follows, so
 * there are no tombstones and a cache that churns for months stays as it is. */
struct slot {
    struct kube_object *object; /* NULL: free */
    uint32_t round;
};

struct kube_cache {
    struct slot *slots;
    size_t mask;
    size_t count;
    size_t bytes;
    uint32_t round;
};

enum { SLOTS_FIRST = 16 };

struct kube_cache *kube_cache_create(void)
{
    struct kube_cache *cache = mem_new(struct kube_cache);

    cache->mask = SLOTS_FIRST - 1;
    cache->slots = mem_alloc(sizeof(*cache->slots) * SLOTS_FIRST);
    return cache;
}

void kube_cache_free(struct kube_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i <= cache->mask; i++)
        kube_object_unref(cache->slots[i].object);
    mem_free(cache->slots);
    mem_free(cache);
}

static struct slot *find(const struct kube_cache *cache, struct str key, uint32_t hash)
{
    for (size_t i = hash & cache->mask;; i = (i + 1) & cache->mask) {
        struct slot *slot = &cache->slots[i];

        if (!slot->object ||
            (slot->object->hash == hash && str_eq(kube_object_key(slot->object), key)))
            return slot;
    }
}

struct kube_object *kube_cache_get(const struct kube_cache *cache, struct str key)
{
    return find(cache, key, hash_of(key))->object;
}

static void grow(struct kube_cache *cache)
{
    struct slot *old = cache->slots;
    size_t old_mask = cache->mask;

    cache->mask = old_mask * 2 + 1;
    cache->slots = mem_alloc(sizeof(*cache->slots) * (cache->mask + 1));
    for (size_t i = 0; i <= old_mask; i++)
        if (old[i].object)
            *find(cache, kube_object_key(old[i].object), old[i].object->hash) = old[i];
    mem_free(old);
}

struct kube_object *kube_cache_put(struct kube_cache *cache, struct kube_object *object)
{
    if ((cache->count + 1) * 4 > (cache->mask + 1) * 3)
        grow(cache);

    struct slot *slot = find(cache, kube_object_key(object), object->hash);
    struct kube_object *before = slot->object;

    if (before)
        cache->bytes -= object_bytes(before);
    else
        cache->count++;
    cache->bytes += object_bytes(object);
    *slot = (struct slot){ object, cache->round };
    return before;
}

/* Move back what stands behind the gap and may not be found past it any more. */
static void close_gap(struct kube_cache *cache, size_t gap)
{
    for (size_t i = (gap + 1) & cache->mask; cache->slots[i].object; i = (i + 1) & cache->mask) {
        size_t home = cache->slots[i].object->hash & cache->mask;

        if (((i - home) & cache->mask) < ((i - gap) & cache->mask))
            continue;
        cache->slots[gap] = cache->slots[i];
        cache->slots[i].object = NULL;
        gap = i;
    }
}

static struct kube_object *remove_slot(struct kube_cache *cache, struct slot *slot)
{
    struct kube_object *object = slot->object;

    if (!object)
        return NULL;
    slot->object = NULL;
    cache->count--;
    cache->bytes -= object_bytes(object);
    close_gap(cache, (size_t)(slot - cache->slots));
    return object;
}

struct kube_object *kube_cache_remove(struct kube_cache *cache, struct str key)
{
    return remove_slot(cache, find(cache, key, hash_of(key)));
}

void kube_cache_begin_round(struct kube_cache *cache)
{
    cache->round++;
}

void kube_cache_mark(struct kube_cache *cache, struct str key)
{
    struct slot *slot = find(cache, key, hash_of(key));

    if (slot->object)
        slot->round = cache->round;
}

struct kube_object *kube_cache_remove_unmarked(struct kube_cache *cache, size_t *cursor)
{
    /* A removal may move an object into the slot just freed: the cursor stays on it. */
    for (; *cursor <= cache->mask; (*cursor)++) {
        struct slot *slot = &cache->slots[*cursor];

        if (slot->object && slot->round != cache->round)
            return remove_slot(cache, slot);
    }
    return NULL;
}

size_t kube_cache_count(const struct kube_cache *cache)
{
    return cache->count;
}

size_t kube_cache_bytes(const struct kube_cache *cache)
{
    return cache->bytes + sizeof(*cache) + sizeof(*cache->slots) * (cache->mask + 1);
}

size_t kube_cache_object_bytes(const struct kube_cache *cache)
{
    return cache->bytes;
}

bool kube_cache_next(const struct kube_cache *cache, size_t *cursor,
                     struct kube_object **ret_object)
{
    for (; *cursor <= cache->mask; (*cursor)++)
        if (cache->slots[*cursor].object) {
            *ret_object = cache->slots[(*cursor)++].object;
            return true;
        }
    return false;
}
