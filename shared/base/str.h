/* SPDX-License-Identifier: Apache-2.0 */
/* str.h: strings as views, and a buffer to build them in.
 *
 * A `struct str` borrows: whoever made the bytes says how long they live, usually an arena. It may
 * hold any byte, NUL too. NUL-terminated text exists only at library edges (str_z). */
#ifndef HERD_BASE_STR_H
#define HERD_BASE_STR_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *at;
    size_t len;
};

/* A literal, and one that may initialise a static table. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_INIT(literal)                                                                          \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }
/* For printf: "%.*s", STR_ARG(s). */
#define STR_ARG(s) (int)(s).len, (s).at

static inline struct str str_of(const char *text)
{
    return (struct str){ text, text ? strlen(text) : 0 };
}

static inline struct str str_make(const char *at, size_t len)
{
    return (struct str){ at, len };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Byte order; a prefix sorts first. */
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of the first `needle` at or after `from`, or -1. */
ptrdiff_t str_find(struct str s, struct str needle, size_t from);
ptrdiff_t str_find_char(struct str s, char c, size_t from);
/* The part [from, to); bounds are clamped. */
struct str str_slice(struct str s, size_t from, size_t to);
/* Without leading and trailing space, tab, CR and LF. */
struct str str_trim(struct str s);
/* Take what stands before the first `separator` off `*rest`; false once nothing is left. */
bool str_split(struct str *rest, char separator, struct str *ret_part);
/* A whole non-negative decimal number without sign or leading zeros; false if it is not one. */
bool str_to_u64(struct str s, uint64_t *ret_number);
/* Hash for tables in memory; not stable across versions, not for outsiders. */
uint64_t str_hash(struct str s);
/* Edits (insert, delete, replace, swap of neighbours) from a to b, or `most` + 1 if more. */
uint32_t str_distance(struct str a, struct str b, uint32_t most);

/* Which of some names was meant by one that is none of them? Show it all of them:
 *     struct str_nearest nearest = { .name = name };
 *     for (...) str_nearest_try(&nearest, names[i]);
 * A slip leaves most of a name standing: shorter ones may differ less, and of one letter nothing is
 * left but its case. Of equally near ones the first by the alphabet counts, in whatever order they
 * come. */
struct str_nearest {
    struct str name;
    struct str found; /* "" if none is near */
    uint32_t distance;
};
/* True if it is what counts now. */
bool str_nearest_try(struct str_nearest *nearest, struct str candidate);

/* Copies in an arena, always with a NUL behind. */
struct str str_dup(struct arena *arena, struct str s);
const char *str_z(struct arena *arena, struct str s);
__attribute__((format(printf, 2, 3))) struct str str_fmt(struct arena *arena, const char *format,
                                                         ...);
__attribute__((format(printf, 2, 0))) struct str str_vfmt(struct arena *arena, const char *format,
                                                          va_list args);

/* Text that somebody else wrote, made fit to show: control bytes, line ends and terminal escapes
 * are written as \xNN, what is invisible or turns the order of text around as \uNNNN, and what is
 * longer than `bytes_max` is cut with "...". */
struct str str_shown(struct arena *arena, struct str foreign, size_t bytes_max);

/* The code point that `text`, which is not empty, begins with, and its bytes (RFC 3629). A byte
 * that begins none is given as it is: 0x80 or more, of one byte. */
uint32_t str_code_point(struct str text, size_t *ret_bytes);
/* Whether it is not shown, moves a terminal's cursor, ends a line or turns text around. */
bool code_point_is_hidden(uint32_t code);

/* A growing buffer in an arena. Zero-initialised but for `arena`. */
struct strbuf {
    struct arena *arena;
    char *at;
    size_t len;
    size_t capacity;
};

struct strbuf strbuf_new(struct arena *arena, size_t capacity);
void strbuf_put(struct strbuf *buf, struct str s);
void strbuf_u64(struct strbuf *buf, uint64_t number);
void strbuf_i64(struct strbuf *buf, int64_t number);
__attribute__((format(printf, 2, 3))) void strbuf_fmt(struct strbuf *buf, const char *format, ...);
/* Behind strbuf_reserve: there is no room for `bytes` more. */
void strbuf_grow(struct strbuf *buf, size_t bytes);

/* Room for `bytes` more, to be written at the end by the caller, who then adds to `len`. */
static inline char *strbuf_reserve(struct strbuf *buf, size_t bytes)
{
    if (!buf->at || bytes > buf->capacity - buf->len)
        strbuf_grow(buf, bytes);
    return buf->at + buf->len;
}

static inline void strbuf_char(struct strbuf *buf, char c)
{
    *strbuf_reserve(buf, 1) = c;
    buf->len++;
}

/* What was put so far; valid until the next put. A NUL stands behind it. */
struct str strbuf_str(struct strbuf *buf);

#define strbuf_lit(buf, literal) strbuf_put((buf), STR(literal))

#endif
