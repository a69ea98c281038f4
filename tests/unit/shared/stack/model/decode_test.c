/* SPDX-License-Identifier: Apache-2.0 */
/* decode_test.c: every kind of field, right and wrong. */
#include "support/rows.h"

#include "stack/model/fields.h"
#include "support/stack_builder.h"

/* `spec` stands in a document of which all else is right. */
static struct stack *decode_spec(struct arena *arena, const char *spec, struct problems *problems)
{
    struct str text = str_fmt(arena, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\","
                                     "\"metadata\":{\"name\":\"a\"},\"spec\":%s}", spec);

    *problems = problems_new(arena);

    struct stack *stack = stack_decode(arena, test_json(arena, text), problems);

    problems_sort(problems);
    return stack;
}

#define TARGETS "\"targets\":{\"clusterIds\":[\"c-1\"]}"
#define CHARTS "\"charts\":[{\"name\":\"a\",\"repo\":\"r\",\"version\":\"1\"}]"
#define SPEC(more) "{" TARGETS "," CHARTS more "}"
#define CHART(more)                                                                                \
    "{" TARGETS ",\"charts\":[{\"name\":\"a\",\"repo\":\"r\",\"version\":\"1\"" more "}]}"

static const struct {
    const char *says, *spec, *found, *message; /* message: part of the first, with its remedy */
} rows[] = {
    { "what is required is enough", SPEC(""), "", "" },
    { "null stands for absent", SPEC(",\"env\":null,\"paused\":null"), "", "" },
    { "null is not there where something is required", "{" TARGETS ",\"charts\":null}",
      "!shape.required spec.charts", "Required value; set it" },
    { "nothing is there", "{}", "!shape.required spec.charts; !shape.required spec.targets",
      "Required value; set it" },
    { "the spec is no object", "[]", "!shape.type spec", "must be an object, not a list" },
    { "the spec is null", "null", "!shape.required spec", "Required value; set it" },
    { "a string", SPEC(",\"env\":\"dev\""), "", "" },
    { "a number for a string", SPEC(",\"env\":5"), "!shape.type spec.env",
      "must be a string, not a number" },
    { "an empty string", SPEC(",\"env\":\"\""), "!shape.required spec.env", "must not be empty" },
    { "a string that is too long",
      SPEC(",\"env\":\"0123456789012345678901234567890123456789012345678901234567890123\""),
      "!shape.bounds spec.env", "Too long: must have at most 63 bytes, not 64" },
    { "a boolean in quotes", SPEC(",\"paused\":\"true\""), "!shape.type spec.paused",
      "must be a boolean, not a string" },
    { "a number for a boolean", SPEC(",\"paused\":1"), "!shape.type spec.paused",
      "must be a boolean, not a number" },
    { "an integer", SPEC(",\"retry\":{\"limit\":3}"), "", "" },
    { "an integer beyond its bounds", SPEC(",\"retry\":{\"limit\":-2}"),
      "!shape.bounds spec.retry.limit", "Invalid value: -2: must be -1 to 1000" },
    { "an integer with a fraction", SPEC(",\"retry\":{\"limit\":1.5}"),
      "!shape.type spec.retry.limit", "1.5: must be a whole number" },
    { "a string for an integer", SPEC(",\"retry\":{\"limit\":\"3\"}"),
      "!shape.type spec.retry.limit", "must be an integer, not a string" },
    { "a ratio at its ends", SPEC(",\"observabilityProfile\":{\"tracing\":{\"samplingRatio\":1}}"),
      "", "" },
    { "a ratio beyond", SPEC(",\"observabilityProfile\":{\"tracing\":{\"samplingRatio\":1.01}}"),
      "!shape.bounds spec.observabilityProfile.tracing.samplingRatio", "1.01: must be 0 to 1" },
    { "a ratio below", SPEC(",\"observabilityProfile\":{\"tracing\":{\"samplingRatio\":-0.1}}"),
      "!shape.bounds spec.observabilityProfile.tracing.samplingRatio", "-0.1: must be 0 to 1" },
    { "a ratio in quotes", SPEC(",\"observabilityProfile\":{\"tracing\":{\"samplingRatio\":\"1\"}}"),
      "!shape.type spec.observabilityProfile.tracing.samplingRatio", "must be a number" },
    { "a word", SPEC(",\"security\":\"enabled\""), "", "" },
    { "a word with a slip", SPEC(",\"security\":\"enable\""), "!shape.enum spec.security",
      "Unsupported value: \"enable\": supported values: \"enabled\", \"disabled\" (did you mean \"enabled\"?); use one" },
    { "a boolean for a word", SPEC(",\"security\":true"), "!shape.type spec.security",
      "must be a string, not a boolean" },
    { "a number for a word", SPEC(",\"drift\":1"), "!shape.type spec.drift", "must be a string" },
    { "a duration", CHART(",\"timeout\":\"1h30m\""), "", "" },
    { "no duration", CHART(",\"timeout\":\"10\""), "!shape.duration spec.charts[0].timeout",
      "Invalid value: \"10\": must be a Go duration" },
    { "no time at all", CHART(",\"timeout\":\"0s\""), "!shape.duration spec.charts[0].timeout",
      "Invalid value: \"0s\": must be positive" },
    { "exactly 24 hours", CHART(",\"timeout\":\"24h\""), "", "" },
    { "a little more", CHART(",\"timeout\":\"24h1ms\""), "!shape.duration spec.charts[0].timeout",
      "Invalid value: \"24h1ms\": must be at most 24h0m0s" },
    { "a backoff below a second", SPEC(",\"retry\":{\"backoff\":\"10ms\"}"),
      "!shape.duration spec.retry.backoff", "\"10ms\": must be at least 1s" },
    { "a number for a duration", CHART(",\"timeout\":600"), "!shape.type spec.charts[0].timeout",
      "must be a string, not a number; write it with its unit, like 30s or 15m" },
    { "a list with an entry of the wrong type", CHART(",\"dependsOn\":[\"b\",5]"),
      "!shape.type spec.charts[0].dependsOn[1]", "must be a string, not a number" },
    { "a list with an empty entry", CHART(",\"dependsOn\":[\"\"]"),
      "!shape.required spec.charts[0].dependsOn[0]", "must not be empty" },
    { "a string for a list", CHART(",\"dependsOn\":\"b\""), "!shape.type spec.charts[0].dependsOn",
      "must be a list of strings, not a string" },
    { "no charts", "{" TARGETS ",\"charts\":[]}", "!shape.required spec.charts",
      "must have at least 1 item" },
    { "an object for a list", "{" TARGETS ",\"charts\":{}}", "!shape.type spec.charts",
      "must be a list of objects, not an object" },
    { "an element that is no object",
      "{" TARGETS ",\"charts\":[\"a\",{\"name\":\"b\",\"repo\":\"r\"}]}",
      "!shape.type spec.charts[0]; !shape.required spec.charts[1].version",
      "must be an object, not a string" },
    { "labels", "{\"targets\":{\"selector\":{\"matchLabels\":{\"gpu\":\"true\"}}}," CHARTS "}", "", "" },
    { "a label without quotes",
      "{\"targets\":{\"selector\":{\"matchLabels\":{\"gpu\":true}}}," CHARTS "}",
      "!shape.type spec.targets.selector.matchLabels[gpu]", "must be a string, not a boolean" },
    { "labels as a list", "{\"targets\":{\"selector\":{\"matchLabels\":[]}}," CHARTS "}",
      "!shape.type spec.targets.selector.matchLabels", "must be an object of strings" },
    { "values that are no object", CHART(",\"values\":{\"inline\":[1]}"),
      "!shape.type spec.charts[0].values.inline", "must be an object, not a list" },
    { "a text for a list of them", CHART(",\"dependsOn\":\"qdrant\""),
      "!shape.type spec.charts[0].dependsOn", "not a string; write a list: [qdrant]" },
    { "an object for a list of them", "{" TARGETS ",\"charts\":{\"name\":\"a\"}}",
      "!shape.type spec.charts", "not an object; write a list: begin each of its elements with '- '" },
    { "a text for an object", CHART(",\"values\":\"a: 1\""),
      "!shape.type spec.charts[0].values", "not a string; write its fields below it" },
    { "an unknown field with a near one", CHART(",\"dependson\":[]"),
      "!shape.unknown-field spec.charts[0].dependson", "unknown field" },
    { "one that belongs one level below",
      "{\"targets\":{\"matchLabels\":{\"gpu\":\"true\"}}," CHARTS "}",
      "!shape.unknown-field spec.targets.matchLabels", "unknown field; put it under selector" },
    { "an unknown field with none", SPEC(",\"xyzzy\":1"), "!shape.unknown-field spec.xyzzy",
      "unknown field" },
};

