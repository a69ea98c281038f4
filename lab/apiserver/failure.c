/* SPDX-License-Identifier: Apache-2.0 */
/* failure.c: Status documents with the API server's own texts. */
#include "lab/apiserver/failure.h"

#include "text/json_write.h"

struct failure failure_new(struct arena *arena)
{
    struct failure f = { .arena = arena };

    f.causes = findings_new(arena, 0);
    return f;
}

int fail(struct failure *f, int code, const char *reason, const char *format, ...)
{
    va_list args;

    f->code = code;
    f->reason = str_of(reason);
    va_start(args, format);
    f->message = str_vfmt(f->arena, format, args);
    va_end(args);
    f->has_details = false;
    f->group = f->kind = f->name = STR("");
    f->causes = findings_new(f->arena, 0);
    return -1;
}

static void details(struct failure *f, const struct failure_subject *of)
{
    f->has_details = true;
    f->group = of->group;
    f->kind = of->plural;
    f->name = of->name;
}

/* "stacks.herd.suse.com", "configmaps" */
static struct str qualified(struct failure *f, struct str name, struct str group)
{
    if (group.len == 0)
        return name;
    return str_fmt(f->arena, "%.*s.%.*s", STR_ARG(name), STR_ARG(group));
}

int fail_not_found(struct failure *f, const struct failure_subject *of)
{
    fail(f, 404, "NotFound", "%.*s \"%.*s\" not found",
         STR_ARG(qualified(f, of->plural, of->group)), STR_ARG(of->name));
    details(f, of);
    return -1;
}

int fail_already_exists(struct failure *f, const struct failure_subject *of)
{
    fail(f, 409, "AlreadyExists", "%.*s \"%.*s\" already exists",
         STR_ARG(qualified(f, of->plural, of->group)), STR_ARG(of->name));
    details(f, of);
    return -1;
}

int fail_conflict(struct failure *f, const struct failure_subject *of, struct str why)
{
    fail(f, 409, "Conflict", "Operation cannot be fulfilled on %.*s \"%.*s\": %.*s",
         STR_ARG(qualified(f, of->plural, of->group)), STR_ARG(of->name), STR_ARG(why));
    details(f, of);
    return -1;
}

int fail_modified(struct failure *f, const struct failure_subject *of)
{
    return fail_conflict(f, of,
                         STR("the object has been modified; please apply your changes to "
                             "the latest version and try again"));
}

/* "x is forbidden: why"; of a collection without a name, of a path without anything. */
int fail_forbidden(struct failure *f, const struct failure_subject *of, struct str why)
{
    if (of->name.len)
        fail(f, 403, "Forbidden", "%.*s \"%.*s\" is forbidden: %.*s",
             STR_ARG(qualified(f, of->plural, of->group)), STR_ARG(of->name), STR_ARG(why));
    else if (of->plural.len)
        fail(f, 403, "Forbidden", "%.*s is forbidden: %.*s",
             STR_ARG(qualified(f, of->plural, of->group)), STR_ARG(why));
    else
        fail(f, 403, "Forbidden", "forbidden: %.*s", STR_ARG(why));
    details(f, of);
    return -1;
}

int fail_invalid(struct failure *f, const struct failure_subject *of, const struct findings *causes)
{
    fail(f, 422, "Invalid", "%.*s \"%.*s\" is invalid: %.*s",
         STR_ARG(qualified(f, of->kind, of->group)), STR_ARG(of->name),
         STR_ARG(findings_join(f->arena, causes)));
    details(f, of);
    f->kind = of->kind;
    f->causes = *causes;
    return -1;
}

int fail_bad_request(struct failure *f, struct str message)
{
    return fail(f, 400, "BadRequest", "%.*s", STR_ARG(message));
}

int fail_internal(struct failure *f, struct str message)
{
    fail(f, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(message));
    f->has_details = true;
    findings_push(&f->causes, (struct finding){ FINDING_INVALID, { "", 0 }, message });
    return -1;
}

int fail_expired(struct failure *f, struct str message)
{
    return fail(f, 410, "Expired", "%.*s", STR_ARG(message));
}

static const struct generic {
    int code;
    const char *reason, *message;
} generics[] = {
    { 404, "NotFound", "the server could not find the requested resource" },
    { 405, "MethodNotAllowed", "the server does not allow this method on the requested resource" },
    { 422, "Invalid", "the server rejected our request due to an error in our request" },
};

int fail_generic(struct failure *f, int code)
{
    for (size_t i = 0; i < sizeof(generics) / sizeof(generics[0]); i++)
        if (generics[i].code == code)
            fail(f, code, generics[i].reason, "%s", generics[i].message);
    f->has_details = true;
    return -1;
}

int fail_text(struct failure *f, int code, struct str text)
{
    fail(f, code, "", "%.*s", STR_ARG(str_trim(text)));
    f->text = text;
    return -1;
}

int fail_not_supported(struct failure *f, const struct failure_subject *of, const char *action)
{
    fail(f, 405, "MethodNotAllowed", "%s is not supported on resources of kind \"%.*s\"", action,
         STR_ARG(qualified(f, of->plural, of->group)));
    details(f, of);
    f->name = STR("");
    return -1;
}

int fail_media_type(struct failure *f, const char *accepted)
{
    return fail(f, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "%s",
                accepted);
}

static void put_details(struct json_writer *w, const struct failure *f)
{
    json_put_key(w, STR("details"));
    json_open_object(w);
    if (f->name.len)
        json_field_str(w, "name", f->name);
    if (f->group.len)
        json_field_str(w, "group", f->group);
    if (f->kind.len)
        json_field_str(w, "kind", f->kind);
    if (f->causes.count) {
        json_put_key(w, STR("causes"));
        json_open_array(w);
        for (uint32_t i = 0; i < f->causes.count; i++) {
            const struct finding *cause = &f->causes.items[i];

            json_open_object(w);
            /* An internal error's only cause is a text without reason and field. */
            if (cause->field.len)
                json_field_str(w, "reason", str_of(finding_reason(cause->kind)));
            json_field_str(w, "message", cause->body);
            if (cause->field.len)
                json_field_str(w, "field", cause->field);
            json_close_object(w);
        }
        json_close_array(w);
    }
    if (f->retry_after_s)
        json_field_int(w, "retryAfterSeconds", f->retry_after_s);
    json_close_object(w);
}

struct str failure_status(const struct failure *f)
{
    if (f->status.len)
        return f->status;

    struct strbuf out = strbuf_new(f->arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("Status"));
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_raw(&w, "metadata", STR("{}"));
    json_field_str(&w, "status", STR("Failure"));
    json_field_str(&w, "message", f->message);
    if (f->reason.len)
        json_field_str(&w, "reason", f->reason);
    if (f->has_details || f->retry_after_s)
        put_details(&w, f);
    json_field_int(&w, "code", f->code);
    json_close_object(&w);
    return strbuf_str(&out);
}

int failure_to_error(const struct failure *f, struct error *err)
{
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        if (str_eq(f->reason, str_of(error_reason((enum error_code)code))))
            return error_set(err, (enum error_code)code, "%.*s", STR_ARG(f->message));
    return error_set(err, error_from_http_status(f->code), "%.*s", STR_ARG(f->message));
}
