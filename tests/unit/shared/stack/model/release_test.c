/* SPDX-License-Identifier: Apache-2.0 */
/* release_test.c: names that a release carries. */
#include "support/rows.h"

#include "stack/model/release.h"

static void names_repositories(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str name = release_repo_name(arena, STR("https://charts.example.com/stable"));

    rows_expect_int("herd- and ten digits", (int64_t)name.len, 15);
    rows_expect_str("a trailing slash is nothing",
                    release_repo_name(arena, STR("https://charts.example.com/stable/")), name);
    rows_expect("another URL is another name",
                !str_eq(release_repo_name(arena, STR("https://charts.example.com/x")), name),
                "names differ");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_repositories),
    };

    return cmocka_run_group_tests_name("shared/stack/model/release", tests, NULL, NULL);
}
