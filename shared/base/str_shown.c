/* SPDX-License-Identifier: Apache-2.0 */
/* str_shown.c: what of foreign text is written as an escape: what moves a terminal's cursor, ends a
 * line, or makes text look like another one. */
#include "base/str.h"

/* Code points that are not shown, or turn the order of those around them: Unicode's controls,
 * format characters (Cf) and line separators. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x00, 0x1f },     { 0x7f, 0x9f },       { 0xad, 0xad },     { 0x600, 0x605 },
    { 0x61c, 0x61c },   { 0x6dd, 0x6dd },     { 0x70f, 0x70f },   { 0x180e, 0x180e },
    { 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
    { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
};

/* The second byte of a sequence tells overlong forms and surrogates, and what is beyond Unicode. */
static bool is_second(unsigned char first, unsigned char second)
{
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= least && second <= most;
}

uint32_t str_code_point(struct str text, size_t *ret_bytes)
{
    const unsigned char *at = (const unsigned char *)text.at;
    size_t bytes = at[0] < 0xc2 || at[0] > 0xf4 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = bytes == 1 ? at[0] : at[0] & (0x7fU >> bytes);

    *ret_bytes = 1;
    if (bytes > text.len || (bytes > 1 && !is_second(at[0], at[1])))
        return at[0];
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return at[0];
        code = code << 6 | (at[i] & 0x3f);
    }
    *ret_bytes = bytes;
    return code;
}

bool code_point_is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

static bool is_printable(uint32_t code)
{
    return code >= 0x20 && code < 0x7f;
}

/* The bytes of `text` that are shown as they are, up to the first that may not be. */
static size_t printable_bytes(struct str text)
{
    size_t bytes = 0;

    while (bytes < text.len && is_printable((unsigned char)text.at[bytes]))
        bytes++;
    return bytes;
}

struct str str_shown(struct arena *arena, struct str foreign, size_t bytes_max)
{
    struct str fits = str_slice(foreign, 0, bytes_max);
    struct strbuf buf = strbuf_new(arena, fits.len);
    size_t bytes = printable_bytes(fits);

    strbuf_put(&buf, str_slice(fits, 0, bytes));
    for (size_t i = bytes; i < foreign.len; i += bytes) {
        uint32_t code = str_code_point(str_slice(foreign, i, foreign.len), &bytes);

        if (buf.len + bytes > bytes_max) {
            strbuf_lit(&buf, "...");
            break;
        }
        if (is_printable(code))
            strbuf_char(&buf, (char)code);
        else if (bytes == 1 || code_point_is_hidden(code))
            strbuf_fmt(&buf, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
        else
            strbuf_put(&buf, str_slice(foreign, i, i + bytes));
    }
    return strbuf_str(&buf);
}
