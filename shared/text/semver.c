/* SPDX-License-Identifier: Apache-2.0 */
/* semver.c: versions. The ranges of them are in semver_range.c. */
#include "text/semver.h"

static bool take_number(struct str *rest, uint64_t *ret_number)
{
    size_t digits = 0;

    while (digits < rest->len && rest->at[digits] >= '0' && rest->at[digits] <= '9')
        digits++;
    if (!str_to_u64(str_slice(*rest, 0, digits), ret_number))
        return false;
    *rest = str_slice(*rest, digits, rest->len);
    return true;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->at[0] != c)
        return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

static bool is_identifier_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static bool is_number(struct str identifier)
{
    for (size_t i = 0; i < identifier.len; i++)
        if (identifier.at[i] < '0' || identifier.at[i] > '9')
            return false;
    return true;
}

/* Dotted identifiers off the front; numbers in a pre-release have no leading zeros. */
static bool take_identifiers(struct str *rest, bool is_pre, struct str *ret_identifiers)
{
    size_t len = 0;
    struct str identifier;

    while (len < rest->len && (is_identifier_char(rest->at[len]) || rest->at[len] == '.'))
        len++;

    struct str all = str_slice(*rest, 0, len);
    struct str left = all;

    while (str_split(&left, '.', &identifier))
        if (identifier.len == 0 ||
            (is_pre && identifier.len > 1 && identifier.at[0] == '0' && is_number(identifier)))
            return false;
    *ret_identifiers = all;
    *rest = str_slice(*rest, len, rest->len);
    return true;
}

int semver_parse(struct str text, struct semver *ret_version, struct error *err)
{
    struct semver version = { .pre = STR_INIT(""), .build = STR_INIT("") };
    struct str rest = text;

    take_char(&rest, 'v');

    bool good = take_number(&rest, &version.major) && take_char(&rest, '.') &&
                take_number(&rest, &version.minor) && take_char(&rest, '.') &&
                take_number(&rest, &version.patch);

    if (good && take_char(&rest, '-'))
        good = take_identifiers(&rest, true, &version.pre);
    if (good && take_char(&rest, '+'))
        good = take_identifiers(&rest, false, &version.build);
    if (!good || rest.len)
        return error_set(err, ERROR_SYNTAX,
                         "not a version; write three numbers as SemVer does, like 1.2.3, "
                         "1.2.3-rc.1 or v1.2.3");
    *ret_version = version;
    return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* SemVer 11.4: numbers by value and below words, words in ASCII order. */
static int compare_identifiers(struct str a, struct str b)
{
    bool a_number = is_number(a);
    bool b_number = is_number(b);

    if (a_number != b_number)
        return a_number ? -1 : 1;
    if (a_number && a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return str_cmp(a, b);
}

static int compare_pre(struct str a, struct str b)
{
    struct str x;
    struct str y;

    /* A release follows its pre-releases. */
    if (a.len == 0 || b.len == 0)
        return (a.len == 0) - (b.len == 0);
    for (;;) {
        bool more_a = str_split(&a, '.', &x);
        bool more_b = str_split(&b, '.', &y);

        if (!more_a || !more_b)
            return (int)more_a - (int)more_b;

        int order = compare_identifiers(x, y);

        if (order != 0)
            return order;
    }
}

int semver_cmp(const struct semver *a, const struct semver *b)
{
    int order = compare_numbers(a->major, b->major);

    if (order == 0)
        order = compare_numbers(a->minor, b->minor);
    if (order == 0)
        order = compare_numbers(a->patch, b->patch);
    if (order == 0)
        order = compare_pre(a->pre, b->pre);
    return order < 0 ? -1 : order > 0;
}
