/* SPDX-License-Identifier: Apache-2.0 */
/* function_time.c: parts of timestamps and durations, and conversions to them. */
#include "lab/cel/functions.h"
#include "lab/cel/moment.h"

struct cel_value cel_to_timestamp(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value value = { .kind = CEL_TIMESTAMP };

    (void)run;
    if (args[0].kind == CEL_INT) {
        value.moment.seconds = args[0].number;
        return cel_moment_holds(value.moment) ? value : cel_error(STR("timestamp overflow"));
    }
    if (cel_moment_parse(args[0].text, &value.moment))
        return value;
    return cel_error(STR("type conversion error from 'string' to 'google.protobuf.Timestamp'"));
}

struct cel_value cel_to_duration(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value value = { .kind = CEL_DURATION };

    (void)run;
    if (cel_duration_parse(args[0].text, &value.number))
        return value;
    return cel_error(STR("type conversion error from 'string' to 'google.protobuf.Duration'"));
}

/* In UTC, and at an offset. */
#define PART(function, expression)                                                                 \
    struct cel_value function(struct cel_run *run, const struct cel_value *args)                   \
    {                                                                                              \
        struct cel_moment m = args[0].moment;                                                      \
        struct cel_civil c = cel_moment_civil(m, 0);                                               \
                                                                                                   \
        (void)run, (void)m, (void)c;                                                               \
        return cel_int(expression);                                                                \
    }                                                                                              \
    struct cel_value function##_in(struct cel_run *run, const struct cel_value *args)              \
    {                                                                                              \
        struct cel_moment m = args[0].moment;                                                      \
        struct cel_civil c;                                                                        \
        int64_t offset_s;                                                                          \
                                                                                                   \
        if (!cel_offset_parse(args[1].text, &offset_s))                                            \
            return cel_errorf(run->arena,                                                          \
                              "herd-lab knows no time zone '%.*s': give an offset from UTC",       \
                              STR_ARG(args[1].text));                                              \
        c = cel_moment_civil(m, offset_s);                                                         \
        (void)m, (void)c;                                                                          \
        return cel_int(expression);                                                                \
    }

PART(cel_year, c.year)
PART(cel_month, c.month - 1)
PART(cel_day_of_year, c.yearday)
PART(cel_day_of_month, c.day - 1)
PART(cel_date, c.day)
PART(cel_day_of_week, c.weekday)
PART(cel_hours, c.hour)
PART(cel_minutes, c.minute)
PART(cel_seconds, c.second)
PART(cel_milliseconds, m.nanos / 1000000)

struct cel_value cel_duration_hours(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int(args[0].number / 3600000000000);
}

struct cel_value cel_duration_minutes(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int(args[0].number / 60000000000);
}

struct cel_value cel_duration_seconds(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int(args[0].number / 1000000000);
}

struct cel_value cel_duration_milliseconds(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_int(args[0].number / 1000000);
}
