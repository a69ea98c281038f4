/* SPDX-License-Identifier: Apache-2.0 */
/* moment.c: days are counted from 1970-01-01 in the proleptic Gregorian calendar. */
#include "lab/cel/moment.h"

#include <stdio.h>
#include <stdlib.h>

enum { DAY_S = 86400 };

static const int64_t second_min = -62135596800; /* 0001-01-01T00:00:00Z */
static const int64_t second_max = 253402300799; /* 9999-12-31T23:59:59Z */
static const int64_t nanos_per_second = 1000000000;

/* Years begin in March here, so that the leap day is the last of them. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, struct cel_civil *civil)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;

    civil->day = (int)(of_year - (153 * month + 2) / 5 + 1);
    civil->month = (int)(month < 10 ? month + 3 : month - 9);
    civil->year = (int)(year + era * 400 + (civil->month <= 2));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

struct cel_civil cel_moment_civil(struct cel_moment moment, int64_t offset_s)
{
    int64_t local = moment.seconds + offset_s;
    int64_t days = floor_div(local, DAY_S);
    int64_t rest = local - days * DAY_S;
    struct cel_civil civil = { .hour = (int)(rest / 3600),
                               .minute = (int)(rest / 60 % 60),
                               .second = (int)(rest % 60) };

    date_of(days, &civil);
    civil.weekday = (int)(((days + 4) % 7 + 7) % 7);
    civil.yearday = (int)(days - days_of(civil.year, 1, 1));
    return civil;
}

/* `count` digits at *at, as a number. */
static bool digits(struct str text, size_t *at, int count, int *ret_number)
{
    int number = 0;

    for (int i = 0; i < count; i++, (*at)++) {
        if (*at >= text.len || text.at[*at] < '0' || text.at[*at] > '9')
            return false;
        number = number * 10 + (text.at[*at] - '0');
    }
    *ret_number = number;
    return true;
}

static bool sign_at(struct str text, size_t *at, char want)
{
    if (*at >= text.len || (text.at[*at] | 0x20) != (want | 0x20))
        return false;
    (*at)++;
    return true;
}

static bool fraction(struct str text, size_t *at, int32_t *ret_nanos)
{
    int64_t unit = nanos_per_second / 10;
    size_t from;

    *ret_nanos = 0;
    if (*at >= text.len || text.at[*at] != '.')
        return true;
    for (from = ++*at; *at < text.len && text.at[*at] >= '0' && text.at[*at] <= '9'; (*at)++) {
        *ret_nanos += (int32_t)((text.at[*at] - '0') * unit);
        unit /= 10;
    }
    return *at > from;
}

