/* SPDX-License-Identifier: Apache-2.0 */
/* json_test.c: the strict reader: what it takes, what it rejects and where, and what views show. */
#include "support/rows.h"

#include "base/memory.h"
#include "text/json.h"
#include "text/json_write.h"

#include <stdlib.h>

static struct json read_or_fail(struct arena *arena, const char *row, struct str text)
{
    struct json root;
    struct error err = { 0 };

    if (json_read(arena, text, &json_limits_default, &root, &err) < 0)
        fail_msg("%s\n  rejected: %s", row, err.text);
    return root;
}

static void takes_what_rfc_8259_allows(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        enum json_kind kind;
        uint32_t count;
    } rows[] = {
        { "null", "null", JSON_NULL, 0 },
        { "true with space around", " \t\r\n true \n", JSON_BOOL, 0 },
        { "zero", "0", JSON_NUMBER, 0 },
        { "minus zero", "-0", JSON_NUMBER, 0 },
        { "a fraction and an exponent", "-1.50e+007", JSON_NUMBER, 0 },
        { "an exponent without sign", "1E5", JSON_NUMBER, 0 },
        { "an empty string", "\"\"", JSON_STRING, 0 },
        { "an empty object", "{ }", JSON_OBJECT, 0 },
        { "an empty array", "[\n]", JSON_ARRAY, 0 },
        { "members", "{\"a\":1,\"b\":[2,{}],\"c\":{\"a\":3}}", JSON_OBJECT, 3 },
        { "elements", "[1,[2,[3]],{\"x\":[]}]", JSON_ARRAY, 3 },
        { "keys that differ in case only", "{\"a\":1,\"A\":2}", JSON_OBJECT, 2 },
        { "an empty key", "{\"\":1}", JSON_OBJECT, 1 },
        { "DEL and U+2028 as they are", "\"\x7f\xe2\x80\xa8\"", JSON_STRING, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root = read_or_fail(arena, rows[i].row, str_of(rows[i].text));

        rows_expect_int(rows[i].row, json_kind(root), rows[i].kind);
        rows_expect_int(rows[i].row, json_count(root), rows[i].count);
    }
    (void)state;
}

