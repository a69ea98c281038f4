/* SPDX-License-Identifier: Apache-2.0 */
/* json_unescape.c: escapes of strings, decoded once the scan has found them good. */
#include "text/bytes.h"
#include "text/json_index.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int32_t json_hex_code(const char *at, const char *end)
{
    int32_t code = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

static char *put_escape(char *to, const char **from)
{
    static const char short_forms[] = "b\bf\fn\nr\rt\t";
    const char *at = *from;

    if (at[1] != 'u') {
        const char *form = strchr(short_forms, at[1]);

        *to = form ? form[1] : at[1]; /* quote, backslash and slash stand for themselves */
        *from = at + 2;
        return to + 1;
    }

    uint32_t code = (uint32_t)json_hex_code(at + 2, at + 6);

    if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = (uint32_t)json_hex_code(at + 8, at + 12);

        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    *from = at + 6;
    return to + utf8_put(to, code);
}

struct str json_unescape(struct arena *arena, struct str body)
{
    const char *from = body.at;
    const char *end = body.at + body.len;
    char *text = arena_bytes(arena, body.len + 1); /* decoding never makes it longer */
    char *to = text;

    while (from < end) {
        const char *slash = memchr(from, '\\', (size_t)(end - from));
        size_t run = (size_t)((slash ? slash : end) - from);

        memcpy(to, from, run);
        to += run;
        from += run;
        if (slash)
            to = put_escape(to, &from);
    }
    *to = '\0';
    return str_make(text, (size_t)(to - text));
}
