/* SPDX-License-Identifier: Apache-2.0 */
/* function_number.c: arithmetic, which fails rather than wraps around, and conversions. */
#include "lab/cel/functions.h"
#include "lab/cel/moment.h"
#include "lab/cel/text.h"

#include <math.h>
#include <stdlib.h>

static struct cel_value overflow(const char *what)
{
    return cel_error(str_of(what));
}

#define INTEGER_OVERFLOW overflow("integer overflow")
#define UNSIGNED_OVERFLOW overflow("unsigned integer overflow")
#define DURATION_OVERFLOW overflow("duration overflow")
#define TIMESTAMP_OVERFLOW overflow("timestamp overflow")

static struct cel_value later(struct cel_moment moment, int64_t nanos)
{
    struct cel_value sum = { .kind = CEL_TIMESTAMP };

    return cel_moment_add(moment, nanos, &sum.moment) ? sum : TIMESTAMP_OVERFLOW;
}

struct cel_value cel_add(struct cel_run *run, const struct cel_value *args)
{
    int64_t sum;
    uint64_t natural;

    (void)run;
    switch (args[0].kind) {
    case CEL_DOUBLE:
        return cel_double(args[0].real + args[1].real);
    case CEL_UINT:
        return __builtin_add_overflow(args[0].natural, args[1].natural, &natural)
                   ? UNSIGNED_OVERFLOW
                   : cel_uint(natural);
    case CEL_INT:
        return __builtin_add_overflow(args[0].number, args[1].number, &sum) ? INTEGER_OVERFLOW
                                                                            : cel_int(sum);
    case CEL_DURATION:
        if (args[1].kind == CEL_TIMESTAMP)
            return later(args[1].moment, args[0].number);
        return __builtin_add_overflow(args[0].number, args[1].number, &sum) ? DURATION_OVERFLOW
                                                                            : cel_duration(sum);
    case CEL_TIMESTAMP:
        return later(args[0].moment, args[1].number);
    default:
        return cel_no_overload();
    }
}

struct cel_value cel_subtract(struct cel_run *run, const struct cel_value *args)
{
    int64_t difference;
    uint64_t natural;

    (void)run;
    switch (args[0].kind) {
    case CEL_DOUBLE:
        return cel_double(args[0].real - args[1].real);
    case CEL_UINT:
        return __builtin_sub_overflow(args[0].natural, args[1].natural, &natural)
                   ? UNSIGNED_OVERFLOW
                   : cel_uint(natural);
    case CEL_INT:
        return __builtin_sub_overflow(args[0].number, args[1].number, &difference)
                   ? INTEGER_OVERFLOW
                   : cel_int(difference);
    case CEL_DURATION:
        return __builtin_sub_overflow(args[0].number, args[1].number, &difference)
                   ? DURATION_OVERFLOW
                   : cel_duration(difference);
    case CEL_TIMESTAMP:
        if (args[1].kind == CEL_TIMESTAMP)
            return cel_moment_between(args[0].moment, args[1].moment, &difference)
                       ? cel_duration(difference)
                       : DURATION_OVERFLOW;
        return args[1].number == INT64_MIN ? TIMESTAMP_OVERFLOW
                                           : later(args[0].moment, -args[1].number);
    default:
        return cel_no_overload();
    }
}

struct cel_value cel_multiply(struct cel_run *run, const struct cel_value *args)
{
    int64_t product;
    uint64_t natural;

    (void)run;
    if (args[0].kind == CEL_DOUBLE)
        return cel_double(args[0].real * args[1].real);
    if (args[0].kind == CEL_UINT)
        return __builtin_mul_overflow(args[0].natural, args[1].natural, &natural)
                   ? UNSIGNED_OVERFLOW
                   : cel_uint(natural);
    return __builtin_mul_overflow(args[0].number, args[1].number, &product) ? INTEGER_OVERFLOW
                                                                            : cel_int(product);
}

struct cel_value cel_divide(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    if (args[0].kind == CEL_DOUBLE)
        return cel_double(args[0].real / args[1].real);
    if (args[0].kind == CEL_UINT)
        return args[1].natural ? cel_uint(args[0].natural / args[1].natural)
                               : cel_error(STR("division by zero"));
    if (args[1].number == 0)
        return cel_error(STR("division by zero"));
    if (args[0].number == INT64_MIN && args[1].number == -1)
        return INTEGER_OVERFLOW;
    return cel_int(args[0].number / args[1].number);
}

struct cel_value cel_modulo(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    if (args[0].kind == CEL_UINT)
        return args[1].natural ? cel_uint(args[0].natural % args[1].natural)
                               : cel_error(STR("modulus by zero"));
    if (args[1].number == 0)
        return cel_error(STR("modulus by zero"));
    if (args[0].number == INT64_MIN && args[1].number == -1)
        return INTEGER_OVERFLOW;
    return cel_int(args[0].number % args[1].number);
}