static void rejects_with_line_and_column(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        const char *want;
    } rows[] = {
        { "nothing", STR_INIT(""), "line 1, column 1: expected a value; the text ends here" },
        { "no comma", STR_INIT("{\n \"a\": 1,\n  \"b\": true \"c\"}"),
          "line 3, column 13: expected ',' or '}' after a member" },
        { "no comma in an array", STR_INIT("[1 2]"),
          "line 1, column 4: expected ',' or ']' after an element" },
        { "columns count characters, not bytes", STR_INIT("[\"\xc3\xa9\xe2\x82\xac\" 2]"),
          "line 1, column 7: expected ',' or ']' after an element" },
        { "a comma too many in an object", STR_INIT("{\"a\":1,}"),
          "line 1, column 8: expected a key in double quotes" },
        { "a comma too many in an array", STR_INIT("[1,]"), "line 1, column 4: expected a value" },
        { "a comma first", STR_INIT("[,1]"), "line 1, column 2: expected a value" },
        { "a key without quotes", STR_INIT("{a:1}"),
          "line 1, column 2: expected a key in double quotes" },
        { "no colon", STR_INIT("{\"a\" 1}"), "line 1, column 6: expected ':' after a key" },
        { "the wrong bracket", STR_INIT("[1}"),
          "line 1, column 3: expected ',' or ']' after an element" },
        { "an open array", STR_INIT("[1"),
          "line 1, column 3: expected ',' or ']' after an element; the text ends here" },
        { "an open string", STR_INIT("\"abc"),
          "line 1, column 5: expected '\"' at the end of a string; the text ends here" },
        { "bytes behind the value", STR_INIT("{} x"),
          "line 1, column 4: expected the end of the text after the value" },
        { "a second value", STR_INIT("1 2"),
          "line 1, column 3: expected the end of the text after the value" },
        { "a NUL behind the value", STR_INIT("1\0"),
          "line 1, column 2: expected the end of the text after the value" },
        { "a NUL in a string", STR_INIT("\"a\0b\""),
          "line 1, column 3: a control character in a string; write it as an escape" },
        { "an escaped NUL", STR_INIT("\"a\\u0000b\""), "line 1, column 3: \\u0000 is not allowed" },
        { "an escaped NUL in a key", STR_INIT("{\"\\u0000\":1}"),
          "line 1, column 3: \\u0000 is not allowed" },
        { "a line end in a string", STR_INIT("\"a\nb\""),
          "line 1, column 3: a control character in a string; write it as an escape" },
        { "an unknown escape", STR_INIT("\"\\x41\""),
          "line 1, column 2: unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX" },
        { "a short \\u", STR_INIT("\"\\u12\""),
          "line 1, column 2: expected four hexadecimal digits after \\u" },
        { "a lone high surrogate", STR_INIT("\"\\ud800\""),
          "line 1, column 2: a high surrogate without the low one behind it" },
        { "two high surrogates", STR_INIT("\"\\ud800\\ud800\""),
          "line 1, column 2: a high surrogate without the low one behind it" },
        { "a lone low surrogate", STR_INIT("\"\\udc00\""),
          "line 1, column 2: a low surrogate without the high one before it" },
        { "a backslash at the end", STR_INIT("\"\\"),
          "line 1, column 3: expected the rest of an escape; the text ends here" },
        { "latin-1", STR_INIT("\"\xe9\""), "line 1, column 2: bytes that are not UTF-8" },
        { "an overlong slash", STR_INIT("\"\xc0\xaf\""), "line 1, column 2: bytes that are not UTF-8" },
        { "a surrogate in UTF-8", STR_INIT("\"\xed\xa0\x80\""),
          "line 1, column 2: bytes that are not UTF-8" },
        { "beyond U+10FFFF", STR_INIT("\"\xf4\x90\x80\x80\""),
          "line 1, column 2: bytes that are not UTF-8" },
        { "a sequence cut off", STR_INIT("\"\xe2\x82\""), "line 1, column 2: bytes that are not UTF-8" },
        { "a byte order mark", STR_INIT("\xef\xbb\xbf{}"), "line 1, column 1: expected a value" },
        { "a leading zero", STR_INIT("[01]"), "line 1, column 2: a number must not begin with 0" },
        { "a leading plus", STR_INIT("+1"), "line 1, column 1: expected a value" },
        { "a lone minus", STR_INIT("-"),
          "line 1, column 2: expected a digit after '-'; the text ends here" },
        { "a point without digits", STR_INIT("1."),
          "line 1, column 3: expected a digit after '.'; the text ends here" },
        { "a point first", STR_INIT(".5"), "line 1, column 1: expected a value" },
        { "an exponent without digits", STR_INIT("[1e]"),
          "line 1, column 4: expected a digit in the exponent" },
        { "hexadecimal", STR_INIT("[0x1]"),
          "line 1, column 3: expected ',' or ']' after an element" },
        { "NaN", STR_INIT("NaN"), "line 1, column 1: expected a value" },
        { "half a word", STR_INIT("tru"), "line 1, column 1: expected a value" },
        { "a word with a tail", STR_INIT("nullx"),
          "line 1, column 5: expected the end of the text after the value" },
        { "a comment", STR_INIT("// x\n1"), "line 1, column 1: expected a value" },
        { "single quotes", STR_INIT("'a'"), "line 1, column 1: expected a value" },
        { "a duplicate key", STR_INIT("{\"a\":1,\n\"a\":2}"), "line 2, column 1: duplicate key \"a\"" },
        { "a duplicate key behind an escape", STR_INIT("{\"ab\":1,\"a\\u0062\":2}"),
          "line 1, column 9: duplicate key \"ab\"" },
        { "a duplicate key further in", STR_INIT("[{\"x\":{\"k\":{},\"l\":1,\"k\":[]}}]"),
          "line 1, column 21: duplicate key \"k\"" },
        { "a vertical tab is no space", STR_INIT("\v1"), "line 1, column 1: expected a value" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root = { NULL, 77 };
        struct error err = { 0 };
        /* On the heap with nothing behind, so that a read too far is seen. */
        char *exact = malloc(rows[i].text.len ? rows[i].text.len : 1);

        memcpy(exact, rows[i].text.at, rows[i].text.len);
        rows_expect_int(rows[i].row,
                        json_read(arena, str_make(exact, rows[i].text.len), &json_limits_default,
                                  &root, &err),
                        -1);
        free(exact);
        rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
        rows_expect_int(rows[i].row, err.code, ERROR_SYNTAX);
        rows_expect_int(rows[i].row, root.node, 77);
    }
    (void)state;
}

