/* http_write.c: POST, PUT, PATCH and DELETE. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"
#include "lab/apiserver/strategic.h"
#include "text/patch.h"
#include "text/yaml.h"

void handle_create(struct http_request_of_api *h)
{
    struct value *object;
    struct str created;

    if (body_read(h->rq, h->rq->content_type, h->rq->body, &object) != 0 ||
        do_create(h->rq, object, &created) != 0)
        answer_failure(h);
    else
        answer_object(h, 201, created);
}

static int put_whole(struct request *rq, void *context, const struct value *now,
                     struct value **ret_object)
{
    (void)now;
    *ret_object = value_clone(rq->arena, context);
    return 0;
}

void handle_update(struct http_request_of_api *h)
{
    struct edit edit = { put_whole, NULL };
    struct value *object;
    struct str updated;

    if (body_read(h->rq, h->rq->content_type, h->rq->body, &object) != 0) {
        answer_failure(h);
        return;
    }
    edit.context = object;
    if (do_update(h->rq, &edit, &updated) != 0)
        answer_failure(h);
    else
        answer_object(h, 200, updated);
}

/* RFC 6902. What fails to apply is the client's fault: 422 as the API server answers. */
static int patch_json(struct request *rq, void *context, const struct value *now,
                      struct value **ret_object)
{
    struct error err;

    (void)context;
    if (patch_apply(rq->arena, now, rq->body, ret_object, &err) == 0)
        return 0;
    if (err.code == ERROR_SYNTAX)
        return fail_bad_request(&rq->failure, str_fmt(rq->arena, "error decoding patch: %s",
                                                      err.text));
    return fail(&rq->failure, 422, "Invalid", "the server rejected our request due to an error in "
                                              "our request: %s",
                err.text);
}

static int patch_by_merge(struct request *rq, void *context, const struct value *now,
                          struct value **ret_object)
{
    *ret_object = patch_merge(rq->arena, now, context);
    return 0;
}

static int patch_strategic(struct request *rq, void *context, const struct value *now,
                           struct value **ret_object)
{
    struct error err;

    if (strategic_merge(rq->arena, rq->kind->schema, now, context, ret_object, &err) != 0)
        return fail_bad_request(&rq->failure, str_dup(rq->arena, str_of(err.text)));
    return 0;
}

static const struct patch_type {
    const char *media_type;
    int (*make)(struct request *rq, void *context, const struct value *now,
                struct value **ret_object);
    bool for_custom;
    bool is_list; /* the body is a list of operations, read by its own reader */
} patch_types[] = {
    { "application/json-patch+json", patch_json, true, true },
    { "application/merge-patch+json", patch_by_merge, true, false },
    { "application/strategic-merge-patch+json", patch_strategic, false, false },
};

static const struct patch_type *find_patch(struct request *rq)
{
    struct str type = rq->content_type;
    ptrdiff_t end = str_find_char(type, ';', 0);

    if (end >= 0)
        type = str_trim(str_slice(type, 0, (size_t)end));
    for (size_t i = 0; i < sizeof(patch_types) / sizeof(patch_types[0]); i++)
        if (str_eq(type, str_of(patch_types[i].media_type)) &&
            (patch_types[i].for_custom || !kind_has(rq->kind, KIND_CUSTOM)))
            return &patch_types[i];
    fail(&rq->failure, 415, "UnsupportedMediaType",
         "the body of the request was in an unknown format - accepted media types include: "
         "application/json-patch+json, application/merge-patch+json%s",
         kind_has(rq->kind, KIND_CUSTOM)
             ? ", application/apply-patch+yaml"
             : ", application/strategic-merge-patch+json, application/apply-patch+yaml");
    rq->failure.has_details = true;
    return NULL;
}

static int check_apply_options(struct http_request_of_api *h, bool applies)
{
    struct request *rq = h->rq;

    if (applies && query_of(h, "fieldManager").len == 0)
        return fail(&rq->failure, 422, "Invalid",
                    "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
                    "required for apply patch");
    if (!applies && query_of(h, "force").len)
        return fail(&rq->failure, 422, "Invalid",
                    "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be "
                    "specified for non-apply patch");
    return 0;
}

static bool is_apply(const struct request *rq)
{
    return str_starts(rq->content_type, STR("application/apply-patch+yaml"));
}

static void handle_apply(struct http_request_of_api *h)
{
    struct value *config;
    struct str applied;
    bool created;

    if (check_apply_options(h, true) != 0 ||
        body_read(h->rq, STR("application/yaml"), h->rq->body, &config) != 0 ||
        do_apply(h->rq, config, query_true(h, "force"), &applied, &created) != 0)
        answer_failure(h);
    else
        answer_object(h, created ? 201 : 200, applied);
}

int read_patch(struct http_request_of_api *h, struct edit *ret_edit)
{
    const struct patch_type *type = find_patch(h->rq);
    struct value *body = NULL;

    if (!type || check_apply_options(h, false) != 0 ||
        (!type->is_list && body_read(h->rq, STR("application/json"), h->rq->body, &body) != 0))
        return -1;
    *ret_edit = (struct edit){ type->make, body };
    return 0;
}

