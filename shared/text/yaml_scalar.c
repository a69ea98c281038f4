/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_scalar.c: what a plain scalar means.
 *
 * Kubernetes reads manifests by sigs.k8s.io/yaml, whose parser is goyaml v2: YAML 1.1's words, so
 * yes, no, on, off, y and n are booleans (kubernetes-sigs/yaml, goyaml.v2/resolve.go,
 * resolveMapList; yaml.go says so in the comment on Unmarshal). Numbers are Go's: 0x1F,
 * 0o17, 0b11, 017 for octal and underscores anywhere. Timestamps stay strings. Beyond
 * goyaml, nothing is rounded: a decimal number keeps all its digits. One beyond a double's range
 * is a string. */
#include "text/number.h"
#include "text/yaml_node.h"

struct word {
    enum yaml_node_kind kind;
    struct str text;
    struct str json;
};

static const struct word words[] = {
    { YAML_NULL, STR_INIT(""), STR_INIT("null") },
    { YAML_NULL, STR_INIT("~"), STR_INIT("null") },
    { YAML_NULL, STR_INIT("null"), STR_INIT("null") },
    { YAML_NULL, STR_INIT("Null"), STR_INIT("null") },
    { YAML_NULL, STR_INIT("NULL"), STR_INIT("null") },
    { YAML_BOOL, STR_INIT("true"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("True"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("TRUE"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("y"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("Y"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("yes"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("Yes"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("YES"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("on"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("On"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("ON"), STR_INIT("true") },
    { YAML_BOOL, STR_INIT("false"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("False"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("FALSE"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("n"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("N"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("no"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("No"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("NO"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("off"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("Off"), STR_INIT("false") },
    { YAML_BOOL, STR_INIT("OFF"), STR_INIT("false") },
    { YAML_MERGE, STR_INIT("<<"), STR_INIT("<<") },
    { YAML_UNREAL, STR_INIT(".nan"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT(".NaN"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT(".NAN"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT(".inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT(".Inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT(".INF"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("+.inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("+.Inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("+.INF"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("-.inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("-.Inf"), STR_INIT("") },
    { YAML_UNREAL, STR_INIT("-.INF"), STR_INIT("") },
};

static struct str without_underscores(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len);

    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '_')
            strbuf_char(&out, text.at[i]);
    return strbuf_str(&out);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind a point Go wants digits around each underscore. */
static bool separates_digits(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '_' &&
            (i < 2 || i + 1 == text.len || !is_digit(text.at[i - 1]) || !is_digit(text.at[i + 1])))
            return false;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Digits of a base other than ten, as in Go: the prefix names it. */
static bool based_integer(struct str digits, uint64_t *ret_number)
{
    uint64_t number = 0;
    int base = 8;
    size_t i = 1;

    if (digits.len < 2 || digits.at[0] != '0')
        return false;
    switch (digits.at[1] | 0x20) {
    case 'x':
        base = 16;
        i = 2;
        break;
    case 'o':
        i = 2;
        break;
    case 'b':
        base = 2;
        i = 2;
        break;
    }
    if (i == digits.len)
        return false;
    for (; i < digits.len; i++) {
        int digit = digit_of(digits.at[i]);

        if (digit >= base || __builtin_mul_overflow(number, (uint64_t)base, &number) ||
            __builtin_add_overflow(number, (uint64_t)digit, &number))
            return false;
    }
    *ret_number = number;
    return true;
}

/* A decimal number taken apart: digits, where the point stands among them, exponent. */
struct decimal {
    struct str whole;
    struct str fraction;
    struct str exponent; /* with its sign; "" if there is none */
};

static size_t digits_at(struct str text, size_t from)
{
    size_t end = from;

    while (end < text.len && text.at[end] >= '0' && text.at[end] <= '9')
        end++;
    return end - from;
}

/* `text` has no sign. "1", "1.", ".5", "1.5e-3". */
static bool decimal_from(struct str text, struct decimal *ret_decimal)
{
    struct decimal d = { .exponent = STR_INIT("") };
    size_t i = digits_at(text, 0);

    d.whole = str_slice(text, 0, i);
    d.fraction = STR("");
    if (i < text.len && text.at[i] == '.') {
        size_t digits = digits_at(text, i + 1);

        d.fraction = str_slice(text, i + 1, i + 1 + digits);
        i += 1 + digits;
    }
    if (d.whole.len + d.fraction.len == 0)
        return false;
    if (i < text.len && (text.at[i] | 0x20) == 'e') {
        size_t sign = i + 1 < text.len && (text.at[i + 1] == '+' || text.at[i + 1] == '-');
        size_t digits = digits_at(text, i + 1 + sign);

        if (digits == 0)
            return false;
        d.exponent = str_slice(text, i + 1, i + 1 + sign + digits);
        i += 1 + sign + digits;
    }
    *ret_decimal = d;
    return i == text.len;
}

/* The exponent if it is small enough to be written out. */
static bool small_exponent(struct str text, int *ret_exponent)
{
    size_t sign = text.len && (text.at[0] == '+' || text.at[0] == '-');
    int number = 0;

    for (size_t i = sign; i < text.len; i++)
        if ((number = number * 10 + (text.at[i] - '0')) > 1000)
            return false;
    *ret_exponent = text.len && text.at[0] == '-' ? -number : number;
    return true;
}

/* Go writes a whole double below 1e21 as an integer, and integer fields take only those. */
static bool put_whole(const struct decimal *d, struct strbuf *out)
{
    enum { WHOLE_DIGITS_MAX = 21 };
    struct strbuf digits = strbuf_new(out->arena, d->whole.len + d->fraction.len);
    size_t first = 0;
    int exponent;

    if (!small_exponent(d->exponent, &exponent))
        return false;
    strbuf_put(&digits, d->whole);
    strbuf_put(&digits, d->fraction);
    while (first < digits.len && digits.at[first] == '0')
        first++;

    int64_t point = (int64_t)d->whole.len + exponent; /* behind so many digits */

    for (int64_t i = point < 0 ? 0 : point; i < (int64_t)digits.len; i++)
        if (digits.at[i] != '0')
            return false;
    if (first == digits.len) {
        strbuf_char(out, '0');
        return true;
    }
    /* A plain integer may have any length; one that an exponent makes may not. */
    if (point - (int64_t)first > WHOLE_DIGITS_MAX && (d->exponent.len || d->fraction.len))
        return false;
    for (int64_t i = (int64_t)first; i < point; i++)
        strbuf_char(out, i < (int64_t)digits.len ? digits.at[i] : '0');
    return true;
}

/* As JSON writes it: no empty side of the point, no leading zeros. */
static void put_decimal(const struct decimal *d, struct strbuf *out)
{
    size_t first = 0;

    if (put_whole(d, out))
        return;
    while (first + 1 < d->whole.len && d->whole.at[first] == '0')
        first++;
    strbuf_put(out, d->whole.len ? str_slice(d->whole, first, d->whole.len) : STR("0"));
    if (d->fraction.len) {
        strbuf_char(out, '.');
        strbuf_put(out, d->fraction);
    }
    if (d->exponent.len) {
        strbuf_char(out, 'e');
        strbuf_put(out, d->exponent);
    }
}

/* Most numbers are integers as JSON writes them: they stay where they are. */
static bool is_json_integer(struct str plain)
{
    size_t sign = plain.at[0] == '-';

    return plain.len > sign && plain.len <= NUMBER_DIGITS_SURE &&
           digits_at(plain, sign) == plain.len - sign && (plain.at[sign] != '0' || plain.len == 1);
}

/* 0, 000, 0x0: an integer, which has no sign; unlike 0.0. */
static bool is_whole_zero(struct str digits)
{
    uint64_t number;

    return str_eq(digits, STR("0")) || (based_integer(digits, &number) && number == 0);
}

static enum yaml_node_kind integer(struct str text)
{
    int64_t number;

    return number_int64(text, &number) ? YAML_NUMBER : YAML_REAL;
}

/* YAML_STRING if it is none. */
static enum yaml_node_kind number_from(struct arena *arena, struct str plain, struct str *ret_text)
{
    *ret_text = plain;
    if (is_json_integer(plain))
        return integer(plain);

    struct strbuf out = strbuf_new(arena, plain.len + 24);
    bool keeps = plain.at[0] == '.' && !separates_digits(plain);
    struct str text = keeps ? plain : without_underscores(arena, plain);
    bool negative = text.at[0] == '-';
    struct str digits = str_slice(text, negative || text.at[0] == '+', text.len);
    struct decimal decimal;
    bool whole = is_whole_zero(digits);
    uint64_t number;

    if (negative && !whole)
        strbuf_char(&out, '-');
    if (based_integer(digits, &number)) {
        strbuf_u64(&out, number);
        whole = true;
    } else if (decimal_from(digits, &decimal)) {
        put_decimal(&decimal, &out);
    } else {
        return YAML_STRING;
    }
    if (!number_fits(strbuf_str(&out)))
        return YAML_STRING;
    *ret_text = strbuf_str(&out);
    return whole ? integer(*ret_text) : YAML_REAL;
}

enum yaml_node_kind yaml_resolve(struct arena *arena, struct str plain, struct str *ret_text)
{
    enum { LONGEST_WORD = 5 };
    char c = plain.len ? plain.at[0] : '\0';

    for (size_t i = 0; plain.len <= LONGEST_WORD && i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_eq(words[i].text, plain)) {
            *ret_text = words[i].json;
            return words[i].kind;
        }
    }
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')
        return number_from(arena, plain, ret_text);
    *ret_text = plain;
    return YAML_STRING;
}
