/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h: the ids of distributed traces, and the text by which one program tells them to another.
 * https://www.w3.org/TR/trace-context/ (version 00). Pure. */
#ifndef HERD_TEXT_TRACE_H
#define HERD_TEXT_TRACE_H

#include "base/str.h"

enum { TRACE_ID_LEN = 32, SPAN_ID_LEN = 16, TRACEPARENT_LEN = 55 };

/* A span, as others may refer to it. Both ids are lower-case hex digits, not all of them zero. */
struct trace_context {
    struct str trace_id; /* TRACE_ID_LEN; "" = none */
    struct str span_id;  /* SPAN_ID_LEN */
    bool sampled;        /* false: whoever began the trace wants no spans of it */
};

/* False: it is not a traceparent of version 00, to the letter. The ids borrow from `text`. */
bool traceparent_read(struct str text, struct trace_context *ret_context);
struct str traceparent_write(struct arena *arena, const struct trace_context *context);

/* Ids made of a text that names the thing: the same text gives the same ids, so that a thing which
 * is told twice, also after a restart, is told as one. */
struct str trace_id_from(struct arena *arena, struct str name);
struct str span_id_from(struct arena *arena, struct str name);

#endif
