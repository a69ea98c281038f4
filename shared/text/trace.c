/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c: 00-TRACE_ID-SPAN_ID-FLAGS, and ids as slices of a digest. */
#include "text/trace.h"

#include "text/digest.h"

/* Lower-case, as the specification wants ids. */
static bool is_hex(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!((text.at[i] >= '0' && text.at[i] <= '9') || (text.at[i] >= 'a' && text.at[i] <= 'f')))
            return false;
    return true;
}

static bool is_id(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '0')
            return is_hex(text);
    return false;
}

bool traceparent_read(struct str text, struct trace_context *ret_context)
{
    const size_t span_at = 3 + TRACE_ID_LEN + 1;
    const size_t flags_at = span_at + SPAN_ID_LEN + 1;
    struct str trace_id = str_slice(text, 3, 3 + TRACE_ID_LEN);
    struct str span_id = str_slice(text, span_at, span_at + SPAN_ID_LEN);
    struct str flags = str_slice(text, flags_at, text.len);

    if (text.len != TRACEPARENT_LEN || !str_starts(text, STR("00-")) ||
        text.at[span_at - 1] != '-' || text.at[flags_at - 1] != '-' || !is_id(trace_id) ||
        !is_id(span_id) || !is_hex(flags))
        return false;
    /* The last bit is "sampled": that of an odd digit. */
    *ret_context = (struct trace_context){ trace_id, span_id,
                                           str_find_char(STR("13579bdf"), flags.at[1], 0) >= 0 };
    return true;
}

struct str traceparent_write(struct arena *arena, const struct trace_context *context)
{
    return str_fmt(arena, "00-%.*s-%.*s-%s", STR_ARG(context->trace_id), STR_ARG(context->span_id),
                   context->sampled ? "01" : "00");
}

struct str trace_id_from(struct arena *arena, struct str name)
{
    return str_slice(digest_sha256_hex(arena, name), 0, TRACE_ID_LEN);
}

struct str span_id_from(struct arena *arena, struct str name)
{
    return str_slice(digest_sha256_hex(arena, name), TRACE_ID_LEN, TRACE_ID_LEN + SPAN_ID_LEN);
}
