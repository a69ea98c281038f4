/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h: the work queue: keys that need a look, each at most once, never two workers on one key.
 *
 * As client-go's workqueue: a key added while it is being worked on is worked on again afterwards.
 * Delayed keys (backoff, "look again in 30 s") wait in a heap. Retries of all keys together pass a
 * token bucket. A key may rest: what is wanted of it meanwhile melts into one look. An object on
 * the heap; time is an argument. */
#ifndef HERD_KUBE_QUEUE_H
#define HERD_KUBE_QUEUE_H

#include "base/cleanup.h"
#include "base/rng.h"
#include "base/str.h"

struct kube_queue;

struct kube_queue_options {
    int64_t retry_first_ms; /* 0 = LIMIT_RETRY_FIRST */
    int64_t retry_max_ms;   /* 0 = LIMIT_RETRY_MAX */
    uint32_t retry_per_s;   /* 0 = LIMIT_RETRY_RATE */
    uint32_t retry_burst;   /* 0 = LIMIT_RETRY_BURST */
};

struct kube_queue *kube_queue_create(const struct kube_queue_options *options, uint64_t seed);
void kube_queue_free(struct kube_queue *queue);
AUTO_DEFINE(kube_queue_free, struct kube_queue *)

/* Look at the key now. */
void kube_queue_add(struct kube_queue *queue, struct str key, int64_t now_ms);
/* Look at it in `delay_ms`, unless it comes earlier by itself; the earliest wish counts. */
void kube_queue_add_after(struct kube_queue *queue, struct str key, int64_t delay_ms,
                          int64_t now_ms);
/* It failed: add it with backoff. `retry_after_ms` -1 = no wish of the peer. Gives the delay. */
int64_t kube_queue_retry(struct kube_queue *queue, struct str key, int64_t retry_after_ms,
                         int64_t now_ms);
/* It is not taken before `until_ms`, whatever is wished: looking at it costs too much to be done
 * for each change. Of a key that is worked on, or was a moment ago. */
void kube_queue_rest(struct kube_queue *queue, struct str key, int64_t until_ms);
/* It went well: its failures are forgotten. */
void kube_queue_forget(struct kube_queue *queue, struct str key);
/* Whether the last look at it failed. */
bool kube_queue_has_failed(const struct kube_queue *queue, struct str key);

/* The next key to work on; borrowed until kube_queue_done. False if none is due. */
bool kube_queue_take(struct kube_queue *queue, int64_t now_ms, struct str *ret_key);
void kube_queue_done(struct kube_queue *queue, struct str key, int64_t now_ms);

/* When the next delayed key is due (monotonic), or -1. */
int64_t kube_queue_next_due(const struct kube_queue *queue);
size_t kube_queue_depth(const struct kube_queue *queue); /* due or being worked on */
size_t kube_queue_delayed(const struct kube_queue *queue);

#endif
