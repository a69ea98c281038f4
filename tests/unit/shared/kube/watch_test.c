/* SPDX-License-Identifier: Apache-2.0 */
/* watch_test.c: lines out of pieces, and events out of lines. */
#include "support/rows.h"

#include "base/rng.h"
#include "kube/watch.h"

static void lines_come_whole_however_they_are_cut(void **state)
{
    static const struct str stream = STR_INIT("one\n\r\ntwo two\r\n\n\nthree\nrest");
    struct rng rng = rng_from_seed(3);

    for (int run = 0; run < 300; run++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct watch_lines *lines = watch_lines_create(100);
        struct strbuf got = strbuf_new(arena, 64);
        struct str line;
        struct error err;

        for (size_t at = 0; at < stream.len;) {
            size_t to = at + 1 + rng_below(&rng, 9);

            assert_int_equal(watch_lines_put(lines, str_slice(stream, at, to), &err), 0);
            at = to;
            if (rng_below(&rng, 2))
                continue;
            while (watch_lines_next(lines, &line))
                strbuf_fmt(&got, "[%.*s]", STR_ARG(line));
        }
        while (watch_lines_next(lines, &line))
            strbuf_fmt(&got, "[%.*s]", STR_ARG(line));
        rows_expect_str("lines", strbuf_str(&got), STR("[one][two two][three]"));
        watch_lines_free(lines);
    }
    (void)state;
}

static void long_lines_are_rejected_wherever_they_stand(void **state)
{
    static const struct {
        const char *row, *first, *second;
        int want;
    } rows[] = {
        { "as long as allowed", "12345678\n", "", 0 },
        { "one more", "123456789\n", "", -1 },
        { "without an end yet", "123456789", "", -1 },
        { "over two pieces", "12345", "6789\n", -1 },
        { "behind a short one", "1\n123456789\n1\n", "", -1 },
        { "the last of three", "1\n2\n123456789", "", -1 },
        { "many short ones", "1234567\n1234567\n1234567\n", "1234567\n", 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct watch_lines *lines = watch_lines_create(8);
        struct error err = { 0 };
        int got = watch_lines_put(lines, str_of(rows[i].first), &err);

        if (got == 0)
            got = watch_lines_put(lines, str_of(rows[i].second), &err);
        rows_expect_int(rows[i].row, got, rows[i].want);
        watch_lines_free(lines);
    }
    (void)state;
}

static void events(void **state)
{
    static const struct {
        const char *line;
        int want;
        enum watch_type type;
        const char *version;
        int code;
        bool initial_end;
    } rows[] = {
        { "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"5\"}}}", 0,
          WATCH_ADDED, "5", 0, false },
        { "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\","
          "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}", 0, WATCH_BOOKMARK, "6", 0,
          true },
        { "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}", 0, WATCH_ERROR, "",
          410, false },
        { "{\"type\":\"ERROR\",\"object\":{\"code\":\"x\"}}", 0, WATCH_ERROR, "", 500, false },
        { "{\"type\":\"MODIFIED\"}", -1, 0, "", 0, false },
        { "{\"type\":\"NEWS\",\"object\":{}}", -1, 0, "", 0, false },
        { "{\"type\":\"ADDED\",\"object\":{\"a\":\"\\u0000\\\\u0000\",\"metadata\":{"
          "\"resourceVersion\":\"7\"}}}", 0, WATCH_ADDED, "7", 0, false },
        { "<html>", -1, 0, "", 0, false },
        { "{\"type\":\"ADDED\",\"object\":{}}{", -1, 0, "", 0, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct watch_event event = { .code = 0 };
        struct error err;

        rows_expect_int(rows[i].line, watch_read(arena, str_of(rows[i].line), &event, &err),
                        rows[i].want);
        rows_expect_int(rows[i].line, event.type, rows[i].type);
        rows_expect_str(rows[i].line, event.resource_version, str_of(rows[i].version));
        rows_expect_int(rows[i].line, event.code, rows[i].code);
        rows_expect_int(rows[i].line, event.initial_events_end, rows[i].initial_end);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_whole_however_they_are_cut),
        cmocka_unit_test(long_lines_are_rejected_wherever_they_stand),
        cmocka_unit_test(events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