void handle_patch(struct http_request_of_api *h)
{
    if (is_apply(h->rq)) {
        handle_apply(h);
        return;
    }


    struct edit edit;
    struct str updated;

    if (read_patch(h, &edit) != 0 || do_update(h->rq, &edit, &updated) != 0)
        answer_failure(h);
    else
        answer_object(h, 200, updated);
}

/* metav1.DeleteOptions from the body, and from the query where the body does not say it. */
static int read_delete_options(struct http_request_of_api *h, struct delete_options *ret_options)
{
    struct request *rq = h->rq;
    struct delete_options options = { .uid = STR(""), .propagation = STR("") };
    struct value *body = NULL;
    struct str version;
    const struct value *dry;

    if (rq->body.len && body_read(rq, rq->content_type, rq->body, &body) != 0)
        return -1;
    options.uid = value_text(value_walk(body, "preconditions", "uid", NULL));
    version = value_text(value_walk(body, "preconditions", "resourceVersion", NULL));
    if (version.len && !str_to_u64(version, &options.version))
        return fail_bad_request(&rq->failure,
                                STR("preconditions.resourceVersion must be a version"));
    options.propagation = value_text(value_get(body, STR("propagationPolicy")));
    if (options.propagation.len == 0)
        options.propagation = query_of(h, "propagationPolicy");
    if (options.propagation.len == 0 && value_get(body, STR("orphanDependents")))
        options.propagation = value_is_true(value_get(body, STR("orphanDependents")))
                                  ? STR("Orphan")
                                  : STR("Background");
    if (options.propagation.len && !str_eq(options.propagation, STR("Background")) &&
        !str_eq(options.propagation, STR("Foreground")) &&
        !str_eq(options.propagation, STR("Orphan")))
        return fail(&rq->failure, 422, "Invalid",
                    "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported "
                    "value: \"%.*s\": supported values: \"Foreground\", \"Background\", "
                    "\"Orphan\", \"nil\"",
                    STR_ARG(str_shown(rq->arena, options.propagation, 100)));
    value_int64(value_get(body, STR("gracePeriodSeconds")), &options.grace_seconds);
    dry = value_first(value_get(body, STR("dryRun")));
    if (str_eq(value_text(dry), STR("All")))
        rq->dry_run = true;
    *ret_options = options;
    return 0;
}

static struct str success(struct request *rq, struct str object)
{
    struct strbuf out = strbuf_new(rq->arena, 256);
    struct json_writer w = json_writer(&out);
    struct json view = { 0 };
    struct error err;

    json_read(rq->arena, object, &json_limits_default, &view, &err);
    json_open_object(&w);
    json_field_str(&w, "kind", STR("Status"));
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_raw(&w, "metadata", STR("{}"));
    json_field_str(&w, "status", STR("Success"));
    json_put_key(&w, STR("details"));
    json_open_object(&w);
    json_field_str(&w, "name", rq->name);
    if (rq->kind->group.len)
        json_field_str(&w, "group", rq->kind->group);
    json_field_str(&w, "kind", rq->kind->plural);
    json_field_str(&w, "uid", json_str(json_walk(view, "metadata", "uid", NULL)));
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

void handle_delete(struct http_request_of_api *h)
{
    struct delete_options options;
    struct str object;
    bool gone;

    if (read_delete_options(h, &options) != 0 ||
        do_delete(h->rq, &options, &object, &gone) != 0)
        answer_failure(h);
    else if (gone)
        answer_json(h, 200, success(h->rq, object));
    else
        answer_object(h, 200, object);
}

/* Each object is deleted by itself; one that is gone meanwhile is fine. */
static int delete_rows(struct http_request_of_api *h, const struct store_page *page,
                       const struct selection *selection, const struct delete_options *options)
{
    for (uint32_t i = 0; i < page->rows.count; i++) {
        const struct store_row *row = &page->rows.items[i];
        struct request one = *h->rq;
        struct str object;
        bool gone;

        if (!selection_holds(h->rq, selection, row->object))
            continue;
        one.verb = VERB_DELETE;
        one.namespace_ = row->namespace_;
        one.name = row->name;
        if (do_delete(&one, options, &object, &gone) != 0 && one.failure.code != 404) {
            h->rq->failure = one.failure;
            return -1;
        }
    }
    return 0;
}

void handle_delete_collection(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct collection of = request_collection(rq, rq->kind, rq->namespace_);
    struct delete_options options;
    struct selection selection;
    struct store_page page;
    struct error err;

    if (rq->kind->namespaced && rq->namespace_.len == 0) {
        fail(&rq->failure, 405, "MethodNotAllowed",
             "the server does not allow this method on the requested resource");
        answer_failure(h);
        return;
    }
    if (read_delete_options(h, &options) != 0 ||
        selection_read(rq, query_of(h, "labelSelector"), query_of(h, "fieldSelector"),
                       &selection) != 0) {
        answer_failure(h);
        return;
    }
    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE) {
        request_store_failed(rq, &err);
        answer_failure(h);
        return;
    }
    if (delete_rows(h, &page, &selection, &options) != 0)
        answer_failure(h);
    else
        answer_json(h, 200,
                    STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Success\"}"));
}
