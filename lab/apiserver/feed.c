/* feed.c: a ring under one mutex; readers sleep on one condition. */
#include "lab/apiserver/feed.h"

#include "base/memory.h"
#include "base/pack.h"

#include <pthread.h>
#include <time.h>

struct feed {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct change **ring;
    uint32_t capacity, first, count;
    size_t bytes;
    struct feed_options options;
    uint64_t version;   /* of the newest change */
    uint64_t compacted; /* of the newest change that is gone */
    bool closed;
};

struct feed *feed_create(const struct feed_options *options, uint64_t version)
{
    struct feed *feed = mem_new(struct feed);
    pthread_condattr_t monotonic;

    feed->options = *options;
    feed->capacity = options->changes_max;
    feed->ring = mem_alloc(sizeof(struct change *) * feed->capacity);
    feed->version = feed->compacted = version;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&feed->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return feed;
}

static struct change *at(const struct feed *feed, uint32_t index)
{
    return feed->ring[(feed->first + index) % feed->capacity];
}

static void drop_oldest(struct feed *feed)
{
    struct change *oldest = at(feed, 0);

    feed->compacted = oldest->version;
    feed->bytes -= oldest->bytes_;
    feed->first = (feed->first + 1) % feed->capacity;
    feed->count--;
    change_unref(oldest);
}

void feed_free(struct feed *feed)
{
    if (!feed)
        return;
    while (feed->count)
        drop_oldest(feed);
    pthread_cond_destroy(&feed->moved);
    pthread_mutex_destroy(&feed->lock);
    mem_free(feed->ring);
    mem_free(feed);
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
    change->key = (struct store_key){ pack_str(&text, key->cluster), pack_str(&text, key->group),
                                      pack_str(&text, key->plural),
                                      pack_str(&text, key->namespace_),
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

void feed_push(struct feed *feed, struct change *change)
{
    pthread_mutex_lock(&feed->lock);
    while (feed->count == feed->capacity ||
           (feed->count && feed->bytes + change->bytes_ > feed->options.bytes_max))
        drop_oldest(feed);
    feed->ring[(feed->first + feed->count++) % feed->capacity] = change;
    feed->bytes += change->bytes_;
    feed->version = change->version;
    pthread_cond_broadcast(&feed->moved);
    pthread_mutex_unlock(&feed->lock);
}

uint64_t feed_version(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    uint64_t version = feed->version;
    pthread_mutex_unlock(&feed->lock);
    return version;
}

uint64_t feed_compacted(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    uint64_t version = feed->compacted;
    pthread_mutex_unlock(&feed->lock);
    return version;
}

uint64_t feed_trim(struct feed *feed, int64_t now_ms)
{
    pthread_mutex_lock(&feed->lock);
    while (feed->count && at(feed, 0)->at_ms < now_ms - feed->options.age_max_ms)
        drop_oldest(feed);
    uint64_t version = feed->compacted;
    pthread_mutex_unlock(&feed->lock);
    return version;
}

void feed_wait(struct feed *feed, uint64_t version)
{
    pthread_mutex_lock(&feed->lock);
    while (feed->version < version && !feed->closed)
        pthread_cond_wait(&feed->moved, &feed->lock);
    pthread_mutex_unlock(&feed->lock);
}

/* Index of the first change after `version`. */
static uint32_t first_after(const struct feed *feed, uint64_t version)
{
    uint32_t low = 0, high = feed->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at(feed, middle)->version <= version)
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

static uint32_t take(struct feed *feed, const struct collection *of, uint64_t *version,
                     struct change **changes, uint32_t most)
{
    uint32_t taken = 0;

    for (uint32_t i = first_after(feed, *version); i < feed->count && taken < most; i++) {
        struct change *change = at(feed, i);

        *version = change->version;
        if (!belongs(change, of))
            continue;
        __atomic_add_fetch(&change->uses_, 1, __ATOMIC_RELAXED);
        changes[taken++] = change;
    }
    return taken;
}

static struct timespec in_future(int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

enum feed_answer feed_after(struct feed *feed, const struct collection *of, uint64_t *version,
                            int64_t wait_ms, struct change **ret_changes, uint32_t most,
                            uint32_t *ret_count)
{
    struct timespec until = in_future(wait_ms);
    enum feed_answer answer = FEED_NOTHING;

    *ret_count = 0;
    pthread_mutex_lock(&feed->lock);
    for (;;) {
        if (feed->closed)
            answer = FEED_CLOSED;
        else if (*version < feed->compacted)
            answer = FEED_COMPACTED;
        else if ((*ret_count = take(feed, of, version, ret_changes, most)) != 0)
            answer = FEED_CHANGES;
        else if (wait_ms && pthread_cond_timedwait(&feed->moved, &feed->lock, &until) == 0)
            continue;
        break;
    }
    pthread_mutex_unlock(&feed->lock);
    return answer;
}

void feed_close(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->closed = true;
    pthread_cond_broadcast(&feed->moved);
    pthread_mutex_unlock(&feed->lock);
}
