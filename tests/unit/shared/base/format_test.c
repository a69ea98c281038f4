/* SPDX-License-Identifier: Apache-2.0 */
/* format_test.c: texts are put together as libc does it. */
#include "support/rows.h"

#include "base/format.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum { ROOM = 64 };

__attribute__((format(printf, 1, 2))) static void expect_as_libc(const char *format, ...)
{
    for (size_t room = 0; room <= ROOM; room++) {
        char ours[ROOM + 1] = "untouched";
        char theirs[ROOM + 1] = "untouched";
        va_list args;

        va_start(args, format);
        size_t len = format_text(ours, room, format, args);
        va_end(args);
        va_start(args, format);
        int wanted = vsnprintf(theirs, room, format, args);
        va_end(args);
        rows_expect_int(format, (int64_t)len, wanted);
        rows_expect_str(format, str_of(ours), str_of(theirs));
    }
}

static void test_what_is_known_is_as_libc_has_it(void **state)
{
    (void)state;
    expect_as_libc("no conversion");
    expect_as_libc("100 %% of %s", "it");
    expect_as_libc("%s%s", "", "two");
    expect_as_libc("[%.*s] and [%.*s]", 3, "abcdef", 0, "abc");
    expect_as_libc("[%.*s] ends at its NUL", 10, "abc");
    expect_as_libc("%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
    expect_as_libc("%u %u", 0U, UINT_MAX);
    expect_as_libc("%zu %zu", (size_t)0, SIZE_MAX);
}

static void test_what_is_not_known_is_libcs_from_the_first_byte(void **state)
{
    (void)state;
    expect_as_libc("%s then %02u", "first", 7U);
    expect_as_libc("%u then %lld and %x", 1U, -5LL, 255U);
    expect_as_libc("%d then %-6s.", 2, "left");
    expect_as_libc("%zd %.3s %.*f", (ssize_t)-2, "abcdef", 2, 1.5);
    expect_as_libc("%c%5d", 'c', 42);
}

static void test_a_view_of_nothing_is_no_text(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    /* By a volatile: the compiler would warn of what it sees. */
    const char *volatile nowhere = NULL;

    (void)state;
    rows_expect_str("nothing", str_fmt(arena, "<%.*s>", 0, nowhere), STR("<>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_known_is_as_libc_has_it),
        cmocka_unit_test(test_what_is_not_known_is_libcs_from_the_first_byte),
        cmocka_unit_test(test_a_view_of_nothing_is_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
