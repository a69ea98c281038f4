/* SPDX-License-Identifier: Apache-2.0 */
/* http_scale.c: GET, PUT and PATCH of .../scale: replicas of an object, whatever its kind. */
#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/scale.h"

/* What makes the new Scale from the current one. */
struct scaling {
    const struct edit *patch; /* NULL: `whole` is it */
    const struct value *whole;
};

static int scale_failed(struct request *rq, const struct error *err)
{
    if (err->code == ERROR_BAD_REQUEST)
        return fail_bad_request(&rq->failure, str_dup(rq->arena, str_of(err->text)));
    if (err->code == ERROR_INVALID)
        return fail(&rq->failure, 422, "Invalid", "Scale.autoscaling \"%.*s\" is invalid: %s",
                    STR_ARG(rq->name), err->text);
    return fail_internal(&rq->failure, str_dup(rq->arena, str_of(err->text)));
}

static int make(struct request *rq, void *context, const struct value *now,
                struct value **ret_object)
{
    const struct scaling *scaling = context;
    struct value *scale, *changed, *object = value_clone(rq->arena, now);
    struct str version;
    struct error err;

    if (scale_of(rq->arena, rq->kind, now, &scale, &err) != 0)
        return scale_failed(rq, &err);
    changed = scaling->patch ? NULL : value_clone(rq->arena, scaling->whole);
    if (scaling->patch && scaling->patch->make(rq, scaling->patch->context, scale, &changed) != 0)
        return -1;
    if (scale_put(rq->arena, rq->kind, changed, object, &err) != 0)
        return scale_failed(rq, &err);
    /* A Scale without a version is written whatever stands there, a custom resource's too. */
    version = meta_text(changed, "resourceVersion");
    if (version.len)
        meta_set_text(rq->arena, object, "resourceVersion", version);
    *ret_object = object;
    return 0;
}

static void answer_scale(struct http_request_of_api *h, struct str object)
{
    struct request *rq = h->rq;
    struct value *value, *scale;
    struct error err;

    if (value_read(rq->arena, object, &json_limits_default, &value, &err) == 0 &&
        scale_of(rq->arena, rq->kind, value, &scale, &err) == 0) {
        answer_json(h, 200, value_json(rq->arena, scale));
        return;
    }
    scale_failed(rq, &err);
    answer_failure(h);
}

static int read_scale(struct http_request_of_api *h, struct edit *patch, struct scaling *scaling)
{
    struct request *rq = h->rq;
    struct value *whole;

    if (rq->verb == VERB_PATCH) {
        scaling->patch = patch;
        return read_patch(h, patch);
    }
    if (body_read(rq, rq->content_type, rq->body, &whole) != 0)
        return -1;
    if (!str_eq(value_text(value_get(whole, STR("kind"))), STR("Scale")))
        return fail_bad_request(&rq->failure, STR("the body must be a Scale of autoscaling/v1"));
    scaling->whole = whole;
    return 0;
}

void handle_scale(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct scaling scaling = { 0 };
    struct edit patch, edit = { make, &scaling };
    struct str object;
    int result = -1;

    if (rq->verb == VERB_GET)
        result = do_get(rq, &object);
    else if (rq->verb != VERB_UPDATE && rq->verb != VERB_PATCH)
        fail(&rq->failure, 405, "MethodNotAllowed",
             "the server does not allow this method on the requested resource");
    else if (read_scale(h, &patch, &scaling) == 0)
        result = do_update(rq, &edit, &object);
    if (result == 0)
        answer_scale(h, object);
    else
        answer_failure(h);
}
