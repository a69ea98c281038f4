/* SPDX-License-Identifier: Apache-2.0 */
/* regex_test.c: whole-subject matches, rejected patterns, bounds. */
#include "support/rows.h"

#include "text/regex.h"

static void matches_the_whole_subject(void **state)
{
    static const struct {
        const char *pattern;
        struct str subject;
        enum regex_answer want;
    } rows[] = {
        { "abc", STR_INIT("abc"), REGEX_YES },
        { "abc", STR_INIT("xabc"), REGEX_NO },
        { "abc", STR_INIT("abcx"), REGEX_NO },
        { "abc", STR_INIT("abc\n"), REGEX_NO },
        { "a$", STR_INIT("a\n"), REGEX_NO },
        { "a|ab", STR_INIT("ab"), REGEX_YES },
        { "", STR_INIT(""), REGEX_YES },
        { ".", STR_INIT("\xc3\xa9"), REGEX_YES },
        { "a.b", STR_INIT("a\0b"), REGEX_YES },
        { "https://[a-z.]+/.*", STR_INIT("https://charts.example.com/x"), REGEX_YES },
        { ".*", STR_INIT("\xff"), REGEX_LIMIT },
        { "(?:[a-z]|-)*", STR_INIT("a-b-c"), REGEX_YES },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { 0 };
        AUTO(regex_free) struct regex *regex = regex_create(str_of(rows[i].pattern), &err);

        if (!regex)
            fail_msg("%s: %s", rows[i].pattern, err.text);
        rows_expect_int(rows[i].pattern, regex_match(regex, rows[i].subject), rows[i].want);
    }
    (void)state;
}

static void bad_patterns_are_named_with_their_offset(void **state)
{
    static const struct {
        const char *pattern;
        const char *want;
    } rows[] = {
        { "a(b", "pattern \"a(b\", offset 3: missing closing parenthesis" },
        { "a[", "pattern \"a[\", offset 2: missing terminating ] for character class" },
        { "*a", "pattern \"*a\", offset 0: quantifier does not follow a repeatable item" },
        { "\xff", "pattern \"\\xff\", offset 0: UTF-8 error: illegal byte (0xfe or 0xff)" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { 0 };
        AUTO(regex_free) struct regex *regex = regex_create(str_of(rows[i].pattern), &err);

        rows_expect(rows[i].pattern, regex == NULL, "rejected");
        rows_expect_str(rows[i].pattern, str_of(err.text), str_of(rows[i].want));
    }
    (void)state;
}

static void patterns_and_subjects_are_bounded(void **state)
{
    struct error err = { 0 };
    char text[1025];
    AUTO(regex_free) struct regex *any = regex_create(STR("(?:[a-z]|-)*"), &err);

    memset(text, 'a', sizeof(text));
    assert_null(regex_create(str_make(text, 1025), &err));
    assert_int_equal(err.code, ERROR_TOO_LARGE);
    assert_int_equal(regex_match(any, str_make(text, 1024)), REGEX_YES);
    assert_int_equal(regex_match(any, str_make(text, 1025)), REGEX_LIMIT);
    assert_null(regex_create(STR("(((a{100}){100}){100}){10}"), &err));
    assert_null(regex_create(STR("((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))"), &err));
    assert_null(regex_create(STR("a\\Cb"), &err));
    (void)state;
}

static void the_leftmost_match_has_a_place(void **state)
{
    static const struct {
        const char *pattern;
        struct str subject;
        size_t at, from, to; /* from SIZE_MAX: none */
    } rows[] = {
        { "b+", STR_INIT("abbbc"), 0, 1, 4 },      { "b+", STR_INIT("abbbc"), 2, 2, 4 },
        { "b+", STR_INIT("abbbc"), 4, SIZE_MAX, 0 }, { "^a", STR_INIT("aa"), 1, SIZE_MAX, 0 },
        { "x*", STR_INIT("ab"), 1, 1, 1 },         { "a|ab", STR_INIT("xab"), 0, 1, 2 },
        { "(?i)AB", STR_INIT("x\nab"), 0, 2, 4 },  { "b$", STR_INIT("bab"), 0, 2, 3 },
        { "", STR_INIT(""), 0, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { 0 };
        AUTO(regex_free) struct regex *regex = regex_create_search(str_of(rows[i].pattern), &err);
        size_t from = 0, to = 0;
        enum regex_answer want = rows[i].from == SIZE_MAX ? REGEX_NO : REGEX_YES;

        rows_expect_int(rows[i].pattern, regex_find(regex, rows[i].subject, rows[i].at, &from, &to), want);
        if (want == REGEX_YES) {
            rows_expect_int(rows[i].pattern, (int64_t)from, (int64_t)rows[i].from);
            rows_expect_int(rows[i].pattern, (int64_t)to, (int64_t)rows[i].to);
        }
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_whole_subject),
        cmocka_unit_test(bad_patterns_are_named_with_their_offset),
        cmocka_unit_test(patterns_and_subjects_are_bounded),
        cmocka_unit_test(the_leftmost_match_has_a_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
