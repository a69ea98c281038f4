/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c: the annotation of the new object beside that of the stored one. */
#include "webhook/trace.h"

#include "kube/meta.h"
#include "stack/model/stack.h"

static struct str annotation_of(struct json object)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    return kube_annotation(&meta, STR(STACK_TRACEPARENT));
}

struct review_trace review_trace_of(struct arena *arena, const char *route,
                                    const struct admission_request *request, struct json old_object,
                                    bool changes)
{
    struct str given = annotation_of(request->object);
    struct str kept = annotation_of(old_object);
    struct str name = str_fmt(arena, "%s\n%.*s", route, STR_ARG(request->uid));
    struct review_trace trace = { .stored = kept, .changes = changes };
    struct trace_context parent;

    /* What an editor sends back unchanged is of the change before. */
    if (!str_eq(given, kept) && traceparent_read(given, &parent)) {
        trace.context =
            (struct trace_context){ parent.trace_id, span_id_from(arena, name), parent.sampled };
        trace.parent_id = parent.span_id;
        trace.stored = changes ? given : kept;
        return trace;
    }
    trace.context =
        (struct trace_context){ trace_id_from(arena, name), span_id_from(arena, name), true };
    if (changes)
        trace.stored = traceparent_write(arena, &trace.context);
    return trace;
}
