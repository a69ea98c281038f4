/* SPDX-License-Identifier: Apache-2.0 */
/* ranges_test.c: sets of indexes to text and back. */
#include "support/rows.h"

#include "text/ranges.h"

enum { COUNT_MAX = 16 };

static const struct {
    const char *row;
    const char *has; /* '1' for each index that is in the set */
    const char *text;
} rows[] = {
    { "none is nothing", "0000", "" },
    { "of no list at all, too", "", "" },
    { "one", "0100", "1" },
    { "two neighbours are a range", "0110", "1-2" },
    { "all are one range", "11111", "0-4" },
    { "ranges and single ones", "1101000111", "0-1,3,7-9" },
    { "the last one alone", "00000001", "7" },
};

static void goes_there_and_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t count = (uint32_t)strlen(rows[i].has);
        bool has[COUNT_MAX] = { false };
        bool back[COUNT_MAX] = { false };

        for (uint32_t k = 0; k < count; k++)
            has[k] = rows[i].has[k] == '1';
        rows_expect_str(rows[i].row, ranges_encode(arena, has, count), str_of(rows[i].text));
        ranges_decode(str_of(rows[i].text), back, count);
        rows_expect(rows[i].row, memcmp(has, back, sizeof(has)) == 0, "it is read back");
    }
}

/* Whatever somebody writes into a status. */
static void reads_no_further_than_the_list(void **state)
{
    static const struct {
        const char *text, *has;
    } odd[] = {
        { "9", "0000" },        { "2-99999999999999999999", "0000" }, { "2-18446744073709551615", "0011" },
        { "3-1", "0000" },      { "1,x,3", "0100" },                  { "-1", "0000" },
        { "1-2-3", "0000" },    { ",1", "0000" },                     { "0,", "1000" },
        { "1-", "0100" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        bool has[4] = { false };

        ranges_decode(str_of(odd[i].text), has, 4);
        for (uint32_t k = 0; k < 4; k++)
            rows_expect_int(odd[i].text, has[k], odd[i].has[k] == '1');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_there_and_back),
        cmocka_unit_test(reads_no_further_than_the_list),
    };

    return cmocka_run_group_tests_name("text/ranges", tests, NULL, NULL);
}
