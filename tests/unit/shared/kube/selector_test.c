/* SPDX-License-Identifier: Apache-2.0 */
/* selector_test.c: selectors read, parsed, matched and compared. */
#include "support/rows.h"

#include "base/rng.h"

#include "kube/selector.h"

#include <stdlib.h>

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
        const char *back; /* NULL: rejected */
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
        rows_expect_int(rows[i].text, selector_matches(NULL, &selector, read(arena, rows[i].labels)),
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

/* From a list of exactly that many, so that a look too far is seen. */
static bool matches_as_list(const struct selector *selector, struct json labels)
{
    uint32_t count = json_count(labels), i = 0;
    struct label *list = malloc(sizeof(*list) * count + 1);
    struct json_iter it = json_iter(labels);
    bool matches;

    while (json_next(&it))
        list[i++] = (struct label){ it.key, json_str(it.value) };
    matches = selector_matches_labels(selector, list, count);
    free(list);
    return matches;
}

/* Whether labels x and y, each absent, of a value that is named or of another one, satisfy both. */
static bool some_labels_match(struct arena *arena, const struct selector *a, const struct selector *b)
{
    static const char *const values[] = { NULL, "b", "c", "d", "other" };

    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++) {
            struct strbuf text = strbuf_new(arena, 32);
            struct json labels;

            strbuf_lit(&text, "{\"z\":\"z\"");
            if (values[x])
                strbuf_fmt(&text, ",\"x\":\"%s\"", values[x]);
            if (values[y])
                strbuf_fmt(&text, ",\"y\":\"%s\"", values[y]);
            strbuf_lit(&text, "}");
            labels = read(arena, strbuf_str(&text).at);
            assert_int_equal(matches_as_list(a, labels), selector_matches(NULL, a, labels));
            if (selector_matches(NULL, a, labels) && selector_matches(NULL, b, labels))
                return true;
        }
    return false;
}

static struct selector any_selector(struct arena *arena, struct rng *rng)
{
    static const char *const names[] = { "b", "c", "d" };
    struct selector selector = selector_new(arena);
    uint32_t count = (uint32_t)rng_below(rng, 4);

    for (uint32_t i = 0; i < count; i++) {
        enum selector_operator op = (enum selector_operator)rng_below(rng, 4);
        struct str_list values = str_list_new(arena, 3);

        for (uint32_t v = 0; (op == SELECTOR_IN || op == SELECTOR_NOT_IN) && v < 1 + rng_below(rng, 3); v++)
            str_list_push(&values, str_of(names[rng_below(rng, 3)]));
        if (op != SELECTOR_IN || values.count)
            selector_add(&selector, rng_below(rng, 2) ? STR("x") : STR("y"), op, values);
    }
    return selector;
}

static void two_meet_where_some_labels_satisfy_both(void **state)
{
    struct rng rng = rng_from_seed(7);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selector a = any_selector(arena, &rng), b = any_selector(arena, &rng);

        rows_expect_int(str_fmt(arena, "%.*s | %.*s", STR_ARG(selector_text(arena, &a)),
                                STR_ARG(selector_text(arena, &b))).at,
                        selector_intersects(arena, &a, &b), some_labels_match(arena, &a, &b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_meet_where_some_labels_satisfy_both),
        cmocka_unit_test(query_strings),
        cmocka_unit_test(specs),
        cmocka_unit_test(overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
