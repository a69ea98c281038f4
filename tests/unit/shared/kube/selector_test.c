/* selector_test.c: selectors read, parsed, matched and compared. */
#include "support/rows.h"

#include "kube/selector.h"

static struct json read(struct arena *arena, const char *text)
{
    struct json root;
    struct error err;

    if (json_read(arena, str_of(text), &json_limits_default, &root, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return root;
}

static void query_strings(void **state)
{
    static const struct {
        const char *text;
        const char *back; /* NULL: refused */
        const char *labels;
        bool matches;
    } rows[] = {
        { "", "", "{}", true },
        { "a=b", "a=b", "{\"a\":\"b\"}", true },
        { "a==b", "a=b", "{\"a\":\"c\"}", false },
        { " a != b , c ", "a!=b,c", "{\"c\":\"\"}", true },
        { "a in (x, y)", "a in (x,y)", "{\"a\":\"y\"}", true },
        { "a notin (x,y)", "a notin (x,y)", "{}", true },
        { "a notin (x,y)", "a notin (x,y)", "{\"a\":\"x\"}", false },
        { "!a", "!a", "{\"a\":\"x\"}", false },
        { "a=", "a=", "{\"a\":\"\"}", true },
        { "x.io/a=1,in=notin", "x.io/a=1,in=notin", "{\"x.io/a\":\"1\",\"in\":\"notin\"}", true },
        { "a", "a", "{\"a\":1}", false },
        { "a=b,", NULL, "", false },
        { "=b", NULL, "", false },
        { "a in x", NULL, "", false },
        { "a in (x", NULL, "", false },
        { "a b", NULL, "", false },
        { "a=b c", NULL, "", false },
        { "a>1", NULL, "", false },
        { "-a=b", NULL, "", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selector selector;
        struct error err;
        int result = selector_parse(arena, str_of(rows[i].text), &selector, &err);

        rows_expect_int(rows[i].text, result, rows[i].back ? 0 : -1);
        if (!rows[i].back)
            continue;
        rows_expect_str(rows[i].text, selector_text(arena, &selector), str_of(rows[i].back));
        rows_expect_int(rows[i].text, selector_matches(&selector, read(arena, rows[i].labels)),
                        rows[i].matches);
    }
    (void)state;
}

static void specs(void **state)
{
    static const struct {
        const char *text;
        const char *want; /* the text form, or the field to blame */
        bool good;
    } rows[] = {
        { "null", "", true },
        { "{\"matchLabels\":{\"a\":\"b\",\"c\":\"d\"}}", "a=b,c=d", true },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"x\",\"y\"]},"
          "{\"key\":\"b\",\"operator\":\"Exists\"}]}", "a notin (x,y),b", true },
        { "{\"matchLabels\":{\"a\":true}}", "matchLabels[a]", false },
        { "{\"matchLabels\":{\"a b\":\"c\"}}", "matchLabels[a b]", false },
        { "{\"matchLabels\":[]}", "matchLabels", false },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"in\",\"values\":[\"x\"]}]}",
          "matchExpressions[0].operator", false },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
          "matchExpressions[0].values", false },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"x\"]}]}",
          "matchExpressions[0].values", false },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",1]}]}",
          "matchExpressions[0].values[1]", false },
        { "{\"matchExpressions\":[1]}", "matchExpressions[0]", false },
        { "[]", "", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selector selector;
        struct error err;
        int result = selector_read(arena, read(arena, rows[i].text), &selector, &err);

        rows_expect_int(rows[i].text, result, rows[i].good ? 0 : -1);
        rows_expect_str(rows[i].text,
                        result == 0 ? selector_text(arena, &selector) : str_of(err.field),
                        str_of(rows[i].want));
    }
    (void)state;
}

static void overlap(void **state)
{
    static const struct {
        const char *a, *b;
        bool meet;
    } rows[] = {
        { "", "", true },          { "a=b", "", true },
        { "a=b", "a=c", false },   { "a=b", "c=d", true },
        { "a=b", "!a", false },    { "a", "!a", false },
        { "a", "a!=b", true },     { "a=b", "a!=b", false },
        { "a in (b,c)", "a in (c,d)", true },
        { "a in (b,c)", "a notin (b,c)", false },
        { "a in (b,c),a!=b", "a!=c", false },
        { "a!=b", "!a", true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selector a, b;
        struct error err;

        assert_int_equal(selector_parse(arena, str_of(rows[i].a), &a, &err), 0);
        assert_int_equal(selector_parse(arena, str_of(rows[i].b), &b, &err), 0);
        rows_expect_int(rows[i].a, selector_intersects(arena, &a, &b), rows[i].meet);
        rows_expect_int(rows[i].b, selector_intersects(arena, &b, &a), rows[i].meet);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_strings),
        cmocka_unit_test(specs),
        cmocka_unit_test(overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
