/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_test.c: what YAML means as JSON, what is rejected, where things stand, and what is written. */
#include "support/rows.h"

#include "text/value.h"
#include "text/yaml.h"

static void becomes_the_json_that_kubectl_would_send(void **state)
{
    static const struct {
        const char *row;
        const char *yaml;
        const char *want; /* documents joined by a space */
    } rows[] = {
        { "a mapping", "a: 1\nb:\n- x\n- z: 2\n", "{\"a\":1,\"b\":[\"x\",{\"z\":2}]}" },
        { "nothing at all", "", "" },
        { "a comment only", "# x\n", "" },
        { "an empty document between two", "---\na: 1\n---\n---\nb: 2\n", "{\"a\":1} null {\"b\":2}" },
        { "an end marker", "a: 1\n...\n---\nb: 2\n", "{\"a\":1} {\"b\":2}" },
        { "YAML 1.1's booleans", "[yes, No, on, OFF, y, N, true, False]",
          "[true,false,true,false,true,false,true,false]" },
        { "a key of one of these words", "{y: 1, no: 2}", "{\"true\":1,\"false\":2}" },
        { "quoted words stay strings", "['yes', \"1\", '~', \"\", 'null']",
          "[\"yes\",\"1\",\"~\",\"\",\"null\"]" },
        { "mixed case is a string", "[yEs, tRue, nuLL]", "[\"yEs\",\"tRue\",\"nuLL\"]" },
        { "nulls", "{a: , b: ~, c: null, d: Null}",
          "{\"a\":null,\"b\":null,\"c\":null,\"d\":null}" },
        { "integers as Go reads them", "[0x1F, 0o17, 017, 0b101, 1_000, +5, -3, 0xff_ff, 08]",
          "[31,15,15,5,1000,5,-3,65535,8]" },
        { "floats", "[1.50, .5, 1., 1e3, 1.5E-3, +0.25, 6.0]",
          "[1.50,0.5,1,1000,1.5e-3,0.25,6]" },
        { "no digit is lost", "[9007199254740993, 123456789012345678901234567890]",
          "[9007199254740993, 123456789012345678901234567890]" },
        { "nor where it is not JSON", "[0.1000, 123456789012345678901234567890,]",
          "[0.1000,123456789012345678901234567890]" },
        { "what no double holds is no number", "[1e400, -1e999999, 1e300,]",
          "[\"1e400\",\"-1e999999\",1e300]" },
        { "a whole zero has no sign", "{-0: -0, -0.0: -0.0, -0x0_: 1_}",
          NULL /* -0 and -0x0_ are one key */ },
        { "also as a key", "{-0: [-0, -00, -0.0]}", "{\"0\":[0,0,-0]}" },
        { "underscores behind a point", "[.5_0, .5__0, ._5, .5_]", "[0.50,\".5__0\",\"._5\",\".5_\"]" },
        { "a byte order mark before all", "\xef\xbb\xbf" "a: 1\nb: 2\n", "{\"a\":1,\"b\":2}" },
        { "timestamps stay strings", "[2001-12-14, 2001-12-14T21:59:43Z]",
          "[\"2001-12-14\",\"2001-12-14T21:59:43Z\"]" },
        { "versions and times stay strings", "[1.2.3, 12:30, v1, 0x, 1_a]",
          "[\"1.2.3\",\"12:30\",\"v1\",\"0x\",\"1_a\"]" },
        { "keys become strings", "{1: a, true: b, 1.5: c, 0x10: d, on: e2}",
          NULL /* true and on are one key */ },
        { "number and bool keys", "{1: a, true: b, 0x10: d}",
          "{\"1\":\"a\",\"true\":\"b\",\"16\":\"d\"}" },
        { "tags", "[!!str 1, !!int '7', !!float 2, !!bool \"true\", !!null '', ! 3]",
          "[\"1\",7,2,true,null,\"3\"]" },
        { "an alias", "a: &x {k: 1}\nb: *x\n", "{\"a\":{\"k\":1},\"b\":{\"k\":1}}" },
        { "an alias as a key", "- &k name\n- *k : 1\n", "[\"name\",{\"name\":1}]" },
        { "a later anchor of the name", "[&a 1, *a, &a 2, *a]", "[1,1,2,2]" },
        { "a merge", "base: &b {x: 1, w: 2}\nd: {<<: *b, w: 3}\n",
          "{\"base\":{\"x\":1,\"w\":2},\"d\":{\"w\":3,\"x\":1}}" },
        { "own members win though they come later", "base: &b {x: 1}\nd:\n  x: 2\n  <<: *b\n",
          "{\"base\":{\"x\":1},\"d\":{\"x\":2}}" },
        { "of merged mappings earlier ones win",
          "- &a {x: 1}\n- &b {x: 2, w: 2}\n- {<<: [*a, *b]}\n",
          "[{\"x\":1},{\"x\":2,\"w\":2},{\"x\":1,\"w\":2}]" },
        { "merges go on through merges", "- &a {x: 1}\n- &b {<<: *a, w: 2}\n- {<<: *b}\n",
          "[{\"x\":1},{\"w\":2,\"x\":1},{\"w\":2,\"x\":1}]" },
        { "a quoted << is a key", "{'<<': 1}", "{\"<<\":1}" },
        { "literal and folded blocks", "a: |\n  x\n   y\nb: >-\n  p\n  q\n",
          "{\"a\":\"x\\n y\\n\",\"b\":\"p q\"}" },
        { "strict JSON stays as it is", " {\"a\": [1.0, \"\\ud83d\\ude00\"]}\n",
          " {\"a\": [1.0, \"\\ud83d\\ude00\"]}\n" },
        { "flow with YAML inside", "{a: [1, 'x'], \"b\": yes}", "{\"a\":[1,\"x\"],\"b\":true}" },
        { "escapes", "\"\\x41\\u00e9\\n\\\"\"", "\"A\xc3\xa9\\n\\\"\"" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct yaml_documents documents;
        struct strbuf got = strbuf_new(arena, 64);
        struct error err = { 0 };
        int result = yaml_read(arena, str_of(rows[i].yaml), &documents, &err);

        rows_expect_int(rows[i].row, result, rows[i].want ? 0 : -1);
        if (result < 0)
            continue;
        for (uint32_t k = 0; k < documents.count; k++) {
            if (k)
                strbuf_char(&got, ' ');
            strbuf_put(&got, documents.items[k].json);
        }
        rows_expect_str(rows[i].row, strbuf_str(&got), str_of(rows[i].want));
    }
    (void)state;
}

static void rejects_with_line_and_column(void **state)
{
    static const struct {
        const char *row;
        struct str yaml;
        const char *want;
    } rows[] = {
        { "a duplicate key", STR_INIT("a: 1\nb: 2\na: 3\n"), "line 3, column 1: duplicate key \"a\"" },
        { "keys equal once resolved", STR_INIT("{1: a, 0x1: b}"),
          "line 1, column 8: duplicate key \"1\"" },
        { "a mapping as key", STR_INIT("? {a: 1}\n: 2\n"),
          "line 1, column 3: a key must be a scalar" },
        { "a null key", STR_INIT("~: 1\n"),
          "line 1, column 1: a key is missing or null; quote it if it is meant" },
        { "a tab for indentation", STR_INIT("a:\n\tb: 1\n"),
          "line 2, column 1: found character that cannot start any token, while scanning for the "
          "next token" },
        { "a '?' in plain words within brackets", STR_INIT("[a? b]"),
          "line 1, column 2: a '?' in plain words within [] or {}; quote \"a? b\"" },
        { "also at their end", STR_INIT("{a? : b}"),
          "line 1, column 2: a '?' in plain words within [] or {}; quote \"a?\"" },
        { "a tag without a name or a text", STR_INIT("[!, a]"),
          "line 1, column 2: a '!' without a text behind it; remove it" },
        { "a fraction as a key", STR_INIT("{1.5: a}"),
          "line 1, column 2: a key that is a number with a fraction, an exponent or more than 64 bits has "
          "no one form; quote it" },
        { "a key of more than 64 bits", STR_INIT("18446744073709551616: a"),
          "line 1, column 1: a key that is a number with a fraction, an exponent or more than 64 bits has "
          "no one form; quote it" },
        { "a byte order mark at the beginning of a line", STR_INIT("a: b\n\xef\xbb\xbf" "c: d\n"),
          "line 2, column 1: a byte order mark that does not begin the text; remove it" },
        { "a merge of an alias of a list", STR_INIT("- &a [{x: 1}]\n- {<<: *a}\n"),
          "line 2, column 8: \"<<\" merges a mapping or a sequence of mappings" },
        { "an exponent that is said to be an integer", STR_INIT("a: !!int 1e3\n"),
          "line 1, column 4: \"1e3\" is not what its tag tag:yaml.org,2002:int says" },
        { "an unknown alias", STR_INIT("a: *x\n"), "line 1, column 4: there is no anchor &x above" },
        { "an anchor of the document before", STR_INIT("a: &x 1\n---\nb: *x\n"),
          "line 3, column 4: there is no anchor &x above" },
        { "an alias inside of itself", STR_INIT("a: &x\n  b: *x\n"),
          "line 2, column 6: *x stands inside of what it means" },
        { "an unknown tag", STR_INIT("a: !foo 1\n"), "line 1, column 4: unknown tag !foo; remove it" },
        { "binary", STR_INIT("a: !!binary aGk=\n"),
          "line 1, column 4: !!binary has no form in JSON; write the base64 text without the tag" },
        { "infinite", STR_INIT("a: .inf\n"),
          "line 1, column 4: .inf is a number that JSON cannot write; quote it" },
        { "not a number", STR_INIT("a: .NaN\n"),
          "line 1, column 4: .NaN is a number that JSON cannot write; quote it" },
        { "a text that its tag does not fit", STR_INIT("a: !!int x\n"),
          "line 1, column 4: \"x\" is not what its tag tag:yaml.org,2002:int says" },
        { "a merge of a scalar", STR_INIT("<<: 1\n"),
          "line 1, column 5: \"<<\" merges a mapping or a sequence of mappings" },
        { "a NUL, which libyaml would end at", STR_INIT("a: 1\nb: \0 2\n"),
          "line 2, column 4: a NUL byte" },
        { "an escaped NUL", STR_INIT("a: \"\\0\"\n"),
          "line 1, column 4: a string must not hold a NUL" },
        { "a broken sequence", STR_INIT("a: [1\nb: 2\n"),
          "line 2, column 2: did not find expected ',' or ']', while parsing a flow sequence" },
        { "bytes that are not UTF-8", STR_INIT("a: 1\nb: \xff\n"),
          "line 2, column 4: invalid leading UTF-8 octet" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct yaml_documents documents;
        struct error err = { 0 };

        rows_expect_int(rows[i].row, yaml_read(arena, rows[i].yaml, &documents, &err), -1);
        rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
        rows_expect_int(rows[i].row, err.code, ERROR_SYNTAX);
    }
    (void)state;
}

static void positions_lead_back_to_the_yaml(void **state)
{
    static const struct {
        const char *row;
        const char *yaml;
        const char *key;
        uint32_t line, column;
    } rows[] = {
        { "block style", "a: 1\nspec:\n  charts:\n  - name: x\n    k: 5\n", "k", 5, 8 },
        { "flow style", "{a: 1,\n k: 2}", "k", 2, 5 },
        { "JSON", "{\"a\": 1,\n  \"\xc3\xa9\": 3, \"k\": 2}", "k", 2, 16 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct yaml_documents documents;
        struct error err = { 0 };
        struct json root;
        struct json found;

        assert_int_equal(yaml_read(arena, str_of(rows[i].yaml), &documents, &err), 0);
        assert_int_equal(
            json_read(arena, documents.items[0].json, &json_limits_default, &root, &err), 0);
        found = json_get(root, str_of(rows[i].key));
        if (i == 0) {
            struct json_iter it = json_iter(json_walk(root, "spec", "charts", NULL));

            assert_true(json_next(&it));
            found = json_get(it.value, STR("k"));
        }

        struct yaml_position at = yaml_position_of(&documents.items[0], json_offset(found));

        rows_expect_int(rows[i].row, at.line, rows[i].line);
        rows_expect_int(rows[i].row, at.column, rows[i].column);

        struct yaml_position key = yaml_key_position_of(&documents.items[0], json_offset(found));

        rows_expect(rows[i].row,
                    key.line < at.line || (key.line == at.line && key.column < at.column),
                    "its key stands before it");
    }

    struct yaml_document none = { STR_INIT(""), NULL, 0 };

    assert_int_equal(yaml_position_of(&none, 3).line, 0);
    (void)state;
}

static void streams_split_into_documents(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want; /* "line:text" of each, with '|' between and line ends as '/' */
    } rows[] = {
        { "nothing", "", "" },
        { "one", "a: 1\n", "1:a: 1/" },
        { "one without an end", "a: 1", "1:a: 1" },
        { "two", "a: 1\n---\nb: 2\n", "1:a: 1/|2:---/b: 2/" },
        { "a marker first", "---\na: 1\n---\nb: 2", "1:---/a: 1/|3:---/b: 2" },
        { "a comment goes with what follows", "# x\n\n---\na: 1\n", "1:# x//---/a: 1/" },
        { "so does a directive", "%YAML 1.1\n---\na: 1\n", "1:%YAML 1.1/---/a: 1/" },
        { "also behind an end", "a: 1\n...\n%YAML 1.1\n---\nb: 2\n", "1:a: 1/.../|3:%YAML 1.1/---/b: 2/" },
        { "ends in a row", "...\n...\na: 1\n", "1:.../.../a: 1/" },
        { "an empty one between two", "a: 1\n---\n---\nb: 2\n", "1:a: 1/|2:---/|3:---/b: 2/" },
        { "a marker with text", "--- {a: 1}\n--- # x\nb: 2\n", "1:--- {a: 1}/|2:--- # x/b: 2/" },
        { "what only looks like one", "----\n---x\n ---\na: '---'\n", "1:----/---x/ ---/a: '---'/" },
        { "a block ends at a marker", "a: |\n  x\n---\nb: 2\n", "1:a: |/  x/|3:---/b: 2/" },
        { "lines of DOS", "a: 1\r\n---\r\nb: 2\r\n", "1:a: 1\r/|2:---\r/b: 2\r/" },
        { "what is no YAML is kept apart", "a: [\n---\nb: 2\n", "1:a: [/|2:---/b: 2/" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct yaml_stream stream = { str_of(rows[i].text), 1 };
        struct strbuf got = strbuf_new(arena, 0);
        struct str text;
        uint32_t line;

        while (yaml_split(&stream, &text, &line)) {
            strbuf_fmt(&got, "%s%u:", got.len ? "|" : "", line);
            for (size_t k = 0; k < text.len; k++)
                strbuf_char(&got, text.at[k] == '\n' ? '/' : text.at[k]);
        }
        rows_expect_str(rows[i].row, strbuf_str(&got), str_of(rows[i].want));
    }
}

static void errors_say_where_they_are(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct yaml_position at = { 0, 0, 0 };
    struct yaml_documents documents;
    struct str what = STR("");
    struct error err;

    (void)state;
    assert_int_equal(yaml_read(arena, STR("a: 1\n  b: {a: 1, a: 2}\n"), &documents, &err), -1);
    rows_expect("a place", yaml_error_place(&err, &at, &what), "is told");
    rows_expect_int("line", at.line, 2);
    rows_expect_str("what is left are words", what, STR("mapping values are not allowed in this context"));
    error_set(&err, ERROR_BUDGET, "no room");
    rows_expect("no place", !yaml_error_place(&err, &at, &what), "is told of what has none");
}

static void writes_what_people_like_to_read(void **state)
{
    static const struct {
        const char *row;
        const char *json;
        const char *want;
    } rows[] = {
        { "a Stack", "{\"kind\":\"Stack\",\"spec\":{\"charts\":[{\"name\":\"db\",\"wait\":true},{\"k\":[]}],\"x\":{}}}",
          "kind: Stack\nspec:\n  charts:\n  - name: db\n    wait: true\n  - k: []\n  x: {}\n" },
        { "quotes only where needed",
          "[\"a b\",\"yes\",\"1\",\"1.2.3\",\"a: b\",\"a:b\",\"#x\",\"x #y\",\"-\",\"\",\" a\",\"2024-01-01\",\"12:30\",\"~\",\"null\",\"<<\",\"...\"]",
          "- a b\n- \"yes\"\n- \"1\"\n- 1.2.3\n- \"a: b\"\n- a:b\n- \"#x\"\n- \"x #y\"\n- \"-\"\n- \"\"\n- \" a\"\n"
          "- \"2024-01-01\"\n- \"12:30\"\n- \"~\"\n- \"null\"\n- \"<<\"\n- \"...\"\n" },
        { "lines", "{\"a\":\"x\\ny\\n\",\"b\":\"x\\ny\",\"c\":\"x\\n\\n\",\"d\":[\"p\\nq\\n\"]}",
          "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd:\n- |\n  p\n  q\n" },
        { "control characters", "\"a\\u0007\\u2028\xc3\xa9\\t\"", "\"a\\x07\\u2028\xc3\xa9\\t\"\n" },
        { "lists in lists", "[[1,[2]],[{\"a\":[3]}]]", "- - 1\n  - - 2\n- - a:\n    - 3\n" },
        { "numbers keep their text", "[0.10,1e300]", "- 0.10\n- 1e300\n" },
        { "keys", "{\"a b\":1,\"on\":2,\"a: b\":3,\"\":4}", "a b: 1\n\"on\": 2\n\"a: b\": 3\n\"\": 4\n" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf out = strbuf_new(arena, 0);
        struct yaml_documents documents;
        struct json value;
        struct json again;
        struct error err = { 0 };

        assert_int_equal(json_read(arena, str_of(rows[i].json), &json_limits_default, &value, &err), 0);
        yaml_write(value, &out);
        rows_expect_str(rows[i].row, strbuf_str(&out), str_of(rows[i].want));
        if (yaml_read(arena, strbuf_str(&out), &documents, &err) < 0)
            fail_msg("%s: %s", rows[i].row, err.text);
        assert_int_equal(json_read(arena, documents.items[0].json, &json_limits_default, &again, &err), 0);
        rows_expect(rows[i].row, json_equal(value, again), "it reads back equal");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(becomes_the_json_that_kubectl_would_send),
        cmocka_unit_test(rejects_with_line_and_column),
        cmocka_unit_test(positions_lead_back_to_the_yaml),
        cmocka_unit_test(streams_split_into_documents),
        cmocka_unit_test(errors_say_where_they_are),
        cmocka_unit_test(writes_what_people_like_to_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
