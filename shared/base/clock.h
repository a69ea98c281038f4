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

static inline int64_t clock_wall_ms(const struct clock *clock)
{
    return clock->wall_ms(clock->context);
}

#endif
