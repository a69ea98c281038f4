/* SPDX-License-Identifier: Apache-2.0 */
/* format.c: 'text with %s and %d'.format([...]): checked where all is literal, and evaluated.
 * Source: github.com/google/cel-go ext/formatting.go, with the locale en_US. */
#include "lab/cel/check.h"
#include "lab/cel/functions.h"
#include "lab/cel/moment.h"
#include "lab/cel/text.h"

#include <math.h>
#include <stdlib.h>

#define KIND(kind) (1u << (kind))
#define WHOLE (KIND(CEL_INT) | KIND(CEL_UINT))

/* What each letter takes, and what is said of all else. */
static const struct verb {
    char letter;
    uint32_t takes; /* 0: nearly all */
    const char *why;
} verbs[] = {
    { 's', 0,
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
      "types, durations, and timestamps" },
    { 'd', WHOLE, "decimal clause can only be used on integers" },
    { 'f', KIND(CEL_DOUBLE), "fixed-point clause can only be used on doubles" },
    { 'e', KIND(CEL_DOUBLE), "scientific clause can only be used on doubles" },
    { 'b', WHOLE | KIND(CEL_BOOL), "only integers and bools can be formatted as binary" },
    { 'x', WHOLE | KIND(CEL_STRING) | KIND(CEL_BYTES),
      "only integers, byte buffers, and strings can be formatted as hex" },
    { 'X', WHOLE | KIND(CEL_STRING) | KIND(CEL_BYTES),
      "only integers, byte buffers, and strings can be formatted as hex" },
    { 'o', WHOLE, "octal clause can only be used on integers" },
};

struct clause {
    const struct verb *verb;
    int precision;
};

/* One text with clauses, read from left to right. */
struct reading {
    struct arena *arena;
    struct str text;
    size_t at;
    struct strbuf *out; /* NULL: the text between clauses is of no interest */
    struct str why;     /* "" = all is well */
};

static const struct verb *verb_of(char letter)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (verbs[i].letter == letter)
            return &verbs[i];
    return NULL;
}

static void put_literal(struct reading *r, char c)
{
    if (r->out)
        strbuf_char(r->out, c);
}

/* "%.3f" behind the percent sign. */
static bool read_clause(struct reading *r, struct clause *ret_clause)
{
    size_t bytes;

    ret_clause->precision = 6;
    if (r->at < r->text.len && r->text.at[r->at] == '.') {
        ret_clause->precision = 0;
        for (r->at++; r->at < r->text.len && r->text.at[r->at] >= '0' && r->text.at[r->at] <= '9';
             r->at++)
            if (ret_clause->precision < 1000)
                ret_clause->precision = ret_clause->precision * 10 + (r->text.at[r->at] - '0');
    }
    if (r->at >= r->text.len) {
        r->why = STR("could not parse formatting clause: unexpected end of string");
        return false;
    }
    ret_clause->verb = verb_of(r->text.at[r->at]);
    if (!ret_clause->verb) {
        cel_character_at(r->text, r->at, &bytes);
        r->why = str_fmt(r->arena,
                         "could not parse formatting clause: unrecognized formatting clause "
                         "\"%.*s\"",
                         (int)bytes, r->text.at + r->at);
        return false;
    }
    r->at++;
    if (ret_clause->precision > 100)
        r->why = STR("herd-lab writes at most 100 digits behind a point");
    return r->why.len == 0;
}

/* False at the end, or when something is wrong. */
static bool next_clause(struct reading *r, struct clause *ret_clause)
{
    while (r->at < r->text.len) {
        char c = r->text.at[r->at++];

        if (c == '%' && r->at < r->text.len && r->text.at[r->at] == '%')
            r->at++;
        else if (c == '%')
            return read_clause(r, ret_clause);
        put_literal(r, c);
    }
    return false;
}

static bool takes(const struct verb *verb, enum cel_kind kind)
{
    if (kind == CEL_DYN)
        return true;
    return verb->takes ? (verb->takes & KIND(kind)) != 0
                       : kind >= CEL_NULL && kind != CEL_STRUCT && kind != CEL_OPTIONAL &&
                             kind != CEL_QUANTITY;
}

