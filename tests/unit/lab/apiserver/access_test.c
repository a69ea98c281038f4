/* SPDX-License-Identifier: Apache-2.0 */
/* access_test.c: who may do what over HTTP: Forbidden answers, reviews, impersonation, tokens, roles
 * that are aggregated, and nobody gives what they do not have. */
#include "api_fixture.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define REVIEWS "/apis/authorization.k8s.io/v1"

static void expect_text(const char *sentence, struct str got, const char *want)
{
    rows_expect_str(sentence, got, str_of(want));
}

static struct reply ask_as(struct fixture *f, const char *user, const char *group,
                           const char *method, const char *path, const char *body)
{
    struct http_header headers[] = { { STR_INIT("Accept"), STR("application/json") },
                                     { STR_INIT("Content-Type"), STR("application/json") },
                                     { STR_INIT("Impersonate-User"), str_of(user) },
                                     { STR_INIT("Impersonate-Group"), str_of(group) } };
    struct http_request request = {
        .method = method,
        .url = str_fmt(f->arena, "http://127.0.0.1:%u%s", http_server_port(f->server), path),
        .headers = headers,
        .header_count = *group ? 4 : 3,
        .body = str_of(body),
    };

    return loopback_ask(f->loop, f->client, &request, f->arena);
}

static const char *const setup[][2] = {
    { RBAC "/clusterroles",
      "{\"metadata\":{\"name\":\"roler\"},\"rules\":[{\"verbs\":[\"create\",\"update\",\"patch\",\"get\"],"
      "\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"*\"]}]}" },
    { RBAC "/clusterrolebindings",
      "{\"metadata\":{\"name\":\"roler\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"roler\"},"
      "\"subjects\":[{\"kind\":\"User\",\"name\":\"roler\"}]}" },
    { RBAC "/namespaces/default/roles",
      "{\"metadata\":{\"name\":\"one\"},\"rules\":[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],"
      "\"resources\":[\"configmaps\"],\"resourceNames\":[\"a\"]}]}" },
    { RBAC "/namespaces/default/rolebindings",
      "{\"metadata\":{\"name\":\"one\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"one\"},\"subjects\":[{"
      "\"kind\":\"User\",\"name\":\"ann\"}]}" },
    { RBAC "/clusterroles", "{\"metadata\":{\"name\":\"binder\"},\"rules\":[{\"verbs\":[\"bind\"],\"apiGroups\":["
                            "\"rbac.authorization.k8s.io\"],\"resources\":[\"clusterroles\"],"
                            "\"resourceNames\":[\"view\"]},{\"verbs\":[\"create\"],\"apiGroups\":["
                            "\"rbac.authorization.k8s.io\"],\"resources\":[\"rolebindings\"]}]}" },
    { RBAC "/clusterrolebindings",
      "{\"metadata\":{\"name\":\"binder\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"binder\"},"
      "\"subjects\":[{\"kind\":\"User\",\"name\":\"binder\"}]}" },
    { RBAC "/namespaces/default/rolebindings",
      "{\"metadata\":{\"name\":\"edit\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"edit\"},"
      "\"subjects\":[{\"kind\":\"Group\",\"name\":\"team\"}]}" },
    { "/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"a\"}}" },
};

#define CANNOT "User \"x\" cannot "