struct cel_value cel_negate(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    if (args[0].kind == CEL_DOUBLE)
        return cel_double(-args[0].real);
    return args[0].number == INT64_MIN ? INTEGER_OVERFLOW : cel_int(-args[0].number);
}

static struct cel_value no_conversion(struct cel_run *run, const char *to)
{
    return cel_errorf(run->arena, "type conversion error from 'string' to '%s'", to);
}

struct cel_value cel_to_bool(struct cel_run *run, const struct cel_value *args)
{
    static const char *const words[] = { "true",  "True",  "TRUE",  "t", "1",
                                         "false", "False", "FALSE", "f", "0" };

    for (size_t i = 0; i < 10; i++)
        if (str_eq(args[0].text, str_of(words[i])))
            return cel_bool(i < 5);
    return no_conversion(run, "bool");
}

struct cel_value cel_to_double(struct cel_run *run, const struct cel_value *args)
{
    const char *text;
    char *end;
    double real;

    if (args[0].kind == CEL_INT)
        return cel_double((double)args[0].number);
    if (args[0].kind == CEL_UINT)
        return cel_double((double)args[0].natural);
    text = str_z(run->arena, args[0].text);
    real = strtod(text, &end);
    if (end == text || *end || (*text >= 1 && *text <= ' '))
        return no_conversion(run, "double");
    if (isinf(real) && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9')))
        return no_conversion(run, "double");
    return cel_double(real);
}

/* Digits with a sign, as Go reads them; -1: none, 1: too many. */
static int whole(struct str text, bool *ret_minus, uint64_t *ret_number)
{
    uint64_t number = 0;

    *ret_minus = text.len && text.at[0] == '-';
    if (*ret_minus || (text.len && text.at[0] == '+'))
        text = str_slice(text, 1, text.len);
    if (text.len == 0)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return -1;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text.at[i] - '0'), &number))
            return 1;
    }
    *ret_number = number;
    return 0;
}

struct cel_value cel_to_int(struct cel_run *run, const struct cel_value *args)
{
    uint64_t number;
    bool minus;
    int state;

    switch (args[0].kind) {
    case CEL_DOUBLE:
        if (isnan(args[0].real) || args[0].real <= -9.223372036854775808e18 ||
            args[0].real >= 9.223372036854775808e18)
            return INTEGER_OVERFLOW;
        return cel_int((int64_t)args[0].real);
    case CEL_UINT:
        return args[0].natural > INT64_MAX ? INTEGER_OVERFLOW : cel_int((int64_t)args[0].natural);
    case CEL_DURATION:
        return cel_int(args[0].number);
    case CEL_TIMESTAMP:
        return cel_int(args[0].moment.seconds);
    default:
        state = whole(args[0].text, &minus, &number);
        if (state != 0 || number > (uint64_t)INT64_MAX + minus)
            return no_conversion(run, "int");
        return cel_int(minus ? (int64_t)(0 - number) : (int64_t)number);
    }
}

struct cel_value cel_to_uint(struct cel_run *run, const struct cel_value *args)
{
    uint64_t number;
    bool minus;
    int state;

    switch (args[0].kind) {
    case CEL_DOUBLE:
        if (isnan(args[0].real) || args[0].real < 0 || args[0].real >= 1.8446744073709552e19)
            return UNSIGNED_OVERFLOW;
        return cel_uint((uint64_t)args[0].real);
    case CEL_INT:
        return args[0].number < 0 ? UNSIGNED_OVERFLOW : cel_uint((uint64_t)args[0].number);
    default:
        state = whole(args[0].text, &minus, &number);
        if (state != 0 || args[0].text.at[0] == '-' || args[0].text.at[0] == '+')
            return no_conversion(run, "uint");
        return cel_uint(number);
    }
}

struct cel_value cel_to_string(struct cel_run *run, const struct cel_value *args)
{
    switch (args[0].kind) {
    case CEL_BOOL:
        return cel_string(args[0].truth ? STR("true") : STR("false"));
    case CEL_BYTES:
        return cel_string(args[0].text);
    case CEL_DOUBLE:
        return cel_string(cel_double_text(run->arena, args[0].real));
    case CEL_DURATION:
        return cel_string(cel_duration_text(run->arena, args[0].number));
    case CEL_INT:
        return cel_string(str_fmt(run->arena, "%lld", (long long)args[0].number));
    case CEL_UINT:
        return cel_string(str_fmt(run->arena, "%llu", (unsigned long long)args[0].natural));
    case CEL_TIMESTAMP:
        return cel_string(cel_moment_text(run->arena, args[0].moment));
    default:
        return cel_no_overload();
    }
}

struct cel_value cel_to_bytes(struct cel_run *run, const struct cel_value *args)
{
    (void)run;
    return (struct cel_value){ .kind = CEL_BYTES, .text = args[0].text };
}
