/* SPDX-License-Identifier: Apache-2.0 */
/* functions_test.c: functions.def is sound: rows of one name stand together and differ, and nothing is refused that is
 * there. */
#include "support/rows.h"

#include "lab/cel/functions.h"

static bool same_arguments(const struct cel_function *a, const struct cel_function *b)
{
    for (uint32_t i = 0; i <= CEL_ARGS_MAX; i++)
        if (!cel_type_same(a->args[i], b->args[i]))
            return false;
    return a->member == b->member;
}

static void test_table(void **state)
{
    uint32_t all, rows, same;
    const struct cel_function *functions = cel_functions_all(&all);

    (void)state;
    for (uint32_t i = 0; i < all; i++) {
        const struct cel_function *first = cel_functions_named(str_of(functions[i].name), &rows);

        rows_expect(functions[i].name, &functions[i] < first + rows, "rows of one name stand together");
        rows_expect(functions[i].name, rows <= 64, "as many as there are bits");
        rows_expect(functions[i].name, functions[i].result != NULL, "a result");
        rows_expect(functions[i].name, cel_refusal(str_of(functions[i].name)) == NULL, "not refused, too");
        same = 0;
        for (uint32_t k = 0; k < rows; k++)
            same += same_arguments(&functions[i], &first[k]);
        rows_expect_int(functions[i].name, same, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
