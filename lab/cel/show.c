/* SPDX-License-Identifier: Apache-2.0 */
/* show.c: values as text: as one would write them in CEL. */
#include "lab/cel/moment.h"
#include "lab/cel/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct str cel_double_text(struct arena *arena, double real)
{
    char text[40];
    int digits = 1;
    char *exponent;

    if (isnan(real))
        return STR("NaN");
    if (isinf(real))
        return real > 0 ? STR("+Inf") : STR("-Inf");
    /* As few digits as give the same number again, as Go's %g has it. */
    do
        snprintf(text, sizeof(text), "%.*e", digits - 1, real);
    while (strtod(text, NULL) != real && digits++ < 17);
    exponent = strchr(text, 'e');

    int power = atoi(exponent + 1);

    if (power < -4 || power >= 6)
        return str_fmt(arena, "%.*se%c%02d", (int)(exponent - text), text, power < 0 ? '-' : '+',
                       abs(power));
    return str_fmt(arena, "%.*f", digits - 1 - power > 0 ? digits - 1 - power : 0, real);
}

void cel_put_quoted(struct strbuf *out, struct str text)
{
    strbuf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];

        if (c == '"' || c == '\\')
            strbuf_fmt(out, "\\%c", c);
        else if (c == '\n')
            strbuf_lit(out, "\\n");
        else if (c == '\t')
            strbuf_lit(out, "\\t");
        else if (c == '\r')
            strbuf_lit(out, "\\r");
        else if (c < 0x20 || c == 0x7f)
            strbuf_fmt(out, "\\x%02x", c);
        else
            strbuf_char(out, (char)c);
    }
    strbuf_char(out, '"');
}

uint32_t cel_character_at(struct str text, size_t at, size_t *ret_bytes)
{
    unsigned char first = (unsigned char)text.at[at];
    size_t bytes = first < 0x80 ? 1 : first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);

    if (at + bytes > text.len) {
        *ret_bytes = 1;
        return 0xfffd;
    }
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | ((unsigned char)text.at[at + i] & 0x3f);
    *ret_bytes = bytes;
    return code;
}

void cel_put_character(struct strbuf *out, uint32_t code)
{
    if (code < 0x80) {
        strbuf_char(out, (char)code);
        return;
    }
    if (code >= 0x10000) {
        strbuf_char(out, (char)(0xf0 | code >> 18));
        strbuf_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
    } else if (code >= 0x800) {
        strbuf_char(out, (char)(0xe0 | code >> 12));
    }
    if (code >= 0x800)
        strbuf_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
    else
        strbuf_char(out, (char)(0xc0 | code >> 6));
    strbuf_char(out, (char)(0x80 | (code & 0x3f)));
}

static void put(struct strbuf *out, const struct cel_value *value);

static void put_list(struct strbuf *out, const struct cel_list *list)
{
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            strbuf_lit(out, ", ");
        put(out, &list->items[i]);
    }
    strbuf_char(out, ']');
}

static void put_map(struct strbuf *out, const struct cel_value *map)
{
    struct cel_values keys = cel_map_keys(out->arena, map);
    uint32_t shown = 0;

    strbuf_char(out, '{');
    for (uint32_t i = 0; i < keys.count; i++) {
        struct cel_value value;

        if (!cel_map_find(out->arena, map, &keys.items[i], &value))
            continue;
        if (shown++)
            strbuf_lit(out, ", ");
        put(out, &keys.items[i]);
        strbuf_lit(out, ": ");
        put(out, &value);
    }
    strbuf_char(out, '}');
}

static void put(struct strbuf *out, const struct cel_value *value)
{
    switch (value->kind) {
    case CEL_ERROR:
        strbuf_fmt(out, "error: %.*s", STR_ARG(value->text));
        break;
    case CEL_DYN:
    case CEL_PARAM:
    case CEL_KIND_COUNT:
        break;
    case CEL_NULL:
        strbuf_lit(out, "null");
        break;
    case CEL_BOOL:
        strbuf_put(out, value->truth ? STR("true") : STR("false"));
        break;
    case CEL_INT:
        strbuf_i64(out, value->number);
        break;
    case CEL_UINT:
        strbuf_u64(out, value->natural);
        strbuf_char(out, 'u');
        break;
    case CEL_DOUBLE:
        strbuf_fmt(out, "double(%.*s)", STR_ARG(cel_double_text(out->arena, value->real)));
        break;
    case CEL_BYTES:
        strbuf_char(out, 'b');
        cel_put_quoted(out, value->text);
        break;
    case CEL_STRING:
        cel_put_quoted(out, value->text);
        break;
    case CEL_TIMESTAMP:
        strbuf_fmt(out, "timestamp(%.*s)", STR_ARG(cel_moment_text(out->arena, value->moment)));
        break;
    case CEL_DURATION:
        strbuf_fmt(out, "duration(%.*s)", STR_ARG(cel_duration_text(out->arena, value->number)));
        break;
    case CEL_LIST:
        put_list(out, value->list);
        break;
    case CEL_MAP:
    case CEL_STRUCT:
        put_map(out, value);
        break;
    case CEL_OPTIONAL:
        strbuf_lit(out, "optional(");
        if (value->inside)
            put(out, value->inside);
        strbuf_char(out, ')');
        break;
    case CEL_TYPE:
        strbuf_fmt(out, "type(%.*s)", STR_ARG(cel_type_name(value->type)));
        break;
    case CEL_QUANTITY:
        strbuf_lit(out, "quantity(");
        quantity_write(*value->quantity, out);
        strbuf_char(out, ')');
        break;
    }
}

struct str cel_show(struct arena *arena, const struct cel_value *value)
{
    struct strbuf out = strbuf_new(arena, 64);

    put(&out, value);
    return strbuf_str(&out);
}
