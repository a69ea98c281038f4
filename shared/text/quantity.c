/* SPDX-License-Identifier: Apache-2.0 */
/* quantity.c: a decimal number times a suffix, to whole thousandths.
 *
 * Kubernetes rounds what is finer upwards, away from zero ("you want some if you asked for some"),
 * and caps what is larger; so do we, at a thousandth where Kubernetes keeps a billionth. */
#include "text/quantity.h"

typedef __int128 wide;

/* What a suffix multiplies with: 2 to the `binary` and 10 to the `decimal`. */
static const struct suffix {
    struct str text;
    int binary;
    int decimal;
} suffixes[] = {
    { STR_INIT(""), 0, 0 },    { STR_INIT("n"), 0, -9 },  { STR_INIT("u"), 0, -6 },
    { STR_INIT("m"), 0, -3 },  { STR_INIT("k"), 0, 3 },   { STR_INIT("M"), 0, 6 },
    { STR_INIT("G"), 0, 9 },   { STR_INIT("T"), 0, 12 },  { STR_INIT("P"), 0, 15 },
    { STR_INIT("E"), 0, 18 },  { STR_INIT("Ki"), 10, 0 }, { STR_INIT("Mi"), 20, 0 },
    { STR_INIT("Gi"), 30, 0 }, { STR_INIT("Ti"), 40, 0 }, { STR_INIT("Pi"), 50, 0 },
    { STR_INIT("Ei"), 60, 0 },
};

/* A number as read: digits * 10^decimal; `more` if digits that are not 0 were dropped behind. */
struct number {
    wide digits;
    int64_t decimal;
    bool more;
};

/* Twenty digits times 2^60 fit into 127 bits, and are more than a capped answer has. */
static void add_digit(struct number *number, char c, bool is_fraction)
{
    const wide most = (wide)10000000000000000000U; /* 10^19 */

    if (number->digits < most) {
        number->digits = number->digits * 10 + (c - '0');
        number->decimal -= is_fraction;
    } else {
        number->more |= c != '0';
        number->decimal += !is_fraction;
    }
}

/* Digits with at most one point off the front; false if there is no digit. */
static bool take_digits(struct str *rest, struct number *ret_number)
{
    bool fraction = false;
    bool any = false;
    size_t i = 0;

    for (; i < rest->len; i++) {
        char c = rest->at[i];

        if (c == '.' && !fraction) {
            fraction = true;
        } else if (c >= '0' && c <= '9') {
            add_digit(ret_number, c, fraction);
            any = true;
        } else {
            break;
        }
    }
    *rest = str_slice(*rest, i, rest->len);
    return any;
}

/* "e3", "E-3". "E" alone is a suffix. */
static bool exponent_from(struct str text, struct number *number)
{
    uint64_t exponent;
    size_t at = 1;

    if (text.len < 2 || (text.at[0] | 0x20) != 'e')
        return false;

    bool negative = text.at[1] == '-';

    at += negative || text.at[1] == '+';
    while (at + 1 < text.len && text.at[at] == '0')
        at++;
    if (!str_to_u64(str_slice(text, at, text.len), &exponent) || exponent > INT64_MAX / 4)
        return false;
    number->decimal += negative ? -(int64_t)exponent : (int64_t)exponent;
    return true;
}

static bool suffix_from(struct str text, struct number *number)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (str_eq(text, suffixes[i].text)) {
            number->digits <<= suffixes[i].binary;
            number->decimal += suffixes[i].decimal;
            return true;
        }
    }
    return exponent_from(text, number);
}

/* The number in thousandths, rounded up and capped. */
static int64_t to_milli(struct number number)
{
    int64_t power = number.decimal + 3;

    if (number.digits == 0)
        return 0;
    for (; power < 0 && number.digits; power++) {
        number.more |= number.digits % 10 != 0;
        number.digits /= 10;
    }
    for (; power > 0 && number.digits <= INT64_MAX; power--)
        number.digits *= 10;
    number.digits += number.more;
    return number.digits > INT64_MAX ? INT64_MAX : (int64_t)number.digits;
}

int quantity_parse(struct str text, struct quantity *ret_quantity, struct error *err)
{
    bool negative = text.len && text.at[0] == '-';
    struct str rest = str_slice(text, negative || (text.len && text.at[0] == '+'), text.len);
    struct number number = { 0 };

    if (!take_digits(&rest, &number) || !suffix_from(rest, &number))
        return error_set(err, ERROR_SYNTAX,
                         "not a quantity; write a number with a suffix of m k M G T P E Ki Mi Gi "
                         "Ti Pi Ei, or none, like 500m, 1.5 or 16Gi");

    int64_t milli = to_milli(number);

    ret_quantity->milli = negative ? -milli : milli;
    return 0;
}

bool quantity_is_whole(struct quantity quantity)
{
    return quantity.milli % 1000 == 0;
}

static struct quantity capped(wide milli)
{
    if (milli > INT64_MAX)
        milli = INT64_MAX;
    if (milli < -INT64_MAX)
        milli = -INT64_MAX;
    return (struct quantity){ (int64_t)milli };
}

struct quantity quantity_add(struct quantity a, struct quantity b)
{
    return capped((wide)a.milli + b.milli);
}

struct quantity quantity_times(struct quantity a, int64_t times)
{
    return capped((wide)a.milli * times);
}

void quantity_write(struct quantity quantity, struct strbuf *out)
{
    if (quantity_is_whole(quantity)) {
        strbuf_i64(out, quantity.milli / 1000);
        return;
    }
    strbuf_i64(out, quantity.milli);
    strbuf_char(out, 'm');
}
