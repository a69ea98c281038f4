/* SPDX-License-Identifier: Apache-2.0 */
/* server_time_test.c: whose clock is gone by. */
#include "support/rows.h"

#include "kube/server_time.h"

static void goes_by_the_servers_clock(void **state)
{
    static const struct {
        const char *row;
        bool heard;
        int64_t date_ms, date_at_ms;
        int64_t wall_ms, monotonic_ms;
        int64_t want_ms;
    } rows[] = {
        { "ours, if nothing was heard", false, 0, 0, 5000, 10, 5000 },
        { "ours, if they agree", true, 1000000, 10, 1000900, 10, 1000900 },
        { "also some seconds later", true, 1000000, 10, 1007000, 7010, 1007000 },
        { "the server's, if ours is an hour ahead", true, 1000000, 10, 4600000, 10, 1000500 },
        { "and an hour behind", true, 4600000, 10, 1000000, 10, 4600500 },
        { "which goes on", true, 1000000, 10, 4600000, 60010, 1060500 },
        { "also if ours is set right meanwhile", true, 1000000, 10, 1060000, 60010, 1060000 },
        { "or wrong", true, 1000000, 10, 9000000, 60010, 1060500 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct server_time time = { .heard = false };

        if (rows[i].heard)
            server_time_hear(&time, rows[i].date_ms, rows[i].date_at_ms);
        rows_expect_int(rows[i].row,
                        server_time_wall_ms(&time, rows[i].wall_ms, rows[i].monotonic_ms),
                        rows[i].want_ms);
    }
    (void)state;
}

/* Dates are whole seconds, so what they say of the difference goes up and down. */
static void does_not_go_back_and_forth(void **state)
{
    struct server_time time = { .heard = false };

    (void)state;
    server_time_hear(&time, 1003000, 0);
    rows_expect_int("more than three seconds", server_time_wall_ms(&time, 1000000, 0), 1003500);
    server_time_hear(&time, 1002000, 1);
    rows_expect_int("less, and still the server's", server_time_wall_ms(&time, 1000001, 1), 1002500);
    server_time_hear(&time, 1000000, 2);
    rows_expect_int("they agree", server_time_wall_ms(&time, 1000002, 2), 1000002);
}

/* A watch tells its Date when it ends. */
static void the_latest_answer_counts(void **state)
{
    struct server_time time = { .heard = false };

    (void)state;
    server_time_hear(&time, 9000000, 2000);
    server_time_hear(&time, 1000000, 1000);
    rows_expect_int("not the one that ended last", server_time_wall_ms(&time, 0, 2000), 9000500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_by_the_servers_clock),
        cmocka_unit_test(does_not_go_back_and_forth),
        cmocka_unit_test(the_latest_answer_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
