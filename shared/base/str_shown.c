/* str_shown.c: what of foreign text is written as an escape: what moves a terminal's cursor, ends a
 * line, or makes text look like another one. */
#include "base/str.h"

/* Code points that are not shown, or turn the order of those around them: Unicode's controls,
 * format characters (Cf) and line separators. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x600, 0x605 },
    { 0x61c, 0x61c },   { 0x6dd, 0x6dd },   { 0x70f, 0x70f },   { 0x180e, 0x180e },
    { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
    { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
};

/* The code point at the begin, and its bytes; a byte that begins none stands for itself. */
static uint32_t first_of(struct str rest, size_t *ret_bytes)
{
    unsigned char c = (unsigned char)rest.at[0];
    size_t bytes = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    uint32_t code = bytes == 1 ? c : c & (0x7fU >> bytes);

    *ret_bytes = 1;
    if (bytes > rest.len)
        return c;
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)rest.at[i] & 0xc0) != 0x80)
            return c;
        code = code << 6 | ((unsigned char)rest.at[i] & 0x3f);
    }
    *ret_bytes = bytes;
    return code;
}

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

struct str str_shown(struct arena *arena, struct str foreign, size_t bytes_max)
{
    struct strbuf buf = strbuf_new(arena, foreign.len < bytes_max ? foreign.len : bytes_max);
    size_t bytes;

    for (size_t i = 0; i < foreign.len; i += bytes) {
        uint32_t code = first_of(str_slice(foreign, i, foreign.len), &bytes);

        if (buf.len + bytes > bytes_max) {
            strbuf_lit(&buf, "...");
            break;
        }
        if (code >= 0x20 && code < 0x7f)
            strbuf_char(&buf, (char)code);
        else if (bytes == 1 || is_hidden(code))
            strbuf_fmt(&buf, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
        else
            strbuf_put(&buf, str_slice(foreign, i, i + bytes));
    }
    return strbuf_str(&buf);
}
