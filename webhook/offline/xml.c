/* SPDX-License-Identifier: Apache-2.0 */
/* xml.c: byte by byte, with an eye on what UTF-8 and XML leave out. */
#include "webhook/offline/xml.h"

#include <stdint.h>

/* The length of the UTF-8 sequence at `i`, 0 if it is none or XML has no such character. */
static size_t sequence(struct str text, size_t i)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {
        { 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 }
    };
    unsigned char first = (unsigned char)text.at[i];

    for (size_t n = 0; n < 4; n++) {
        uint32_t point = first & (unsigned char)~forms[n].mask;

        if ((first & forms[n].mask) != forms[n].lead)
            continue;
        for (size_t k = 1; k <= n; k++) {
            if (i + k >= text.len || ((unsigned char)text.at[i + k] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | ((unsigned char)text.at[i + k] & 0x3f);
        }
        if (point < forms[n].least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ||
            point == 0xfffe || point == 0xffff)
            return 0;
        return point >= 0x20 || point == '\t' || point == '\n' || point == '\r' ? n + 1 : 0;
    }
    return 0;
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

/* Blanks that a reader makes one of where they stand in an attribute. */
static const char *attribute_entity(char c)
{
    switch (c) {
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    default:
        return entity(c);
    }
}

static void put(struct strbuf *out, struct str text, const char *(*entity_of)(char c))
{
    for (size_t i = 0; i < text.len;) {
        size_t length = sequence(text, i);
        const char *named = entity_of(text.at[i]);

        if (length == 0)
            strbuf_lit(out, "\xef\xbf\xbd");
        else if (named)
            strbuf_put(out, str_of(named));
        else
            strbuf_put(out, str_slice(text, i, i + length));
        i += length ? length : 1;
    }
}

void xml_put(struct strbuf *out, struct str text)
{
    put(out, text, entity);
}

void xml_attribute(struct strbuf *out, const char *name, struct str text)
{
    strbuf_fmt(out, " %s=\"", name);
    put(out, text, attribute_entity);
    strbuf_char(out, '"');
}
