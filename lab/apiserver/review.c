/* SPDX-License-Identifier: Apache-2.0 */
/* review.c: AdmissionReview v1 as the API server writes and reads it. Source:
 * k8s.io/api/admission/v1/types.go and k8s.io/apiserver/.../webhook/request/admissionreview.go; for
 * answers that are errors, k8s.io/client-go/rest/request.go (newUnstructuredResponseError) and
 * k8s.io/apimachinery/pkg/api/errors (NewGenericServerResponse). */
#include "lab/apiserver/admission.h"

#include "text/base64.h"
#include "text/json_write.h"

static void put_group_kind(struct json_writer *w, const struct kind *kind, bool is_resource)
{
    json_open_object(w);
    json_field_str(w, "group", kind->group);
    json_field_str(w, "version", kind->version);
    if (is_resource)
        json_field_str(w, "resource", kind->plural);
    else
        json_field_str(w, "kind", kind->kind);
    json_close_object(w);
}

static void put_user(struct json_writer *w, const struct api_caller *caller)
{
    json_open_object(w);
    json_field_str(w, "username", caller->user);
    if (caller->uid.len)
        json_field_str(w, "uid", caller->uid);
    json_put_key(w, STR("groups"));
    json_open_array(w);
    for (uint32_t i = 0; i < caller->groups.count; i++)
        json_put_str(w, caller->groups.items[i]);
    json_close_array(w);
    if (caller->extra)
        json_field_raw(w, "extra", value_json(caller->groups.arena, caller->extra));
    json_close_object(w);
}

static void put_options(struct json_writer *w, const struct admission_facts *facts)
{
    bool creates = strcmp(facts->operation, "CREATE") == 0;
    bool deletes = strcmp(facts->operation, "DELETE") == 0;

    json_open_object(w);
    json_field_str(w, "kind",
                   deletes                         ? STR("DeleteOptions")
                   : creates                       ? STR("CreateOptions")
                   : facts->rq->verb == VERB_PATCH ? STR("PatchOptions")
                                                   : STR("UpdateOptions"));
    json_field_str(w, "apiVersion", STR("meta.k8s.io/v1"));
    if (facts->rq->field_manager.len && !deletes)
        json_field_str(w, "fieldManager", facts->rq->field_manager);
    if (facts->rq->dry_run)
        json_field_raw(w, "dryRun", STR("[\"All\"]"));
    json_close_object(w);
}

static void put_object(struct json_writer *w, struct str key, struct arena *arena,
                       const struct value *object)
{
    json_put_key(w, key);
    if (object)
        json_put_raw(w, value_json(arena, object));
    else
        json_put_null(w);
}

struct str review_write(const struct admission_facts *facts, struct str uid)
{
    struct request *rq = facts->rq;
    struct strbuf out = strbuf_new(rq->arena, 4096);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("AdmissionReview"));
    json_field_str(&w, "apiVersion", STR("admission.k8s.io/v1"));
    json_put_key(&w, STR("request"));
    json_open_object(&w);
    json_field_str(&w, "uid", uid);
    json_put_key(&w, STR("kind"));
    put_group_kind(&w, rq->kind, false);
    json_put_key(&w, STR("resource"));
    put_group_kind(&w, rq->kind, true);
    if (rq->sub_resource.len)
        json_field_str(&w, "subResource", rq->sub_resource);
    json_put_key(&w, STR("requestKind"));
    put_group_kind(&w, rq->kind, false);
    json_put_key(&w, STR("requestResource"));
    put_group_kind(&w, rq->kind, true);
    if (rq->sub_resource.len)
        json_field_str(&w, "requestSubResource", rq->sub_resource);
    json_field_str(&w, "name", rq->name);
    if (rq->kind->namespaced)
        json_field_str(&w, "namespace", rq->namespace_);
    else if (str_eq(rq->kind->plural, STR("namespaces")))
        json_field_str(&w, "namespace", rq->name);
    json_field_str(&w, "operation", str_of(facts->operation));
    json_put_key(&w, STR("userInfo"));
    put_user(&w, rq->caller);
    put_object(&w, STR("object"), rq->arena, facts->object);
    put_object(&w, STR("oldObject"), rq->arena, facts->old);
    json_field_bool(&w, "dryRun", rq->dry_run);
    json_put_key(&w, STR("options"));
    put_options(&w, facts);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

static int read_patch(struct arena *arena, struct json response, struct str *ret_patch,
                      struct error *err)
{
    struct json patch = json_get(response, STR("patch"));
    struct json type = json_get(response, STR("patchType"));