void cel_check_format(struct arena *arena, const struct cel_node *call, struct cel_issues *issues)
{
    const struct cel_node *text = call->args[0], *list = call->args[1];
    struct reading r = { .arena = arena, .text = text->literal.text, .why = STR("") };
    struct clause clause;
    uint32_t used = 0;

    if (text->kind != NODE_LITERAL || list->kind != NODE_LIST)
        return;
    while (next_clause(&r, &clause)) {
        const struct cel_node *arg;

        if (used == list->count) {
            cel_issue(issues, call->at, "index %u out of range", used);
            return;
        }
        arg = list->args[used++];
        if (takes(clause.verb, arg->type->kind))
            continue;
        cel_issue(issues, arg->at, "error during formatting: %s, was given %.*s", clause.verb->why,
                  STR_ARG(cel_type_name(arg->type)));
        return;
    }
    if (r.why.len)
        cel_issue(issues, call->at, "%.*s", STR_ARG(r.why));
    else if (used < list->count)
        cel_issue(issues, call->at,
                  "too many arguments supplied to string.format (expected %u, got %u)", used,
                  list->count);
}

static void put_plain(struct strbuf *out, const struct cel_value *value, bool inside);

static void put_items(struct strbuf *out, const struct cel_value *value)
{
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < value->list->count; i++) {
        if (i)
            strbuf_lit(out, ", ");
        put_plain(out, &value->list->items[i], true);
    }
    strbuf_char(out, ']');
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void put_pairs(struct strbuf *out, const struct cel_value *value)
{
    struct cel_values keys = cel_map_keys(out->arena, value);
    struct str_list pairs = str_list_new(out->arena, keys.count);

    for (uint32_t i = 0; i < keys.count; i++) {
        struct strbuf pair = strbuf_new(out->arena, 32);
        struct cel_value found;

        if (!cel_map_find(out->arena, value, &keys.items[i], &found))
            continue;
        put_plain(&pair, &keys.items[i], true);
        strbuf_char(&pair, ':');
        put_plain(&pair, &found, true);
        str_list_push(&pairs, strbuf_str(&pair));
    }
    if (pairs.count)
        qsort(pairs.items, pairs.count, sizeof(*pairs.items), by_text);
    strbuf_char(out, '{');
    for (uint32_t i = 0; i < pairs.count; i++)
        strbuf_fmt(out, "%s%.*s", i ? ", " : "", STR_ARG(pairs.items[i]));
    strbuf_char(out, '}');
}

/* %s; inside of a list or map as one would write it in CEL. */
static void put_plain(struct strbuf *out, const struct cel_value *value, bool inside)
{
    switch (value->kind) {
    case CEL_BYTES:
    case CEL_STRING:
        if (inside && value->kind == CEL_BYTES)
            strbuf_char(out, 'b');
        if (inside)
            cel_put_quoted(out, value->text);
        else
            strbuf_put(out, value->text);
        break;
    case CEL_DOUBLE:
        if (inside && isfinite(value->real))
            strbuf_fmt(out, "%.6f", value->real);
        else
            strbuf_put(out, cel_double_text(out->arena, value->real));
        break;
    case CEL_DURATION:
        strbuf_fmt(out, inside ? "duration(\"%.*s\")" : "%.*s",
                   STR_ARG(cel_duration_text(out->arena, value->number)));
        break;
    case CEL_TIMESTAMP:
        strbuf_fmt(out, inside ? "timestamp(\"%.*s\")" : "%.*s",
                   STR_ARG(cel_moment_text(out->arena, value->moment)));
        break;
    case CEL_UINT:
        strbuf_u64(out, value->natural);
        break;
    case CEL_TYPE:
        strbuf_fmt(out, inside ? "type(%.*s)" : "%.*s", STR_ARG(cel_type_name(value->type)));
        break;
    case CEL_LIST:
        put_items(out, value);
        break;
    case CEL_MAP:
        put_pairs(out, value);
        break;
    default:
        strbuf_put(out, cel_show(out->arena, value));
    }
}

