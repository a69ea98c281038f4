/* SPDX-License-Identifier: Apache-2.0 */
/* check_test.c: failed compliance checks, each once, worst first, and never more than there is use for. */
#include "support/rows.h"

#include "stack/model/check.h"
#include "stack/model/limits.h"

static void push(struct check_list *list, enum check_level level, const char *number, const char *description)
{
    check_list_push(list, (struct check){ .level = level,
                                          .number = str_of(number),
                                          .description = str_of(description),
                                          .remediation = STR("") });
}

static void each_number_counts_once_at_its_worst(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct check_list list = check_list_new(arena, 0);

    (void)state;
    check_list_unite(&list);
    rows_expect_int("none", list.count, 0);
    push(&list, CHECK_WARN, "D.2", "a");
    push(&list, CHECK_HIGH, "D.9", "b");
    push(&list, CHECK_ERROR, "D.2", "c");
    push(&list, CHECK_WARN, "D.1", "d");
    check_list_unite(&list);
    rows_expect_int("distinct", list.count, 3);
    rows_expect_str("high comes first", list.items[0].number, STR("D.9"));
    rows_expect_str("then what could not be checked", list.items[1].number, STR("D.2"));
    rows_expect_str("as its worst says", list.items[1].description, STR("c"));
    rows_expect_str("then warnings", list.items[2].number, STR("D.1"));
}

static void a_sum_has_a_bound(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct check_list sum = check_list_new(arena, 0);
    uint32_t most = 0;

    (void)state;
    for (int i = 0; i < 50; i++) {
        struct check_list more = check_list_new(arena, LIMIT_IMAGE_CHECKS);

        for (int k = 0; k < LIMIT_IMAGE_CHECKS; k++)
            push(&more, k ? CHECK_WARN : CHECK_HIGH, str_fmt(arena, "%d.%d", i, k).at, "");
        check_list_add(&sum, &more);
        if (sum.count > most)
            most = sum.count;
    }
    rows_expect("while it grows", most <= 2 * LIMIT_IMAGE_CHECKS, "it has a bound");
    check_list_unite(&sum);
    for (int i = 0; i < 50; i++)
        rows_expect_int("the worst are kept", sum.items[i].level, CHECK_HIGH);
}

static void a_snapshot_outlives_what_it_was_made_of(void **state)
{
    struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *reader = arena_create(0);
    struct check_list list = check_list_new(arena, 1);
    struct checks *made;

    (void)state;
    push(&list, CHECK_HIGH, str_fmt(arena, "D.%d", 1).at, "text");
    made = checks_create(&list);
    rows_expect("equal", check_list_eq(&made->list, &list), "it is a copy");
    list.items[0].description = STR("another");
    rows_expect("other words", !check_list_eq(&made->list, &list), "are another list");
    checks_lend(reader, made);
    checks_unref(made);
    checks_unref(NULL);
    arena_free(arena);
    rows_expect_str("it is there while it is lent", made->list.items[0].number, STR("D.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_counts_once_at_its_worst),
        cmocka_unit_test(a_sum_has_a_bound),
        cmocka_unit_test(a_snapshot_outlives_what_it_was_made_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
