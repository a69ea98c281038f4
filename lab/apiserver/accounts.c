/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c: ServiceAccounts as callers: their tokens are given (TokenRequest) and recognized. A
 * token dies with its account, and with the Pod or Secret that it is bound to. Source:
 * k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage/token.go, pkg/serviceaccount. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"
#include "lab/apiserver/token.h"
#include "text/time.h"

enum { SECONDS_DEFAULT = 3600, SECONDS_MIN = 600 };
#define SECONDS_MAX (INT64_C(1) << 32)

static const struct binding {
    const char *kind, *plural;
} bindings[] = {
    { "Pod", "pods" },
    { "Secret", "secrets" },
};

static const char *plural_of(struct str kind)
{
    for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++)
        if (str_eq(kind, str_of(bindings[i].kind)))
            return bindings[i].plural;
    return NULL;
}

static int load(struct request *rq, const char *plural, struct str namespace_, struct str name,
                struct value **ret_object)
{
    const struct kind *kind = catalog_find(rq->catalog, STR(""), STR("v1"), str_of(plural));
    uint64_t version;

    return request_load(rq, kind, namespace_, name, ret_object, &version);
}

static int check_request(struct request *rq, const struct value *body, int64_t seconds)
{
    struct failure_subject subject = { STR("authentication.k8s.io"), STR("tokenrequests"),
                                       STR("TokenRequest"), STR("") };
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("expirationSeconds"));
    struct findings found = findings_new(rq->arena, 1);

    if (seconds < SECONDS_MIN)
        finding_invalid(&found, &at, value_int(rq->arena, seconds),
                        STR("may not specify a duration less than 10 minutes"));
    if (seconds > SECONDS_MAX)
        finding_invalid(&found, &at, value_int(rq->arena, seconds),
                        STR("may not specify a duration larger than 2^32 seconds"));
    if (meta_text(body, "name").len && !str_eq(meta_text(body, "name"), rq->name)) {
        struct path meta = path_field(NULL, STR("metadata"));
        struct path name = path_field(&meta, STR("name"));

        subject.name = rq->name;
        finding_invalid(&found, &name, value_str(rq->arena, meta_text(body, "name")),
                        STR("must match the service account name if specified"));
    }
    if (found.count == 0)
        return 0;
    fail_invalid(&rq->failure, &subject, &found);
    rq->failure.name = subject.name;
    return -1;
}

static int bind(struct request *rq, const struct value *reference, struct token_claims *claims)
{
    struct str kind = value_text(value_get(reference, STR("kind")));
    struct str name = value_text(value_get(reference, STR("name")));
    struct str uid = value_text(value_get(reference, STR("uid")));
    const char *plural = plural_of(kind);
    struct failure_subject subject = { STR(""), str_of(plural), kind, name };
    struct value *object;

    if (value_kind(reference) != JSON_OBJECT)
        return 0;
    if (!plural)
        return fail_bad_request(
            &rq->failure, str_fmt(rq->arena, "cannot bind token to object of type /v1, Kind=%.*s",
                                  STR_ARG(str_shown(rq->arena, kind, 100))));
    if (load(rq, plural, rq->namespace_, name, &object) != 0)
        return -1;
    claims->bound_kind = kind;
    claims->bound_name = name;
    claims->bound_uid = meta_text(object, "uid");
    if (uid.len && !str_eq(uid, claims->bound_uid))
        return fail_conflict(&rq->failure, &subject,
                             str_fmt(rq->arena,
                                     "the UID in the bound object reference (%.*s) does not match "
                                     "the UID in record. The object might have been deleted and "
                                     "then recreated",
                                     STR_ARG(str_shown(rq->arena, uid, 100))));
    return 0;
}

