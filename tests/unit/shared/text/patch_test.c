/* SPDX-License-Identifier: Apache-2.0 */
/* patch_test.c: RFC 6902's operations, RFC 7386, pointers, and the least patch between two values. */
#include "support/rows.h"

#include "text/patch.h"
#include "text/pointer.h"

static struct value *read_or_fail(struct arena *arena, const char *text)
{
    struct value *value;
    struct error err = { 0 };

    if (value_read(arena, str_of(text), &json_limits_default, &value, &err) < 0)
        fail_msg("%s\n  rejected: %s", text, err.text);
    return value;
}

static void applies_rfc_6902(void **state)
{
    static const struct {
        const char *row;
        const char *document;
        const char *patch;
        const char *want; /* the result, or the error's text */
        bool rejected;
    } rows[] = {
        { "add a member", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":[2]}]",
          "{\"a\":1,\"b\":[2]}", false },
        { "add replaces a member", "{\"a\":1,\"b\":2}",
          "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null,\"b\":2}", false },
        { "add an element", "[1,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]", "[1,2,3]", false },
        { "add behind the last", "[1]",
          "[{\"op\":\"add\",\"path\":\"/-\",\"value\":2},{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]",
          "[1,2,3]", false },
        { "add the whole", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[]}]", "[]", false },
        { "remove", "{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "{\"a\":[1,3]}", false },
        { "replace an element", "[1,2,3]", "[{\"op\":\"replace\",\"path\":\"/1\",\"value\":{}}]",
          "[1,{},3]", false },
        { "move", "{\"a\":{\"b\":1},\"c\":[]}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/0\"}]",
          "{\"a\":{},\"c\":[1]}", false },
        { "move within an array", "[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]",
          "[2,3,1]", false },
        { "copy", "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
          "{\"a\":{\"b\":1,\"c\":{\"b\":1}}}", false },
        { "test by value", "{\"a\":[1,{\"x\":1,\"y\":2}]}",
          "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[1.0,{\"y\":2,\"x\":1}]}]",
          "{\"a\":[1,{\"x\":1,\"y\":2}]}", false },
        { "escapes in pointers", "{\"a/b\":{\"~\":1}}",
          "[{\"op\":\"replace\",\"path\":\"/a~1b/~0\",\"value\":2}]", "{\"a/b\":{\"~\":2}}", false },
        { "an empty key", "{\"\":1}", "[{\"op\":\"replace\",\"path\":\"/\",\"value\":2}]", "{\"\":2}", false },
        { "unknown members are ignored", "{}",
          "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1,\"x\":2}]", "{\"a\":1}", false },
        { "nothing to do", "{\"a\":1}", "[]", "{\"a\":1}", false },
        { "a failed test", "{\"a\":1}",
          "[{\"op\":\"add\",\"path\":\"/b\",\"value\":1},{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]",
          "operation 1 (test /a): the value there is another one", true },
        { "nothing to remove", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]",
          "operation 0 (remove /b): there is nothing at \"/b\"", true },
        { "nowhere to add", "{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]",
          "operation 0 (add /a/b): there is no \"a\" to go into", true },
        { "into a scalar", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]",
          "operation 0 (add /a/b): \"b\" would stand in a number, which has no members", true },
        { "beyond the end", "[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]",
          "operation 0 (add /2): index 2 is beyond the array's 1 elements", true },
        { "an index with a zero first", "[1,2]", "[{\"op\":\"remove\",\"path\":\"/01\"}]",
          "operation 0 (remove /01): \"01\" is not an index of an array", true },
        { "into itself", "{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
          "operation 0 (move /a/b): \"/a\" cannot be moved into itself", true },
        { "the whole removed", "{}", "[{\"op\":\"remove\",\"path\":\"\"}]",
          "operation 0 (remove ): the whole document cannot be removed", true },
        { "an unknown operation", "{}", "[{\"op\":\"frob\",\"path\":\"/a\"}]",
          "operation 0 (frob /a): \"op\" must be add, remove, replace, move, copy or test", true },
        { "no value", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]",
          "operation 0 (add /a): \"value\" is missing", true },
        { "no from", "{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]",
          "operation 0 (copy /a): \"from\" must be a string", true },
        { "no path", "{}", "[{\"op\":\"remove\"}]", "operation 0 (remove ): \"path\" must be a string",
          true },
        { "a bad pointer", "{}", "[{\"op\":\"remove\",\"path\":\"a\"}]",
          "operation 0 (remove a): a JSON Pointer begins with '/', or is empty", true },
        { "not operations", "{}", "[1]", "operation 0 ( ): an operation is an object, not a number",
          true },
        { "not an array", "{}", "{}",
          "a JSON Patch is an array of operations, not a object", true },
        { "not JSON", "{}", "[", "the patch: line 1, column 2: expected a value; the text ends here",
          true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *document = read_or_fail(arena, rows[i].document);
        struct value *result = NULL;
        struct error err = { 0 };
        int got = patch_apply(arena, document, str_of(rows[i].patch), &result, &err);

        if (got == 0)
            rows_expect_str(rows[i].row, value_json(arena, result), str_of(rows[i].want));
        else
            rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
        rows_expect_int(rows[i].row, got, rows[i].rejected ? -1 : 0);
        rows_expect(rows[i].row, (result == NULL) == rows[i].rejected, "the result tells");
        rows_expect_str(rows[i].row, value_json(arena, document), str_of(rows[i].document));
    }
    (void)state;
}

