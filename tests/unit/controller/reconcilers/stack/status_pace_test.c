/* SPDX-License-Identifier: Apache-2.0 */
/* status_pace_test.c: how long the next status waits. */
#include "support/rows.h"

#include "controller/limits.h"
#include "controller/reconcilers/stack/status_pace.h"

static void a_long_status_is_not_written_often(void **state)
{
    static const struct {
        const char *name;
        size_t bytes;
        int64_t after_ms, left_ms;
    } rows[] = {
        { "a short one is written at once", LIMIT_STATUS_PACE_FROM - 1, 0, 0 },
        { "one that is a little longer in a moment", LIMIT_STATUS_PACE_FROM, 0, 1333 },
        { "a long one in ten seconds", 60 * 1024, 0, 10000 },
        { "the longest, too", 256 * 1024, 0, 10000 },
        { "time passes", 256 * 1024, 4000, 6000 },
        { "and is over", 256 * 1024, 10000, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(status_pace_free) struct status_pace *pace = status_pace_create();

        rows_expect_int(rows[i].name, status_pace_left_ms(pace, STR("n/s"), 1000), 0);
        status_pace_written(pace, STR("n/s"), rows[i].bytes, 1000);
        rows_expect_int(rows[i].name, status_pace_left_ms(pace, STR("n/s"), 1000 + rows[i].after_ms), rows[i].left_ms);
        rows_expect_int(rows[i].name, status_pace_left_ms(pace, STR("n/other"), 1000), 0);
        status_pace_written(pace, STR("n/s"), 10, 1000);
        rows_expect_int("a short one after it", status_pace_left_ms(pace, STR("n/s"), 1000), 0);
        status_pace_written(pace, STR("n/s"), rows[i].bytes, 1000);
        status_pace_forget(pace, STR("n/s"));
        rows_expect_int("one that is forgotten", status_pace_left_ms(pace, STR("n/s"), 1000), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_status_is_not_written_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