static void put_based(struct strbuf *out, const struct cel_value *value, unsigned base,
                      const char *digits)
{
    bool minus = value->kind == CEL_INT && value->number < 0;
    uint64_t number = value->kind == CEL_BOOL ? value->truth
                      : minus                 ? 0 - (uint64_t)value->number
                                              : value->natural;
    char text[65];
    size_t at = sizeof(text);

    do
        text[--at] = digits[number % base];
    while ((number /= base) != 0);
    if (minus)
        strbuf_char(out, '-');
    strbuf_put(out, str_make(text + at, sizeof(text) - at));
}

static void put_hex(struct strbuf *out, const struct cel_value *value, const char *digits)
{
    if (value->kind != CEL_STRING && value->kind != CEL_BYTES) {
        put_based(out, value, 16, digits);
        return;
    }
    for (size_t i = 0; i < value->text.len; i++) {
        strbuf_char(out, digits[(unsigned char)value->text.at[i] >> 4]);
        strbuf_char(out, digits[value->text.at[i] & 0xf]);
    }
}

/* "1.5×10⁰⁴", as that locale has it. */
static void put_scientific(struct strbuf *out, double real, int precision)
{
    static const char *const raised[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                          "\u2075", "\u2076", "\u2077", "\u2078", "\u2079" };
    struct str text = str_fmt(out->arena, "%.*e", precision, real);
    size_t at = (size_t)str_find_char(text, 'e', 0);

    strbuf_put(out, str_slice(text, 0, at));
    strbuf_lit(out, "\u00d710");
    if (text.at[at + 1] == '-')
        strbuf_lit(out, "\u207b");
    for (at += 2; at < text.len; at++)
        strbuf_put(out, str_of(raised[text.at[at] - '0']));
}

/* Thousands are set apart. */
static void put_fixed(struct strbuf *out, double real, int precision)
{
    struct str text = str_fmt(out->arena, "%.*f", precision, real);
    ptrdiff_t point = str_find_char(text, '.', 0);
    size_t whole = point < 0 ? text.len : (size_t)point, sign = text.at[0] == '-';

    for (size_t i = 0; i < text.len; i++) {
        if (i > sign && i < whole && (whole - i) % 3 == 0)
            strbuf_char(out, ',');
        strbuf_char(out, text.at[i]);
    }
}

static void put_real(struct strbuf *out, double real, struct clause clause)
{
    if (isnan(real) || isinf(real))
        strbuf_put(out, isnan(real) ? STR("NaN") : real > 0 ? STR("\u221e") : STR("-\u221e"));
    else if (clause.verb->letter == 'f')
        put_fixed(out, real, clause.precision);
    else
        put_scientific(out, real, clause.precision);
}

static void put_clause(struct strbuf *out, const struct cel_value *value, struct clause clause)
{
    static const char small[] = "0123456789abcdef", large[] = "0123456789ABCDEF";

    switch (clause.verb->letter) {
    case 's':
        put_plain(out, value, false);
        break;
    case 'd':
        put_based(out, value, 10, small);
        break;
    case 'b':
        put_based(out, value, 2, small);
        break;
    case 'o':
        put_based(out, value, 8, small);
        break;
    case 'x':
    case 'X':
        put_hex(out, value, clause.verb->letter == 'X' ? large : small);
        break;
    default:
        put_real(out, value->real, clause);
    }
}

struct cel_value cel_format(struct cel_run *run, const struct cel_value *args)
{
    struct strbuf out = strbuf_new(run->arena, args[0].text.len + 32);
    struct reading r = { .arena = run->arena, .text = args[0].text, .out = &out, .why = STR("") };
    const struct cel_list *list = args[1].list;
    struct clause clause;
    uint32_t used = 0;

    while (next_clause(&r, &clause)) {
        const struct cel_value *value;

        if (used == list->count)
            return cel_errorf(run->arena, "index %u out of range", used);
        value = &list->items[used++];
        if (!takes(clause.verb, value->kind))
            return cel_errorf(run->arena, "error during formatting: %s, was given %.*s",
                              clause.verb->why, STR_ARG(cel_type_name(cel_value_type(value))));
        put_clause(&out, value, clause);
    }
    return r.why.len ? cel_error(r.why) : cel_string(strbuf_str(&out));
}