static void the_patch_between_two_values_is_small(void **state)
{
    static const struct {
        const char *row;
        const char *before;
        const char *after;
        const char *want;
        const char *merge;
    } rows[] = {
        { "equal", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}", "[]", "{}" },
        { "a default added", "{\"spec\":{\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.example/charts\"}]}}",
          "{\"spec\":{\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.example/charts\",\"wait\":true}]}}",
          "[{\"op\":\"add\",\"path\":\"/spec/charts/0/wait\",\"value\":true}]",
          "{\"spec\":{\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.example/charts\",\"wait\":true}]}}" },
        { "removed and replaced", "{\"a\":1,\"b\":2}", "{\"b\":\"x\"}",
          "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"replace\",\"path\":\"/b\",\"value\":\"x\"}]",
          "{\"a\":null,\"b\":\"x\"}" },
        { "the first element taken out",
          "{\"l\":[\"one long element\",\"two long element\",\"three long element\"]}",
          "{\"l\":[\"two long element\",\"three long element\"]}",
          "[{\"op\":\"remove\",\"path\":\"/l/0\"}]", "{\"l\":[\"two long element\",\"three long element\"]}" },
        { "one in the middle put in, the last taken out",
          "{\"l\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\"c\"]}",
          "{\"l\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",7,\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\"c\",8]}",
          "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":7},{\"op\":\"add\",\"path\":\"/l/4\",\"value\":8}]",
          "{\"l\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",7,\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\"c\",8]}" },
        { "keys with slashes", "{\"labels\":{\"k\":\"v\"}}", "{\"labels\":{\"k\":\"v\",\"a/b~c\":\"d\"}}",
          "[{\"op\":\"add\",\"path\":\"/labels/a~1b~0c\",\"value\":\"d\"}]",
          "{\"labels\":{\"a/b~c\":\"d\"}}" },
        { "many small changes at one place are one",
          "{\"a\":{\"b\":1,\"c\":2,\"d\":3}}", "{\"a\":{\"b\":4,\"c\":5,\"d\":6}}",
          "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"b\":4,\"c\":5,\"d\":6}}]",
          "{\"a\":{\"b\":4,\"c\":5,\"d\":6}}" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *before = read_or_fail(arena, rows[i].before);
        struct value *after = read_or_fail(arena, rows[i].after);

        rows_expect_str(rows[i].row, patch_diff(arena, before, after), str_of(rows[i].want));
        rows_expect_str(rows[i].row, value_json(arena, patch_merge_diff(arena, before, after)),
                        str_of(rows[i].merge));
    }
    (void)state;
}

static void pointers_are_rfc_6901(void **state)
{
    static const struct {
        const char *pointer;
        const char *want; /* NULL: nothing there; "" : rejected */
    } rows[] = {
        /* The examples of section 5. */
        { "", "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\" \":7,\"m~n\":8}" },
        { "/foo", "[\"bar\",\"baz\"]" },
        { "/foo/0", "\"bar\"" },
        { "/", "0" },
        { "/a~1b", "1" },
        { "/c%d", "2" },
        { "/ ", "7" },
        { "/m~0n", "8" },
        { "/foo/2", NULL },
        { "/foo/-", NULL },
        { "/foo/01", NULL },
        { "/foo/0/x", NULL },
        { "/Foo", NULL },
        { "foo", "" },
        { "/a~", "" },
        { "/a~2", "" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *root = read_or_fail(arena, rows[0].want);
        struct json view;
        struct str_list tokens;
        struct error err = { 0 };
        bool rejected = rows[i].want && rows[i].want[0] == '\0';

        assert_int_equal(json_read(arena, str_of(rows[0].want), &json_limits_default, &view, &err), 0);
        rows_expect_int(rows[i].pointer, pointer_parse(arena, str_of(rows[i].pointer), &tokens, &err),
                        rejected ? -1 : 0);
        if (rejected)
            continue;

        struct value *got = pointer_get(root, &tokens);
        struct str raw = json_raw(pointer_view(view, &tokens));
        struct strbuf again = strbuf_new(arena, 0);

        rows_expect_str(rows[i].pointer, got ? value_json(arena, got) : STR(""),
                        rows[i].want ? str_of(rows[i].want) : STR(""));
        rows_expect_str(rows[i].pointer, raw, rows[i].want ? str_of(rows[i].want) : STR(""));
        for (uint32_t k = 0; k < tokens.count; k++)
            pointer_push(&again, tokens.items[k]);
        rows_expect_str("pushed again", strbuf_str(&again), str_of(rows[i].pointer));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_rfc_6902),
        cmocka_unit_test(the_patch_between_two_values_is_small),
        cmocka_unit_test(pointers_are_rfc_6901),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