static void rejects_and_says_where(void **state)
{
    static const struct {
        const char *row, *text, *field;
    } rows[] = {
        { "at the top", "x", "" },
        { "in the outermost object", "{\"a\":x}", "" },
        { "in an object", "{\"a\":1,\"b\":{\"c\":x}}", "b" },
        { "in a list", "{\"a\":[{},{\"b\":[1,x]}]}", "a[1].b" },
        { "a key twice", "{\"a\":[0,{\"b\":1,\"b\":2}]}", "a[1]" },
        { "a key with an escape", "{\"\\u0061\":{\"b\":x}}", "a" },
        { "a key with a dot", "{\"a\":{\"x.io/b\":{\"c\":x}}}", "a[x.io/b]" },
        { "a key with a control character", "{\"a\\u001b\":{\"c\":x}}", "a\\x1b" },
        { "behind a container", "{\"a\":{\"b\":[]},\"c\":{\"d\":x}}", "c" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root;
        struct error err = { 0 };

        rows_expect_int(rows[i].row, json_read(arena, str_of(rows[i].text), &json_limits_default, &root, &err), -1);
        rows_expect_str(rows[i].row, str_of(err.field), str_of(rows[i].field));
    }
}

static void bounds_hold_at_the_bound_and_not_beyond(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        struct json_limits limits;
        const char *want; /* NULL: taken */
    } rows[] = {
        { "bytes", "[1,2]", { 5, 9, 9, 9 }, NULL },
        { "a byte too many", "[1,2]", { 4, 9, 9, 9 }, "the text has 5 bytes, more than 4" },
        { "depth", "[[[]]]", { 99, 3, 9, 9 }, NULL },
        { "a level too many", "[[[]]]", { 99, 2, 9, 9 },
          "line 1, column 3: more than 2 levels of nesting" },
        { "values; keys do not count", "{\"a\":1,\"b\":2}", { 99, 9, 3, 9 }, NULL },
        { "a value too many", "{\"a\":1,\"b\":2}", { 99, 9, 2, 9 },
          "line 1, column 12: more than 2 values" },
        { "a string", "[\"ab\"]", { 99, 9, 9, 4 }, NULL },
        { "a string too long", "[\"abc\"]", { 99, 9, 9, 4 },
          "line 1, column 2: a string of more than 4 bytes" },
        { "a key too long", "{\"abc\":1}", { 99, 9, 9, 4 },
          "line 1, column 2: a string of more than 4 bytes" },
        { "a number too long", "[10000]", { 99, 9, 9, 4 },
          "line 1, column 2: a number of more than 4 bytes" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root;
        struct error err = { 0 };
        int result = json_read(arena, str_of(rows[i].text), &rows[i].limits, &root, &err);

        rows_expect_int(rows[i].row, result, rows[i].want ? -1 : 0);
        if (!rows[i].want)
            continue;
        rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
        rows_expect_int(rows[i].row, err.code, ERROR_TOO_LARGE);
    }
    (void)state;
}

static void views_show_what_stands_there(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root = read_or_fail(
        arena, "document",
        STR("{\"metadata\":{\"name\":\"rag\",\"la\\u0062els\":{\"a/b\":\"c\"}},"
            "\"n\":9007199254740993,\"f\":1.5,\"t\":true,\"z\":null,"
            "\"esc\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00!\",\"list\":[10,[],20]}"));
    struct json name = json_walk(root, "metadata", "name", NULL);
    int64_t number = 0;

    assert_true(str_eq(json_str(name), STR("rag")));
    assert_true(str_eq(json_raw(name), STR("\"rag\"")));
    assert_int_equal(json_offset(name), 20);
    assert_true(json_is(json_walk(root, "metadata", "labels", "a/b", NULL), JSON_STRING));
    assert_true(json_is(json_walk(root, "metadata", "Name", NULL), JSON_ABSENT));
    assert_true(json_is(json_walk(root, "n", "deeper", "still", NULL), JSON_ABSENT));
    assert_true(json_int64(json_get(root, STR("n")), &number));
    assert_int_equal(number, 9007199254740993);
    assert_false(json_int64(json_get(root, STR("f")), &number));
    assert_false(json_int64(json_get(root, STR("t")), &number));
    assert_true(json_double(json_get(root, STR("f"))) == 1.5);
    assert_true(json_bool(json_get(root, STR("t"))));
    assert_false(json_bool(json_get(root, STR("z"))));
    rows_expect_str("all escapes", json_str(json_get(root, STR("esc"))),
                    STR("\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!"));
    rows_expect_str("a subtree's bytes", json_raw(json_get(root, STR("list"))), STR("[10,[],20]"));
    assert_true(str_eq(json_str(json_get(root, STR("n"))), STR("")));
    assert_true(str_eq(json_raw(json_get(root, STR("no"))), STR("")));
    (void)state;
}

static void a_key_is_found_at_any_depth(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root =
        read_or_fail(arena, "document",
                     STR("{\"a\":[1,{\"deep\":{\"k\\u0065y\":\"text\"}}],\"b\":{},\"c\":\"deep\"}"));
    struct json a = json_get(root, STR("a"));

    assert_true(json_may_hold(root, STR("deep")));
    assert_true(json_may_hold(root, STR("key")));
    assert_true(json_may_hold(root, STR("c")));
    assert_true(json_may_hold(a, STR("key")));
    assert_false(json_may_hold(root, STR("text")));
    assert_false(json_may_hold(a, STR("a")));
    assert_false(json_may_hold(a, STR("c")));
    assert_false(json_may_hold(json_get(root, STR("b")), STR("b")));
    assert_false(json_may_hold(json_get(root, STR("c")), STR("deep")));
    assert_false(json_may_hold(json_get(root, STR("none")), STR("deep")));
    (void)state;
}

static void an_iterator_gives_members_in_order(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root = read_or_fail(arena, "document", STR("{\"b\":{\"x\":[1]},\"\\u0061\":[5,6],\"c\":0}"));
    struct strbuf seen = strbuf_new(arena, 64);
    struct json_iter it = json_iter(root);

    while (json_next(&it))
        strbuf_fmt(&seen, "%u:%.*s=%.*s ", it.position, STR_ARG(it.key),
                   STR_ARG(json_raw(it.value)));
    it = json_iter(json_get(root, STR("a")));
    while (json_next(&it))
        strbuf_fmt(&seen, "%u:%.*s=%.*s ", it.position, STR_ARG(it.key),
                   STR_ARG(json_raw(it.value)));
    it = json_iter(json_get(root, STR("c")));
    assert_false(json_next(&it));
    it = json_iter(json_get(root, STR("none")));
    assert_false(json_next(&it));
    rows_expect_str("order", strbuf_str(&seen), STR("0:b={\"x\":[1]} 1:a=[5,6] 2:c=0 0:=5 1:=6 "));
    (void)state;
}

static void whole_numbers_are_exact_or_rejected(void **state)
{
    static const struct {
        const char *text;
        bool whole;
        int64_t number;
    } rows[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999999", false, 0 },
        { "1.0", false, 0 },
        { "1e3", false, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root = read_or_fail(arena, rows[i].text, str_of(rows[i].text));
        int64_t number = 0;

        rows_expect_int(rows[i].text, json_int64(root, &number), rows[i].whole);
        rows_expect_int(rows[i].text, number, rows[i].number);
    }
    (void)state;
}

static void equality_is_by_value(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } rows[] = {
        { "1", "1.0", true },
        { "100", "1e2", true },
        { "0.001", "1E-3", true },
        { "-0", "0.0e5", true },
        { "1", "-1", false },
        { "9007199254740993", "9007199254740992", false },
        { "1e300", "1e301", false },
        { "1e300", "10e299", true },
        { "1e-400", "1e-401", false },
        { "1e-99999999999999999999999", "1e-99999999999999999999998", false },
        { "1e-99999999999999999999999", "1e-099999999999999999999999", true },
        { "\"\\u0061\"", "\"a\"", true },
        { "{\"a\":1,\"b\":[]}", "{\"b\":[],\"a\":1}", true },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
        { "{\"a\":null}", "{}", false },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "null", "false", false },
        { "true", "false", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json a = read_or_fail(arena, rows[i].a, str_of(rows[i].a));
        struct json b = read_or_fail(arena, rows[i].b, str_of(rows[i].b));

        rows_expect_int(rows[i].a, json_equal(a, b), rows[i].equal);
        rows_expect_int(rows[i].b, json_equal(b, a), rows[i].equal);
    }
    assert_true(json_equal((struct json){ 0 }, (struct json){ 0 }));
    (void)state;
}

static void reading_keys_without_escapes_allocates_nothing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root = read_or_fail(arena, "document", STR("{\"a\":{\"b\":\"c\"},\"\\u0064\":\"e\"}"));
    size_t used = arena_used(arena);
    struct json_iter it = json_iter(root);

    while (json_next(&it))
        assert_int_equal(it.key.len, 1);
    assert_true(str_eq(json_str(json_walk(root, "a", "b", NULL)), STR("c")));
    assert_true(str_eq(json_str(json_get(root, STR("d"))), STR("e")));
    assert_int_equal(arena_used(arena), used);
    (void)state;
}

