/* SPDX-License-Identifier: Apache-2.0 */
/* report_test.c: what is kept of a report, and in how much memory, whatever its size. */
#include "support/rows.h"

#include "controller/backends/neuvector/report.h"
#include "controller/limits.h"

#include <malloc.h>
#include <stdio.h>

/* Of the sanitizer, in builds that have one. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
    struct mallinfo2 info;

    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static int read_text(const char *text, struct scan_findings *ret_findings)
{
    AUTO(report_reader_free) struct report_reader *reader = report_reader_create();
    struct error err = { .code = ERROR_NONE };

    report_reader_put(reader, str_of(text));
    return report_reader_end(reader, ret_findings, &err);
}

static void the_worst_come_first(void **state)
{
    struct scan_findings found;

    (void)state;
    rows_expect_int(
        "a report",
        read_text("{\"report\":{\"modules\":[{\"name\":\"p\"}],\"vulnerabilities\":["
                  "{\"name\":\"A\",\"severity\":\"High\",\"score_v3\":8.0},"
                  "{\"name\":\"B\",\"severity\":\"High\",\"score\":5,\"score_v3\":9.8,"
                  "\"package_name\":\"p\",\"package_version\":\"1\",\"fixed_version\":\"2\"},"
                  "{\"name\":\"C\",\"severity\":\"Critical\",\"score_v3\":9.1},"
                  "{\"name\":\"D\",\"severity\":\"Medium\",\"score_v3\":1e99},"
                  "{\"name\":\"E\",\"severity\":\"Medium\",\"package_name\":\"a\\nb\"},"
                  "{\"name\":\"F\",\"severity\":\"Low\"},{\"severity\":\"High\"}]}}",
                  &found),
        0);
    rows_expect_int("a score of 9 is critical, whatever the word", found.critical, 3);
    rows_expect_int("high", found.high, 2);
    rows_expect_int("medium", found.medium, 1);
    rows_expect_int("listed: what has a name, and is not low", found.worst->list.count, 5);
    rows_expect_str("no score is above 10", found.worst->list.items[0].cve, STR("D"));
    rows_expect_str("the next", found.worst->list.items[1].cve, STR("B"));
    rows_expect_str("with its package", found.worst->list.items[1].package, STR("p"));
    rows_expect_str("and its fix", found.worst->list.items[1].fixed, STR("2"));
    rows_expect_str("the last", found.worst->list.items[4].cve, STR("E"));
    rows_expect_str("shown", found.worst->list.items[4].package, STR("a\\x0ab"));
    vulnerabilities_unref(found.worst);
}

static void what_is_no_report_says_nothing(void **state)
{
    static const struct {
        const char *row, *text;
    } rows[] = {
        { "no report", "{}" },
        { "nothing", "" },
        { "cut off", "{\"report\":{\"vulnerabilities\":[{\"name\":\"A\",\"severity\":\"High\"}" },
        { "cut off behind the last row", "{\"report\":{\"vulnerabilities\":[{\"name\":\"A\"}]" },
        { "not JSON", "{\"report\":{\"vulnerabilities\":[{\"name\":\"A\",}]}}" },
    };
    struct scan_findings found = { .critical = 7 };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows_expect_int(rows[i].row, read_text(rows[i].text, &found), -1);
        rows_expect_int("untouched", found.critical, 7);
    }
}

/* The row `i` of a large report, as large as NeuVector's. */
static struct str row_of(struct arena *arena, uint32_t i, const char *padding)
{
    return str_fmt(arena,
                   "%s{\"name\":\"CVE-2099-%05u\",\"severity\":\"%s\",\"score_v3\":%u.%u,\"package_name\":"
                   "\"package-%u\",\"package_version\":\"1.%u\",\"fixed_version\":\"2.%u\",\"description\":\"%s\"}",
                   i ? "," : "", i, i % 3 ? "Medium" : "High", 4 + i % 3 * 2, i % 10, i, i, i, padding);
}

static void memory_does_not_grow_with_the_report(void **state)
{
    enum { ROWS = 50000, MOST_BYTES = 512 * 1024 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *row = arena_create(0);
    AUTO(report_reader_free) struct report_reader *reader = NULL;
    struct error err = { .code = ERROR_NONE };
    struct scan_findings found;
    char padding[901];
    size_t before, peak = 0, bytes = 0;

    (void)state;
    memset(padding, 'x', sizeof(padding) - 1);
    padding[sizeof(padding) - 1] = '\0';
    row_of(row, 1, padding);
    before = heap_bytes();
    reader = report_reader_create();
    report_reader_put(reader, STR("{\"report\":{\"vulnerabilities\":["));
    for (uint32_t i = 0; i < ROWS; i++) {
        struct str piece;

        arena_reset(row);
        piece = row_of(row, i, padding);
        bytes += piece.len;
        rows_expect("a row", report_reader_put(reader, piece), "is taken");
        if (heap_bytes() > before + peak)
            peak = heap_bytes() - before;
    }
    report_reader_put(reader, STR("]}}"));
    rows_expect_int("the end", report_reader_end(reader, &found, &err), 0);
    printf("%u rows, %zu bytes: %zu bytes of memory\n", ROWS, bytes, peak);
    rows_expect_int("all are counted", found.high + found.medium, ROWS);
    rows_expect_int("the worst are kept", found.worst->list.count, LIMIT_IMAGE_FINDINGS);
    rows_expect_int("which are high", found.worst->list.items[LIMIT_IMAGE_FINDINGS - 1].severity,
                    VULNERABILITY_HIGH);
    rows_expect("the peak", peak < MOST_BYTES, "is below half a megabyte");
    vulnerabilities_unref(found.worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_come_first),
        cmocka_unit_test(what_is_no_report_says_nothing),
        cmocka_unit_test(memory_does_not_grow_with_the_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
