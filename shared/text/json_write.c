/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.c: JSON out. The caller keeps the order of calls; commas follow from it. */
#include "text/json_write.h"

#include "text/bytes.h"

static void put_special(struct strbuf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_forms[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    const char *form = c ? strchr(short_forms, c) : NULL;
    char text[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

    if (form) {
        text[1] = form[1];
        strbuf_put(out, str_make(text, 2));
        return;
    }
    strbuf_put(out, str_make(text, sizeof(text)));
}

void json_quote(struct strbuf *out, struct str text)
{
    const char *at = text.at ? text.at : "";
    const char *end = at + text.len;

    strbuf_reserve(out, text.len + 2);
    strbuf_char(out, '"');
    while (at < end) {
        const char *stop = plain_end(at, end);

        strbuf_put(out, str_make(at, (size_t)(stop - at)));
        at = stop;
        if (at == end)
            break;
        if ((unsigned char)*at < 0x80) {
            put_special(out, (unsigned char)*at++);
            continue;
        }

        uint32_t length = utf8_length(at, end);

        if (length)
            strbuf_put(out, str_make(at, length));
        else
            strbuf_lit(out, UTF8_REPLACEMENT);
        at += length ? length : 1;
    }
    strbuf_char(out, '"');
}

static void begin_value(struct json_writer *w)
{
    if (w->needs_comma)
        strbuf_char(w->out, ',');
    w->needs_comma = true;
}

static void open_with(struct json_writer *w, char bracket)
{
    begin_value(w);
    strbuf_char(w->out, bracket);
    w->needs_comma = false;
}

static void close_with(struct json_writer *w, char bracket)
{
    strbuf_char(w->out, bracket);
    w->needs_comma = true;
}

void json_open_object(struct json_writer *w)
{
    open_with(w, '{');
}

void json_close_object(struct json_writer *w)
{
    close_with(w, '}');
}

void json_open_array(struct json_writer *w)
{
    open_with(w, '[');
}

void json_close_array(struct json_writer *w)
{
    close_with(w, ']');
}

void json_put_key(struct json_writer *w, struct str key)
{
    begin_value(w);
    json_quote(w->out, key);
    strbuf_char(w->out, ':');
    w->needs_comma = false;
}

void json_put_str(struct json_writer *w, struct str text)
{
    begin_value(w);
    json_quote(w->out, text);
}

void json_put_int(struct json_writer *w, int64_t number)
{
    begin_value(w);
    strbuf_i64(w->out, number);
}

void json_put_bool(struct json_writer *w, bool truth)
{
    begin_value(w);
    strbuf_put(w->out, truth ? STR("true") : STR("false"));
}

void json_put_null(struct json_writer *w)
{
    begin_value(w);
    strbuf_lit(w->out, "null");
}

void json_put_raw(struct json_writer *w, struct str json)
{
    begin_value(w);
    strbuf_put(w->out, json);
}
