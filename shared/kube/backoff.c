/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.c: doubling, capped, with jitter over the upper half, so that peers that failed together
 * do not come back together. */
#include "kube/backoff.h"

#include "base/limits.h"

int64_t backoff_after(int64_t first_ms, int64_t max_ms, uint32_t failures, struct rng *rng)
{
    int64_t whole = first_ms;

    for (uint32_t i = 1; i < failures && whole < max_ms; i++)
        whole *= 2;
    if (whole > max_ms)
        whole = max_ms;
    if (whole < 2)
        return whole;
    return whole - (int64_t)rng_below(rng, (uint64_t)(whole / 2));
}

int64_t backoff_next(struct backoff *backoff, int64_t retry_after_ms, struct rng *rng)
{
    if (backoff->failures < UINT32_MAX)
        backoff->failures++;

    int64_t wait = backoff_after(backoff->first_ms, backoff->max_ms, backoff->failures, rng);

    if (retry_after_ms > LIMIT_RETRY_AFTER_MAX)
        retry_after_ms = LIMIT_RETRY_AFTER_MAX;
    return wait < retry_after_ms ? retry_after_ms : wait;
}