static struct str answer(struct request *rq, const struct token_claims *claims,
                         const struct value *reference)
{
    struct arena *arena = rq->arena;
    struct value *root = value_object(arena), *spec = value_object(arena);
    struct value *status = value_object(arena);

    value_set(arena, root, STR("kind"), value_str(arena, STR("TokenRequest")));
    value_set(arena, root, STR("apiVersion"), value_str(arena, STR("authentication.k8s.io/v1")));
    meta_set_text(arena, root, "name", claims->name);
    meta_set_text(arena, root, "namespace", claims->namespace_);
    meta_set_text(arena, root, "uid", claims->uid);
    meta_set_text(arena, root, "creationTimestamp", request_time(rq));
    value_set(arena, spec, STR("audiences"), object_list_of(rq->arena, &claims->audiences));
    value_set(arena, spec, STR("expirationSeconds"),
              value_int(arena, claims->expires_s - claims->issued_s));
    value_set(arena, spec, STR("boundObjectRef"),
              reference ? value_clone(arena, reference) : value_null(arena));
    value_set(arena, root, STR("spec"), spec);
    value_set(arena, status, STR("token"),
              value_str(arena, token_write(arena, rq->api->token_key, claims)));
    value_set(arena, status, STR("expirationTimestamp"),
              value_str(arena, time_rfc3339(arena, claims->expires_s * 1000)));
    value_set(arena, root, STR("status"), status);
    return value_json(arena, root);
}

static int give(struct request *rq, struct str *ret_object)
{
    struct token_claims claims = { .namespace_ = rq->namespace_,
                                   .name = rq->name,
                                   .issued_s = rq->now_ms / 1000 };
    int64_t seconds = SECONDS_DEFAULT;
    struct value *body, *account;
    const struct value *reference;

    if (body_read(rq, rq->content_type, rq->body, &body) != 0 ||
        load(rq, "serviceaccounts", rq->namespace_, rq->name, &account) != 0)
        return -1;
    if (!str_eq(value_text(value_get(body, STR("kind"))), STR("TokenRequest")))
        return fail_bad_request(&rq->failure,
                                STR("the body must be a TokenRequest of authentication.k8s.io/v1"));
    if (rq->api->token_key.len == 0)
        return fail_internal(&rq->failure, STR("this API server has no key to sign tokens with"));
    value_int64(value_walk(body, "spec", "expirationSeconds", NULL), &seconds);
    reference = value_walk(body, "spec", "boundObjectRef", NULL);
    if (check_request(rq, body, seconds) != 0 || bind(rq, reference, &claims) != 0)
        return -1;
    claims.uid = meta_text(account, "uid");
    claims.id = object_uid(rq->arena, request_rng(rq));
    claims.expires_s = claims.issued_s + seconds;
    claims.audiences = object_texts(rq->arena, value_walk(body, "spec", "audiences", NULL));
    if (claims.audiences.count == 0)
        str_list_push(&claims.audiences, STR(TOKEN_ISSUER));
    *ret_object = answer(rq, &claims, reference);
    return 0;
}

void handle_token_request(struct http_request_of_api *h)
{
    struct str object;

    if (give(h->rq, &object) != 0)
        answer_failure(h);
    else
        answer_json(h, 201, object);
}

static void put_quoted(struct strbuf *out, const struct str_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            strbuf_char(out, ' ');
        finding_quote(out, list->items[i]);
    }
}

/* The audiences that are meant and that the token is for. */
static int check_audiences(struct request *rq, const struct token_claims *claims,
                           const struct str_list *audiences, struct str_list *ret_audiences,
                           struct error *err)
{
    struct strbuf text = strbuf_new(rq->arena, 128);

    *ret_audiences = str_list_new(rq->arena, 1);
    for (uint32_t i = 0; i < audiences->count; i++)
        if (str_list_has(&claims->audiences, audiences->items[i]))
            str_list_push(ret_audiences, audiences->items[i]);
    if (ret_audiences->count)
        return 0;
    strbuf_lit(&text, "[invalid bearer token, token audiences [");
    put_quoted(&text, &claims->audiences);
    strbuf_lit(&text, "] is invalid for the target audiences [");
    put_quoted(&text, audiences);
    strbuf_lit(&text, "]]");
    return error_set(err, ERROR_UNAUTHORIZED, "%.*s", STR_ARG(strbuf_str(&text)));
}

/* Whether the object is still the one that the token was given for. */
static int check_alive(struct request *rq, const char *plural, const struct token_claims *claims,
                       struct str name, struct str uid, struct error *err)
{
    struct request asked = *rq;
    struct value *object;

