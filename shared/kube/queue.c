/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: one entry for each key that has something to remember.
 *
 * An entry is at most one of these: ready (in the chain), delayed (in the heap), neither; beside
 * that it may be worked on, and then "again" says that it is to be ready once that is done. One
 * that rests is in the heap even if nobody wishes to look at it: "wished" is false then. */
#include "kube/queue.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "kube/backoff.h"
#include "kube/limits.h"

enum { NOT_IN_HEAP = -1 };

struct entry {
    struct entry *next_ready;
    int64_t due_ms;
    int64_t rests_until_ms; /* 0 = it never rested */
    ptrdiff_t heap_at;
    uint32_t failures;
    bool ready, working, again, wished;
    size_t key_len;
    char key[];
};

struct kube_queue {
    struct kube_queue_options options;
    struct rng rng;
    struct dict *entries;
    struct entry *first, **last; /* ready, in the order they came */
    struct entry **heap;         /* delayed, the earliest on top */
    size_t heap_count, heap_capacity;
    size_t ready, working;
    int64_t bucket_us; /* when the token bucket of retries is full again */
};

struct kube_queue *kube_queue_create(const struct kube_queue_options *options, uint64_t seed)
{
    struct kube_queue *queue = mem_new(struct kube_queue);
    struct kube_queue_options o = options ? *options : (struct kube_queue_options){ 0 };

    o.retry_first_ms = o.retry_first_ms ? o.retry_first_ms : LIMIT_RETRY_FIRST;
    o.retry_max_ms = o.retry_max_ms ? o.retry_max_ms : LIMIT_RETRY_MAX;
    o.retry_per_s = o.retry_per_s ? o.retry_per_s : LIMIT_RETRY_RATE;
    o.retry_burst = o.retry_burst ? o.retry_burst : LIMIT_RETRY_BURST;
    queue->options = o;
    queue->rng = rng_from_seed(seed);
    queue->entries = dict_create();
    queue->last = &queue->first;
    queue->bucket_us = INT64_MIN;
    return queue;
}

void kube_queue_free(struct kube_queue *queue)
{
    struct str key;
    void *entry;

    if (!queue)
        return;
    for (size_t cursor = 0; dict_next(queue->entries, &cursor, &key, &entry);)
        mem_free(entry);
    dict_free(queue->entries);
    mem_free(queue->heap);
    mem_free(queue);
}

static struct str key_of(const struct entry *entry)
{
    return str_make(entry->key, entry->key_len);
}

static struct entry *entry_of(struct kube_queue *queue, struct str key)
{
    struct entry *entry = dict_get(queue->entries, key);

    if (entry)
        return entry;
    entry = mem_alloc(sizeof(*entry) + key.len + 1);
    memcpy(entry->key, key.at, key.len);
    entry->key_len = key.len;
    entry->heap_at = NOT_IN_HEAP;
    dict_set(queue->entries, key, entry);
    return entry;
}

static void drop_if_idle(struct kube_queue *queue, struct entry *entry)
{
    if (entry->ready || entry->working || entry->failures || entry->heap_at != NOT_IN_HEAP)
        return;
    dict_remove(queue->entries, key_of(entry));
    mem_free(entry);
}

static void heap_place(struct kube_queue *queue, size_t at, struct entry *entry)
{
    queue->heap[at] = entry;
    entry->heap_at = (ptrdiff_t)at;
}

