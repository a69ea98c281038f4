/* SPDX-License-Identifier: Apache-2.0 */
/* bombs_test.c: small inputs that ask for much: answered fast and within budget. */
#include "support/rows.h"

#include "support/repeat.h"

#include "io/limits.h"
#include "text/patch.h"
#include "text/regex.h"
#include "text/yaml.h"

#include <time.h>

/* Not a benchmark: on any machine and under any sanitizer these take well below this, and what is
 * quadratic in its input takes minutes. */
enum { CPU_MS_MAX = 20000 };

static int64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum reader { READ_JSON, READ_VALUE, READ_YAML };

struct task {
    enum reader reader;
    struct arena *arena;
    struct str text;
    int result;
    struct error err;
};

static void read_task(void *context)
{
    struct task *task = context;
    struct yaml_documents documents;
    struct value *value;
    struct json root;

    switch (task->reader) {
    case READ_JSON:
        task->result =
            json_read(task->arena, task->text, &json_limits_default, &root, &task->err);
        break;
    case READ_VALUE:
        task->result =
            value_read(task->arena, task->text, &json_limits_default, &value, &task->err);
        break;
    case READ_YAML:
        task->result = yaml_read(task->arena, task->text, &documents, &task->err);
        break;
    }
}

static void text_bombs_are_answered_fast_within_budget(void **state)
{
    static const struct {
        const char *row;
        enum reader reader;
        const char *head;
        const char *unit;
        uint32_t count;
        const char *tail;
        const char *want; /* begins the error; NULL: taken */
    } rows[] = {
        { "7 MiB of [", READ_JSON, "", "[", 7340032, "",
          "line 1, column 129: more than 128 levels of nesting" },
        { "7 MiB of {\"a\":", READ_JSON, "", "{\"a\":", 1400000, "",
          "line 1, column 641: more than 128 levels of nesting" },
        { "128 levels", READ_VALUE, "", "[", 128, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
          "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", NULL },
        { "1e5 keys", READ_JSON, "{\"x\":0", ",\"key-%u\":1", 100000, "}", NULL },
        { "1e5 keys, the last one twice", READ_JSON, "{\"x\":0", ",\"key-%u\":1", 100000,
          ",\"key-99999\":1}", "line 1, column 1388898: duplicate key \"key-99999\"" },
        { "1e5 keys with one signature", READ_JSON, "{\"x\":0", ",\"prefix-8%u-suffix-8\":1", 100000,
          "}", NULL },
        { "1e5 keys with escapes", READ_JSON, "{\"x\":0", ",\"\\u006bey-%u\":1", 100000, "}", NULL },
        { "a number of 1 MiB", READ_JSON, "0.", "1", 1048574, "", NULL },
        { "a whole number of 1 MiB", READ_JSON, "", "1", 1048576, "",
          "line 1, column 1: a number beyond what 64 bit floating point holds" },
        { "a number of 1 MiB and a digit", READ_JSON, "", "1", 1048577, "",
          "line 1, column 1: a number of more than 1048576 bytes" },
        { "a string of 7 MiB", READ_JSON, "\"", "x", 7340030, "\"",
          "line 1, column 1: a string of more than 1048576 bytes" },
        { "too many values", READ_JSON, "[0", ",0", 3000000, "]",
          "line 1, column 400000: more than 200000 values" },
        { "more than 7 MiB", READ_JSON, "\"", "x", 7340031, "\"",
          "the text has 7340033 bytes, more than 7340032" },
        { "100 KB of [ in YAML", READ_YAML, "", "[", 100000, "", "line 1, column 65: more than 64 levels" },
        { "1 MiB of { in YAML", READ_YAML, "", "{", 1048576, "", "line 1, column 65: more than 64 levels" },
        { "[ on lines of their own", READ_YAML, "", "[\n", 500000, "",
          "line 65, column 1: more than 64 levels" },
        { "1 MiB of \"- \"", READ_YAML, "", "- ", 524288, "", "line 1, column 129: more than 64 levels" },
        { "1 MiB of \"? \"", READ_YAML, "", "? ", 524288, "", "line 1, column 129: more than 64 levels" },
        { "1 MiB of \"a: \"", READ_YAML, "", "a: ", 340000, "", "line 1, column 5: mapping values are not allowed" },
        { "many anchors", READ_YAML, "", "- &a%u x\n", 65, "", "line 65, column 3: more than 64 anchors" },
        { "one anchor, many aliases", READ_YAML, "- &a [x, y]\n", "- *a\n", 60000, "",
          "line 33334, column 3: aliases and merges make too many nodes" },
        { "too many nodes", READ_YAML, "", "- x\n", 150000, "", "line 100000, column 3: more than 100000 nodes" },
        { "a long string, many aliases",
          READ_YAML, "- &a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
          "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
          "- *a\n", 90000, "", "the YAML text needs more memory than allowed" },
        { "1 MiB of quotes", READ_YAML, "\"", "\\\"", 524280, "\"", NULL },
        { "1 MiB of commas", READ_YAML, "[", ",", 1000000, "]", "line 1, column 2:" },
        { "1 MiB of colons", READ_YAML, "[", ":", 1000000, "]", "line 1, column 2:" },
        { "50,000 keys in YAML", READ_YAML, "", "key-%u: 1\n", 49000, "", NULL },
        { "text of more than 1 MiB", READ_YAML, "", "- a\n", 262145, "",
          "line 1, column 1: the text has 1048580 bytes, more than 1048576" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *texts = arena_create(0);
        struct task task = { .reader = rows[i].reader };
        struct str text =
            repeat(texts, rows[i].head, rows[i].unit, rows[i].count, rows[i].tail);
        AUTO(arena_free) struct arena *arena =
            arena_create(LIMIT_REVIEW_ARENA + 4 * text.len);
        int64_t start = cpu_ms();

        task.arena = arena;
        task.text = text;
        rows_expect_int(rows[i].row, arena_run(arena, read_task, &task), 0);
        rows_expect(rows[i].row, cpu_ms() - start <= CPU_MS_MAX, "answered in time");
        rows_expect_int(rows[i].row, task.result, rows[i].want ? -1 : 0);
        if (rows[i].want && !str_starts(str_of(task.err.text), str_of(rows[i].want)))
            rows_expect_str(rows[i].row, str_of(task.err.text), str_of(rows[i].want));
    }
    (void)state;
}

static void aliases_of_aliases_do_not_explode(void **state)
{
    static const char *const units[] = {
        "a%u: &a%u [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n", /* a billion laughs */
        "a%u: &a%u {<<: [*b, *b, *b, *b, *b, *b, *b, *b]}\n",
        "a%u: &a%u [*b]\n",
    };
    static const char *const wants[] = {
        "aliases and merges make too many nodes of it",
        "aliases and merges make too many nodes of it",
        "",
    };

    for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf text = strbuf_new(arena, 1024);
        struct yaml_documents documents;
        struct error err = { 0 };
        int64_t start;

        strbuf_lit(&text, "a0: &a0 {x: y}\n");
        for (uint32_t i = 1; i < 40; i++) {
            struct str unit = str_of(units[k]);

            for (size_t c = 0; c < unit.len; c++) {
                if (unit.at[c] == '%') {
                    strbuf_u64(&text, i);
                    c++;
                } else if (unit.at[c] == '*') {
                    strbuf_fmt(&text, "*a%u", i - 1);
                    c++;
                } else {
                    strbuf_char(&text, unit.at[c]);
                }
            }
        }
        start = cpu_ms();
        assert_int_equal(yaml_read(arena, strbuf_str(&text), &documents, &err), wants[k][0] ? -1 : 0);
        rows_expect(units[k], cpu_ms() - start <= CPU_MS_MAX, "answered in time");
        rows_expect(units[k], strstr(err.text, wants[k]) != NULL, err.text);
    }
    (void)state;
}

