/* SPDX-License-Identifier: Apache-2.0 */
/* semver_range.c: ranges as github.com/Masterminds/semver v3 (which Helm uses) means them.
 *
 * A range is alternatives joined by "||"; each is tests joined by space or comma, which must all
 * hold. A test is an operator and a version whose last parts may be missing or x, X or *. Whether
 * parts are missing changes what the operator means: ">1.2" asks for 1.3.0, ">1.2.0" for 1.2.1.
 * A pre-release satisfies a test only if the test names a pre-release too. */
#include "base/list.h"
#include "text/semver.h"

enum operator{
    OP_EQUAL, /* also no operator */
    OP_NOT_EQUAL,
    OP_GREATER,
    OP_LESS,
    OP_GREATER_EQUAL,
    OP_LESS_EQUAL,
    OP_TILDE,
    OP_CARET,
};

static const struct operator_row {
    struct str text;
    enum operator operator;
} operators[] = {
    /* Longer ones before those they begin with. */
    { STR_INIT("!="), OP_NOT_EQUAL },     { STR_INIT(">="), OP_GREATER_EQUAL },
    { STR_INIT("=>"), OP_GREATER_EQUAL }, { STR_INIT("<="), OP_LESS_EQUAL },
    { STR_INIT("=<"), OP_LESS_EQUAL },    { STR_INIT("~>"), OP_TILDE },
    { STR_INIT("="), OP_EQUAL },          { STR_INIT(">"), OP_GREATER },
    { STR_INIT("<"), OP_LESS },           { STR_INIT("~"), OP_TILDE },
    { STR_INIT("^"), OP_CARET },
};

struct test {
    enum operator operator;
    struct semver version; /* missing parts are 0 */
    uint32_t parts;        /* how many are given: 0 ("*") to 3 */
    bool last;             /* of its alternative */
};

LIST_DEFINE(test_list, struct test)

struct semver_range {
    struct test_list tests;
};

enum { TESTS_MAX = 64 }; /* more is nobody's range, and each version is asked against all */

/* ---- reading ---- */

static int bad_range(struct error *err)
{
    return error_set(err, ERROR_SYNTAX,
                     "not a version range; write one like 1.2.3, ^1.2, ~1.2.3, 1.x, "
                     "\">=1.2, <2 || 3.x\" or \"1.2 - 1.4\"");
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_space(struct str *rest)
{
    while (rest->len && is_space(rest->at[0]))
        *rest = str_slice(*rest, 1, rest->len);
}

static bool is_wildcard(struct str part)
{
    return str_eq(part, STR("x")) || str_eq(part, STR("X")) || str_eq(part, STR("*"));
}

/* Length of the version at the front: up to space, comma or the next operator. */
static size_t version_length(struct str rest)
{
    size_t len = 0;

    while (len < rest.len && !is_space(rest.at[len]) && !strchr(",|<>=!~^", rest.at[len]))
        len++;
    return len;
}

/* "1.x" in its numbers and how many are given; the tail is what follows them. */
static bool take_parts(struct str core, struct test *test)
{
    uint64_t *numbers[] = { &test->version.major, &test->version.minor, &test->version.patch };
    bool wild = false;
    uint32_t i = 0;
    struct str part;

    for (; str_split(&core, '.', &part); i++) {
        if (i == 3)
            return false;
        if (is_wildcard(part))
            wild = true;
        else if (!str_to_u64(part, numbers[i]))
            return false;
        else if (wild)
            *numbers[i] = 0; /* "1.x.3" is "1.x" */
        else
            test->parts = i + 1;
    }
    return i > 0;
}

static bool version_from(struct str text, struct test *test)
{
    AUTO(arena_free) struct arena *arena = NULL;
    struct error ignored;
    struct semver tail;
    size_t core = str_starts(text, STR("v"));
    size_t end = core;

    while (end < text.len && text.at[end] != '-' && text.at[end] != '+')
        end++;
    test->version.pre = STR("");
    test->version.build = STR("");
    if (!take_parts(str_slice(text, core, end), test))
        return false;
    if (end == text.len)
        return true;
    /* Pre-release and build obey the grammar of whole versions. */
    arena = arena_create(0);
    if (semver_parse(str_fmt(arena, "0.0.0%.*s", STR_ARG(str_slice(text, end, text.len))), &tail,
                     &ignored) < 0)
        return false;
    test->version.pre = str_slice(text, end + 1, end + 1 + tail.pre.len);
    return true;
}

static bool take_version(struct str *rest, struct test *test)
{
    size_t len = version_length(*rest);
    struct str text = str_slice(*rest, 0, len);

    *rest = str_slice(*rest, len, rest->len);
    return version_from(text, test);
}

static enum operator take_operator(struct str *rest)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (str_starts(*rest, operators[i].text)) {
            *rest = str_slice(*rest, operators[i].text.len, rest->len);
            skip_space(rest);
            return operators[i].operator;
        }
    }
    return OP_EQUAL;
}