static void a_plain_run_ends_at_each_special_byte_at_each_place(void **state)
{
    /* Strings of every length around the 8 and 16 byte steps, with one special byte in each place. */
    char text[64];
    static const unsigned char specials[] = { '"', '\\', 0x1f, 0x01, 0xff, 0x80 };

    for (size_t len = 1; len < 40; len++) {
        for (size_t place = 0; place < len; place++) {
            for (size_t k = 0; k < sizeof(specials); k++) {
                AUTO(arena_free) struct arena *arena = arena_create(0);
                struct json root;
                struct error err = { 0 };

                memset(text, 'x', sizeof(text));
                text[0] = '"';
                text[1 + place] = (char)specials[k];
                text[1 + len] = '"';
                assert_int_equal(json_read(arena, str_make(text, len + 2), &json_limits_default,
                                           &root, &err),
                                 -1);
            }
        }
    }
    (void)state;
}

/* Read from a copy without a byte behind it, so that a sanitizer sees what looks further. */
static int read_exactly(struct arena *arena, const char *text, size_t len, struct json *ret_root)
{
    struct error err = { 0 };
    char *exact = memcpy(mem_alloc(len), text, len);

    arena_defer(arena, mem_free, exact);
    return json_read(arena, str_make(exact, len), &json_limits_default, ret_root, &err);
}

