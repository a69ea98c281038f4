/* SPDX-License-Identifier: Apache-2.0 */
/* function_string.c: strings; positions are characters, not bytes. */
#include "lab/cel/functions.h"
#include "lab/cel/text.h"

#include <ctype.h>

struct cel_value cel_contains(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(str_find(args[0].text, args[1].text, 0) >= 0);
}

struct cel_value cel_starts_with(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(str_starts(args[0].text, args[1].text));
}

struct cel_value cel_ends_with(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return cel_bool(str_ends(args[0].text, args[1].text));
}

struct cel_value cel_join_text(struct cel_run *run, const struct cel_value *args)
{
    struct strbuf out = strbuf_new(run->arena, args[0].text.len + args[1].text.len + 1);

    strbuf_put(&out, args[0].text);
    strbuf_put(&out, args[1].text);
    return (struct cel_value){ .kind = args[0].kind, .text = strbuf_str(&out) };
}

static struct cel_value mapped(struct cel_run *run, struct str text, int (*map)(int))
{
    struct strbuf out = strbuf_new(run->arena, text.len + 1);

    for (size_t i = 0; i < text.len; i++)
        strbuf_char(&out, (unsigned char)text.at[i] < 0x80 ? (char)map(text.at[i]) : text.at[i]);
    return cel_string(strbuf_str(&out));
}

struct cel_value cel_lower(struct cel_run *run, const struct cel_value *args)
{
    return mapped(run, args[0].text, tolower);
}

struct cel_value cel_upper(struct cel_run *run, const struct cel_value *args)
{
    return mapped(run, args[0].text, toupper);
}

static bool is_blank(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

struct cel_value cel_trim(struct cel_run *run, const struct cel_value *args)
{
    struct str text = args[0].text;
    size_t begin = 0, end = 0, bytes;
    bool began = false;

    (void)run;
    for (size_t at = 0; at < text.len; at += bytes) {
        bool blank = is_blank(cel_character_at(text, at, &bytes));

        if (!blank && !began)
            begin = at;
        began = began || !blank;
        if (!blank)
            end = at + bytes;
    }
    return cel_string(began ? str_slice(text, begin, end) : STR(""));
}

/* The byte at which the character `index` begins; the end behind the last one. */
static size_t byte_of(struct str text, int64_t index)
{
    size_t at = 0, bytes;

    for (; index > 0 && at < text.len; index--, at += bytes)
        cel_character_at(text, at, &bytes);
    return at;
}

static struct cel_value out_of_range(struct cel_run *run, int64_t index)
{
    return cel_errorf(run->arena, "index out of range: %lld", (long long)index);
}

static struct cel_value part(struct cel_run *run, struct str text, int64_t from, int64_t to)
{
    int64_t count = cel_characters(text);

    if (from > to)
        return cel_errorf(run->arena, "invalid substring range. start: %lld, end: %lld",
                          (long long)from, (long long)to);
    if (from < 0 || from > count)
        return out_of_range(run, from);
    if (to < 0 || to > count)
        return out_of_range(run, to);
    return cel_string(str_slice(text, byte_of(text, from), byte_of(text, to)));
}

struct cel_value cel_char_at(struct cel_run *run, const struct cel_value *args)
{
    int64_t index = args[1].number, count = cel_characters(args[0].text);

    if (index < 0 || index > count)
        return out_of_range(run, index);
    return part(run, args[0].text, index, index < count ? index + 1 : index);
}

struct cel_value cel_substring(struct cel_run *run, const struct cel_value *args)
{
    int64_t count = cel_characters(args[0].text);

    if (args[1].number < 0 || args[1].number > count)
        return out_of_range(run, args[1].number);
    return part(run, args[0].text, args[1].number, count);
}

struct cel_value cel_substring_to(struct cel_run *run, const struct cel_value *args)
{
    return part(run, args[0].text, args[1].number, args[2].number);
}

/* `old` by `new`, the first `most` times; negative: always. An empty `old` is between all
 * characters. */
static struct cel_value replaced(struct cel_run *run, const struct cel_value *args, int64_t most)
{
    struct str text = args[0].text, old = args[1].text, new = args[2].text;
    struct strbuf out = strbuf_new(run->arena, text.len + 16);
    size_t at = 0, bytes;

    while (at <= text.len && most != 0) {
        ptrdiff_t found = old.len ? str_find(text, old, at) : (ptrdiff_t)at;

        if (found < 0)
            break;
        strbuf_put(&out, str_slice(text, at, (size_t)found));
        strbuf_put(&out, new);
        at = (size_t)found + old.len;
        most -= most > 0;
        if (old.len)
            continue;
        if (at == text.len)
            break;
        cel_character_at(text, at, &bytes);
        strbuf_put(&out, str_slice(text, at, at + bytes));
        at += bytes;
    }
    strbuf_put(&out, str_slice(text, at, text.len));
    return cel_string(strbuf_str(&out));
}

struct cel_value cel_replace(struct cel_run *run, const struct cel_value *args)
{
    return replaced(run, args, -1);
}

struct cel_value cel_replace_most(struct cel_run *run, const struct cel_value *args)
{
    return replaced(run, args, args[3].number);
}

/* At most `most` parts, the last of which holds the rest; negative: all. */
static struct cel_value splitted(struct cel_run *run, struct str text, struct str separator,
                                 int64_t most)
{
    struct cel_values parts = cel_values_new(run->arena, 4);
    size_t at = 0, bytes;

    while (most != 0 && (most < 0 || parts.count + 1 < most)) {
        ptrdiff_t found;

        if (separator.len == 0) {
            if (at >= text.len)
                return cel_list_of(run->arena, &parts);
            cel_character_at(text, at, &bytes);
            if (at + bytes >= text.len)
                break;
            found = (ptrdiff_t)(at + bytes);
        } else {
            found = str_find(text, separator, at);
        }
        if (found < 0)
            break;
        cel_values_push(&parts, cel_string(str_slice(text, at, (size_t)found)));
        at = (size_t)found + separator.len;
    }
    if (most != 0 && !(separator.len == 0 && at >= text.len))
        cel_values_push(&parts, cel_string(str_slice(text, at, text.len)));
    return cel_list_of(run->arena, &parts);
}

struct cel_value cel_split(struct cel_run *run, const struct cel_value *args)
{
    return splitted(run, args[0].text, args[1].text, -1);
}

struct cel_value cel_split_most(struct cel_run *run, const struct cel_value *args)
{
    return splitted(run, args[0].text, args[1].text, args[2].number);
}

static struct cel_value joined(struct cel_run *run, const struct cel_list *list,
                               struct str separator)
{
    struct strbuf out = strbuf_new(run->arena, 64);

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != CEL_STRING)
            return cel_errorf(run->arena, "join: invalid input: %.*s",
                              STR_ARG(cel_show(run->arena, &list->items[i])));
        if (i)
            strbuf_put(&out, separator);
        strbuf_put(&out, list->items[i].text);
    }
    return cel_string(strbuf_str(&out));
}

