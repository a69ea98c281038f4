/* SPDX-License-Identifier: Apache-2.0 */
/* value_test.c: values that are edited: cJSON's traps, changes, equality, merges. */
#include "support/rows.h"

#include "text/value.h"

static struct value *read_or_fail(struct arena *arena, const char *text)
{
    struct value *value;
    struct error err = { 0 };

    if (value_read(arena, str_of(text), &json_limits_default, &value, &err) < 0)
        fail_msg("%s\n  rejected: %s", text, err.text);
    return value;
}

static void what_is_read_is_written_byte_for_byte(void **state)
{
    static const char *const texts[] = {
        "null",
        "[true,false,null,\"\",{},[]]",
        "[9007199254740993,-0,0.10,1e300,1e-400,1E+2,123456789012345678901234567890]",
        "{\"a\":1,\"A\":2,\"\":3}", /* cJSON's look-ups ignore case */
        "{\"z\":1,\"a\":{\"y\":2,\"b\":[{\"k\":\"v\"}]}}",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *value = read_or_fail(arena, texts[i]);

        rows_expect_str(texts[i], value_json(arena, value), str_of(texts[i]));
        rows_expect_str(texts[i], value_json(arena, value_clone(arena, value)), str_of(texts[i]));
    }
    (void)state;
}

static void cjson_would_take_these(void **state)
{
    static const struct {
        const char *row;
        struct str text;
    } rows[] = {
        { "a string that \\u0000 cuts", STR_INIT("\"a\\u0000b\"") },
        { "a duplicate key, of which the first is kept", STR_INIT("{\"a\":1,\"a\":2}") },
        { "trailing bytes", STR_INIT("{} {}") },
        { "bytes that are not UTF-8", STR_INIT("\"\xff\"") },
        { "leading zeros", STR_INIT("007") },
        { "a number that ends in a point", STR_INIT("1.") },
        { "a number that is infinite", STR_INIT("1e400") },
        { "a byte order mark", STR_INIT("\xef\xbb\xbf{}") },
        { "a control character in a string", STR_INIT("\"\x01\"") },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *value = NULL;
        struct error err = { 0 };

        rows_expect_int(rows[i].row,
                        value_read(arena, rows[i].text, &json_limits_default, &value, &err), -1);
        rows_expect(rows[i].row, value == NULL, "the output is untouched");
    }
    (void)state;
}

static void absent_values_are_read_as_nothing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int64_t number = 5;

    assert_int_equal(value_kind(NULL), JSON_ABSENT);
    assert_null(value_get(NULL, STR("a")));
    assert_null(value_at(NULL, 0));
    assert_null(value_walk(NULL, "a", "b", NULL));
    assert_null(value_first(NULL));
    assert_null(value_next(NULL));
    assert_null(value_of(arena, (struct json){ NULL, 0 }));
    assert_null(value_clone(arena, NULL));
    assert_int_equal(value_count(NULL), 0);
    assert_false(value_is_true(NULL));
    assert_false(value_int64(NULL, &number));
    assert_int_equal(number, 5);
    assert_int_equal(value_text(NULL).len, 0);
    assert_int_equal(value_key(NULL).len, 0);
    (void)state;
}

static void look_ups_count_case_and_kind(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct value *root = read_or_fail(arena, "{\"A\":1,\"a\":{\"b\":[10,20]},\"ab\":3}");
    int64_t number = 0;

    assert_true(value_int64(value_get(root, STR("A")), &number));
    assert_int_equal(number, 1);
    assert_true(value_int64(value_at(value_walk(root, "a", "b", NULL), 1), &number));
    assert_int_equal(number, 20);
    assert_null(value_at(value_walk(root, "a", "b", NULL), 2));
    assert_null(value_walk(root, "a", "b", "c", NULL));
    assert_null(value_get(root, STR("B")));
    assert_null(value_at(root, 0));
    assert_null(value_get(root, STR("a\0b")));
    (void)state;
}

