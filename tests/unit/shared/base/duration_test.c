/* SPDX-License-Identifier: Apache-2.0 */
/* duration_test.c: lengths of time as Go reads and writes them. */
#include "support/rows.h"

#include "base/duration.h"

static void durations_are_those_of_go(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: rejected */
    } rows[] = {
        { "0", 0 },          { "5s", 5000 },       { "1h30m", 5400000 }, { "1.5h", 5400000 },
        { "250ms", 250 },    { "1000us", 1 },      { "1000\xc2\xb5s", 1 }, { "1ns", 0 },
        { "+5m", 300000 },   { ".5s", 500 },       { "1.s", 1000 },      { "1m1m", 120000 },
        { "2562047h", 9223369200000 },
        { "", -1 },          { "5", -1 },          { "s", -1 },          { ".s", -1 },
        { "-1s", -1 },       { "5 s", -1 },        { "5x", -1 },         { "1h30", -1 },
        { "2562048h", -1 },  { "99999999999999999999s", -1 },            { "+", -1 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ms = -1;

        rows_expect_int(rows[i].text, duration_parse(str_of(rows[i].text), &ms), rows[i].ms >= 0);
        rows_expect_int(rows[i].text, ms, rows[i].ms);
    }
    (void)state;
}

static void they_are_written_as_go_writes_them(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        { 900000, "15m0s" }, { 3600000, "1h0m0s" }, { 250, "250ms" },
        { 61500, "1m1.5s" }, { 0, "0s" },           { -1000, "-1s" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].text, duration_text(arena, rows[i].ms), str_of(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_those_of_go),
        cmocka_unit_test(they_are_written_as_go_writes_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
