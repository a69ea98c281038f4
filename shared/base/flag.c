/* SPDX-License-Identifier: Apache-2.0 */
/* flag.c: a parser over a table. */
#include "base/flag.h"

#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_choice(const char *choices, struct str text)
{
    struct str rest = str_of(choices);
    struct str choice;

    while (str_split(&rest, '|', &choice))
        if (str_eq(choice, text))
            return true;
    return false;
}

static int64_t parse_signed(struct str text, bool *ret_good)
{
    bool negative = text.len && text.at[0] == '-';
    uint64_t number = 0;

    *ret_good = str_to_u64(str_slice(text, negative, text.len), &number) && number <= INT64_MAX;
    return negative ? -(int64_t)number : (int64_t)number;
}

/* `origin` names where the text came from. */
static int set_value(const struct flag_row *row, const char *origin, struct str text,
                     struct flag_value *ret_value, struct error *err)
{
    struct flag_value value = { .text = text, .from = origin };
    bool good = true;

    switch (row->type) {
    case FLAG_STRING:
        break;
    case FLAG_BOOL:
        good = str_eq(text, STR("true")) || str_eq(text, STR("false"));
        value.number = str_eq(text, STR("true"));
        if (!good)
            return error_set(err, ERROR_BAD_REQUEST, "%s: '%.*s' is not true or false", origin,
                             STR_ARG(text));
        break;
    case FLAG_INT:
        value.number = parse_signed(text, &good);
        if (!good)
            return error_set(err, ERROR_BAD_REQUEST, "%s: '%.*s' is not a whole number", origin,
                             STR_ARG(text));
        break;
    case FLAG_DURATION:
        if (!duration_parse(text, &value.number))
            return error_set(err, ERROR_BAD_REQUEST,
                             "%s: '%.*s' is not a duration; write it like 30s, 250ms or 1h30m",
                             origin, STR_ARG(text));
        break;
    case FLAG_CHOICE:
        if (!is_choice(row->choices, text))
            return error_set(err, ERROR_BAD_REQUEST, "%s: '%.*s' is not one of %s", origin,
                             STR_ARG(text), row->choices);
        break;
    }
    if (row->min != row->max && (value.number < row->min || value.number > row->max))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s is out of bounds; it must be %" PRId64 " to %" PRId64 "%s%s",
                         origin, STR_ARG(text), row->min, row->max,
                         row->type == FLAG_DURATION ? " ms" : "", "");
    *ret_value = value;
    return 0;
}

static int32_t find_row(const struct flag_row *rows, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(name, str_of(rows[i].name)))
            return (int32_t)i;
    return -1;
}

static int unknown_flag(const struct flag_row *rows, uint32_t count, struct str name,
                        struct error *err)
{
    struct str_nearest nearest = { .name = name };

    for (uint32_t i = 0; i < count; i++)
        str_nearest_try(&nearest, str_of(rows[i].name));
    if (nearest.found.len)
        return error_set(err, ERROR_BAD_REQUEST, "unknown flag --%.*s; did you mean --%.*s?",
                         STR_ARG(name), STR_ARG(nearest.found));
    return error_set(err, ERROR_BAD_REQUEST, "unknown flag --%.*s; --help lists the flags",
                     STR_ARG(name));
}

/* The row that "-o" names, with its value behind it or not: -o json, -o=json, -ojson. */
static int32_t find_letter(const struct flag_row *rows, uint32_t count, struct str word,
                           struct str *ret_text)
{
    for (uint32_t i = 0; i < count; i++) {
        bool equals = word.len > 2 && word.at[2] == '=';

        if (rows[i].letter != word.at[1] || (word.len > 2 && !equals && rows[i].type == FLAG_BOOL))
            continue;
        if (word.len > 2)
            *ret_text = str_slice(word, equals ? 3 : 2, word.len);
        return (int32_t)i;
    }
    return -1;
}

