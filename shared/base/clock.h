/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: time as an argument.
 *
 * The core takes `now_ms`; shells get a `const struct clock *` at creation. Monotonic time counts
 * sleep (CLOCK_BOOTTIME) and serves leases, deadlines and backoff. Wall time is milliseconds since
 * 1970 and serves what is shown or written. */
#ifndef HERD_BASE_CLOCK_H
#define HERD_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    int64_t (*monotonic_ms)(void *context);
    int64_t (*wall_ms)(void *context);
    void *context;
};

static inline int64_t clock_monotonic_ms(const struct clock *clock)
{
    return clock->monotonic_ms(clock->context);
}

/* The one that comes first of two times or spans; one below 0 never comes. */
static inline int64_t clock_sooner_ms(int64_t a_ms, int64_t b_ms)
{
    if (a_ms < 0 || b_ms < 0)
        return a_ms < 0 ? b_ms : a_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

static inline int64_t clock_wall_ms(const struct clock *clock)
{
    return clock->wall_ms(clock->context);
}

#endif