/* "1.2 - 1.4" is ">=1.2, <=1.4". *rest stands behind the first version. */
static bool take_hyphen(struct str *rest, struct test *first, struct test_list *tests)
{
    struct test second = { .operator= OP_LESS_EQUAL };
    struct str ahead = *rest;

    skip_space(&ahead);
    if (ahead.len == rest->len || ahead.len < 2 || ahead.at[0] != '-' || !is_space(ahead.at[1]))
        return true;
    ahead = str_slice(ahead, 1, ahead.len);
    skip_space(&ahead);
    if (first->operator!= OP_EQUAL || !take_version(&ahead, &second))
        return false;
    first->operator= OP_GREATER_EQUAL;
    *rest = ahead;
    test_list_push(tests, *first);
    *first = second;
    return true;
}

/* Tests joined by space or comma. */
static bool add_alternative(struct str rest, struct test_list *tests)
{
    skip_space(&rest);
    for (;;) {
        struct test test = { .operator= take_operator(&rest) };

        if (!take_version(&rest, &test) || !take_hyphen(&rest, &test, tests))
            return false;
        test_list_push(tests, test);
        if (tests->count > TESTS_MAX)
            return false;

        size_t left = rest.len;

        skip_space(&rest);
        if (rest.len == 0)
            break;
        if (rest.at[0] == ',') {
            rest = str_slice(rest, 1, rest.len);
            skip_space(&rest);
        } else if (left == rest.len) {
            return false;
        }
    }
    tests->items[tests->count - 1].last = true;
    return true;
}

int semver_range_parse(struct arena *arena, struct str text, struct semver_range **ret_range,
                       struct error *err)
{
    struct semver_range *range = arena_new(arena, struct semver_range);
    struct str kept = str_dup(arena, text); /* versions are views of it */
    size_t from = 0;

    range->tests = test_list_new(arena, 4);
    for (;;) {
        ptrdiff_t bar = str_find(kept, STR("||"), from);
        size_t to = bar < 0 ? kept.len : (size_t)bar;

        if (!add_alternative(str_slice(kept, from, to), &range->tests))
            return bad_range(err);
        if (bar < 0)
            break;
        from = to + 2;
    }
    *ret_range = range;
    return 0;
}

/* ---- asking ---- */

/* Same in as many parts as the test gives, at most `parts`. */
static bool same_parts(const struct test *test, const struct semver *v, uint32_t parts)
{
    if (parts > test->parts)
        parts = test->parts;
    return (parts < 1 || v->major == test->version.major) &&
           (parts < 2 || v->minor == test->version.minor) &&
           (parts < 3 || v->patch == test->version.patch);
}

/* Missing parts are wild: any version with the given ones is equal. */
static bool equals(const struct test *test, const struct semver *v)
{
    if (test->parts == 3)
        return semver_cmp(v, &test->version) == 0;
    return semver_cmp(v, &test->version) >= 0 && same_parts(test, v, 3);
}

