/* admission.c: the review's envelope. Reading looks at the envelope only: what the objects hold is
 * left as views. Writing goes straight into the answer's bytes. */
#include "kube/admission.h"

#include "kube/apistatus.h"
#include "text/base64.h"
#include "text/json_write.h"

/* k8s.io/apiserver/pkg/endpoints/filters/warning.go cuts each warning at 256 when all of them
 * exceed 4096, and then drops the rest. The last line, which counts, needs its room. */
enum { WARNING_BYTES = 256, WARNINGS_BYTES_ALL = 4096, WARNING_COUNT_BYTES = 64, UID_BYTES = 256 };

static const struct str operation_names[] = {
    [ADMISSION_CREATE] = STR_INIT("CREATE"),
    [ADMISSION_UPDATE] = STR_INIT("UPDATE"),
    [ADMISSION_DELETE] = STR_INIT("DELETE"),
    [ADMISSION_CONNECT] = STR_INIT("CONNECT"),
};

static bool operation_from(struct str name, enum admission_operation *ret_operation)
{
    for (enum admission_operation op = ADMISSION_CREATE; op <= ADMISSION_CONNECT; op++)
        if (str_eq(name, operation_names[op])) {
            *ret_operation = op;
            return true;
        }
    return false;
}

static void read_resource(struct json resource, struct json kind, struct kube_resource *ret)
{
    struct json_iter it = json_iter(resource);

    while (json_next(&it)) {
        if (str_eq(it.key, STR("resource")))
            ret->plural = json_str(it.value);
        else if (str_eq(it.key, STR("group")))
            ret->group = json_str(it.value);
        else if (str_eq(it.key, STR("version")))
            ret->version = json_str(it.value);
    }
    ret->kind = json_str(json_get(kind, STR("kind")));
}

static void read_user(struct json user, struct admission_request *request)
{
    request->username = json_str(json_get(user, STR("username")));
    request->user_uid = json_str(json_get(user, STR("uid")));
    request->groups = json_get(user, STR("groups"));
    request->user_extra = json_get(user, STR("extra"));
}

static int check_envelope(struct json root, struct json request, struct error *err)
{
    if (!str_eq(json_str(json_get(root, STR("kind"))), STR("AdmissionReview")) ||
        !str_eq(json_str(json_get(root, STR("apiVersion"))), STR("admission.k8s.io/v1")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "the body must be an AdmissionReview of admission.k8s.io/v1: set "
                         "admissionReviewVersions: [v1] in the webhook configuration");
    if (!json_is(request, JSON_OBJECT))
        return error_at(err, ERROR_BAD_REQUEST,
                        &(struct path){ NULL, STR("request"), 0, PATH_FIELD },
                        "the AdmissionReview has no request");
    return 0;
}

static int missing(struct error *err, struct str field, const char *what)
{
    struct path request = path_field(NULL, STR("request"));
    struct path at = path_field(&request, field);

    return error_at(err, ERROR_BAD_REQUEST, &at, "the AdmissionReview's request %s", what);
}

int admission_read(struct arena *arena, struct str body, struct admission_request *ret_request,
                   struct error *err)
{
    struct admission_request request = { .operation = ADMISSION_CREATE };
    struct json root;

    if (json_read(arena, body, &json_limits_default, &root, err) < 0)
        return error_wrap(err, "AdmissionReview");

    struct json of = json_get(root, STR("request"));

    if (check_envelope(root, of, err) < 0)
        return -1;
    request.uid = json_str(json_get(of, STR("uid")));
    request.sub_resource = json_str(json_get(of, STR("subResource")));
    request.name = json_str(json_get(of, STR("name")));
    request.namespace_ = json_str(json_get(of, STR("namespace")));
    request.object = json_get(of, STR("object"));
    request.old_object = json_get(of, STR("oldObject"));
    request.dry_run = json_bool(json_get(of, STR("dryRun")));
    read_resource(json_get(of, STR("resource")), json_get(of, STR("kind")), &request.resource);
    request.resource.namespaced = request.namespace_.len > 0;
    read_user(json_get(of, STR("userInfo")), &request);

    if (request.uid.len == 0 || request.uid.len > UID_BYTES)
        return missing(err, STR("uid"), "needs a uid of 1 to 256 bytes");
    if (request.resource.plural.len == 0 || request.resource.version.len == 0)
        return missing(err, STR("resource"), "needs a resource with group, version and resource");
    if (!operation_from(json_str(json_get(of, STR("operation"))), &request.operation))
        return missing(err, STR("operation"),
                       "needs an operation: CREATE, UPDATE, DELETE or CONNECT");
    *ret_request = request;
    return 0;
}

void admission_warn(struct admission_answer *answer, struct arena *arena, struct str text)
{
    struct str warning = str_shown(arena, text, WARNING_BYTES - 3);

    if (!answer->warnings.arena)
        answer->warnings.arena = arena;
    if (answer->warnings_left_out == 0 &&
        answer->warning_bytes + warning.len <= WARNINGS_BYTES_ALL - WARNING_COUNT_BYTES) {
        answer->warning_bytes += warning.len;
        str_list_push(&answer->warnings, warning);
        return;
    }
    answer->warnings_left_out++;
    warning = str_fmt(arena, "and %u more warnings", (unsigned)answer->warnings_left_out);
    if (answer->warnings_left_out == 1)
        str_list_push(&answer->warnings, STR("and 1 more warning"));
    else
        answer->warnings.items[answer->warnings.count - 1] = warning;
}

static void write_refusal(const struct admission_answer *answer, struct json_writer *w)
{
    struct kube_status status = {
        .reason = answer->reason,
        .message = answer->message,
        /* The API server takes a refusal without an error's code for a fault of ours. */
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
        write_refusal(answer, &w);
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
