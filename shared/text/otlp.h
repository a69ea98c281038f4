/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h: spans as OpenTelemetry's collectors take them: OTLP/HTTP with JSON bodies.
 * https://opentelemetry.io/docs/specs/otlp/ (1.x): ids are hex, 64-bit integers are text, words are
 * numbers. Pure. */
#ifndef HERD_TEXT_OTLP_H
#define HERD_TEXT_OTLP_H

#include "base/error.h"
#include "base/list.h"
#include "text/trace.h"

struct otlp_attribute {
    const char *key;
    struct str text; /* cut at OTLP_TEXT_MAX; "" = it is left out */
    int64_t number;
    bool is_number;
};

#define OTLP_STR(key, s) ((struct otlp_attribute){ (key), (s), 0, false })
#define OTLP_INT(key, n) ((struct otlp_attribute){ (key), { NULL, 0 }, (int64_t)(n), true })

enum { OTLP_ATTRIBUTES_MAX = 10, OTLP_TEXT_MAX = 512 };

enum otlp_kind { OTLP_INTERNAL = 1, OTLP_SERVER = 2 };

/* Something that took its time. */
struct otlp_span {
    struct trace_context context;
    struct str parent_id; /* the span that it is a part of; "" = the trace begins with it */
    const char *name;     /* of few different ones: what tells spans apart is in attributes */
    enum otlp_kind kind;
    int64_t start_us, end_us; /* wall */
    bool failed;
    struct str message; /* of a failure; cut at OTLP_TEXT_MAX */
    struct otlp_attribute attributes[OTLP_ATTRIBUTES_MAX];
    uint32_t attribute_count;
};
LIST_DEFINE(otlp_spans, struct otlp_span)

/* Who tells. */
struct otlp_source {
    struct str service; /* service.name */
    struct str version;
    struct str instance; /* "" = left out */
};

/* One span as a JSON object. */
void otlp_write_span(const struct otlp_span *span, struct strbuf *out);
/* An ExportTraceServiceRequest of such objects. */
void otlp_write_request(const struct otlp_source *source, const struct str *spans, uint32_t count,
                        struct strbuf *out);

/* Of the body of a 2xx answer: how many spans the collector did not take, at most `sent`, and why,
 * fit to show; 0 and "" also of what is no such answer, which is no failure. */
uint32_t otlp_read_rejected(struct arena *arena, struct str body, uint32_t sent,
                            struct str *ret_why);

#endif
