/* SPDX-License-Identifier: Apache-2.0 */
/* watch_cache.c: a ring under one mutex. Readers of the same collection sleep on one condition of
 * many, so that a change in one of a thousand clusters does not wake all that watch the others. */
#include "lab/apiserver/watch_cache.h"

#include "base/memory.h"
#include "base/pack.h"
#include "io/wait.h"

#include <pthread.h>
#include <time.h>

enum { CONDITIONS = 1024 };

struct watch_cache {
    pthread_mutex_t lock;
    pthread_cond_t moved;               /* the version */
    pthread_cond_t changed[CONDITIONS]; /* a collection, by a hash of cluster and plural */
    struct change **ring;
    uint32_t capacity, first, count;
    size_t bytes;
    struct watch_cache_options options;
    uint64_t version;   /* of the newest change */
    uint64_t compacted; /* of the newest change that is gone */
    bool closed;
};

struct watch_cache *watch_cache_create(const struct watch_cache_options *options, uint64_t version)
{
    struct watch_cache *cache = mem_new(struct watch_cache);

    cache->options = *options;
    cache->capacity = options->changes_max;
    cache->ring = mem_alloc(sizeof(struct change *) * cache->capacity);
    cache->version = cache->compacted = version;
    wait_init(&cache->lock, &cache->moved);
    for (int i = 0; i < CONDITIONS; i++)
        wait_init_condition(&cache->changed[i]);
    return cache;
}

static struct change *at(const struct watch_cache *cache, uint32_t index)
{
    return cache->ring[(cache->first + index) % cache->capacity];
}

static void drop_oldest(struct watch_cache *cache)
{
    struct change *oldest = at(cache, 0);

    cache->compacted = oldest->version;
    cache->bytes -= oldest->bytes_;
    cache->first = (cache->first + 1) % cache->capacity;
    cache->count--;
    change_unref(oldest);
}

void watch_cache_free(struct watch_cache *cache)
{
    if (!cache)
        return;
    while (cache->count)
        drop_oldest(cache);
    pthread_cond_destroy(&cache->moved);
    for (int i = 0; i < CONDITIONS; i++)
        pthread_cond_destroy(&cache->changed[i]);
    pthread_mutex_destroy(&cache->lock);
    mem_free(cache->ring);
    mem_free(cache);
}

struct change *change_create(uint64_t version, enum change_type type, const struct store_key *key,
                             struct str object, struct str previous, int64_t at_ms)
{
    size_t bytes = sizeof(struct change) + key->cluster.len + key->group.len + key->plural.len +
                   key->namespace_.len + key->name.len + object.len + previous.len;
    struct change *change = mem_alloc(bytes);
    char *text = (char *)(change + 1);

    change->version = version;
    change->type = type;
    change->key =
        (struct store_key){ pack_str(&text, key->cluster), pack_str(&text, key->group),
                            pack_str(&text, key->plural), pack_str(&text, key->namespace_),
                            pack_str(&text, key->name) };
    change->object = pack_str(&text, object);
    change->previous = pack_str(&text, previous);
    change->at_ms = at_ms;
    change->bytes_ = bytes;
    change->uses_ = 1;
    return change;
}

void change_unref(struct change *change)
{
    if (change && __atomic_sub_fetch(&change->uses_, 1, __ATOMIC_ACQ_REL) == 0)
        mem_free(change);
}

static pthread_cond_t *condition_of(struct watch_cache *cache, struct str cluster,
                                    struct str plural)
{
    return &cache->changed[(str_hash(cluster) * 31 + str_hash(plural)) % CONDITIONS];
}

void watch_cache_push(struct watch_cache *cache, struct change *change)
{
    pthread_mutex_lock(&cache->lock);
    while (cache->count == cache->capacity ||
           (cache->count && cache->bytes + change->bytes_ > cache->options.bytes_max))
        drop_oldest(cache);
    cache->ring[(cache->first + cache->count++) % cache->capacity] = change;
    cache->bytes += change->bytes_;
    cache->version = change->version;
    pthread_cond_broadcast(&cache->moved);
    pthread_cond_broadcast(condition_of(cache, change->key.cluster, change->key.plural));
    pthread_mutex_unlock(&cache->lock);
}

uint64_t watch_cache_version(struct watch_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t version = cache->version;
    pthread_mutex_unlock(&cache->lock);
    return version;
}

uint64_t watch_cache_compacted(struct watch_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t version = cache->compacted;
    pthread_mutex_unlock(&cache->lock);
    return version;
}

uint64_t watch_cache_trim(struct watch_cache *cache, int64_t now_ms)
{
    pthread_mutex_lock(&cache->lock);
    while (cache->count && at(cache, 0)->at_ms < now_ms - cache->options.age_max_ms)
        drop_oldest(cache);
    uint64_t version = cache->compacted;
    pthread_mutex_unlock(&cache->lock);
    return version;
}

void watch_cache_wait(struct watch_cache *cache, uint64_t version)
{
    pthread_mutex_lock(&cache->lock);
    while (cache->version < version && !cache->closed)
        pthread_cond_wait(&cache->moved, &cache->lock);
    pthread_mutex_unlock(&cache->lock);
}

/* Index of the first change after `version`. */
static uint32_t first_after(const struct watch_cache *cache, uint64_t version)
{
    uint32_t low = 0, high = cache->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at(cache, middle)->version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool belongs(const struct change *change, const struct collection *of)
{
    return str_eq(change->key.plural, of->plural) && str_eq(change->key.group, of->group) &&
           str_eq(change->key.cluster, of->cluster) &&
           (of->namespace_.len == 0 || str_eq(change->key.namespace_, of->namespace_));
}

static uint32_t take(struct watch_cache *cache, const struct collection *of, uint64_t *version,
                     struct change **changes, uint32_t most)
{
    uint32_t taken = 0;

    for (uint32_t i = first_after(cache, *version); i < cache->count && taken < most; i++) {
        struct change *change = at(cache, i);

        *version = change->version;
        if (!belongs(change, of))
            continue;
        __atomic_add_fetch(&change->uses_, 1, __ATOMIC_RELAXED);
        changes[taken++] = change;
    }
    return taken;
}

enum watch_cache_answer watch_cache_after(struct watch_cache *cache, const struct collection *of,
                                          uint64_t *version, int64_t wait_ms,
                                          struct change **ret_changes, uint32_t most,
                                          uint32_t *ret_count)
{
    struct timespec until = wait_until(wait_ms);
    enum watch_cache_answer answer = WATCH_CACHE_NOTHING;

    *ret_count = 0;
    pthread_mutex_lock(&cache->lock);
    for (;;) {
        if (cache->closed)
            answer = WATCH_CACHE_CLOSED;
        else if (*version < cache->compacted)
            answer = WATCH_CACHE_COMPACTED;
        else if ((*ret_count = take(cache, of, version, ret_changes, most)) != 0)
            answer = WATCH_CACHE_CHANGES;
        else if (wait_ms && pthread_cond_timedwait(condition_of(cache, of->cluster, of->plural),
                                                   &cache->lock, &until) == 0)
            continue;
        break;
    }
    pthread_mutex_unlock(&cache->lock);
    return answer;
}

void watch_cache_close(struct watch_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    cache->closed = true;
    pthread_cond_broadcast(&cache->moved);
    for (int i = 0; i < CONDITIONS; i++)
        pthread_cond_broadcast(&cache->changed[i]);
    pthread_mutex_unlock(&cache->lock);
}
