/* SPDX-License-Identifier: Apache-2.0 */
/* apistatus.c: Status documents, written and understood.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go (Status, StatusReason, StatusDetails). */
#include "kube/apistatus.h"

enum { SHOWN_BODY = 200, SHOWN_MESSAGE = 800, ANSWER_BYTES_READ = 256 * 1024 };

static void write_causes(const struct problems *causes, struct json_writer *w)
{
    json_put_key(w, STR("causes"));
    json_open_array(w);
    for (uint32_t i = 0; i < causes->list.count; i++) {
        const struct problem *p = &causes->list.items[i];
        struct str message = p->message;

        if (p->severity != SEVERITY_DENY)
            continue;
        if (p->remedy.len)
            message = str_fmt(w->out->arena, "%.*s; %.*s", STR_ARG(message), STR_ARG(p->remedy));
        json_open_object(w);
        json_field_str(w, "reason", str_of(problem_cause_name(p->cause)));
        json_field_str(w, "message", message);
        json_field_str(w, "field", p->field);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_details(const struct kube_status *status, struct json_writer *w)
{
    json_put_key(w, STR("details"));
    json_open_object(w);
    if (status->name.len)
        json_field_str(w, "name", status->name);
    if (status->group.len)
        json_field_str(w, "group", status->group);
    if (status->kind.len)
        json_field_str(w, "kind", status->kind);
    if (status->causes && status->causes->denied)
        write_causes(status->causes, w);
    if (status->retry_after_s > 0)
        json_field_int(w, "retryAfterSeconds", status->retry_after_s);
    json_close_object(w);
}

void kube_status_write(const struct kube_status *status, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("Status"));
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_raw(&w, "metadata", STR("{}"));
    json_field_str(&w, "status", STR("Failure"));
    json_field_str(&w, "message", status->message);
    if (status->reason.len)
        json_field_str(&w, "reason", status->reason);
    if (status->kind.len || status->name.len || status->retry_after_s > 0 ||
        (status->causes && status->causes->denied))
        write_details(status, &w);
    json_field_int(&w, "code", status->code);
    json_close_object(&w);
}

/* Reasons that are not the name of one of our codes. */
static const struct {
    struct str reason;
    enum error_code code;
} other_reasons[] = {
    { STR_INIT("Gone"), ERROR_EXPIRED },
    { STR_INIT("ServerTimeout"), ERROR_UNAVAILABLE },
    { STR_INIT("StoreReadError"), ERROR_INTERNAL },
};

static bool code_from_reason(struct str reason, enum error_code *ret_code)
{
    if (reason.len == 0)
        return false;
    for (size_t i = 0; i < sizeof(other_reasons) / sizeof(other_reasons[0]); i++)
        if (str_eq(reason, other_reasons[i].reason)) {
            *ret_code = other_reasons[i].code;
            return true;
        }
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        if (str_eq(reason, str_of(error_reason((enum error_code)code)))) {
            *ret_code = (enum error_code)code;
            return true;
        }
    return false;
}

static enum error_code code_from_http(int http_status)
{
    /* Without a reason, 409 is somebody else's write: read again and retry. */
    return http_status == 409 ? ERROR_CONFLICT : error_from_http_status(http_status);
}

static void error_from_status(struct arena *arena, int http_status, struct json status,
                              struct error *ret_error)
{
    struct str message = json_str(json_get(status, STR("message")));
    struct str reason = json_str(json_get(status, STR("reason")));
    enum error_code code = ERROR_NONE;
    int64_t number;

    if (json_int64(json_get(status, STR("code")), &number) && number >= 400 && number < 600)
        http_status = (int)number;
    if (!code_from_reason(reason, &code))
        code = code_from_http(http_status);
    if (message.len == 0)
        message = reason.len ? reason : STR("no message was given");
    error_set(ret_error, code, "%.*s (HTTP %d)", STR_ARG(str_shown(arena, message, SHOWN_MESSAGE)),
              http_status);
}

void kube_error_from_answer(int http_status, struct str body, struct error *ret_error)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json_limits limits = json_limits_default;
    struct json root;
    struct error ignored;
    struct str shown = str_trim(body);

    limits.bytes_max = ANSWER_BYTES_READ;
    if (json_read(arena, body, &limits, &root, &ignored) == 0 &&
        str_eq(json_str(json_get(root, STR("kind"))), STR("Status"))) {
        error_from_status(arena, http_status, root, ret_error);
        return;
    }
    if (shown.len == 0)
        error_set(ret_error, code_from_http(http_status), "HTTP %d with an empty body",
                  http_status);
    else
        error_set(ret_error, code_from_http(http_status),
                  "HTTP %d with a body that is no Kubernetes Status: %.*s", http_status,
                  STR_ARG(str_shown(arena, shown, SHOWN_BODY)));
}
