/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: the answer, written straight into its bytes. */
#include "kube/admission.h"

#include "kube/apistatus.h"
#include "text/base64.h"
#include "text/json_write.h"

/* k8s.io/apiserver/pkg/endpoints/filters/warning.go cuts each warning at 256 when all of them
 * exceed 4096, and then drops the rest. The last line, which counts, needs its room. */
enum { WARNINGS_BYTES_ALL = 4096, WARNING_COUNT_BYTES = 64 };

/* False if there is no room. */
static bool add_line(struct admission_answer *answer, struct arena *arena, struct str text)
{
    struct str line = str_shown(arena, text, ADMISSION_WARNING_BYTES);

    if (!answer->warnings.arena)
        answer->warnings.arena = arena;
    if (answer->warnings_left_out ||
        answer->warning_bytes + line.len > WARNINGS_BYTES_ALL - WARNING_COUNT_BYTES)
        return false;
    answer->warning_bytes += line.len;
    str_list_push(&answer->warnings, line);
    return true;
}

void admission_note(struct admission_answer *answer, struct arena *arena,
                    const struct str_list *notes)
{
    uint32_t told = 0;

    while (told < notes->count && add_line(answer, arena, notes->items[told]))
        told++;
    if (told < notes->count && !answer->warnings_left_out)
        str_list_push(&answer->warnings, str_fmt(arena, "and %u more %s", notes->count - told,
                                                 notes->count - told == 1 ? "line" : "lines"));
}

void admission_warn(struct admission_answer *answer, struct arena *arena, struct str text)
{
    struct str warning;

    if (add_line(answer, arena, text))
        return;
    answer->warnings_left_out++;
    warning = str_fmt(arena, "and %u more warnings", (unsigned)answer->warnings_left_out);
    if (answer->warnings_left_out == 1)
        str_list_push(&answer->warnings, STR("and 1 more warning"));
    else
        answer->warnings.items[answer->warnings.count - 1] = warning;
}

static void write_rejection(const struct admission_answer *answer, struct json_writer *w)
{
    struct kube_status status = {
        .reason = answer->reason,
        .message = answer->message,
        /* The API server takes a rejection without an error's code for a fault of ours. */
        .code = answer->code >= 400 && answer->code < 600 ? answer->code : 403,
        .kind = answer->resource.kind,
        .group = answer->resource.group,
        .name = answer->name,
        .causes = answer->causes,
    };

    json_put_key(w, STR("status"));
    kube_status_write(&status, w->out);
    w->needs_comma = true;
}

static void write_warnings(const struct str_list *warnings, struct json_writer *w)
{
    json_put_key(w, STR("warnings"));
    json_open_array(w);
    for (uint32_t i = 0; i < warnings->count; i++)
        json_put_str(w, warnings->items[i]);
    json_close_array(w);
}

static void write_audit(const struct str_list *audit, struct json_writer *w)
{
    json_put_key(w, STR("auditAnnotations"));
    json_open_object(w);
    for (uint32_t i = 0; i + 1 < audit->count; i += 2) {
        json_put_key(w, audit->items[i]);
        json_put_str(w, audit->items[i + 1]);
    }
    json_close_object(w);
}

void admission_write(const struct admission_answer *answer, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("AdmissionReview"));
    json_field_str(&w, "apiVersion", STR("admission.k8s.io/v1"));
    json_put_key(&w, STR("response"));
    json_open_object(&w);
    json_field_str(&w, "uid", answer->uid);
    json_field_bool(&w, "allowed", answer->allowed);
    if (!answer->allowed)
        write_rejection(answer, &w);
    else if (answer->patch.len && !str_eq(answer->patch, STR("[]"))) {
        json_field_str(&w, "patch", base64_encode(out->arena, answer->patch));
        json_field_str(&w, "patchType", STR("JSONPatch"));
    }
    if (answer->warnings.count)
        write_warnings(&answer->warnings, &w);
    if (answer->audit.count > 1)
        write_audit(&answer->audit, &w);
    json_close_object(&w);
    json_close_object(&w);
}