    *ret_patch = STR("");
    if (json_str(patch).len == 0) {
        if (json_is(type, JSON_STRING))
            return error_set(err, ERROR_INVALID,
                             "webhook returned response.patchType but not response.patch");
        return 0;
    }
    if (!json_is(type, JSON_STRING))
        return error_set(err, ERROR_INVALID,
                         "webhook returned response.patch but not response.patchType");
    if (!str_eq(json_str(type), STR("JSONPatch")))
        return error_set(err, ERROR_INVALID,
                         "webhook returned invalid response.patchType of \"%.*s\"",
                         STR_ARG(str_shown(arena, json_str(type), 64)));
    return base64_decode(arena, json_str(patch), ret_patch, err);
}

int review_read(struct arena *arena, struct str body, struct str uid,
                struct review_answer *ret_answer, struct error *err)
{
    struct review_answer answer = { .warnings = str_list_new(arena, 0) };
    struct json root, response;
    struct json_iter it;
    struct str got;

    if (json_read(arena, body, &json_limits_default, &root, err) != 0)
        return error_wrap(err, "couldn't get version/kind; json parse error");
    if (!str_eq(json_str(json_get(root, STR("kind"))), STR("AdmissionReview")) ||
        !str_eq(json_str(json_get(root, STR("apiVersion"))), STR("admission.k8s.io/v1")))
        return error_set(err, ERROR_INVALID,
                         "received invalid webhook response: expected webhook response of "
                         "admission.k8s.io/v1, Kind=AdmissionReview");
    response = json_get(root, STR("response"));
    if (!json_is(response, JSON_OBJECT))
        return error_set(err, ERROR_INVALID, "webhook response was absent");
    got = json_str(json_get(response, STR("uid")));
    if (!str_eq(got, uid))
        return error_set(err, ERROR_INVALID,
                         "received invalid webhook response: expected response.uid=\"%.*s\", got "
                         "\"%.*s\"",
                         STR_ARG(uid), STR_ARG(str_shown(arena, got, 64)));
    answer.allowed = json_bool(json_get(response, STR("allowed")));
    answer.status = json_get(response, STR("status"));
    if (read_patch(arena, response, &answer.patch, err) != 0)
        return error_wrap(err, "received invalid webhook response");
    it = json_iter(json_get(response, STR("warnings")));
    while (json_next(&it))
        str_list_push(&answer.warnings, json_str(it.value));
    *ret_answer = answer;
    return 0;
}

enum { ERROR_BODY_MAX = 2048 };

static bool is_text(struct str content_type)
{
    return content_type.len == 0 || str_starts(content_type, STR("text/"));
}

/* "" if the body is not a Status that tells of a failure. */
static struct str status_message(struct arena *arena, struct str body)
{
    struct json root;
    struct error err;

    if (json_read(arena, body, &json_limits_default, &root, &err) != 0 ||
        !str_eq(json_str(json_get(root, STR("kind"))), STR("Status")) ||
        !str_eq(json_str(json_get(root, STR("status"))), STR("Failure")))
        return STR("");
    return json_str(json_get(root, STR("message")));
}

/* NULL: the code has no sentence of its own. */
static const char *sentence_of(int status)
{
    switch (status) {
    case 400:
        return "the server rejected our request for an unknown reason";
    case 401:
        return "the server has asked for the client to provide credentials";
    case 404:
        return "the server could not find the requested resource";
    case 405:
        return "the server does not allow this method on the requested resource";
    case 409:
        return "the server reported a conflict";
    case 422:
        return "the server rejected our request due to an error in our request";
    case 429:
        return "the server has received too many requests and has asked us to try again later";
    case 503:
        return "the server is currently unable to handle the request";
    case 504:
        return "the server was unable to return a response in the time allotted, but may still be "
               "processing the request";
    default:
        return NULL;
    }
}

struct str review_http_error(struct arena *arena, int status, struct str content_type,
                             struct str body)
{
    struct str said =
        is_text(content_type) ? str_trim(str_slice(body, 0, ERROR_BODY_MAX)) : STR("unknown");
    struct str message = status_message(arena, body);
    struct strbuf quoted = strbuf_new(arena, 64);

    if (message.len)
        return str_shown(arena, message, ERROR_BODY_MAX);
    if (status == 403 || status == 406 || status == 415)
        return str_shown(arena, said, ERROR_BODY_MAX);
    if (sentence_of(status))
        return str_of(sentence_of(status));
    if (status < 500)
        return str_fmt(arena,
                       "the server responded with the status code %d but did not return more "
                       "information",
                       status);
    finding_quote(&quoted, said);
    return str_fmt(arena, "an error on the server (%.*s) has prevented the request from succeeding",
                   STR_ARG(strbuf_str(&quoted)));
}
