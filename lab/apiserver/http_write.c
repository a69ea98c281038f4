/* SPDX-License-Identifier: Apache-2.0 */
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

/* Is it a list of objects? What they say is another question. */
static bool is_json_patch(struct request *rq)
{
    struct json list;
    struct json_iter it;
    struct error err;

    if (json_read(rq->arena, rq->body, &json_limits_default, &list, &err) != 0 ||
        !json_is(list, JSON_ARRAY))
        return false;
    it = json_iter(list);
    while (json_next(&it))
        if (!json_is(it.value, JSON_OBJECT))
            return false;
    return true;
}

/* RFC 6902. What fails to apply is rejected as every API server does, but with the reason. */
static int patch_json(struct request *rq, void *context, const struct value *now,
                      struct value **ret_object)
{
    struct error err;

    (void)context;
    if (patch_apply(rq->arena, now, rq->body, ret_object, &err) == 0)
        return 0;
    if (!is_json_patch(rq))
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena, "error decoding patch: %s", err.text));
    fail_generic(&rq->failure, 422);
    rq->failure.message = str_fmt(rq->arena, "%.*s: %s", STR_ARG(rq->failure.message), err.text);
    return -1;
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
    fail_media_type(&rq->failure,
                    kind_has(rq->kind, KIND_CUSTOM)
                        ? "application/json-patch+json, application/merge-patch+json, "
                          "application/apply-patch+yaml"
                        : "application/json-patch+json, application/merge-patch+json, "
                          "application/strategic-merge-patch+json, application/apply-patch+yaml");
    return NULL;
}

static void handle_apply(struct http_request_of_api *h)
{
    struct value *config;
    struct str applied;
    bool created;

    if (body_read(h->rq, STR("application/yaml"), h->rq->body, &config) != 0 ||
        do_apply(h->rq, config, query_true(h, "force"), &applied, &created) != 0)
        answer_failure(h);
    else
        answer_object(h, created ? 201 : 200, applied);
}

int read_patch(struct http_request_of_api *h, struct edit *ret_edit)
{
    const struct patch_type *type = find_patch(h->rq);
    struct value *body = NULL;

    if (!type || (!type->is_list && body_read_merge(h->rq, &body) != 0))
        return -1;
    *ret_edit = (struct edit){ type->make, body };
    return 0;
}

void handle_patch(struct http_request_of_api *h)
{
    struct edit edit;
    struct str updated;

    if (h->rq->applies)
        handle_apply(h);
    else if (read_patch(h, &edit) != 0 || do_update(h->rq, &edit, &updated) != 0)
        answer_failure(h);
    else
        answer_object(h, 200, updated);
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

    if (read_delete_options(h, &options) != 0 || do_delete(h->rq, &options, &object, &gone) != 0)
        answer_failure(h);
    else if (gone)
        answer_json(h, 200, success(h->rq, object));
    else
        answer_object(h, 200, object);
}