/* ~1.2.3: at least that, same major and minor; ~1: same major; ~0.0.0: anything, by decree. */
static bool is_tilde(const struct test *test, const struct semver *v)
{
    if (test->parts == 3 && !test->version.major && !test->version.minor && !test->version.patch)
        return semver_cmp(v, &test->version) >= 0;
    return semver_cmp(v, &test->version) >= 0 && same_parts(test, v, 2);
}

/* ^: at least that, and nothing left of, or at, the leftmost given part that is not 0 changes. */
static bool is_caret(const struct test *test, const struct semver *v)
{
    uint32_t fixed = test->version.major ? 1 : test->version.minor ? 2 : 3;

    return semver_cmp(v, &test->version) >= 0 && same_parts(test, v, fixed);
}

static bool is_greater(const struct test *test, const struct semver *v)
{
    return semver_cmp(v, &test->version) > 0 && (test->parts == 3 || !same_parts(test, v, 3));
}

static bool holds(const struct test *test, const struct semver *v)
{
    /* != with all parts given is the one test that a pre-release may pass unasked. */
    bool exact_not = test->operator== OP_NOT_EQUAL && test->parts == 3;

    if (v->pre.len && test->version.pre.len == 0 && !exact_not)
        return false;
    switch (test->operator) {
    case OP_EQUAL:
        return equals(test, v);
    case OP_NOT_EQUAL:
        return !equals(test, v);
    case OP_GREATER:
        return is_greater(test, v);
    case OP_LESS:
        return semver_cmp(v, &test->version) < 0;
    case OP_GREATER_EQUAL:
        return semver_cmp(v, &test->version) >= 0;
    case OP_LESS_EQUAL:
        return semver_cmp(v, &test->version) <= 0 || (test->parts < 3 && same_parts(test, v, 3));
    case OP_TILDE:
        return is_tilde(test, v);
    case OP_CARET:
        return is_caret(test, v);
    }
    return false;
}

bool semver_range_has(const struct semver_range *range, const struct semver *version)
{
    bool all = true;

    for (uint32_t i = 0; i < range->tests.count; i++) {
        const struct test *test = &range->tests.items[i];

        all = all && holds(test, version);
        if (test->last) {
            if (all)
                return true;
            all = true;
        }
    }
    return false;
}

/* ---- none at all ---- */

/* Each test changes its mind at few versions: its own, and the next one after what it names in one,
 * two or three parts. Whatever tests let pass together begins at one of these, or at the very first
 * version. */
enum {
    EMPTY_TESTS_MAX = 8, /* of longer ranges it is not asked: this is their square */
    BEGINNINGS = 4,
};

static struct semver beginning(const struct semver *v, int number)
{
    switch (number) {
    case 0:
        return (struct semver){ .major = v->major, .minor = v->minor, .patch = v->patch };
    case 1:
        return (struct semver){ .major = v->major, .minor = v->minor, .patch = v->patch + 1 };
    case 2:
        return (struct semver){ .major = v->major, .minor = v->minor + 1 };
    default:
        return (struct semver){ .major = v->major + 1 };
    }
}

static bool has_beginning(const struct semver_range *range, const struct semver *v)
{
    for (int i = 0; i < BEGINNINGS; i++) {
        struct semver first = beginning(v, i);

        if (semver_range_has(range, &first))
            return true;
    }
    return false;
}

/* Which pre-releases are in a range that names one differs among versions of Helm. */
bool semver_range_is_empty(const struct semver_range *range)
{
    const struct semver least = { .major = 0 };

    if (range->tests.count > EMPTY_TESTS_MAX || has_beginning(range, &least))
        return false;
    for (uint32_t i = 0; i < range->tests.count; i++) {
        const struct semver *version = &range->tests.items[i].version;

        if (version->pre.len || has_beginning(range, version))
            return false;
    }
    return true;
}