static const struct row {
    const char *sentence, *user, *group, *method, *path, *body;
    int status;
    const char *member, *want;
} rows[] = {
    { "a list", "x", "", "GET", WIDGETS, "", 403, "message",
      "widgets.test.example.com is forbidden: " CANNOT "list resource \"widgets\" in API group "
      "\"test.example.com\" in the namespace \"default\"" },
    { "its details", "x", "", "GET", WIDGETS, "", 403, "details",
      "{\"group\":\"test.example.com\",\"kind\":\"widgets\"}" },
    { "a list of all namespaces", "x", "", "GET", "/api/v1/configmaps", "", 403, "message",
      "configmaps is forbidden: " CANNOT "list resource \"configmaps\" in API group \"\" at the "
      "cluster scope" },
    { "a watch", "x", "", "GET", "/api/v1/pods?watch=1", "", 403, "message",
      "pods is forbidden: " CANNOT "watch resource \"pods\" in API group \"\" at the cluster scope" },
    { "one object", "x", "", "GET", WIDGETS "/a", "", 403, "message",
      "widgets.test.example.com \"a\" is forbidden: " CANNOT "get resource \"widgets\" in API group "
      "\"test.example.com\" in the namespace \"default\"" },
    { "a subresource", "x", "", "PUT", WIDGETS "/a/status", "{}", 403, "message",
      "widgets.test.example.com \"a\" is forbidden: " CANNOT "update resource \"widgets/status\" in "
      "API group \"test.example.com\" in the namespace \"default\"" },
    { "a namespace is in itself", "x", "", "GET", "/api/v1/namespaces/n", "", 403, "message",
      "namespaces \"n\" is forbidden: " CANNOT "get resource \"namespaces\" in API group \"\" in the "
      "namespace \"n\"" },
    { "a collection's deletion", "x", "", "DELETE", WIDGETS, "", 403, "message",
      "widgets.test.example.com is forbidden: " CANNOT "deletecollection resource \"widgets\" in API "
      "group \"test.example.com\" in the namespace \"default\"" },
    { "a path", "x", "", "GET", "/metrics", "", 403, "message",
      "forbidden: " CANNOT "get path \"/metrics\"" },
    { "what there is not is not told to those who may not ask", "x", "", "GET",
      "/apis/nothing/v1/things", "", 403, "reason", "Forbidden" },
    { "discovery is for all who are known", "x", "", "GET", "/apis", "", 200, "kind", "APIGroupList" },
    { "not for who is not", "system:anonymous", "", "GET", "/apis", "", 403, "message",
      "forbidden: User \"system:anonymous\" cannot get path \"/apis\"" },
    { "who may see the version all the same", "system:anonymous", "", "GET", "/version", "", 200,
      "major", "1" },
    { "one object by name", "ann", "", "GET", "/api/v1/namespaces/default/configmaps/a", "", 200, "kind",
      "ConfigMap" },
    { "a list of that one", "ann", "", "GET",
      "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da", "", 200, "kind",
      "ConfigMapList" },
    { "not of all", "ann", "", "GET", "/api/v1/namespaces/default/configmaps", "", 403, "reason",
      "Forbidden" },
    { "masters may everything", "x", "system:masters", "GET", "/api/v1/configmaps", "", 200, "kind",
      "ConfigMapList" },
    { "edit has what view has", "x", "team", "GET", "/api/v1/namespaces/default/pods", "", 200, "kind",
      "PodList" },
    { "and more", "x", "team", "POST", "/api/v1/namespaces/default/configmaps",
      "{\"metadata\":{\"name\":\"b\"}}", 201, "kind", "ConfigMap" },
    { "not what admin has", "x", "team", "GET", RBAC "/namespaces/default/roles", "", 403, "reason",
      "Forbidden" },
    { "who I am", "x", "g", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", 201,
      "status.userInfo", "{\"username\":\"x\",\"groups\":[\"g\",\"system:authenticated\"]}" },
    { "may I", "ann", "", "POST", REVIEWS "/selfsubjectaccessreviews",
      "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"configmaps\",\"name\":\"a\","
      "\"namespace\":\"default\"}}}",
      201, "status",
      "{\"allowed\":true,\"reason\":\"RBAC: allowed by RoleBinding \\\"one/default\\\" of Role "
      "\\\"one\\\" to User \\\"ann\\\"\"}" },
    { "may I not", "ann", "", "POST", REVIEWS "/selfsubjectaccessreviews",
      "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"configmaps\"}}}", 201, "status",
      "{\"allowed\":false}" },
    { "only some may ask about others", "ann", "", "POST", REVIEWS "/subjectaccessreviews", "{}", 403,
      "reason", "Forbidden" },
    { "may they", "x", "system:masters", "POST", REVIEWS "/subjectaccessreviews",
      "{\"spec\":{\"user\":\"y\",\"groups\":[\"system:authenticated\"],\"nonResourceAttributes\":{\"verb\":"
      "\"get\",\"path\":\"/api/v1\"}}}",
      201, "status.allowed", "true" },
    { "a review of nothing and nobody", "x", "system:masters", "POST", REVIEWS "/subjectaccessreviews",
      "{\"spec\":{}}", 422, "message",
      ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: null: exactly "
      "one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid "
      "value: \"\": at least one of user or group must be specified]" },
    { "a local review elsewhere", "x", "system:masters", "POST",
      REVIEWS "/namespaces/default/localsubjectaccessreviews",
      "{\"spec\":{\"user\":\"y\",\"resourceAttributes\":{\"namespace\":\"z\"}}}", 422, "details.causes.0.message",
      "Invalid value: \"z\": must match metadata.namespace" },
    { "what may I in a namespace", "ann", "", "POST", REVIEWS "/selfsubjectrulesreviews",
      "{\"spec\":{\"namespace\":\"default\"}}", 201, "status.resourceRules.2.resourceNames", "[\"a\"]" },
    { "without a namespace", "ann", "", "POST", REVIEWS "/selfsubjectrulesreviews", "{\"spec\":{}}", 400,
      "message", "no namespace on request" },
    { "nobody gives what they do not have", "roler", "", "POST", RBAC "/namespaces/default/roles",
      "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":["
      "\"pods\"]}]}",
      403, "message",
      "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"roler\" "
      "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently "
      "held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}" },
    { "not even by a change", "roler", "", "PUT", RBAC "/namespaces/default/roles/one",
      "{\"metadata\":{\"name\":\"one\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"\"],\"resources\":["
      "\"pods\"]}]}",
      403, "reason", "Forbidden" },
    { "nor by a binding", "roler", "", "POST", RBAC "/namespaces/default/rolebindings",
      "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"one\"},\"subjects\":[]}", 403,
      "message",
      "rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user \"roler\" "
      "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently "
      "held:\n{APIGroups:[\"\"], Resources:[\"configmaps\"], ResourceNames:[\"a\"], Verbs:[\"get\" "
      "\"list\"]}" },
    { "of a role that there is not", "roler", "", "POST", RBAC "/namespaces/default/rolebindings",
      "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"gone\"},\"subjects\":[]}", 404,
      "message", "rolebindings.rbac.authorization.k8s.io \"gone\" not found" },
    { "nor by aggregation", "roler", "", "POST", RBAC "/clusterroles",
      "{\"metadata\":{\"name\":\"r\"},\"aggregationRule\":{\"clusterRoleSelectors\":[{}]}}", 403, "message",
      "clusterroles.rbac.authorization.k8s.io \"r\" is forbidden: must have cluster-admin privileges "
      "to use the aggregationRule" },
    { "what they have they give", "roler", "", "POST", RBAC "/namespaces/default/roles",
      "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":["
      "\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\"]}]}",
      201, "kind", "Role" },
    { "who may bind a role gives it without having it", "binder", "", "POST",
      RBAC "/namespaces/default/rolebindings",
      "{\"metadata\":{\"name\":\"v\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"view\"},\"subjects\":[]}",
      201, "roleRef.apiGroup", "rbac.authorization.k8s.io" },
    { "a role's rules are checked", "x", "system:masters", "POST", RBAC "/namespaces/default/roles",
      "{\"metadata\":{\"name\":\"bad\"},\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}", 422,
      "details.causes.0.message",
      "Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs" },
    { "a binding's role stays", "x", "system:masters", "PUT",
      RBAC "/namespaces/default/rolebindings/one",
      "{\"metadata\":{\"name\":\"one\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"two\"}}", 422,
      "details.causes.0.message",
      "Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"two\"}: "
      "cannot change roleRef" },
    { "identity needs a name", "", "g", "GET", "/api", "", 400, "message",
      "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"g\"}, "
      "Extra:map[string][]string(nil)} without impersonating a user name" },
    { "a ServiceAccount has its groups", "system:serviceaccount:a:b", "", "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", 201, "status.userInfo.groups",
      "[\"system:serviceaccounts\",\"system:serviceaccounts:a\",\"system:authenticated\"]" },
};

static struct fixture *begin(void)
{
    struct fixture *f = fixture_begin();

    for (size_t i = 0; i < sizeof(setup) / sizeof(setup[0]); i++) {
        struct reply reply = ask_json(f, "POST", setup[i][0], setup[i][1]);

        if (reply.status != 201)
            fail_msg("%s: %.*s", setup[i][0], STR_ARG(reply.body));
    }
    return f;
}

static void test_rows(void **state)
{
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reply reply = ask_as(f, rows[i].user, rows[i].group, rows[i].method, rows[i].path,
                                    rows[i].body);

        rows_expect_int(rows[i].sentence, reply.status, rows[i].status);
        expect_text(rows[i].sentence, member(f, reply.body, rows[i].member), rows[i].want);
    }
    fixture_end(f);
}

/* The caller of the fixture, without masters, may not become somebody else. */
static void test_impersonation(void **state)
{
    struct fixture *f = begin();
    struct reply reply;

    (void)state;
    f->groups = STR("system:authenticated");
    reply = ask_as(f, "eve", "", "GET", "/api", "");
    rows_expect_int("status", reply.status, 403);
    expect_text("a user", member(f, reply.body, "message"),
                    "users \"eve\" is forbidden: User \"tester\" cannot impersonate resource "
                    "\"users\" in API group \"\" at the cluster scope");
    reply = ask_as(f, "system:serviceaccount:a:b", "", "GET", "/api", "");
    expect_text("an account", member(f, reply.body, "message"),
                    "serviceaccounts \"b\" is forbidden: User \"tester\" cannot impersonate "
                    "resource \"serviceaccounts\" in API group \"\" in the namespace \"a\"");
    fixture_end(f);
}

static struct str role_rules(struct fixture *f, const char *name)
{
    struct reply reply = ask_json(
        f, "GET", str_z(f->arena, str_fmt(f->arena, RBAC "/clusterroles/%s", name)), "");

    return member(f, reply.body, "rules");
}

static void test_aggregation(void **state)
{
    struct fixture *f = begin();

    (void)state;
    ask_json(f, "POST", RBAC "/clusterroles",
             "{\"metadata\":{\"name\":\"sum\"},\"rules\":[{\"verbs\":[\"own\"],\"apiGroups\":[\"\"],"
             "\"resources\":[\"x\"]}],\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{"
             "\"a\":\"b\"}}]}}");
    expect_text("what it says itself goes", role_rules(f, "sum"), "null");
    ask_json(f, "POST", RBAC "/clusterroles",
             "{\"metadata\":{\"name\":\"part\",\"labels\":{\"a\":\"b\"}},\"rules\":[{\"verbs\":[\"get\"],"
             "\"apiGroups\":[\"\"],\"resources\":[\"x\"]}]}");
    ask_json(f, "POST", RBAC "/clusterroles",
             "{\"metadata\":{\"name\":\"part2\",\"labels\":{\"a\":\"b\"}},\"rules\":[{\"verbs\":[\"get\"],"
             "\"apiGroups\":[\"\"],\"resources\":[\"x\"]}]}");
    expect_text("each rule once", role_rules(f, "sum"),
                    "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"x\"]}]");
    ask_json(f, "DELETE", RBAC "/clusterroles/part", "");
    ask_json(f, "DELETE", RBAC "/clusterroles/part2", "");
    expect_text("and gone with its sources", role_rules(f, "sum"), "null");
    ask_json(f, "POST", RBAC "/clusterroles",
             "{\"metadata\":{\"name\":\"widgets-view\",\"labels\":{"
             "\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}},\"rules\":[{\"verbs\":[\"get\"],"
             "\"apiGroups\":[\"test.example.com\"],\"resources\":[\"widgets\"]}]}");
    assert_true(str_find(role_rules(f, "admin"), STR("test.example.com"), 0) > 0);
    fixture_end(f);
}

/* What a restart finds is as it was: roles are neither made twice nor lost. */
static void test_restart(void **state)
{
    struct fixture *f = begin();
    struct str before = role_rules(f, "edit");

    (void)state;
    ask_json(f, "DELETE", RBAC "/clusterroles/view", "");
    close_api(f);
    open_api(f);
    expect_text("aggregated", role_rules(f, "edit"), str_z(f->arena, before));
    rows_expect_int("made again", ask_json(f, "GET", RBAC "/clusterroles/view", "").status, 200);
    rows_expect_int("kept", ask_as(f, "ann", "", "GET", "/api/v1/namespaces/default/configmaps/a", "")
                                .status,
                    200);
    fixture_end(f);
}

static struct str token_of(struct fixture *f, const char *spec, const char *path)
{
    struct reply reply =
        ask_json(f, "POST", str_z(f->arena, str_fmt(f->arena,
                                                    "/api/v1/namespaces/default/serviceaccounts/%s",
                                                    path)),
                 str_z(f->arena, str_fmt(f->arena, "{\"kind\":\"TokenRequest\",\"apiVersion\":"
                                                   "\"authentication.k8s.io/v1\",\"spec\":%s}",
                                         spec)));

    if (reply.status != 201)
        return member(f, reply.body, "message");
    return member(f, reply.body, "status.token");
}

static struct str review(struct fixture *f, struct str token)
{
    struct reply reply = ask_json(f, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                  str_z(f->arena, str_fmt(f->arena, "{\"spec\":{\"token\":\"%.*s\"}}",
                                                          STR_ARG(token))));

    return member(f, reply.body, "status");
}

static void test_tokens(void **state)
{
    struct fixture *f = begin();
    struct str token, bound;

    (void)state;
    ask_json(f, "POST", "/api/v1/namespaces/default/serviceaccounts",
             "{\"metadata\":{\"name\":\"bot\"}}");
    ask_json(f, "POST", "/api/v1/namespaces/default/secrets", "{\"metadata\":{\"name\":\"s\"}}");
    expect_text("too short", token_of(f, "{\"expirationSeconds\":60}", "bot/token"),
                    "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: "
                    "Invalid value: 60: may not specify a duration less than 10 minutes");
    expect_text("nobody's", token_of(f, "{}", "nobody/token"),
                    "serviceaccounts \"nobody\" not found");
    expect_text("bound to nothing",
                    token_of(f, "{\"boundObjectRef\":{\"kind\":\"Secret\",\"name\":\"no\"}}", "bot/token"),
                    "secrets \"no\" not found");
    expect_text("bound to what does not bind",
                    token_of(f, "{\"boundObjectRef\":{\"kind\":\"Node\",\"name\":\"no\"}}", "bot/token"),
                    "cannot bind token to object of type /v1, Kind=Node");
    token = token_of(f, "{}", "bot/token");
    bound = token_of(f, "{\"boundObjectRef\":{\"kind\":\"Secret\",\"name\":\"s\"}}", "bot/token");
    expect_text("it is bot's", member(f, review(f, token), "user.username"),
                    "system:serviceaccount:default:bot");
    expect_text("for the API", member(f, review(f, token), "audiences"),
                    "[\"https://kubernetes.default.svc\"]");
    expect_text("for others",
                    member(f, review(f, token_of(f, "{\"audiences\":[\"a\"]}", "bot/token")), "error"),
                    "[invalid bearer token, token audiences [\"a\"] is invalid for the target "
                    "audiences [\"https://kubernetes.default.svc\"]]");
    expect_text("the bound one", member(f, review(f, bound), "authenticated"), "true");
    ask_json(f, "DELETE", "/api/v1/namespaces/default/secrets/s", "");
    expect_text("goes with what it is bound to", member(f, review(f, bound), "error"),
                    "[invalid bearer token, secrets \"s\" not found]");
    ask_json(f, "DELETE", "/api/v1/namespaces/default/serviceaccounts/bot", "");
    expect_text("and with its account", member(f, review(f, token), "error"),
                    "[invalid bearer token, serviceaccounts \"bot\" not found]");
    ask_json(f, "POST", "/api/v1/namespaces/default/serviceaccounts",
             "{\"metadata\":{\"name\":\"bot\"}}");
    expect_text("one of the same name is another one",
                    member(f, review(f, token), "error"),
                    "[invalid bearer token, the serviceaccounts bot is not the one that the token "
                    "was given for]");
    expect_text("no token", review(f, STR("x")),
                    "{\"user\":{},\"error\":\"invalid bearer token\"}");
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_impersonation),
        cmocka_unit_test(test_aggregation), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