static void objects_change_in_place(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct value *root = read_or_fail(arena, "{\"a\":1,\"b\":2,\"c\":3}");

    value_set(arena, root, STR("a"), value_str(arena, STR("x")));
    value_set(arena, root, STR("c"), value_bool(arena, true));
    value_set(arena, root, STR("d"), value_int(arena, INT64_MIN));
    rows_expect_str("replaced where they stood", value_json(arena, root),
                    STR("{\"a\":\"x\",\"b\":2,\"c\":true,\"d\":-9223372036854775808}"));
    assert_true(value_remove(root, STR("d")));
    assert_true(value_remove(root, STR("a")));
    assert_false(value_remove(root, STR("a")));
    value_set(arena, root, STR("e"), value_null(arena));
    rows_expect_str("ends removed", value_json(arena, root), STR("{\"b\":2,\"c\":true,\"e\":null}"));
    assert_true(value_remove(root, STR("b")) && value_remove(root, STR("c")) &&
                value_remove(root, STR("e")));
    value_set(arena, root, STR("only"), value_array(arena));
    value_set(arena, root, STR("only"), value_object(arena));
    value_set(arena, root, STR("last"), value_number(arena, STR("0.10")));
    rows_expect_str("emptied and filled", value_json(arena, root), STR("{\"only\":{},\"last\":0.10}"));
    assert_non_null(value_object_at(arena, root, STR("only")));
    assert_non_null(value_object_at(arena, root, STR("new")));
    assert_null(value_object_at(arena, root, STR("last")));
    assert_int_equal(value_count(root), 3);
    (void)state;
}

static void arrays_change_in_place(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct value *list = value_array(arena);

    value_insert(list, 0, value_int(arena, 2));
    value_insert(list, 0, value_int(arena, 1));
    value_append(list, value_int(arena, 4));
    value_insert(list, 2, value_int(arena, 3));
    value_insert(list, 99, value_int(arena, 5));
    rows_expect_str("inserted", value_json(arena, list), STR("[1,2,3,4,5]"));
    assert_true(value_remove_at(list, 4) && value_remove_at(list, 0) && value_remove_at(list, 1));
    assert_false(value_remove_at(list, 2));
    value_append(list, value_int(arena, 9));
    rows_expect_str("removed", value_json(arena, list), STR("[2,4,9]"));
    (void)state;
}

static void a_nul_does_not_hide_what_follows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    rows_expect_str("NUL", value_text(value_str(arena, STR("a\0b"))), STR("a\xef\xbf\xbd" "b"));
    rows_expect_str("empty", value_text(value_str(arena, (struct str){ NULL, 0 })), STR(""));
    (void)state;
}

static void sorted_writing_is_one_for_equal_values(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 0);

    value_write(read_or_fail(arena, "{\"b\":{\"z\":1,\"a\":2},\"a\":[{\"y\":1,\"x\":2}],\"B\":0}"), true,
                &out);
    rows_expect_str("sorted", strbuf_str(&out),
                    STR("{\"B\":0,\"a\":[{\"x\":2,\"y\":1}],\"b\":{\"a\":2,\"z\":1}}"));
    (void)state;
}

static void merges_follow_helms_rule(void **state)
{
    static const struct {
        const char *row;
        const char *base;
        const char *over;
        const char *want;
    } rows[] = {
        { "maps merge", "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":3,\"z\":4}}",
          "{\"a\":{\"x\":1,\"y\":3,\"z\":4}}" },
        { "lists replace", "{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}" },
        { "null deletes", "{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", "{\"a\":null,\"b\":{\"c\":null}}",
          "{\"b\":{\"d\":2}}" },
        { "its own nulls vanish", "{}", "{\"a\":null,\"b\":{\"c\":null}}", "{\"b\":{}}" },
        { "nulls in lists stay", "{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}" },
        { "nulls below stay", "{\"a\":null}", "{\"b\":1}", "{\"a\":null,\"b\":1}" },
        { "a map replaces a scalar", "{\"a\":1}", "{\"a\":{\"b\":2}}", "{\"a\":{\"b\":2}}" },
        { "a scalar replaces a map", "{\"a\":{\"b\":2}}", "{\"a\":1}", "{\"a\":1}" },
        { "what is no map replaces all", "{\"a\":1}", "[1]", "[1]" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *base = read_or_fail(arena, rows[i].base);
        struct value *over = read_or_fail(arena, rows[i].over);

        rows_expect_str(rows[i].row, value_json(arena, value_merge(arena, base, over)),
                        str_of(rows[i].want));
        rows_expect_str(rows[i].row, value_json(arena, base), str_of(rows[i].base));
        rows_expect_str(rows[i].row, value_json(arena, over), str_of(rows[i].over));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_byte_for_byte),
        cmocka_unit_test(cjson_would_take_these),
        cmocka_unit_test(absent_values_are_read_as_nothing),
        cmocka_unit_test(look_ups_count_case_and_kind),
        cmocka_unit_test(objects_change_in_place),
        cmocka_unit_test(arrays_change_in_place),
        cmocka_unit_test(a_nul_does_not_hide_what_follows),
        cmocka_unit_test(sorted_writing_is_one_for_equal_values),
        cmocka_unit_test(merges_follow_helms_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
