/* question.c: kinds that are answered and not stored: who am I, may I, may they. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"

static bool in_group(const struct api_caller *caller, struct str group)
{
    return str_list_has(&caller->groups, group);
}

/* Roles are stored, not yet enforced: masters may do everything, all others nothing but ask about
 * themselves. RBAC joins here. */
bool access_allowed(struct request *rq, const struct api_caller *caller,
                    const struct access *access, struct str *ret_why)
{
    if (in_group(caller, STR("system:masters")))
        return true;
    if (str_starts(access->resource, STR("selfsubject")))
        return true;
    *ret_why = str_fmt(
        rq->arena,
        "User \"%.*s\" cannot %.*s resource \"%.*s%s%.*s\" in API group \"%.*s\" %s%.*s%s",
        STR_ARG(caller->user), STR_ARG(access->verb), STR_ARG(access->resource),
        access->sub_resource.len ? "/" : "", STR_ARG(access->sub_resource),
        STR_ARG(access->group),
        access->namespace_.len ? "in the namespace \"" : "at the cluster scope",
        STR_ARG(access->namespace_), access->namespace_.len ? "\"" : "");
    return false;
}

static struct str attribute(const struct value *attributes, const char *key)
{
    return value_text(value_get(attributes, str_of(key)));
}

static void answer_access(struct request *rq, struct value *review,
                          const struct api_caller *caller)
{
    const struct value *spec = value_get(review, STR("spec"));
    const struct value *resource = value_get(spec, STR("resourceAttributes"));
    struct access access = {
        .verb = attribute(resource, "verb"),
        .group = attribute(resource, "group"),
        .version = attribute(resource, "version"),
        .resource = attribute(resource, "resource"),
        .sub_resource = attribute(resource, "subresource"),
        .name = attribute(resource, "name"),
        .namespace_ = attribute(resource, "namespace"),
        .path = value_text(value_walk(spec, "nonResourceAttributes", "path", NULL)),
    };
    struct value *status = value_object(rq->arena);
    struct str why = { "", 0 };
    bool allowed = access_allowed(rq, caller, &access, &why);

    value_set(rq->arena, status, STR("allowed"), value_bool(rq->arena, allowed));
    value_set(rq->arena, status, STR("reason"), value_str(rq->arena, why));
    value_set(rq->arena, review, STR("status"), status);
}

static struct str_list texts(struct request *rq, const struct value *list)
{
    struct str_list result = str_list_new(rq->arena, 4);

    for (struct value *m = value_first(list); m; m = value_next(m))
        str_list_push(&result, value_text(m));
    return result;
}

static struct value *user_info(struct request *rq, const struct api_caller *caller)
{
    struct value *info = value_object(rq->arena);
    struct value *groups = value_array(rq->arena);

    for (uint32_t i = 0; i < caller->groups.count; i++)
        value_append(groups, value_str(rq->arena, caller->groups.items[i]));
    value_set(rq->arena, info, STR("username"), value_str(rq->arena, caller->user));
    value_set(rq->arena, info, STR("groups"), groups);
    return info;
}

static void answer_rules(struct request *rq, struct value *review)
{
    struct value *status = NULL;
    struct error err;
    bool all = in_group(rq->caller, STR("system:masters"));

    value_read(rq->arena,
               all ? STR("{\"incomplete\":false,\"nonResourceRules\":[{\"verbs\":[\"*\"],"
                         "\"nonResourceURLs\":[\"*\"]}],\"resourceRules\":[{\"verbs\":[\"*\"],"
                         "\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]}")
                   : STR("{\"incomplete\":false,\"nonResourceRules\":[],\"resourceRules\":[]}"),
               &json_limits_default, &status, &err);
    value_set(rq->arena, review, STR("status"), status);
}

void handle_question(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct str plural = rq->kind->plural;
    struct value *review, *status;
    struct api_caller other;

    if (body_read(rq, rq->content_type, rq->body, &review) != 0 || body_check(rq, review) != 0) {
        answer_failure(h);
        return;
    }
    meta_set(rq->arena, review, "creationTimestamp", value_null(rq->arena));
    if (str_eq(plural, STR("selfsubjectreviews"))) {
        status = value_object(rq->arena);
        value_set(rq->arena, status, STR("userInfo"), user_info(rq, rq->caller));
        value_set(rq->arena, review, STR("status"), status);
    } else if (str_eq(plural, STR("selfsubjectaccessreviews"))) {
        answer_access(rq, review, rq->caller);
    } else if (str_eq(plural, STR("selfsubjectrulesreviews"))) {
        answer_rules(rq, review);
    } else if (str_eq(plural, STR("tokenreviews"))) {
        status = value_object(rq->arena);
        value_set(rq->arena, status, STR("authenticated"), value_bool(rq->arena, false));
        value_set(rq->arena, review, STR("status"), status);
    } else {
        other.user = value_text(value_walk(review, "spec", "user", NULL));
        other.groups = texts(rq, value_walk(review, "spec", "groups", NULL));
        answer_access(rq, review, &other);
    }
    answer_json(h, 201, value_json(rq->arena, review));
}
