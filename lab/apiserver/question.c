/* SPDX-License-Identifier: Apache-2.0 */
/* question.c: kinds that are answered and not stored: who am I, may I, may they, whose is this
 * token. Source: k8s.io/kubernetes/pkg/registry/authorization and authentication,
 * pkg/apis/authorization/validation. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"

static struct str attribute(const struct value *attributes, const char *key)
{
    return value_text(value_get(attributes, str_of(key)));
}

static bool is(const struct request *rq, const char *plural)
{
    return str_eq(rq->kind->plural, str_of(plural));
}

static void put_text(struct request *rq, struct value *object, const char *key, struct str text)
{
    if (text.len)
        value_set(rq->arena, object, str_of(key), value_str(rq->arena, text));
}

static void put_list(struct request *rq, struct value *object, const char *key,
                     const struct str_list *list)
{
    if (list->count)
        value_set(rq->arena, object, str_of(key), object_list_of(rq->arena, list));
}

static struct value *user_info(struct request *rq, const struct api_caller *caller)
{
    struct value *info = value_object(rq->arena);

    put_text(rq, info, "username", caller->user);
    put_text(rq, info, "uid", caller->uid);
    put_list(rq, info, "groups", &caller->groups);
    if (caller->extra)
        value_set(rq->arena, info, STR("extra"), value_clone(rq->arena, caller->extra));
    return info;
}

static void find_invalid(struct findings *found, const char *field, struct str body)
{
    findings_push(found, (struct finding){ FINDING_INVALID, str_of(field), body });
}

/* Paths are of the whole cluster; a local review is about its own namespace only. */
static void check_local(struct request *rq, const struct value *resource, const struct value *path,
                        struct findings *found)
{
    struct strbuf shown = strbuf_new(rq->arena, 64);

    if (path) {
        strbuf_lit(&shown, "Invalid value: {\"Path\":");
        finding_quote(&shown, attribute(path, "path"));
        strbuf_lit(&shown, ",\"Verb\":");
        finding_quote(&shown, attribute(path, "verb"));
        strbuf_lit(&shown, "}: disallowed on this kind of request");
        find_invalid(found, "spec.nonResourceAttributes", strbuf_str(&shown));
    } else if (!str_eq(attribute(resource, "namespace"), rq->namespace_)) {
        strbuf_lit(&shown, "Invalid value: ");
        finding_quote(&shown, attribute(resource, "namespace"));
        strbuf_lit(&shown, ": must match metadata.namespace");
        find_invalid(found, "spec.resourceAttributes.namespace", strbuf_str(&shown));
    }
}

static int check_access(struct request *rq, const struct value *spec)
{
    const struct value *resource = value_get(spec, STR("resourceAttributes"));
    const struct value *path = value_get(spec, STR("nonResourceAttributes"));
    struct failure_subject subject = { .group = rq->kind->group };
    struct findings found = findings_new(rq->arena, 2);

    if (resource && path)
        find_invalid(&found, "spec.nonResourceAttributes",
                     str_fmt(rq->arena,
                             "Invalid value: {\"Path\":\"%.*s\",\"Verb\":\"%.*s\"}: cannot be "
                             "specified in combination with resourceAttributes",
                             STR_ARG(str_shown(rq->arena, attribute(path, "path"), 1000)),
                             STR_ARG(str_shown(rq->arena, attribute(path, "verb"), 100))));
    if (!resource && !path)
        find_invalid(&found, "spec.resourceAttributes",
                     STR("Invalid value: null: exactly one of nonResourceAttributes or "
                         "resourceAttributes must be specified"));
    if (!is(rq, "selfsubjectaccessreviews") && attribute(spec, "user").len == 0 &&
        value_count(value_get(spec, STR("groups"))) == 0)
        find_invalid(&found, "spec.user",
                     STR("Invalid value: \"\": at least one of user or group "
                         "must be specified"));
    if (is(rq, "localsubjectaccessreviews") && (resource || path) && !(resource && path))
        check_local(rq, resource, path, &found);
    return found.count ? fail_invalid(&rq->failure, &subject, &found) : 0;
}

static struct access access_of(const struct value *spec)
{
    const struct value *resource = value_get(spec, STR("resourceAttributes"));
    const struct value *path = value_get(spec, STR("nonResourceAttributes"));

    if (path)
        return (struct access){ .verb = attribute(path, "verb"),
                                .path = attribute(path, "path").len ? attribute(path, "path")
                                                                    : STR("/") };
    return (struct access){
        .verb = attribute(resource, "verb"),
        .group = attribute(resource, "group"),
        .version = attribute(resource, "version"),
        .resource = attribute(resource, "resource"),
        .sub_resource = attribute(resource, "subresource"),
        .name = attribute(resource, "name"),
        .namespace_ = attribute(resource, "namespace"),
    };
}