static void fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems;

        decode_spec(arena, rows[i].spec, &problems);
        rows_expect_str(rows[i].says, findings_text(arena, &problems), str_of(rows[i].found));
        if (problems.list.count) {
            const struct problem *first = &problems.list.items[0];
            struct str said = str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message), STR_ARG(first->remedy));

            if (str_find(said, str_of(rows[i].message), 0) < 0)
                rows_expect_str(rows[i].says, said, str_of(rows[i].message));
        }
    }
}

static void values_arrive(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems;
    const struct stack *stack = decode_spec(
        arena,
        "{\"env\":\"prod\",\"security\":\"disabled\",\"targets\":{\"selector\":{\"matchExpressions\":"
        "[{\"key\":\"env\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}},\"charts\":[{\"name\":"
        "\"x\",\"chart\":\"y\",\"repo\":\"r\",\"version\":\"1\",\"values\":{\"configMapRefs\":"
        "[{\"name\":\"m\",\"optional\":true}],\"inline\":{\"k\":[1]}},\"dependsOn\":[\"z\"],"
        "\"wait\":false}],\"rollout\":{\"maxFailures\":-1}}", &problems);
    const struct chart *chart = &stack->spec.charts.items[0];

    (void)state;
    rows_expect_int("nothing is wrong", problems.list.count, 0);
    rows_expect_str("env", stack->spec.env, STR("prod"));
    rows_expect_int("security", stack->spec.security, TOGGLE_DISABLED);
    rows_expect_int("observability", stack->spec.observability, TOGGLE_UNSET);
    rows_expect_int("not given", STACK_GIVEN(&stack->spec, ROW_stack_spec_observability), 0);
    rows_expect_int("given", STACK_GIVEN(&stack->spec, ROW_stack_spec_env), 1);
    rows_expect_str("operator",
                    stack->spec.targets.selector.match_expressions.items[0].op, STR("In"));
    rows_expect_int("values",
                    stack->spec.targets.selector.match_expressions.items[0].values.count, 2);
    rows_expect_str("name in the repository", chart_in_repo(chart), STR("y"));
    rows_expect_str("inline", json_raw(chart->values.inline_), STR("{\"k\":[1]}"));
    rows_expect("optional", chart->values.config_map_refs.items[0].optional, "true");
    rows_expect("wait is said to be false", !chart->wait && STACK_GIVEN(chart, ROW_chart_wait), "so");
    rows_expect_int("failures", stack->spec.rollout.max_failures, -1);
}

