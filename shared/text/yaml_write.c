/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_write.c: JSON to block-style YAML, as kubectl prints it: two spaces, lists not indented
 * below their key. A string is plain where reading it back gives the same string here and in other
 * parsers, a literal block where it has several lines, and in double quotes else. */
#include "text/bytes.h"
#include "text/yaml_node.h"

struct writer {
    struct strbuf *out;
    struct arena *scratch; /* for trying how a word would be read */
};

static void write_value(struct writer *w, struct json value, uint32_t indent, bool inline_first);

static void put_indent(struct writer *w, uint32_t indent)
{
    for (uint32_t i = 0; i < indent; i++)
        strbuf_lit(w->out, "  ");
}

/* ---- strings ---- */

static uint32_t code_at(const char *at, uint32_t length)
{
    static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code = (unsigned char)at[0] & masks[length];

    for (uint32_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return code;
}

/* Characters that YAML's c-printable leaves out, and its line breaks beyond ASCII. */
static bool needs_escape(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

static void put_escape(struct writer *w, uint32_t code)
{
    static const char short_forms[] = "\nn\tt\rr";
    const char *form = code && code < 0x20 ? strchr(short_forms, (int)code) : NULL;

    if (form)
        strbuf_fmt(w->out, "\\%c", form[1]);
    else if (code < 0x100)
        strbuf_fmt(w->out, "\\x%02X", code);
    else if (code < 0x10000)
        strbuf_fmt(w->out, "\\u%04X", code);
    else
        strbuf_fmt(w->out, "\\U%08X", code);
}

static void put_quoted(struct writer *w, struct str text)
{
    const char *end = text.at + text.len;

    strbuf_char(w->out, '"');
    for (const char *at = text.at; at < end;) {
        uint32_t length = utf8_length(at, end);
        uint32_t code = code_at(at, length);

        if (needs_escape(code))
            put_escape(w, code);
        else if (code == '"' || code == '\\')
            strbuf_fmt(w->out, "\\%c", (char)code);
        else
            strbuf_put(w->out, str_make(at, length));
        at += length;
    }
    strbuf_char(w->out, '"');
}

/* But for line ends and tabs, which only a literal block may hold. */
static bool is_shown_as_is(struct str text)
{
    const char *end = text.at + text.len;
    uint32_t length;

    for (const char *at = text.at; at < end; at += length) {
        length = utf8_length(at, end);
        if (*at != '\n' && *at != '\t' && needs_escape(code_at(at, length)))
            return false;
    }
    return true;
}

/* Words that other YAML parsers take for dates or base-60 numbers. */
static bool looks_like_time(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789:-.TZ ", text.at[i]))
            return false;
    return str_find_char(text, ':', 0) > 0 || (text.len >= 8 && text.at[4] == '-');
}

static bool is_plain_word(struct writer *w, struct str text)
{
    struct str ignored;

    if (text.len == 0 || strchr("-?:,[]{}#&*!|>'\"%@`= \t", text.at[0]) ||
        text.at[text.len - 1] == ' ' || text.at[text.len - 1] == ':' ||
        str_starts(text, STR("...")) || looks_like_time(text))
        return false;
    if (str_find(text, STR(": "), 0) >= 0 || str_find(text, STR(" #"), 0) >= 0 ||
        str_find_char(text, '\n', 0) >= 0 || str_find_char(text, '\t', 0) >= 0 ||
        !is_shown_as_is(text))
        return false;
    return yaml_resolve(w->scratch, text, &ignored) == YAML_STRING;
}

/* A literal block keeps lines as they are: none may be blank but for spaces, and the first decides
 * the indentation, so it may not begin with a space. */
static bool is_literal(struct str text)
{
    struct str rest = text;
    struct str line;

    if (str_find_char(text, '\n', 0) <= 0 || text.at[0] == ' ' || text.at[0] == '\t' ||
        !is_shown_as_is(text))
        return false;
    while (str_split(&rest, '\n', &line))
        if (line.len && str_trim(line).len == 0)
            return false;
    return true;
}

static void put_literal(struct writer *w, struct str text, uint32_t indent)
{
    struct str rest = text;
    struct str line;

    strbuf_char(w->out, '|');
    if (!str_ends(text, STR("\n")))
        strbuf_char(w->out, '-');
    else if (str_ends(text, STR("\n\n")))
        strbuf_char(w->out, '+');
    if (str_ends(text, STR("\n")))
        rest.len--; /* the last line's end is the block's own */
    while (str_split(&rest, '\n', &line)) {
        strbuf_char(w->out, '\n');
        if (line.len)
            put_indent(w, indent ? indent : 1);
        strbuf_put(w->out, line);
    }
}

static void put_string(struct writer *w, struct str text, uint32_t indent)
{
    if (is_plain_word(w, text))
        strbuf_put(w->out, text);
    else if (is_literal(text))
        put_literal(w, text, indent);
    else
        put_quoted(w, text);
}

/* ---- collections ---- */

static bool is_block(struct json value)
{
    return json_count(value) > 0;
}

/* The value behind "- " or ": ": on the same line, or on the lines below. */
static void write_entry(struct writer *w, struct json value, uint32_t indent)
{
    write_value(w, value, indent + 1, true);
}

static void write_member(struct writer *w, struct str key, struct json value, uint32_t indent)
{
    enum { SIMPLE_KEY_MAX = 1000 }; /* YAML allows 1024 characters; escapes make it longer */
    size_t start = w->out->len;

    if (is_plain_word(w, key))
        strbuf_put(w->out, key);
    else
        put_quoted(w, key);
    if (w->out->len - start > SIMPLE_KEY_MAX) {
        struct str written = str_dup(w->out->arena, str_slice(strbuf_str(w->out), start, SIZE_MAX));

        w->out->len = start;
        strbuf_lit(w->out, "? ");
        strbuf_put(w->out, written);
        strbuf_char(w->out, '\n');
        put_indent(w, indent);
        strbuf_lit(w->out, ": ");
        write_entry(w, value, indent);
        return;
    }
    strbuf_char(w->out, ':');
    if (!is_block(value)) {
        strbuf_char(w->out, ' ');
        write_value(w, value, indent + 1, true);
        return;
    }
    strbuf_char(w->out, '\n');
    write_value(w, value, json_is(value, JSON_ARRAY) ? indent : indent + 1, false);
}

/* `inline_first`: the cursor stands where the first entry goes, behind "- ". */
static void write_block(struct writer *w, struct json value, uint32_t indent, bool inline_first)
{
    struct json_iter it = json_iter(value);

    while (json_next(&it)) {
        if (it.position)
            strbuf_char(w->out, '\n');
        if (it.position || !inline_first)
            put_indent(w, indent);
        if (json_is(value, JSON_OBJECT)) {
            write_member(w, it.key, it.value, indent);
        } else {
            strbuf_lit(w->out, "- ");
            write_entry(w, it.value, indent);
        }
    }
}

static void write_value(struct writer *w, struct json value, uint32_t indent, bool inline_first)
{
    if (is_block(value)) {
        write_block(w, value, indent, inline_first);
        return;
    }
    switch (json_kind(value)) {
    case JSON_OBJECT:
        strbuf_lit(w->out, "{}");
        break;
    case JSON_ARRAY:
        strbuf_lit(w->out, "[]");
        break;
    case JSON_STRING:
        put_string(w, json_str(value), indent);
        break;
    case JSON_ABSENT:
        strbuf_lit(w->out, "null");
        break;
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
        strbuf_put(w->out, json_raw(value));
        break;
    }
}

void yaml_write(struct json value, struct strbuf *out)
{
    struct writer w = { out, out->arena };

    write_value(&w, value, 0, false);
    strbuf_char(out, '\n');
}
