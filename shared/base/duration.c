/* SPDX-License-Identifier: Apache-2.0 */
/* duration.c: time.ParseDuration and Duration.String of Go. */
#include "base/duration.h"

#include <inttypes.h>

static const struct unit {
    struct str name;
    int64_t nanoseconds;
} units[] = {
    /* Longest first, so that "ms" is not read as minutes. Go: time.ParseDuration. */
    { STR_INIT("ns"), 1 },
    { STR_INIT("us"), 1000 },
    { STR_INIT("\xc2\xb5s"), 1000 },
    { STR_INIT("\xce\xbcs"), 1000 },
    { STR_INIT("ms"), 1000000 },
    { STR_INIT("s"), 1000000000LL },
    { STR_INIT("m"), 60 * 1000000000LL },
    { STR_INIT("h"), 3600 * 1000000000LL },
};

static const struct unit *unit_at(struct str text)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_starts(text, units[i].name))
            return &units[i];
    return NULL;
}

/* One "1.5h" off the front of *text, added to *total in nanoseconds. */
static bool take_part(struct str *text, __int128 *total)
{
    __int128 whole = 0;
    __int128 fraction = 0;
    __int128 scale = 1;
    size_t i = 0;
    size_t digits = 0;

    for (; i < text->len && text->at[i] >= '0' && text->at[i] <= '9'; i++, digits++)
        if ((whole = whole * 10 + (text->at[i] - '0')) > INT64_MAX)
            return false;
    if (i < text->len && text->at[i] == '.') {
        for (i++; i < text->len && text->at[i] >= '0' && text->at[i] <= '9'; i++, digits++) {
            if (scale > INT64_MAX / 10)
                continue; /* finer than a nanosecond of an hour */
            fraction = fraction * 10 + (text->at[i] - '0');
            scale *= 10;
        }
    }

    struct str rest = str_slice(*text, i, text->len);
    const struct unit *unit = unit_at(rest);

    if (digits == 0 || !unit)
        return false;
    *total += whole * unit->nanoseconds + fraction * unit->nanoseconds / scale;
    *text = str_slice(rest, unit->name.len, rest.len);
    return *total <= INT64_MAX;
}

bool duration_parse(struct str text, int64_t *ret_ms)
{
    __int128 total = 0;

    if (str_eq(text, STR("0"))) {
        *ret_ms = 0;
        return true;
    }
    if (text.len && text.at[0] == '+')
        text = str_slice(text, 1, text.len);
    if (text.len == 0)
        return false;
    while (text.len)
        if (!take_part(&text, &total))
            return false;
    *ret_ms = (int64_t)(total / 1000000);
    return true;
}

struct str duration_text(struct arena *arena, int64_t duration_ms)
{
    uint64_t ms = duration_ms < 0 ? 0 - (uint64_t)duration_ms : (uint64_t)duration_ms;
    uint64_t seconds = ms / 1000;
    uint32_t fraction = (uint32_t)(ms % 1000);
    struct strbuf out = strbuf_new(arena, 32);

    if (duration_ms < 0)
        strbuf_char(&out, '-');
    if (seconds == 0 && fraction) {
        strbuf_fmt(&out, "%ums", fraction);
        return strbuf_str(&out);
    }
    if (seconds >= 3600)
        strbuf_fmt(&out, "%" PRIu64 "h", seconds / 3600);
    if (seconds >= 60)
        strbuf_fmt(&out, "%" PRIu64 "m", seconds / 60 % 60);
    strbuf_fmt(&out, "%" PRIu64, seconds % 60);
    if (fraction) {
        strbuf_fmt(&out, ".%03u", fraction);
        while (out.at[out.len - 1] == '0')
            out.len--;
    }
    strbuf_char(&out, 's');
    return strbuf_str(&out);
}