struct cel_value cel_join(struct cel_run *run, const struct cel_value *args)
{
    return joined(run, args[0].list, STR(""));
}

struct cel_value cel_join_by(struct cel_run *run, const struct cel_value *args)
{
    return joined(run, args[0].list, args[1].text);
}

/* From `from` on, or back from it. */
static struct cel_value position(struct cel_run *run, struct str text, struct str part_,
                                 int64_t from, bool back)
{
    int64_t count = cel_characters(text), size = cel_characters(part_);

    if (from < 0)
        return out_of_range(run, from);
    if (size == 0)
        return cel_int(from > count ? count : from);
    if (from >= count)
        return cel_int(-1);
    if (back && from > count - size)
        from = count - size;
    for (int64_t i = from; back ? i >= 0 : i <= count - size; i += back ? -1 : 1)
        if (str_starts(str_slice(text, byte_of(text, i), text.len), part_))
            return cel_int(i);
    return cel_int(-1);
}

struct cel_value cel_index_of(struct cel_run *run, const struct cel_value *args)
{
    return position(run, args[0].text, args[1].text, 0, false);
}

struct cel_value cel_index_of_from(struct cel_run *run, const struct cel_value *args)
{
    return position(run, args[0].text, args[1].text, args[2].number, false);
}

struct cel_value cel_last_index_of(struct cel_run *run, const struct cel_value *args)
{
    int64_t count = cel_characters(args[0].text);

    if (args[1].text.len == 0)
        return cel_int(count);
    if (args[0].text.len < args[1].text.len)
        return cel_int(-1);
    return position(run, args[0].text, args[1].text, count - 1, true);
}

struct cel_value cel_last_index_of_from(struct cel_run *run, const struct cel_value *args)
{
    return position(run, args[0].text, args[1].text, args[2].number, true);
}

struct cel_value cel_quote(struct cel_run *run, const struct cel_value *args)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
    struct strbuf out = strbuf_new(run->arena, args[0].text.len + 8);

    strbuf_char(&out, '"');
    for (size_t i = 0; i < args[0].text.len; i++) {
        char c = args[0].text.at[i];
        const char *special = c ? strchr(from, c) : NULL;

        if (special)
            strbuf_char(&out, '\\');
        strbuf_char(&out, special ? to[special - from] : c);
    }
    strbuf_char(&out, '"');
    return cel_string(strbuf_str(&out));
}
