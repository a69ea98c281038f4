/* SPDX-License-Identifier: Apache-2.0 */
/* time.h: times as text. Pure: `now` is an argument elsewhere. */
#ifndef HERD_TEXT_TIME_H
#define HERD_TEXT_TIME_H

#include "base/error.h"

/* Milliseconds since 1970, UTC. */
int time_parse_rfc3339(struct str text, int64_t *ret_wall_ms, struct error *err);
/* metav1.Time: "2024-01-15T10:30:00Z". */
struct str time_rfc3339(struct arena *arena, int64_t wall_ms);
/* metav1.MicroTime: "2024-01-15T10:30:00.123000Z". */
struct str time_rfc3339_micro(struct arena *arena, int64_t wall_ms);
/* HTTP-date of RFC 9110 5.6.7, the IMF-fixdate form. */
int time_parse_http_date(struct str text, int64_t *ret_wall_ms, struct error *err);
/* For messages: "45s", "4m", "3h12m", "2d". */
struct str time_short(struct arena *arena, int64_t duration_ms);

#endif