/* The row that `word` names, and the value that stands in it (NULL: none). -1: no such row. */
static int32_t read_name(const struct flag_row *rows, uint32_t count, struct str word,
                         struct str *ret_text, struct error *err)
{
    ptrdiff_t equals = str_find_char(word, '=', 0);
    struct str name = str_slice(word, 2, equals < 0 ? word.len : (size_t)equals);
    bool is_long = str_starts(word, STR("--"));
    int32_t found;

    *ret_text = (struct str){ NULL, 0 };
    if (is_long && equals >= 0)
        *ret_text = str_slice(word, (size_t)equals + 1, word.len);
    found = is_long ? find_row(rows, count, name) : find_letter(rows, count, word, ret_text);
    if (found >= 0)
        return found;
    if (is_long)
        return unknown_flag(rows, count, name, err);
    return error_set(err, ERROR_BAD_REQUEST, "unknown flag %.*s; --help lists the flags",
                     STR_ARG(word));
}

static int take_environment(const struct flag_row *row, const char *(*getenv_of)(const char *),
                            struct arena *arena, struct flag_value *value, struct error *err)
{
    const char *text = row->environment && getenv_of ? getenv_of(row->environment) : NULL;

    if (!text)
        return 0;

    const char *from = str_fmt(arena, "environment variable %s", row->environment).at;

    if (set_value(row, from, str_of(text), value, err) < 0)
        return -1;
    value->given = true;
    return 0;
}

int flags_parse(const struct flag_row *rows, uint32_t count, int argc, char **argv,
                const char *(*getenv_of)(const char *name), struct arena *arena,
                struct flag_values *ret_values, struct error *err)
{
    struct flag_values parsed = { rows, count, arena_array(arena, struct flag_value, count),
                                  str_list_new(arena, 0), false };

    for (uint32_t i = 0; i < count; i++) {
        const char *from = str_fmt(arena, "--%s", rows[i].name).at;

        if (set_value(&rows[i], from, str_of(rows[i].default_text), &parsed.values[i], err) < 0 ||
            take_environment(&rows[i], getenv_of, arena, &parsed.values[i], err) < 0)
            return -1;
    }
    for (int i = 1; i < argc; i++) {
        struct str word = str_of(argv[i]);

        if (str_eq(word, STR("-h")) || str_eq(word, STR("--help"))) {
            parsed.help = true;
            continue;
        }
        if (str_eq(word, STR("--"))) {
            while (++i < argc)
                str_list_push(&parsed.rest, str_of(argv[i]));
            break;
        }
        if (word.len < 2 || word.at[0] != '-') {
            str_list_push(&parsed.rest, word);
            continue;
        }

        struct str text;
        int32_t found = read_name(rows, count, word, &text, err);

        if (found < 0)
            return -1;
        if (!text.at) {
            if (rows[found].type == FLAG_BOOL)
                text = STR("true");
            else if (i + 1 < argc)
                text = str_of(argv[++i]);
            else
                return error_set(err, ERROR_BAD_REQUEST, "--%s needs a value", rows[found].name);
        }
        if (set_value(&rows[found], str_fmt(arena, "--%s", rows[found].name).at, text,
                      &parsed.values[found], err) < 0)
            return -1;
        parsed.values[found].given = true;
    }
    *ret_values = parsed;
    return 0;
}

void flags_help(const struct flag_row *rows, uint32_t count, struct strbuf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct flag_row *row = &rows[i];

        if (row->letter)
            strbuf_fmt(out, "  -%c, --%s", row->letter, row->name);
        else
            strbuf_fmt(out, "  --%s", row->name);
        if (row->type == FLAG_CHOICE)
            strbuf_fmt(out, "=%s", row->choices);
        else if (row->type != FLAG_BOOL)
            strbuf_fmt(out, "=%s", row->unit[0] ? row->unit : "text");
        strbuf_fmt(out, "\n        %s", row->help);
        if (row->default_text[0])
            strbuf_fmt(out, " (default %s", row->default_text);
        else
            strbuf_lit(out, " (no default");
        if (row->environment)
            strbuf_fmt(out, "; environment %s", row->environment);
        strbuf_lit(out, ")\n");
    }
}