static const struct {
    const char *says, *document, *found, *remedy;
} tops[] = {
    { "not even an object", "[]",
      "!shape.kind apiVersion; !shape.kind kind; !shape.required spec", NULL },
    { "a later version", "{\"apiVersion\":\"herd.suse.com/v2\",\"kind\":\"Stack\",\"spec\":" SPEC("") "}",
      "!shape.kind apiVersion", NULL },
    { "another kind", "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Heap\",\"spec\":" SPEC("") "}",
      "!shape.kind kind", "write apiVersion: herd.suse.com/v1 and kind: Stack" },
    { "a field of spec at the top",
      "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"charts\":[],\"spec\":" SPEC("") "}",
      "!shape.unknown-field charts", "put it under spec" },
    { "a top that is nearly right", "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"Spec\":{},\"spec\":" SPEC("") "}",
      "!shape.unknown-field Spec", "correct the name, or remove the field" },
    { "no spec", "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\"}", "!shape.required spec", NULL },
};

static void documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems = problems_new(arena);

        stack_decode(arena, test_json(arena, str_of(tops[i].document)), &problems);
        problems_sort(&problems);
        rows_expect_str(tops[i].says, findings_text(arena, &problems), str_of(tops[i].found));
        if (tops[i].remedy)
            rows_expect_str(tops[i].says, problems.list.items[0].remedy, str_of(tops[i].remedy));
    }
}

static void long_lists_are_cut_and_told(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 1024);
    struct problems problems;

    (void)state;
    strbuf_lit(&text, "{" TARGETS ",\"charts\":[");
    for (int i = 0; i < 1001; i++)
        strbuf_fmt(&text, "%s{\"name\":\"c%d\",\"repo\":\"r\",\"version\":\"1\"}", i ? "," : "", i);
    strbuf_lit(&text, "]}");

    const struct stack *stack = decode_spec(arena, strbuf_str(&text).at, &problems);

    rows_expect_str("told", findings_text(arena, &problems), STR("!shape.bounds spec.charts"));
    rows_expect_int("cut", stack->spec.charts.count, 1000);
}

static void one_rule_is_not_told_without_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 1024);
    struct problems problems;

    (void)state;
    strbuf_lit(&text, "{" TARGETS "," CHARTS);
    for (int i = 0; i < 5000; i++)
        strbuf_fmt(&text, ",\"field%d\":1", i);
    strbuf_lit(&text, ",\"paused\":1}");
    decode_spec(arena, strbuf_str(&text).at, &problems);
    /* 100 of them, one that counts the rest, and what another rule found. */
    rows_expect_int("told", problems.list.count, 102);
    rows_expect_int("denied", problems.denied, 102);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(documents),
        cmocka_unit_test(long_lists_are_cut_and_told),
        cmocka_unit_test(one_rule_is_not_told_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
