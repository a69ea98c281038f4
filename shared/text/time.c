/* SPDX-License-Identifier: Apache-2.0 */
/* time.c: dates by the proleptic Gregorian calendar, without time zones of the machine. */
#include "text/time.h"

#include <inttypes.h>

enum { DAY_S = 86400 };

struct date {
    int64_t year;
    uint32_t month; /* 1 to 12 */
    uint32_t day;   /* 1 to 31 */
    uint32_t hour, minute, second, milli;
};

static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* ---- calendar: years begin in March, so that the leap day is the last ---- */

static int64_t days_from_date(int64_t year, uint32_t month, uint32_t day)
{
    year -= month <= 2;

    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static struct date date_from_ms(int64_t wall_ms)
{
    int64_t seconds = wall_ms / 1000 - (wall_ms % 1000 < 0);
    int64_t days = seconds / DAY_S - (seconds % DAY_S < 0);
    uint32_t rest = (uint32_t)(seconds - days * DAY_S);
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t march_month = (uint32_t)((5 * day_of_year + 2) / 153);
    uint32_t month = march_month < 10 ? march_month + 3 : march_month - 9;

    return (struct date){ .year = year_of_era + era * 400 + (month <= 2),
                          .month = month,
                          .day = (uint32_t)(day_of_year - (153 * march_month + 2) / 5 + 1),
                          .hour = rest / 3600,
                          .minute = rest / 60 % 60,
                          .second = rest % 60,
                          .milli = (uint32_t)(wall_ms - seconds * 1000) };
}

static uint32_t days_in(int64_t year, uint32_t month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

static bool is_date(const struct date *date)
{
    return date->month >= 1 && date->month <= 12 && date->day >= 1 &&
           date->day <= days_in(date->year, date->month) && date->hour < 24 && date->minute < 60 &&
           date->second < 60;
}

static int64_t ms_from_date(const struct date *date)
{
    int64_t seconds = days_from_date(date->year, date->month, date->day) * DAY_S +
                      date->hour * 3600 + date->minute * 60 + date->second;

    return seconds * 1000 + date->milli;
}

/* ---- reading ---- */

/* Exactly `digits` digits off the front. */
static bool take_number(struct str *rest, size_t digits, uint32_t *ret_number)
{
    uint32_t number = 0;

    if (rest->len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (rest->at[i] < '0' || rest->at[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(rest->at[i] - '0');
    }
    *rest = str_slice(*rest, digits, rest->len);
    *ret_number = number;
    return true;
}

static bool take(struct str *rest, struct str text)
{
    if (!str_starts(*rest, text))
        return false;
    *rest = str_slice(*rest, text.len, rest->len);
    return true;
}

/* ".123456789": at least one digit; what is finer than a millisecond is cut. */
static bool take_fraction(struct str *rest, uint32_t *ret_milli)
{
    uint32_t scale = 100;
    size_t i = 1;

    if (rest->len == 0 || rest->at[0] != '.')
        return true;
    for (; i < rest->len && rest->at[i] >= '0' && rest->at[i] <= '9'; i++, scale /= 10)
        *ret_milli += (uint32_t)(rest->at[i] - '0') * scale;
    *rest = str_slice(*rest, i, rest->len);
    return i > 1;
}

/* "Z" or "+02:00", in minutes east. */
static bool take_zone(struct str *rest, int64_t *ret_minutes)
{
    bool west = rest->len && rest->at[0] == '-';
    uint32_t hours;
    uint32_t minutes;

    if (take(rest, STR("Z"))) {
        *ret_minutes = 0;
        return true;
    }
    if (!take(rest, west ? STR("-") : STR("+")) || !take_number(rest, 2, &hours) ||
        !take(rest, STR(":")) || !take_number(rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_minutes = (int64_t)(hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

static bool take_clock(struct str *rest, struct date *date)
{
    return take_number(rest, 2, &date->hour) && take(rest, STR(":")) &&
           take_number(rest, 2, &date->minute) && take(rest, STR(":")) &&
           take_number(rest, 2, &date->second);
}

int time_parse_rfc3339(struct str text, int64_t *ret_wall_ms, struct error *err)
{
    struct date date = { 0 };
    struct str rest = text;
    uint32_t year = 0;
    int64_t zone = 0;
    bool good = take_number(&rest, 4, &year) && take(&rest, STR("-")) &&
                take_number(&rest, 2, &date.month) && take(&rest, STR("-")) &&
                take_number(&rest, 2, &date.day) && take(&rest, STR("T")) &&
                take_clock(&rest, &date) && take_fraction(&rest, &date.milli) &&
                take_zone(&rest, &zone) && rest.len == 0;

    date.year = year;
    if (!good || !is_date(&date))
        return error_set(err, ERROR_SYNTAX,
                         "not a time as RFC 3339 writes it, like 2024-01-15T10:30:00Z");
    *ret_wall_ms = ms_from_date(&date) - zone * 60 * 1000;
    return 0;
}

static bool take_month_name(struct str *rest, uint32_t *ret_month)
{
    for (uint32_t month = 0; month < 12; month++) {
        if (take(rest, str_make(month_names + month * 3, 3))) {
            *ret_month = month + 1;
            return true;
        }
    }
    return false;
}

static bool take_weekday(struct str *rest)
{
    static const char names[] = "MonTueWedThuFriSatSun";

    for (size_t day = 0; day < 7; day++)
        if (take(rest, str_make(names + day * 3, 3)))
            return true;
    return false;
}

int time_parse_http_date(struct str text, int64_t *ret_wall_ms, struct error *err)
{
    struct date date = { 0 };
    struct str rest = text;
    uint32_t year = 0;
    bool good = take_weekday(&rest) && take(&rest, STR(", ")) && take_number(&rest, 2, &date.day) &&
                take(&rest, STR(" ")) && take_month_name(&rest, &date.month) &&
                take(&rest, STR(" ")) && take_number(&rest, 4, &year) && take(&rest, STR(" ")) &&
                take_clock(&rest, &date) && take(&rest, STR(" GMT")) && rest.len == 0;

    date.year = year;
    if (!good || !is_date(&date))
        return error_set(err, ERROR_SYNTAX,
                         "not a date as HTTP writes it, like Sun, 06 Nov 1994 08:49:37 GMT");
    *ret_wall_ms = ms_from_date(&date);
    return 0;
}

/* ---- writing ---- */

struct str time_rfc3339(struct arena *arena, int64_t wall_ms)
{
    struct date d = date_from_ms(wall_ms);

    return str_fmt(arena, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02uZ", d.year, d.month, d.day, d.hour,
                   d.minute, d.second);
}

struct str time_rfc3339_micro(struct arena *arena, int64_t wall_ms)
{
    struct date d = date_from_ms(wall_ms);

    return str_fmt(arena, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02u.%03u000Z", d.year, d.month, d.day,
                   d.hour, d.minute, d.second, d.milli);
}

struct str time_short(struct arena *arena, int64_t duration_ms)
{
    int64_t seconds = duration_ms > 0 ? duration_ms / 1000 : 0; /* clocks may disagree a little */
    int64_t minutes = seconds / 60;
    int64_t hours = minutes / 60;

    if (minutes == 0)
        return str_fmt(arena, "%" PRId64 "s", seconds);
    if (hours == 0)
        return str_fmt(arena, "%" PRId64 "m", minutes);
    if (hours < 24 && minutes % 60)
        return str_fmt(arena, "%" PRId64 "h%" PRId64 "m", hours, minutes % 60);
    if (hours < 24)
        return str_fmt(arena, "%" PRId64 "h", hours);
    return str_fmt(arena, "%" PRId64 "d", hours / 24);
}