static bool offset(struct str text, size_t *at, int64_t *ret_offset_s)
{
    int hours, minutes;
    bool minus = *at < text.len && text.at[*at] == '-';

    *ret_offset_s = 0;
    if (*at < text.len && text.at[*at] == 'Z') {
        (*at)++;
        return true;
    }
    if (*at >= text.len || (text.at[*at] != '+' && !minus))
        return false;
    (*at)++;
    if (!digits(text, at, 2, &hours) || !sign_at(text, at, ':') || !digits(text, at, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *ret_offset_s = (minus ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

static int days_in(int year, int month)
{
    return (int)(days_of(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
                 days_of(year, month, 1));
}

bool cel_moment_parse(struct str text, struct cel_moment *ret_moment)
{
    int year, month, day, hour, minute, second;
    struct cel_moment moment;
    int64_t offset_s;
    size_t at = 0;

    if (!digits(text, &at, 4, &year) || !sign_at(text, &at, '-') || !digits(text, &at, 2, &month) ||
        !sign_at(text, &at, '-') || !digits(text, &at, 2, &day) || !sign_at(text, &at, 'T') ||
        !digits(text, &at, 2, &hour) || !sign_at(text, &at, ':') ||
        !digits(text, &at, 2, &minute) || !sign_at(text, &at, ':') ||
        !digits(text, &at, 2, &second) || !fraction(text, &at, &moment.nanos) ||
        !offset(text, &at, &offset_s) || at != text.len)
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour > 23 ||
        minute > 59 || second > 59)
        return false;
    moment.offset_s = (int32_t)offset_s;
    moment.seconds =
        days_of(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second - offset_s;
    if (!cel_moment_holds(moment))
        return false;
    *ret_moment = moment;
    return true;
}

/* ".5" of 500000000; "" of 0. */
static void put_fraction(struct strbuf *out, int64_t nanos)
{
    char text[16];
    int len = snprintf(text, sizeof(text), ".%09lld", (long long)nanos);

    while (len > 1 && text[len - 1] == '0')
        len--;
    if (len > 1)
        strbuf_put(out, str_make(text, (size_t)len));
}

struct str cel_moment_text(struct arena *arena, struct cel_moment moment)
{
    struct cel_civil c = cel_moment_civil(moment, moment.offset_s);
    int32_t minutes = moment.offset_s / 60;
    struct strbuf out = strbuf_new(arena, 40);

    strbuf_fmt(&out, "%04d-%02d-%02dT%02d:%02d:%02d", c.year, c.month, c.day, c.hour, c.minute,
               c.second);
    put_fraction(&out, moment.nanos);
    if (minutes)
        strbuf_fmt(&out, "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
                   abs(minutes) % 60);
    else
        strbuf_char(&out, 'Z');
    return strbuf_str(&out);
}

bool cel_moment_holds(struct cel_moment moment)
{
    return moment.seconds >= second_min && moment.seconds <= second_max;
}

bool cel_moment_add(struct cel_moment moment, int64_t nanos, struct cel_moment *ret_sum)
{
    int64_t seconds = floor_div(nanos, nanos_per_second);
    int64_t rest = moment.nanos + (nanos - seconds * nanos_per_second);

    *ret_sum = (struct cel_moment){ moment.seconds + seconds + rest / nanos_per_second,
                                    (int32_t)(rest % nanos_per_second), moment.offset_s };
    return cel_moment_holds(*ret_sum);
}

bool cel_moment_between(struct cel_moment a, struct cel_moment b, int64_t *ret_nanos)
{
    __int128 between = ((__int128)a.seconds - b.seconds) * nanos_per_second + a.nanos - b.nanos;

    if (between > INT64_MAX || between < INT64_MIN)
        return false;
    *ret_nanos = (int64_t)between;
    return true;
}

bool cel_offset_parse(struct str zone, int64_t *ret_offset_s)
{
    size_t at = 0;
    int hours, minutes;

    if (zone.len == 0 || str_eq(zone, STR("UTC"))) {
        *ret_offset_s = 0;
        return true;
    }
    if (zone.at[0] == '+' || zone.at[0] == '-')
        return offset(zone, &at, ret_offset_s) && at == zone.len;
    if (!digits(zone, &at, 2, &hours) || !sign_at(zone, &at, ':') ||
        !digits(zone, &at, 2, &minutes) || at != zone.len || hours > 23 || minutes > 59)
        return false;
    *ret_offset_s = hours * 3600 + minutes * 60;
    return true;
}

static const struct unit {
    const char *name;
    int64_t nanos;
} units[] = {
    { "ns", 1 },       { "us", 1000 },        { "\u00b5s", 1000 },    { "\u03bcs", 1000 },
    { "ms", 1000000 }, { "s", 1000000000LL }, { "m", 60000000000LL }, { "h", 3600000000000LL },
};

/* The unit that begins here: the longest, so that "ms" is no minute. */
static const struct unit *unit_at(struct str text)
{
    const struct unit *found = NULL;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_starts(text, str_of(units[i].name)) &&
            (!found || strlen(units[i].name) > strlen(found->name)))
            found = &units[i];
    return found;
}

/* "1.5h": one number and its unit. */
static bool duration_part(struct str *text, __int128 *sum)
{
    __int128 whole = 0, below = 0, scale = 1;
    const struct unit *unit;
    size_t at = 0, seen = 0;

    for (; at < text->len && text->at[at] >= '0' && text->at[at] <= '9'; at++, seen++)
        if ((whole = whole * 10 + (text->at[at] - '0')) > INT64_MAX)
            return false;
    if (at < text->len && text->at[at] == '.')
        for (at++; at < text->len && text->at[at] >= '0' && text->at[at] <= '9'; at++, seen++)
            if (scale < nanos_per_second * 1000000LL) {
                below = below * 10 + (text->at[at] - '0');
                scale *= 10;
            }
    *text = str_slice(*text, at, text->len);
    unit = seen ? unit_at(*text) : NULL;
    if (!unit)
        return false;
    *text = str_slice(*text, strlen(unit->name), text->len);
    *sum += whole * unit->nanos + below * unit->nanos / scale;
    return *sum <= (__int128)INT64_MAX + 1;
}

bool cel_duration_parse(struct str text, int64_t *ret_nanos)
{
    bool minus = text.len && text.at[0] == '-';
    __int128 sum = 0;

    if (minus || (text.len && text.at[0] == '+'))
        text = str_slice(text, 1, text.len);
    if (str_eq(text, STR("0"))) {
        *ret_nanos = 0;
        return true;
    }
    if (text.len == 0)
        return false;
    while (text.len)
        if (!duration_part(&text, &sum))
            return false;
    if (minus)
        sum = -sum;
    if (sum > INT64_MAX)
        return false;
    *ret_nanos = (int64_t)sum;
    return true;
}

struct str cel_duration_text(struct arena *arena, int64_t nanos)
{
    struct strbuf out = strbuf_new(arena, 32);
    uint64_t size = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;

    strbuf_fmt(&out, "%s%llu", nanos < 0 ? "-" : "",
               (unsigned long long)(size / (uint64_t)nanos_per_second));
    put_fraction(&out, (int64_t)(size % (uint64_t)nanos_per_second));
    strbuf_char(&out, 's');
    return strbuf_str(&out);
}
