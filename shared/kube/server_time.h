/* SPDX-License-Identifier: Apache-2.0 */
/* server_time.h: the API server's clock, from the Date of its answers (RFC 9110 section 6.6.1).
 *
 * Times that one leader writes into an object are read by the next one, whose own clock may be an
 * hour off. All of them talk to one API server, so all of them go by its clock. */
#ifndef HERD_KUBE_SERVER_TIME_H
#define HERD_KUBE_SERVER_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct server_time {
    bool heard;
    bool apart;        /* its clock is gone by, until the two agree well */
    int64_t offset_ms; /* of the server's wall clock to our monotonic one */
    int64_t heard_ms;  /* monotonic */
};

/* An answer began at `monotonic_ms` and said that it was `date_ms`, which is cut to the second. */
void server_time_hear(struct server_time *time, int64_t date_ms, int64_t monotonic_ms);

/* Our own wall clock as long as the two agree to a few seconds, and what the server's says now if
 * they do not, until they agree to a second: the time does not go back and forth between them. */
int64_t server_time_wall_ms(struct server_time *time, int64_t wall_ms, int64_t monotonic_ms);

#endif