static void heap_up(struct kube_queue *queue, size_t at, struct entry *entry)
{
    while (at > 0 && queue->heap[(at - 1) / 2]->due_ms > entry->due_ms) {
        heap_place(queue, at, queue->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_place(queue, at, entry);
}

static void heap_down(struct kube_queue *queue, size_t at, struct entry *entry)
{
    for (;;) {
        size_t child = at * 2 + 1;

        if (child + 1 < queue->heap_count &&
            queue->heap[child + 1]->due_ms < queue->heap[child]->due_ms)
            child++;
        if (child >= queue->heap_count || queue->heap[child]->due_ms >= entry->due_ms)
            break;
        heap_place(queue, at, queue->heap[child]);
        at = child;
    }
    heap_place(queue, at, entry);
}

static void heap_add(struct kube_queue *queue, struct entry *entry)
{
    if (queue->heap_count == queue->heap_capacity) {
        queue->heap_capacity = queue->heap_capacity ? queue->heap_capacity * 2 : 64;
        queue->heap = mem_resize(queue->heap, queue->heap_capacity * sizeof(*queue->heap));
    }
    heap_up(queue, queue->heap_count++, entry);
}

static void heap_remove(struct kube_queue *queue, struct entry *entry)
{
    if (entry->heap_at == NOT_IN_HEAP)
        return;

    size_t at = (size_t)entry->heap_at;
    struct entry *moved = queue->heap[--queue->heap_count];

    entry->heap_at = NOT_IN_HEAP;
    if (moved == entry)
        return;
    heap_up(queue, at, moved);
    heap_down(queue, (size_t)moved->heap_at, moved);
}

static void make_ready(struct kube_queue *queue, struct entry *entry)
{
    heap_remove(queue, entry);
    if (entry->ready)
        return;
    if (entry->working) {
        entry->again = true;
        return;
    }
    entry->ready = true;
    entry->next_ready = NULL;
    *queue->last = entry;
    queue->last = &entry->next_ready;
    queue->ready++;
}

static void delay(struct kube_queue *queue, struct entry *entry, int64_t due_ms, bool wished)
{
    heap_remove(queue, entry);
    entry->due_ms = due_ms;
    entry->wished = wished;
    heap_add(queue, entry);
}

static void add(struct kube_queue *queue, struct entry *entry, int64_t now_ms)
{
    if (entry->rests_until_ms > now_ms && !entry->working && !entry->ready)
        delay(queue, entry, entry->rests_until_ms, true);
    else
        make_ready(queue, entry);
}

void kube_queue_add(struct kube_queue *queue, struct str key, int64_t now_ms)
{
    add(queue, entry_of(queue, key), now_ms);
}

void kube_queue_add_after(struct kube_queue *queue, struct str key, int64_t delay_ms,
                          int64_t now_ms)
{
    struct entry *entry = entry_of(queue, key);
    int64_t due_ms;

    if (delay_ms <= 0) {
        add(queue, entry, now_ms);
        return;
    }
    if (entry->ready || entry->again || __builtin_add_overflow(now_ms, delay_ms, &due_ms) ||
        (entry->heap_at != NOT_IN_HEAP && entry->wished && entry->due_ms <= due_ms)) {
        drop_if_idle(queue, entry);
        return;
    }
    delay(queue, entry, due_ms, true);
}

void kube_queue_rest(struct kube_queue *queue, struct str key, int64_t until_ms)
{
    struct entry *entry = entry_of(queue, key);

    entry->rests_until_ms = until_ms;
    if (!entry->ready && entry->heap_at == NOT_IN_HEAP)
        delay(queue, entry, until_ms, false);
}

/* One token of the bucket: how long until there is one. The generic cell rate algorithm:
 * `bucket_us` is when the bucket would be full; it may lie `burst` tokens ahead. */
static int64_t bucket_wait_ms(struct kube_queue *queue, int64_t now_ms)
{
    int64_t token_us = 1000000 / queue->options.retry_per_s;
    int64_t now_us = now_ms * 1000;
    int64_t burst_us = token_us * (int64_t)queue->options.retry_burst;

    if (queue->bucket_us < now_us)
        queue->bucket_us = now_us;
    queue->bucket_us += token_us;

    int64_t wait_us = queue->bucket_us - now_us - burst_us;

    return wait_us > 0 ? (wait_us + 999) / 1000 : 0;
}

int64_t kube_queue_retry(struct kube_queue *queue, struct str key, int64_t retry_after_ms,
                         int64_t now_ms)
{
    struct entry *entry = entry_of(queue, key);
    struct backoff backoff = { queue->options.retry_first_ms, queue->options.retry_max_ms,
                               entry->failures };
    int64_t wait_ms = backoff_next(&backoff, retry_after_ms, &queue->rng);
    int64_t bucket_ms = bucket_wait_ms(queue, now_ms);

    entry->failures = backoff.failures;
    if (wait_ms < bucket_ms)
        wait_ms = bucket_ms;
    kube_queue_add_after(queue, key, wait_ms, now_ms);
    return wait_ms;
}

void kube_queue_forget(struct kube_queue *queue, struct str key)
{
    struct entry *entry = dict_get(queue->entries, key);

    if (!entry)
        return;
    entry->failures = 0;
    drop_if_idle(queue, entry);
}

bool kube_queue_has_failed(const struct kube_queue *queue, struct str key)
{
    const struct entry *entry = dict_get(queue->entries, key);

    return entry && entry->failures;
}

static void become_due(struct kube_queue *queue, struct entry *entry, int64_t now_ms)
{
    if (entry->rests_until_ms > now_ms) {
        delay(queue, entry, entry->rests_until_ms, entry->wished);
    } else if (entry->wished) {
        make_ready(queue, entry);
    } else {
        heap_remove(queue, entry);
        drop_if_idle(queue, entry);
    }
}

/* Out of the chain. */
static struct entry *next_ready(struct kube_queue *queue)
{
    struct entry *entry = queue->first;

    if (!entry)
        return NULL;
    queue->first = entry->next_ready;
    if (!queue->first)
        queue->last = &queue->first;
    queue->ready--;
    entry->ready = false;
    return entry;
}

bool kube_queue_take(struct kube_queue *queue, int64_t now_ms, struct str *ret_key)
{
    while (queue->heap_count && queue->heap[0]->due_ms <= now_ms)
        become_due(queue, queue->heap[0], now_ms);

    struct entry *entry = next_ready(queue);

    while (entry && entry->rests_until_ms > now_ms) {
        delay(queue, entry, entry->rests_until_ms, true);
        entry = next_ready(queue);
    }
    if (!entry)
        return false;
    queue->working++;
    entry->working = true;
    *ret_key = key_of(entry);
    return true;
}

void kube_queue_done(struct kube_queue *queue, struct str key, int64_t now_ms)
{
    struct entry *entry = dict_get(queue->entries, key);

    if (!entry || !entry->working)
        return;
    entry->working = false;
    queue->working--;
    if (entry->again) {
        entry->again = false;
        add(queue, entry, now_ms);
    }
    drop_if_idle(queue, entry);
}

int64_t kube_queue_next_due(const struct kube_queue *queue)
{
    return queue->heap_count ? queue->heap[0]->due_ms : -1;
}

size_t kube_queue_depth(const struct kube_queue *queue)
{
    return queue->ready + queue->working;
}

size_t kube_queue_delayed(const struct kube_queue *queue)
{
    return queue->heap_count;
}
