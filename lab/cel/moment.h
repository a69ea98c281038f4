/* SPDX-License-Identifier: Apache-2.0 */
/* moment.h: timestamps and durations of CEL as text and as calendar, to the nanosecond.
 *
 * Years 1 to 9999 of the Gregorian calendar; zones are offsets from UTC: this machine's database of
 * zones is no part of the lab. Source: cel-spec doc/langdef.md "Timestamps"; RFC 3339; Go's
 * time.ParseDuration. */
#ifndef HERD_LAB_CEL_MOMENT_H
#define HERD_LAB_CEL_MOMENT_H

#include "lab/cel/value.h"

struct cel_civil {
    int year, month, day; /* of the month; both from 1 */
    int hour, minute, second;
    int weekday; /* 0 = Sunday */
    int yearday; /* from 0 */
};

/* RFC 3339, with any number of digits behind the second. */
bool cel_moment_parse(struct str text, struct cel_moment *ret_moment);
struct str cel_moment_text(struct arena *arena, struct cel_moment moment);
/* False: beyond the years. */
bool cel_moment_add(struct cel_moment moment, int64_t nanos, struct cel_moment *ret_sum);
bool cel_moment_holds(struct cel_moment moment);
/* a - b in nanoseconds; false if that is no int. */
bool cel_moment_between(struct cel_moment a, struct cel_moment b, int64_t *ret_nanos);
struct cel_civil cel_moment_civil(struct cel_moment moment, int64_t offset_s);
/* "UTC", "+01:00", "-08:30", "01:00"; "" is UTC. */
bool cel_offset_parse(struct str zone, int64_t *ret_offset_s);

/* "1h2m3.5s", "-10ms", "0". */
bool cel_duration_parse(struct str text, int64_t *ret_nanos);
/* "3723.5s" */
struct str cel_duration_text(struct arena *arena, int64_t nanos);

#endif
