/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate_test.c: the first few names, and how many more there are. */
#include "support/rows.h"

#include "text/enumerate.h"

static const struct {
    const char *names; /* one letter each */
    const char *text, *joined;
} rows[] = {
    { "", "", "" },
    { "a", "a", "a" },
    { "ab", "a, b", "a and b" },
    { "abc", "a, b, c", "a, b and c" },
    { "abcd", "a, b, c and 1 more", "a, b, c and 1 more" },
    { "abcdefg", "a, b, c and 4 more", "a, b, c and 4 more" },
};

static struct str text_of(struct arena *arena, const char *letters, bool joins_last)
{
    struct enumeration names = enumeration_new(arena, 3);

    names.joins_last = joins_last;
    for (; *letters; letters++)
        enumeration_add(&names, str_make(letters, 1));
    return enumeration_text(&names);
}

static void names_are_counted_from_the_fourth_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].names, text_of(arena, rows[i].names, false), str_of(rows[i].text));
        rows_expect_str(rows[i].names, text_of(arena, rows[i].names, true), str_of(rows[i].joined));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_are_counted_from_the_fourth_on) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