static void patches_that_ask_for_much_are_rejected(void **state)
{
    static const struct {
        const char *row;
        const char *document;
        const char *unit;
        uint32_t count;
        const char *want; /* part of the error; NULL: taken */
    } rows[] = {
        { "copies that double", "{\"a\":[1]}",
          ",{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 40, "copies more than 200000 values" },
        { "copies that nest", "{\"a\":{}}",
          ",{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b\"},{\"op\":\"move\",\"from\":\"/b\",\"path\":\"/a/b\"}",
          2000, "" },
        { "10,001 operations", "{\"a\":1}", ",{\"op\":\"test\",\"path\":\"/a\",\"value\":1}", 10000,
          "the patch has 10001 operations, more than 10000" },
        { "a deep target", "{\"a\":1}",
          ",{\"op\":\"add\",\"path\":\"/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a\",\"value\":1}", 9999,
          "has no members" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct error err = { 0 };
        struct value *document;
        struct value *result = NULL;
        struct str patch = repeat(arena, "[{\"op\":\"test\",\"path\":\"/zz\",\"value\":1}", rows[i].unit,
                                  rows[i].count, "]");
        int64_t start;

        assert_int_equal(value_read(arena, STR("{\"zz\":1}"), &json_limits_default, &document, &err), 0);
        assert_int_equal(value_read(arena, str_of(rows[i].document), &json_limits_default, &document,
                                    &err), 0);
        value_set(arena, document, STR("zz"), value_int(arena, 1));
        start = cpu_ms();
        rows_expect_int(rows[i].row, patch_apply(arena, document, patch, &result, &err), -1);
        rows_expect(rows[i].row, cpu_ms() - start <= CPU_MS_MAX, "answered in time");
        rows_expect(rows[i].row, strstr(err.text, rows[i].want) != NULL, err.text);
        rows_expect(rows[i].row, result == NULL, "the result is untouched");
    }
    (void)state;
}

static void long_arrays_are_not_walked_without_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str text = repeat(arena, "[0", ",0", 190000, "]");
    struct str patch = repeat(arena, "[{\"op\":\"test\",\"path\":\"/0\",\"value\":0}",
                              ",{\"op\":\"replace\",\"path\":\"/189999\",\"value\":0}", 9000, "]");
    struct error err = { 0 };
    struct value *document;
    struct value *result;
    int64_t start;

    assert_int_equal(value_read(arena, text, &json_limits_default, &document, &err), 0);
    start = cpu_ms();
    assert_int_equal(patch_apply(arena, document, patch, &result, &err), -1);
    assert_true(cpu_ms() - start <= CPU_MS_MAX);
    assert_non_null(strstr(err.text, "too much work"));
    (void)state;
}

static void large_objects_merge_compare_and_differ_in_time(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct value *a;
    struct value *b;
    int64_t start;

    assert_int_equal(value_read(arena, repeat(arena, "{\"x\":0", ",\"a%u\":1", 50000, "}"),
                                &json_limits_default, &a, &err), 0);
    assert_int_equal(value_read(arena, repeat(arena, "{\"y\":0", ",\"1%ua\":1", 50000, ",\"x\":0}"),
                                &json_limits_default, &b, &err), 0);
    start = cpu_ms();
    assert_int_equal(value_count(value_merge(arena, a, b)), 100002);
    assert_false(value_equal(a, b));
    assert_true(patch_diff(arena, a, b).len > 1000000);
    assert_int_equal(value_count(patch_merge_diff(arena, a, b)), 100001);
    assert_true(cpu_ms() - start <= 4 * CPU_MS_MAX);
    (void)state;
}

static void an_endless_pattern_meets_its_limit(void **state)
{
    static const struct {
        const char *row;
        const char *pattern;
        char fill;
    } rows[] = {
        { "nested repeats", "(a+)+b", 'a' },
        { "overlapping alternatives", "(a|a)*b", 'a' },
        { "many repeats in a row", "a*a*a*a*a*a*a*a*a*a*b", 'a' },
        { "back references", "(a*)*\\1b", 'a' },
        { "recursion", "(a(?1)?a?)+b", 'a' },
        { "unicode classes", "(\\p{L}+\\p{L}+)+!", 'x' },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(regex_free) struct regex *regex = NULL;
        struct error err = { 0 };
        char subject[1024];
        int64_t start = cpu_ms();

        memset(subject, rows[i].fill, sizeof(subject));
        regex = regex_create(str_of(rows[i].pattern), &err);
        if (!regex)
            fail_msg("%s: %s", rows[i].row, err.text);
        rows_expect(rows[i].row,
                    regex_match(regex, str_make(subject, sizeof(subject))) != REGEX_YES, "no match");
        rows_expect(rows[i].row, cpu_ms() - start <= CPU_MS_MAX, "answered in time");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_bombs_are_answered_fast_within_budget),
        cmocka_unit_test(aliases_of_aliases_do_not_explode),
        cmocka_unit_test(patches_that_ask_for_much_are_rejected),
        cmocka_unit_test(long_arrays_are_not_walked_without_end),
        cmocka_unit_test(large_objects_merge_compare_and_differ_in_time),
        cmocka_unit_test(an_endless_pattern_meets_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
