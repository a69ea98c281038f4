/* SPDX-License-Identifier: Apache-2.0 */
/* server_time.c: an offset, as long as it is worth one. */
#include "kube/server_time.h"

/* Dates are whole seconds, and answers take a while. */
enum { APART_MS = 3000, TOGETHER_MS = 1000, HALF_SECOND_MS = 500 };

void server_time_hear(struct server_time *time, int64_t date_ms, int64_t monotonic_ms)
{
    if (time->heard && monotonic_ms < time->heard_ms)
        return;
    time->heard = true;
    time->heard_ms = monotonic_ms;
    time->offset_ms = date_ms + HALF_SECOND_MS - monotonic_ms;
}

int64_t server_time_wall_ms(struct server_time *time, int64_t wall_ms, int64_t monotonic_ms)
{
    int64_t server_ms = monotonic_ms + time->offset_ms;
    int64_t ahead_ms = server_ms > wall_ms ? server_ms - wall_ms : wall_ms - server_ms;

    time->apart = time->heard && ahead_ms > (time->apart ? TOGETHER_MS : APART_MS);
    return time->apart ? server_ms : wall_ms;
}
