/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.h: how long to wait before the next try: doubling with full jitter. */
#ifndef HERD_KUBE_BACKOFF_H
#define HERD_KUBE_BACKOFF_H

#include "base/rng.h"

struct backoff {
    int64_t first_ms;
    int64_t max_ms;
    uint32_t failures;
};

static inline struct backoff backoff_new(int64_t first_ms, int64_t max_ms)
{
    return (struct backoff){ first_ms, max_ms, 0 };
}

static inline void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}

/* Count a failure and give the wait: uniform in (half, whole] of first * 2^failures, at most max;
 * never less than `retry_after_ms` (-1 = none), which is capped at LIMIT_RETRY_AFTER_MAX. */
int64_t backoff_next(struct backoff *backoff, int64_t retry_after_ms, struct rng *rng);

/* The same without state: the wait after `failures` failures in a row (1 is the first). */
int64_t backoff_after(int64_t first_ms, int64_t max_ms, uint32_t failures, struct rng *rng);

#endif
