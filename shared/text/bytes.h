/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h: what reader and writer of JSON and YAML know about bytes. Internal to text/. */
#ifndef HERD_TEXT_BYTES_H
#define HERD_TEXT_BYTES_H

#include "base/str.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Length of the UTF-8 sequence at `at` (1 to 4), or 0 if it is none: cut off, overlong, a
 * surrogate, or beyond U+10FFFF (Unicode 15, table 3-7). at < end. */
static inline uint32_t utf8_length(const char *at, const char *end)
{
    const unsigned char *b = (const unsigned char *)at;
    size_t left = (size_t)(end - at);

    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < 2)
        return 0;
    if (b[0] < 0xe0)
        return (b[1] & 0xc0) == 0x80 ? 2 : 0;

    /* The second byte is where overlong forms, surrogates and the top end differ. */
    unsigned char low = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;

    if (b[1] < low || b[1] > high || left < 3 || (b[2] & 0xc0) != 0x80)
        return 0;
    if (b[0] < 0xf0)
        return 3;
    return left >= 4 && (b[3] & 0xc0) == 0x80 ? 4 : 0;
}

/* Write the UTF-8 of a code point; returns its length. */
static inline uint32_t utf8_put(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* U+FFFD, which stands for what cannot be shown. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* A byte that may stand in a JSON string as it is: ASCII, no control, no quote, no backslash. */
static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Where the run of plain bytes that begins at `at` ends: 16, then 8, then 1 at a time. */
static inline const char *plain_end(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i slash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);

    while (end - at >= 16) {
        __m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* Compared as signed, bytes from 0x80 on are below space too. */
        __m128i special =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, slash)),
                         _mm_cmplt_epi8(chunk, space));
        int mask = _mm_movemask_epi8(special);

        if (mask)
            return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#endif
    const uint64_t ones = 0x0101010101010101ULL;
    const uint64_t tops = 0x8080808080808080ULL;

    while (end - at >= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));

        /* A byte of x is zero where (x - ones) & ~x has its top bit: may also mark bytes above a
         * match, so a marked word is walked byte by byte. */
        uint64_t quotes = word ^ ones * '"';
        uint64_t slashes = word ^ ones * '\\';
        uint64_t special = ((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes) |
                           ((word - ones * 0x20) & ~word) | word;

        if (special & tops)
            break;
        at += 8;
    }
    while (at < end && is_plain((unsigned char)*at))
        at++;
    return at;
}

/* The same for what a JSON string says: also over each \", of which a document inside of a string
 * is full, in steps of 16. Sets *ret_escaped if there was one. */
static inline const char *quoted_end(const char *at, const char *end, bool *ret_escaped)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i slash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);

    while (end - at >= 16) {
        __m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned quotes = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(chunk, quote));
        unsigned slashes = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(chunk, slash));
        unsigned others = (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(chunk, space));
        /* A quote ends unless a backslash is before it, a backslash unless a quote is behind it.
         * Before the first that does, backslashes stand in no other way, so pairs are pairs. */
        unsigned ends = (quotes & ~(slashes << 1)) | (slashes & ~(quotes >> 1)) | others;
        unsigned count = ends ? (unsigned)__builtin_ctz(ends) : 16;

        if (slashes & ((1u << count) - 1))
            *ret_escaped = true;
        at += count;
        if (ends)
            return at;
    }
#else
    (void)ret_escaped;
#endif
    return plain_end(at, end);
}

#endif
