/* SPDX-License-Identifier: Apache-2.0 */
/* trace_fuzz.c: a traceparent; the same bytes as a collector's answer, and as the words of a span. */
#include "fuzz.h"

#include "text/json.h"
#include "text/otlp.h"

static void put_span(struct arena *arena, struct str words)
{
    struct strbuf out = strbuf_new(arena, 0);
    struct error err;
    struct json root;
    const struct otlp_span span = { .name = "a",
                                    .failed = true,
                                    .message = words,
                                    .attributes = { OTLP_STR("b", words) },
                                    .attribute_count = 1 };

    otlp_write_span(&span, &out);
    MUST(json_read(arena, strbuf_str(&out), &json_limits_default, &root, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str text = str_make((const char *)data, size);
    struct trace_context context, again;
    struct str why;

    if (traceparent_read(text, &context)) {
        MUST(traceparent_read(traceparent_write(arena, &context), &again));
        MUST(str_eq(again.trace_id, context.trace_id) && str_eq(again.span_id, context.span_id));
        MUST(again.sampled == context.sampled);
    }
    MUST(otlp_read_rejected(arena, text, 7, &why) <= 7);
    put_span(arena, text);
    return 0;
}
