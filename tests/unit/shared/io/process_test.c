/* SPDX-License-Identifier: Apache-2.0 */
/* process_test.c: what this process says of itself. */
#include "support/rows.h"

#include "io/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* A series' value in the page; -1 if there is none. */
static double value_of(struct str page, struct arena *arena, const char *name)
{
    ptrdiff_t at = str_find(page, str_fmt(arena, "\n%s ", name), 0);

    return at < 0 ? -1 : strtod(page.at + at + strlen(name) + 2, NULL);
}

static struct str render(struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 2048);

    process_render(&out);
    strbuf_char(&out, '\0');
    return strbuf_str(&out);
}

static void all_series_are_there_and_plausible(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str page;
    double started_s;

    (void)state;
    /* The name stands in /proc/self/stat as it is. */
    assert_int_equal(prctl(PR_SET_NAME, ") R 1 (", 0, 0, 0), 0);
    page = render(arena);
    started_s = value_of(page, arena, "process_start_time_seconds");
    rows_expect("it has begun", started_s > 1e9 && started_s < (double)time(NULL) + 2, page.at);
    rows_expect("CPU", value_of(page, arena, "process_cpu_seconds_total") >= 0, page.at);
    rows_expect("resident", value_of(page, arena, "process_resident_memory_bytes") > 65536, page.at);
    rows_expect("virtual",
                value_of(page, arena, "process_virtual_memory_bytes") > value_of(page, arena, "process_resident_memory_bytes"),
                page.at);
    rows_expect("as many descriptors as it may have",
                (long)value_of(page, arena, "process_max_fds") == sysconf(_SC_OPEN_MAX), page.at);
}

static void an_open_file_counts(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    double before = value_of(render(arena), arena, "process_open_fds");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(before >= 3);
    rows_expect("one more", value_of(render(arena), arena, "process_open_fds") == before + 1, "");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_series_are_there_and_plausible),
        cmocka_unit_test(an_open_file_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
