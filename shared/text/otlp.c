/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.c: the few members of OTLP's messages that Herd fills. */
#include "text/otlp.h"

#include "text/json.h"
#include "text/json_write.h"

enum { STATUS_ERROR = 2 };

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    json_open_object(w);
    json_field_str(w, "key", str_of(key));
    json_put_key(w, STR("value"));
    json_open_object(w);
    json_field_str(w, "stringValue", str_shown(w->out->arena, text, OTLP_TEXT_MAX));
    json_close_object(w);
    json_close_object(w);
}

/* 64-bit integers are text, so that no reader rounds them. */
static void put_number(struct json_writer *w, const char *key, int64_t number)
{
    json_open_object(w);
    json_field_str(w, "key", str_of(key));
    json_put_key(w, STR("value"));
    json_open_object(w);
    json_field_str(w, "intValue", str_fmt(w->out->arena, "%lld", (long long)number));
    json_close_object(w);
    json_close_object(w);
}

static void put_attributes(struct json_writer *w, const struct otlp_attribute *attributes,
                           uint32_t count)
{
    json_put_key(w, STR("attributes"));
    json_open_array(w);
    for (uint32_t i = 0; i < count; i++) {
        if (attributes[i].is_number)
            put_number(w, attributes[i].key, attributes[i].number);
        else if (attributes[i].text.len)
            put_text(w, attributes[i].key, attributes[i].text);
    }
    json_close_array(w);
}

static void put_time(struct json_writer *w, struct str key, int64_t wall_us)
{
    json_put_key(w, key);
    json_put_str(w, str_fmt(w->out->arena, "%lld000", (long long)(wall_us > 0 ? wall_us : 0)));
}

static void put_failure(struct json_writer *w, struct str message)
{
    json_put_key(w, STR("status"));
    json_open_object(w);
    json_field_int(w, "code", STATUS_ERROR);
    json_field_str(w, "message", str_shown(w->out->arena, message, OTLP_TEXT_MAX));
    json_close_object(w);
}

void otlp_write_span(const struct otlp_span *span, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "traceId", span->context.trace_id);
    json_field_str(&w, "spanId", span->context.span_id);
    if (span->parent_id.len)
        json_field_str(&w, "parentSpanId", span->parent_id);
    json_field_str(&w, "name", str_of(span->name));
    json_field_int(&w, "kind", span->kind);
    put_time(&w, STR("startTimeUnixNano"), span->start_us);
    put_time(&w, STR("endTimeUnixNano"),
             span->end_us > span->start_us ? span->end_us : span->start_us);
    put_attributes(&w, span->attributes, span->attribute_count);
    if (span->failed)
        put_failure(&w, span->message);
    json_close_object(&w);
}

static void put_source(struct json_writer *w, const struct otlp_source *source)
{
    const struct otlp_attribute attributes[] = {
        OTLP_STR("service.name", source->service),
        OTLP_STR("service.version", source->version),
        OTLP_STR("service.instance.id", source->instance),
    };

    json_put_key(w, STR("resource"));
    json_open_object(w);
    put_attributes(w, attributes, sizeof(attributes) / sizeof(attributes[0]));
    json_close_object(w);
}

static void put_scope(struct json_writer *w, const struct otlp_source *source)
{
    json_put_key(w, STR("scope"));
    json_open_object(w);
    json_field_str(w, "name", source->service);
    json_close_object(w);
}

void otlp_write_request(const struct otlp_source *source, const struct str *spans, uint32_t count,
                        struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_put_key(&w, STR("resourceSpans"));
    json_open_array(&w);
    json_open_object(&w);
    put_source(&w, source);
    json_put_key(&w, STR("scopeSpans"));
    json_open_array(&w);
    json_open_object(&w);
    put_scope(&w, source);
    json_put_key(&w, STR("spans"));
    json_open_array(&w);
    for (uint32_t i = 0; i < count; i++)
        json_put_raw(&w, spans[i]);
    json_close_array(&w);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
}

/* As text, or as the number that some collectors write. */
static uint64_t count_of(struct json value)
{
    uint64_t count = 0;
    int64_t number;

    if (json_int64(value, &number))
        return number > 0 ? (uint64_t)number : 0;
    return str_to_u64(json_str(value), &count) ? count : 0;
}

uint32_t otlp_read_rejected(struct arena *arena, struct str body, uint32_t sent,
                            struct str *ret_why)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root;
    uint64_t rejected;

    *ret_why = STR("");
    if (json_read(arena, body, &json_limits_default, &root, &ignored) < 0)
        return 0;
    rejected = count_of(json_walk(root, "partialSuccess", "rejectedSpans", NULL));
    *ret_why = str_shown(arena, json_str(json_walk(root, "partialSuccess", "errorMessage", NULL)),
                         OTLP_TEXT_MAX);
    return rejected < sent ? (uint32_t)rejected : sent;
}
