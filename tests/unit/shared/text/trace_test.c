/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c: which texts are a traceparent, and what spans look like on the wire. */
#include "support/rows.h"

#include "text/json.h"
#include "text/otlp.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static const struct {
    const char *row;
    const char *text;
    bool is_one, sampled;
} rows[] = {
    { "a sampled one", "00-" TRACE "-" SPAN "-01", true, true },
    { "one that is not sampled", "00-" TRACE "-" SPAN "-00", true, false },
    { "flags that mean something else", "00-" TRACE "-" SPAN "-fe", true, false },
    { "sampled, beside other flags", "00-" TRACE "-" SPAN "-0b", true, true },
    { "nothing", "", false, false },
    { "another version", "01-" TRACE "-" SPAN "-01", false, false },
    { "upper case", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", false, false },
    { "upper-case flags", "00-" TRACE "-" SPAN "-0B", false, false },
    { "no digit", "00-4bf92f3577b34da6a3ce929d0e0e473g-" SPAN "-01", false, false },
    { "a trace id of zeros", "00-00000000000000000000000000000000-" SPAN "-01", false, false },
    { "a span id of zeros", "00-" TRACE "-0000000000000000-01", false, false },
    { "too short", "00-" TRACE "-" SPAN "-0", false, false },
    { "more behind it", "00-" TRACE "-" SPAN "-01-", false, false },
    { "a line end", "00-" TRACE "-" SPAN "-01\n", false, false },
    { "no dash behind the trace", "00-" TRACE "0" SPAN "-01", false, false },
    { "no dash before the flags", "00-" TRACE "-" SPAN "001", false, false },
};

static void traceparents_are_read_to_the_letter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trace_context context = { STR(""), STR(""), false };
        bool is_one = traceparent_read(str_of(rows[i].text), &context);

        rows_expect_int(rows[i].row, is_one, rows[i].is_one);
        rows_expect_int(rows[i].row, context.sampled, rows[i].sampled);
        rows_expect_str(rows[i].row, context.trace_id, is_one ? STR(TRACE) : STR(""));
        rows_expect_str(rows[i].row, context.span_id, is_one ? STR(SPAN) : STR(""));
    }
}

static void ids_are_those_of_the_name(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct trace_context made = { trace_id_from(arena, STR("a")),
                                        span_id_from(arena, STR("a")), true };
    struct trace_context read;

    (void)state;
    assert_true(traceparent_read(traceparent_write(arena, &made), &read));
    rows_expect_str("the same name", trace_id_from(arena, STR("a")), read.trace_id);
    rows_expect_str("the same name", span_id_from(arena, STR("a")), read.span_id);
    rows_expect("another name", !str_eq(trace_id_from(arena, STR("b")), read.trace_id),
                "has another trace");
    rows_expect("another name", !str_eq(span_id_from(arena, STR("b")), read.span_id),
                "has another span");
}

static void a_request_is_otlp(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf one = strbuf_new(arena, 0);
    struct strbuf out = strbuf_new(arena, 0);
    struct str spans[2];
    const struct otlp_source source = { STR("herd-test"), STR("1.2.3"), STR("") };
    struct otlp_span span = {
        .context = { STR(TRACE), STR(SPAN), true },
        .name = "install",
        .kind = OTLP_INTERNAL,
        .start_us = 1700000000000001,
        .end_us = 1700000000500000,
        .attributes = { OTLP_STR("herd.chart", STR("a\"b")), OTLP_STR("herd.none", STR("")),
                        OTLP_INT("herd.attempt", 9007199254740993) },
        .attribute_count = 3,
    };

    (void)state;
    otlp_write_span(&span, &one);
    spans[0] = str_dup(arena, strbuf_str(&one));
    one.len = 0;
    span.parent_id = STR("00f067aa0ba902b8");
    span.failed = true;
    span.message = STR("no\nroom");
    span.attribute_count = 0;
    span.end_us = 5; /* a clock that was set back */
    otlp_write_span(&span, &one);
    spans[1] = strbuf_str(&one);
    otlp_write_request(&source, spans, 2, &out);
    rows_expect_str(
        "two spans", strbuf_str(&out),
        STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":["
            "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"herd-test\"}},"
            "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2.3\"}}]},"
            "\"scopeSpans\":[{\"scope\":{\"name\":\"herd-test\"},\"spans\":["
            "{\"traceId\":\"" TRACE "\",\"spanId\":\"" SPAN "\",\"name\":\"install\",\"kind\":1,"
            "\"startTimeUnixNano\":\"1700000000000001000\","
            "\"endTimeUnixNano\":\"1700000000500000000\",\"attributes\":["
            "{\"key\":\"herd.chart\",\"value\":{\"stringValue\":\"a\\\"b\"}},"
            "{\"key\":\"herd.attempt\",\"value\":{\"intValue\":\"9007199254740993\"}}]},"
            "{\"traceId\":\"" TRACE "\",\"spanId\":\"" SPAN
            "\",\"parentSpanId\":\"00f067aa0ba902b8\",\"name\":\"install\",\"kind\":1,"
            "\"startTimeUnixNano\":\"1700000000000001000\","
            "\"endTimeUnixNano\":\"1700000000000001000\",\"attributes\":[],"
            "\"status\":{\"code\":2,\"message\":\"no\\\\x0aroom\"}}]}]}]}"));
}

static const struct {
    const char *row;
    const char *body;
    uint32_t rejected; /* of 5 */
    const char *why;
} answers[] = {
    { "all were taken", "{}", 0, "" },
    { "an empty part", "{\"partialSuccess\":{}}", 0, "" },
    { "a count as text", "{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"old\"}}", 2,
      "old" },
    { "a count as number", "{\"partialSuccess\":{\"rejectedSpans\":3}}", 3, "" },
    { "more than there were", "{\"partialSuccess\":{\"rejectedSpans\":\"99999999999\"}}", 5, "" },
    { "fewer than none", "{\"partialSuccess\":{\"rejectedSpans\":-1}}", 0, "" },
    { "a warning", "{\"partialSuccess\":{\"errorMessage\":\"a\\u001bb\"}}", 0, "a\\x1bb" },
    { "no JSON", "<html>", 0, "" },
    { "nothing", "", 0, "" },
};

static void answers_say_what_was_not_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str why;

        rows_expect_int(answers[i].row,
                        otlp_read_rejected(arena, str_of(answers[i].body), 5, &why),
                        answers[i].rejected);
        rows_expect_str(answers[i].row, why, str_of(answers[i].why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traceparents_are_read_to_the_letter),
        cmocka_unit_test(ids_are_those_of_the_name),
        cmocka_unit_test(a_request_is_otlp),
        cmocka_unit_test(answers_say_what_was_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
