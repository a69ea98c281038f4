/* SPDX-License-Identifier: Apache-2.0 */
/* base64.c: three bytes are four digits. */
#include "text/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct str base64_encode(struct arena *arena, struct str bytes)
{
    const unsigned char *from = (const unsigned char *)bytes.at;
    size_t len = (bytes.len + 2) / 3 * 4;
    char *text = arena_bytes(arena, len + 1);
    char *to = text;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t group = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[group & 63] : '=';
    }
    *to = '\0';
    return str_make(text, len);
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int base64_decode(struct arena *arena, struct str text, struct str *ret_bytes, struct error *err)
{
    struct strbuf out = strbuf_new(arena, text.len / 4 * 3 + 3);
    uint32_t group = 0;
    uint32_t count = 0; /* digits seen */
    uint32_t padding = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        int value = digit_value(c);

        if (is_space(c))
            continue;
        if (c == '=' && count % 4 + padding >= 2 && count % 4 + padding < 4) {
            padding++;
            continue;
        }
        if (value < 0 || padding)
            return error_set(err, ERROR_SYNTAX,
                             "byte %zu of the base64 text is not a digit of its alphabet", i + 1);
        group = group << 6 | (uint32_t)value;
        count++;
        if (count % 4 != 0)
            continue;
        strbuf_char(&out, (char)(group >> 16));
        strbuf_char(&out, (char)(group >> 8));
        strbuf_char(&out, (char)group);
        group = 0;
    }
    if ((count + padding) % 4 != 0)
        return error_set(err, ERROR_SYNTAX, "the base64 text is cut off: %u digits, '=' included",
                         count + padding);
    if (count % 4 >= 2)
        strbuf_char(&out, (char)(count % 4 == 2 ? group >> 4 : group >> 10));
    if (count % 4 == 3)
        strbuf_char(&out, (char)(group >> 2));
    *ret_bytes = strbuf_str(&out);
    return 0;
}