    asked.failure = failure_new(rq->arena);
    if (load(&asked, plural, claims->namespace_, name, &object) != 0)
        return error_set(err, ERROR_UNAUTHORIZED, "[invalid bearer token, %.*s]",
                         STR_ARG(asked.failure.message));
    if (str_eq(meta_text(object, "uid"), uid))
        return 0;
    return error_set(err, ERROR_UNAUTHORIZED,
                     "[invalid bearer token, the %s %.*s is not the one that the token was given "
                     "for]",
                     plural, STR_ARG(name));
}

static struct api_caller account_caller(struct request *rq, const struct token_claims *claims)
{
    struct value *ids = value_array(rq->arena);
    struct value *extra = value_object(rq->arena);
    struct api_caller caller = {
        .user = str_fmt(rq->arena, "system:serviceaccount:%.*s:%.*s", STR_ARG(claims->namespace_),
                        STR_ARG(claims->name)),
        .groups = str_list_new(rq->arena, 4),
        .uid = claims->uid,
        .extra = extra,
    };

    str_list_push(&caller.groups, STR("system:serviceaccounts"));
    str_list_push(&caller.groups,
                  str_fmt(rq->arena, "system:serviceaccounts:%.*s", STR_ARG(claims->namespace_)));
    str_list_push(&caller.groups, STR("system:authenticated"));
    value_append(ids, value_str(rq->arena, str_fmt(rq->arena, "JTI=%.*s", STR_ARG(claims->id))));
    value_set(rq->arena, extra, STR("authentication.kubernetes.io/credential-id"), ids);
    return caller;
}

/* Equal in a time that does not depend on where they differ. */
static bool same_secret(struct str a, struct str b)
{
    unsigned differ = a.len != b.len;

    for (size_t i = 0; i < a.len && i < b.len; i++)
        differ |= (unsigned char)a.at[i] ^ (unsigned char)b.at[i];
    return differ == 0;
}

static struct api_caller administrator(struct request *rq)
{
    struct api_caller caller = { .user = STR("herd-lab-admin"),
                                 .groups = str_list_new(rq->arena, 2) };

    str_list_push(&caller.groups, STR("system:masters"));
    str_list_push(&caller.groups, STR("system:authenticated"));
    return caller;
}

int authenticate_token(struct request *rq, struct str token, const struct str_list *audiences,
                       struct api_caller *ret_caller, struct str_list *ret_audiences,
                       struct error *err)
{
    struct str_list own = str_list_new(rq->arena, 1);
    struct token_claims claims;

    str_list_push(&own, STR(TOKEN_ISSUER));
    if (audiences->count == 0)
        audiences = &own;
    if (rq->api->admin_token.len && str_list_has(audiences, STR(TOKEN_ISSUER)) &&
        same_secret(token, rq->api->admin_token)) {
        *ret_caller = administrator(rq);
        *ret_audiences = own;
        return 0;
    }
    if (token_read(rq->arena, rq->api->token_key, token, rq->now_ms / 1000, &claims, err) != 0 ||
        check_audiences(rq, &claims, audiences, ret_audiences, err) != 0 ||
        check_alive(rq, "serviceaccounts", &claims, claims.name, claims.uid, err) != 0 ||
        (claims.bound_kind.len && check_alive(rq, plural_of(claims.bound_kind), &claims,
                                              claims.bound_name, claims.bound_uid, err) != 0))
        return -1;
    *ret_caller = account_caller(rq, &claims);
    return 0;
}

int api_authenticate(struct api *api, struct arena *arena, struct str cluster, struct str token,
                     struct api_caller *ret_caller, struct error *err)
{
    static const struct kube_resource accounts =
        KUBE_RESOURCE_INIT("", "v1", "serviceaccounts", "ServiceAccount", true);
    struct str_list none = str_list_new(arena, 0), audiences;
    struct request rq;

    if (request_begin(api, arena, cluster, &accounts, &rq, err) != 0)
        return -1;
    return authenticate_token(&rq, token, &none, ret_caller, &audiences, err);
}