static void escapes_are_read_at_each_place_of_a_step(void **state)
{
    static const struct {
        const char *written;
        const char *meant; /* NULL: the string does not end, or not here */
    } rows[] = {
        { "\\\"", "\"" },
        { "\\\"\\\"", "\"\"" },
        { "\\\"x\\\"", "\"x\"" },
        { "\\\\", "\\" },
        { "\\\\\\\"", "\\\"" },
        { "\\\"\\\\", "\"\\" },
        { "\\n\\\"", "\n\"" },
        { "\\\"\xc3\xa9\\\"", "\"\xc3\xa9\"" },
        { "\\", NULL },
        { "\\\"\\", NULL },
        { "\\\\\"", NULL },
        { "\\\"\x01", NULL },
    };

    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        for (size_t before = 0; before < 40; before++) {
            for (size_t after = 0; after < 20; after++) {
                AUTO(arena_free) struct arena *arena = arena_create(0);
                const char *filler = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
                struct str text =
                    str_fmt(arena, "\"%.*s%s%.*s\"", (int)before, filler, rows[row].written,
                            (int)after, filler);
                int read = rows[row].meant ? 0 : -1;
                struct json root;

                assert_int_equal(read_exactly(arena, text.at, text.len, &root), read);
                if (read < 0)
                    continue;
                assert_true(str_eq(json_str(root),
                                   str_fmt(arena, "%.*s%s%.*s", (int)before, filler,
                                           rows[row].meant, (int)after, filler)));
                assert_int_equal(read_exactly(arena, text.at, text.len - 1, &root), -1);
            }
        }
    }
    (void)state;
}

static void what_is_written_is_valid_and_comes_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 0);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "text", STR("a\"b\\c\x01\n\x1f\xff\xc3\xa9\0z"));
    json_field_int(&w, "least", INT64_MIN);
    json_field_bool(&w, "yes", true);
    json_field_raw(&w, "raw", STR("[1]"));
    json_put_key(&w, STR("list"));
    json_open_array(&w);
    json_open_object(&w);
    json_close_object(&w);
    json_put_null(&w);
    json_open_array(&w);
    json_close_array(&w);
    json_put_str(&w, (struct str){ NULL, 0 });
    json_close_array(&w);
    json_close_object(&w);
    rows_expect_str("document", strbuf_str(&out),
                    STR("{\"text\":\"a\\\"b\\\\c\\u0001\\n\\u001f\xef\xbf\xbd\xc3\xa9\\u0000z\","
                        "\"least\":-9223372036854775808,\"yes\":true,\"raw\":[1],"
                        "\"list\":[{},null,[],\"\"]}"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_rfc_8259_allows),
        cmocka_unit_test(rejects_with_line_and_column),
        cmocka_unit_test(rejects_and_says_where),
        cmocka_unit_test(bounds_hold_at_the_bound_and_not_beyond),
        cmocka_unit_test(views_show_what_stands_there),
        cmocka_unit_test(a_key_is_found_at_any_depth),
        cmocka_unit_test(an_iterator_gives_members_in_order),
        cmocka_unit_test(whole_numbers_are_exact_or_rejected),
        cmocka_unit_test(equality_is_by_value),
        cmocka_unit_test(reading_keys_without_escapes_allocates_nothing),
        cmocka_unit_test(a_plain_run_ends_at_each_special_byte_at_each_place),
        cmocka_unit_test(escapes_are_read_at_each_place_of_a_step),
        cmocka_unit_test(what_is_written_is_valid_and_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
