/* SPDX-License-Identifier: Apache-2.0 */
/* number.c: reading numbers without losing a digit. */
#include "text/number.h"

#include <math.h>
#include <stdlib.h>

bool number_int64(struct str text, int64_t *ret_number)
{
    bool negative = text.len && text.at[0] == '-';
    uint64_t number;

    if (!str_to_u64(str_slice(text, negative, text.len), &number))
        return false;
    if (number > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_number = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

/* A number taken apart. */
struct decimal {
    bool negative;
    struct str whole;    /* digits before the point */
    struct str fraction; /* digits behind it */
    struct str exponent; /* digits, without sign and leading zeros */
    bool exponent_negative;
};

static struct decimal take_apart(struct str text)
{
    struct decimal number = { .negative = text.len && text.at[0] == '-' };
    size_t i = number.negative;
    size_t start = i;

    while (i < text.len && text.at[i] >= '0' && text.at[i] <= '9')
        i++;
    number.whole = str_slice(text, start, i);
    if (i < text.len && text.at[i] == '.') {
        start = ++i;
        while (i < text.len && text.at[i] >= '0' && text.at[i] <= '9')
            i++;
        number.fraction = str_slice(text, start, i);
    }
    if (i < text.len) {
        i++; /* e or E */
        number.exponent_negative = i < text.len && text.at[i] == '-';
        if (i < text.len && (text.at[i] == '-' || text.at[i] == '+'))
            i++;
        while (i < text.len && text.at[i] == '0')
            i++;
        number.exponent = str_slice(text, i, text.len);
    }
    return number;
}

static char digit_at(const struct decimal *number, size_t i)
{
    return i < number->whole.len ? number->whole.at[i] : number->fraction.at[i - number->whole.len];
}

/* The digits that count are [first, last); false for zero. */
static bool significant(const struct decimal *number, size_t *ret_first, size_t *ret_last)
{
    size_t first = 0;
    size_t last = number->whole.len + number->fraction.len;

    while (first < last && digit_at(number, first) == '0')
        first++;
    while (last > first && digit_at(number, last - 1) == '0')
        last--;
    *ret_first = first;
    *ret_last = last;
    return first < last;
}

/* The power of ten in front of the first digit that counts, as sum of a position (short) and a
 * written exponent (any length). False if the exponent has more digits than an int64_t. */
static bool magnitude(const struct decimal *number, size_t first, __int128 *ret_magnitude)
{
    uint64_t exponent = 0;

    if (number->exponent.len && !str_to_u64(number->exponent, &exponent))
        return false;
    *ret_magnitude = (__int128)number->whole.len - (__int128)first +
                     (number->exponent_negative ? -(__int128)exponent : (__int128)exponent);
    return true;
}

bool number_equal(struct str a, struct str b)
{
    if (str_eq(a, b))
        return true;

    struct decimal x = take_apart(a);
    struct decimal y = take_apart(b);
    size_t x_first, x_last, y_first, y_last;
    bool x_some = significant(&x, &x_first, &x_last);
    bool y_some = significant(&y, &y_first, &y_last);

    if (!x_some || !y_some)
        return x_some == y_some;
    if (x.negative != y.negative || x_last - x_first != y_last - y_first)
        return false;
    for (size_t i = 0; i < x_last - x_first; i++)
        if (digit_at(&x, x_first + i) != digit_at(&y, y_first + i))
            return false;

    __int128 x_magnitude, y_magnitude;
    bool x_fits = magnitude(&x, x_first, &x_magnitude);
    bool y_fits = magnitude(&y, y_first, &y_magnitude);

    if (x_fits && y_fits)
        return x_magnitude == y_magnitude;
    /* Exponents beyond 64 bits: equal only if they are written alike. */
    return x_fits == y_fits && x.exponent_negative == y.exponent_negative &&
           str_eq(x.exponent, y.exponent) && x.whole.len - x_first == y.whole.len - y_first;
}

void number_canonical(struct str text, struct strbuf *out)
{
    struct decimal number = take_apart(text);
    size_t first, last;
    __int128 power;

    if (!significant(&number, &first, &last)) {
        strbuf_char(out, '0');
        return;
    }
    /* A bound for int64_t with room for any position. */
    if (!magnitude(&number, first, &power) || power > INT64_MAX || power < INT64_MIN) {
        strbuf_put(out, text);
        return;
    }
    if (number.negative)
        strbuf_char(out, '-');
    for (size_t i = first; i < last; i++)
        strbuf_char(out, digit_at(&number, i));
    strbuf_char(out, 'e');
    strbuf_i64(out, (int64_t)power);
}

double number_double(struct str text)
{
    char copy[1024]; /* strtod wants a NUL behind; hardly any number is longer */
    AUTO(arena_free) struct arena *arena = NULL;

    if (text.len < sizeof(copy)) {
        memcpy(copy, text.at, text.len);
        copy[text.len] = '\0';
        return strtod(copy, NULL);
    }
    arena = arena_create(0);
    return strtod(str_z(arena, text), NULL);
}

bool number_fits(struct str text)
{
    return isfinite(number_double(text));
}