static int answer_access(struct request *rq, struct value *review)
{
    const struct value *spec = value_get(review, STR("spec"));
    struct value *status = value_object(rq->arena);
    struct access access = access_of(spec);
    struct api_caller other = { .user = attribute(spec, "user"),
                                .groups = object_texts(rq->arena, value_get(spec, STR("groups"))) };
    const struct api_caller *who = is(rq, "selfsubjectaccessreviews") ? rq->caller : &other;
    struct str why;
    bool allowed;

    if (check_access(rq, spec) != 0)
        return -1;
    allowed = roles_allow(rq, who, &access, &why);
    if (rq->failure.code)
        return -1;
    value_set(rq->arena, status, STR("allowed"), value_bool(rq->arena, allowed));
    put_text(rq, status, "reason", why);
    value_set(rq->arena, review, STR("status"), status);
    return 0;
}

static void put_rule(struct request *rq, const struct rbac_rule *rule, struct value *resources,
                     struct value *paths)
{
    struct value *shown = value_object(rq->arena);

    put_list(rq, shown, "verbs", &rule->verbs);
    if (rule->paths.count) {
        put_list(rq, shown, "nonResourceURLs", &rule->paths);
        value_append(paths, shown);
        return;
    }
    put_list(rq, shown, "apiGroups", &rule->groups);
    put_list(rq, shown, "resources", &rule->resources);
    put_list(rq, shown, "resourceNames", &rule->names);
    value_append(resources, shown);
}

static int answer_rules(struct request *rq, struct value *review)
{
    struct str namespace_ = value_text(value_walk(review, "spec", "namespace", NULL));
    const struct rbac_user user = { rq->caller->user, rq->caller->groups };
    struct value *status = value_object(rq->arena);
    struct value *resources = value_array(rq->arena), *paths = value_array(rq->arena);
    const struct rbac_policy *policy;
    struct rbac_rules rules;

    if (namespace_.len == 0)
        return fail_bad_request(&rq->failure, STR("no namespace on request"));
    policy = roles_policy(rq);
    if (!policy)
        return -1;
    rules = rbac_rules_of(policy, rq->arena, &user, namespace_);
    for (uint32_t i = 0; i < rules.count; i++)
        put_rule(rq, &rules.items[i], resources, paths);
    value_set(rq->arena, status, STR("resourceRules"), resources);
    value_set(rq->arena, status, STR("nonResourceRules"), paths);
    value_set(rq->arena, status, STR("incomplete"), value_bool(rq->arena, false));
    value_set(rq->arena, review, STR("spec"), value_object(rq->arena));
    value_set(rq->arena, review, STR("status"), status);
    return 0;
}

static int answer_identity(struct request *rq, struct value *review)
{
    struct value *status = value_object(rq->arena);

    value_set(rq->arena, status, STR("userInfo"), user_info(rq, rq->caller));
    value_set(rq->arena, review, STR("status"), status);
    meta_set_text(rq->arena, review, "creationTimestamp", request_time(rq));
    return 0;
}

static int answer_token(struct request *rq, struct value *review)
{
    const struct value *spec = value_get(review, STR("spec"));
    struct str_list wanted = object_texts(rq->arena, value_get(spec, STR("audiences"))), audiences;
    struct value *status = value_object(rq->arena);
    struct api_caller caller;
    struct error err;

    if (attribute(spec, "token").len == 0)
        return fail_bad_request(&rq->failure,
                                STR("token is required for TokenReview in authentication"));
    if (authenticate_token(rq, attribute(spec, "token"), &wanted, &caller, &audiences, &err) == 0) {
        value_set(rq->arena, status, STR("authenticated"), value_bool(rq->arena, true));
        value_set(rq->arena, status, STR("user"), user_info(rq, &caller));
        put_list(rq, status, "audiences", &audiences);
    } else {
        value_set(rq->arena, status, STR("user"), value_object(rq->arena));
        put_text(rq, status, "error", str_dup(rq->arena, str_of(err.text)));
    }
    value_set(rq->arena, review, STR("status"), status);
    return 0;
}

void handle_question(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct value *review;
    int result;

    if (body_read(rq, rq->content_type, rq->body, &review) != 0 || body_check(rq, review) != 0) {
        answer_failure(h);
        return;
    }
    if (is(rq, "selfsubjectreviews"))
        result = answer_identity(rq, review);
    else if (is(rq, "selfsubjectrulesreviews"))
        result = answer_rules(rq, review);
    else if (is(rq, "tokenreviews"))
        result = answer_token(rq, review);
    else
        result = answer_access(rq, review);
    if (result == 0)
        answer_json(h, 201, value_json(rq->arena, review));
    else
        answer_failure(h);
}
