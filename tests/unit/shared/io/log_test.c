/* SPDX-License-Identifier: Apache-2.0 */
/* log_test.c: one line a thing, which no foreign text can forge. */
#include "support/rows.h"

#include "io/log.h"

#include <unistd.h>

static int64_t fixed_ms(void *context)
{
    (void)context;
    return 1792587600123;
}

static const struct clock fixed = { fixed_ms, fixed_ms, NULL };

static struct str written(struct arena *arena, enum log_format format, struct str value)
{
    int ends[2];
    char *text = arena_bytes(arena, 65536);

    assert_int_equal(pipe(ends), 0);

    struct log *log = log_create(ends[1], LOG_INFO, format, &fixed, "herd-test");

    log_debug(log, "not shown", LOG_INT("n", 1));
    log_info(log, "it happened", LOG_STR("key", value), LOG_INT("count", -3));
    log_free(log);
    close(ends[1]);

    ssize_t len = read(ends[0], text, 65536);

    close(ends[0]);
    assert_true(len > 0);
    return str_make(text, (size_t)len);
}

#define JSON_START                                                                                 \
    "{\"time\":\"2026-10-21T13:00:00.123Z\",\"level\":\"info\",\"program\":\"herd-test\","          \
    "\"message\":\"it happened\",\"key\":"
#define TEXT_START "2026-10-21T13:00:00.123Z INFO  it happened key="

static const struct {
    const char *name;
    struct str value;
    const char *json;
    const char *text;
} rows[] = {
    { "a plain word", STR_INIT("rag-1/x"), "\"rag-1/x\"", "rag-1/x" },
    { "words", STR_INIT("two words"), "\"two words\"", "\"two words\"" },
    { "nothing", STR_INIT(""), "\"\"", "\"\"" },
    { "quotes", STR_INIT("a\"b\\c"), "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\"" },
    { "a line end", STR_INIT("a\nb\r\tc"), "\"a\\nb\\r\\tc\"", "\"a\\nb\\r\\tc\"" },
    { "a terminal escape", STR_INIT("\x1b[31m"), "\"\\u001b[31m\"", "\"\\u001b[31m\"" },
    { "NUL and DEL", STR_INIT("a\0b\x7f"), "\"a\\u0000b\\u007f\"", "\"a\\u0000b\\u007f\"" },
    { "a C1 control", STR_INIT("\xc2\x9b" "31m"), "\"\\u009b31m\"", "\"\\u009b31m\"" },
    { "letters of other scripts", STR_INIT("\xc3\xa9\xe2\x82\xac"), "\"\xc3\xa9\xe2\x82\xac\"",
      "\"\xc3\xa9\xe2\x82\xac\"" },
    { "an override of the direction of text", STR_INIT("a\xe2\x80\xae" "b"), "\"a\\u202eb\"",
      "\"a\\u202eb\"" },
    { "an isolate of it", STR_INIT("\xe2\x81\xa6\xe2\x81\xa9"), "\"\\u2066\\u2069\"",
      "\"\\u2066\\u2069\"" },
    { "marks of it", STR_INIT("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), "\"\\u200e\\u200f\\u061c\"",
      "\"\\u200e\\u200f\\u061c\"" },
    { "a space of no width and a byte order mark", STR_INIT("\xe2\x80\x8b\xef\xbb\xbf"),
      "\"\\u200b\\ufeff\"", "\"\\u200b\\ufeff\"" },
    { "a line separator", STR_INIT("\xe2\x80\xa8"), "\"\\u2028\"", "\"\\u2028\"" },
    { "an invisible tag beyond the first plane", STR_INIT("\xf3\xa0\x81\x81"),
      "\"\\udb40\\udc41\"", "\"\\udb40\\udc41\"" },
    { "a visible letter beyond it", STR_INIT("\xf0\x9f\x90\x84"), "\"\xf0\x9f\x90\x84\"",
      "\"\xf0\x9f\x90\x84\"" },
    { "broken UTF-8", STR_INIT("a\xff\xc3"), "\"a\\ufffd\\ufffd\"", "\"a\\ufffd\\ufffd\"" },
    { "an overlong form", STR_INIT("\xc0\xaf"), "\"\\ufffd\\ufffd\"", "\"\\ufffd\\ufffd\"" },
    { "a pair that forges a key", STR_INIT("x level=error"), "\"x level=error\"",
      "\"x level=error\"" },
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].name, written(arena, LOG_JSON, rows[i].value),
                        str_fmt(arena, "%s%s,\"count\":-3}\n", JSON_START, rows[i].json));
        rows_expect_str(rows[i].name, written(arena, LOG_TEXT, rows[i].value),
                        str_fmt(arena, "%s%s count=-3\n", TEXT_START, rows[i].text));
    }
}

static void test_long_values_are_cut(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char *text = arena_bytes(arena, 1 << 20);

    (void)state;
    for (int control = 0; control <= 1; control++) {
        memset(text, control ? '\1' : 'x', 1 << 20);

        struct str line = written(arena, LOG_JSON, str_make(text, 1 << 20));

        rows_expect("a long value is cut", line.len < 2000, "short");
        rows_expect("and says so", str_find(line, STR("...\",\"count\":-3}\n"), 0) > 0, "...");
    }
}

static void test_many_long_pairs_stay_json(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char *text = arena_bytes(arena, 5000);
    struct log_pair pairs[40];
    int ends[2];

    (void)state;
    memset(text, '\2', 5000);
    for (int i = 0; i < 40; i++)
        pairs[i] = LOG_STR("key", str_make(text, 5000));
    assert_int_equal(pipe(ends), 0);

    struct log *log = log_create(ends[1], LOG_INFO, LOG_JSON, &fixed, "herd-test");

    log_write(log, LOG_WARN, "much", pairs, 40);
    log_free(log);
    close(ends[1]);

    char *line = arena_bytes(arena, 65536);
    ssize_t len = read(ends[0], line, 65536);
    struct str got = str_make(line, len > 0 ? (size_t)len : 0);

    close(ends[0]);
    rows_expect("one line within the bound", got.len <= 8192 && str_ends(got, STR("...\"}\n")),
                "ends as JSON");
}

static void test_levels(void **state)
{
    enum log_level level = LOG_ERROR;

    (void)state;
    assert_true(log_level_from(STR("debug"), &level) && level == LOG_DEBUG);
    assert_true(log_level_from(STR("warn"), &level) && level == LOG_WARN);
    assert_false(log_level_from(STR("loud"), &level));
    assert_false(log_enabled(NULL, LOG_ERROR));
    log_write(NULL, LOG_ERROR, "to nobody", NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_long_values_are_cut),
        cmocka_unit_test(test_many_long_pairs_stay_json),
        cmocka_unit_test(test_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
