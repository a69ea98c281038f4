/* SPDX-License-Identifier: Apache-2.0 */
/* str.c: strings as views. */
#include "base/str.h"

#include "base/format.h"
#include "base/memory.h"

int str_cmp(struct str a, struct str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.at, b.at, shorter) : 0;

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_make(s.at, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_make(s.at + s.len - suffix.len, suffix.len), suffix);
}

ptrdiff_t str_find(struct str s, struct str needle, size_t from)
{
    if (from > s.len)
        return -1;
    if (needle.len == 0)
        return (ptrdiff_t)from;
    if (s.len - from < needle.len) /* an empty text may be NULL */
        return -1;

    const char *found = memmem(s.at + from, s.len - from, needle.at, needle.len);

    return found ? found - s.at : -1;
}

ptrdiff_t str_find_char(struct str s, char c, size_t from)
{
    if (from >= s.len)
        return -1;

    const char *found = memchr(s.at + from, c, s.len - from);

    return found ? found - s.at : -1;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return str_make(s.at ? s.at + from : NULL, to - from);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.len && is_space(s.at[0]))
        s = str_slice(s, 1, s.len);
    while (s.len && is_space(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool str_split(struct str *rest, char separator, struct str *ret_part)
{
    if (!rest->at)
        return false;

    ptrdiff_t found = str_find_char(*rest, separator, 0);

    if (found < 0) {
        *ret_part = *rest;
        *rest = (struct str){ NULL, 0 };
        return true;
    }
    *ret_part = str_slice(*rest, 0, (size_t)found);
    *rest = str_slice(*rest, (size_t)found + 1, rest->len);
    return true;
}

bool str_to_u64(struct str s, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (s.len == 0 || s.len > 20 || (s.len > 1 && s.at[0] == '0'))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(s.at[i] - '0'), &number))
            return false;
    }
    *ret_number = number;
    return true;
}

uint64_t str_hash(struct str s)
{
    /* FNV-1a over 8 bytes at a time, then mixed: short keys are what our tables hold. */
    uint64_t hash = 0xcbf29ce484222325ULL ^ s.len;
    size_t i = 0;

    for (; i + 8 <= s.len; i += 8) {
        uint64_t word;

        memcpy(&word, s.at + i, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    for (; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.at[i]) * 0x100000001b3ULL;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 32);
}

uint32_t str_distance(struct str a, struct str b, uint32_t most)
{
    enum { LENGTH_MAX = 64 }; /* longer names are not typing slips of one another */
    uint32_t rows[3][LENGTH_MAX + 1];

    if (a.len > LENGTH_MAX || b.len > LENGTH_MAX)
        return str_eq(a, b) ? 0 : most + 1;
    for (uint32_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a.len; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *last = rows[(i - 1) % 3];
        const uint32_t *before_last = rows[(i + 1) % 3];

        row[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            uint32_t best = last[j - 1] + (a.at[i - 1] != b.at[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1] &&
                before_last[j - 2] + 1 < best)
                best = before_last[j - 2] + 1;
            row[j] = best;
        }
    }

    uint32_t distance = rows[a.len % 3][b.len];

    return distance > most ? most + 1 : distance;
}

static bool is_same_but_case(struct str a, struct str b)
{
    bool same = a.len == b.len;

    for (size_t i = 0; same && i < a.len; i++) {
        unsigned char x = (unsigned char)a.at[i];
        unsigned char y = (unsigned char)b.at[i];

        same = x == y || ((x ^ y) == 0x20 && ((x | 0x20) >= 'a' && (x | 0x20) <= 'z'));
    }
    return same;
}

bool str_nearest_try(struct str_nearest *nearest, struct str candidate)
{
    size_t shorter = candidate.len < nearest->name.len ? candidate.len : nearest->name.len;
    size_t longer = candidate.len < nearest->name.len ? nearest->name.len : candidate.len;
    uint32_t most = shorter < 2 ? 0 : shorter < 4 ? 1 : shorter < 9 ? 2 : 3;
    uint32_t distance = 1;

    if (shorter == 0)
        return false;
    if (!is_same_but_case(nearest->name, candidate)) {
        if (longer - shorter > most)
            return false;
        distance = str_distance(nearest->name, candidate, most);
        if (distance > most)
            return false;
    }
    if (nearest->found.len &&
        (distance > nearest->distance ||
         (distance == nearest->distance && str_cmp(candidate, nearest->found) >= 0)))
        return false;
    nearest->found = candidate;
    nearest->distance = distance;
    return true;
}

struct str str_dup(struct arena *arena, struct str s)
{
    char *copy = arena_bytes(arena, s.len + 1);

    if (s.len)
        memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    return str_make(copy, s.len);
}

const char *str_z(struct arena *arena, struct str s)
{
    return str_dup(arena, s).at;
}

/* Most texts are short: they are made once and copied; a longer one is made a second time. */
struct str str_vfmt(struct arena *arena, const char *format, va_list args)
{
    char most[256];
    va_list again;

    va_copy(again, args);

    size_t len = format_text(most, sizeof(most), format, args);
    char *text = arena_bytes(arena, len + 1);

    if (len < sizeof(most))
        memcpy(text, most, len + 1);
    else
        format_text(text, len + 1, format, again);
    va_end(again);
    return str_make(text, len);
}

struct str str_fmt(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);

    struct str text = str_vfmt(arena, format, args);

    va_end(args);
    return text;
}

struct strbuf strbuf_new(struct arena *arena, size_t capacity)
{
    return (struct strbuf){ arena, arena_bytes(arena, capacity + 1), 0, capacity };
}

void strbuf_grow(struct strbuf *buf, size_t bytes)
{
    size_t need = buf->len + bytes;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity * 2;

    if (capacity < need)
        capacity = need;
    if (!buf->at || !arena_extend(buf->arena, buf->at, buf->capacity + 1, capacity + 1)) {
        char *larger = arena_bytes(buf->arena, capacity + 1);

        if (buf->len)
            memcpy(larger, buf->at, buf->len);
        buf->at = larger;
    }
    buf->capacity = capacity;
}

void strbuf_put(struct strbuf *buf, struct str s)
{
    char *end = strbuf_reserve(buf, s.len);

    if (s.len)
        memcpy(end, s.at, s.len);
    buf->len += s.len;
}

void strbuf_u64(struct strbuf *buf, uint64_t number)
{
    char digits[20];
    size_t len = 0;

    do {
        digits[len++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);

    char *end = strbuf_reserve(buf, len);

    for (size_t i = 0; i < len; i++)
        end[i] = digits[len - 1 - i];
    buf->len += len;
}

void strbuf_i64(struct strbuf *buf, int64_t number)
{
    if (number < 0)
        strbuf_char(buf, '-');
    strbuf_u64(buf, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void strbuf_fmt(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_list again;

    va_start(args, format);
    va_copy(again, args);

    /* Into what is free already, where it fits; a NUL fits behind. */
    size_t room = buf->at ? buf->capacity - buf->len + 1 : 0;
    size_t len = format_text(room ? buf->at + buf->len : NULL, room, format, args);

    va_end(args);
    if (len >= room)
        format_text(strbuf_reserve(buf, len), len + 1, format, again);
    va_end(again);
    buf->len += len;
}

struct str strbuf_str(struct strbuf *buf)
{
    *strbuf_reserve(buf, 0) = '\0';
    return str_make(buf->at, buf->len);
}
