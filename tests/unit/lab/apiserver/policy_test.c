/* SPDX-License-Identifier: Apache-2.0 */
/* policy_test.c: ValidatingAdmissionPolicies on requests: what is rejected, in which words, and what passes. What a real
 * API server answers to the same is asked by tests/cluster/policies.yaml and requests.txt. */
#include "api_fixture.h"

#define POLICIES "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
#define BINDINGS "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
#define CONFIGS "/api/v1/namespaces/default/configmaps"
#define HEAD "{apiVersion: admissionregistration.k8s.io/v1, kind: "
#define ALL "matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]}, "
#define ON(operations, resources)                                                                                            \
    "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [" operations                       \
    "], resources: [" resources "]}]}, "
#define DENY "validationActions: [Deny]"
#define SAYS(words) "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: " words

/* A ConfigMap with these data is created; want "": it is. */
static const struct row {
    const char *sentence, *policy, *binding, *data, *want;
} rows[] = {
    { "what holds", ALL "validations: [{expression: \"object.data.a == 'x'\"}]", DENY, "a: x", "" },
    { "what does not hold shows itself", ALL "validations: [{expression: \" object.data.a == 'x' \"}]", DENY, "a: z",
      SAYS("failed expression: object.data.a == 'x'") },
    { "its message", ALL "validations: [{expression: 'false', message: ' no '}]", DENY, "", SAYS("no") },
    { "its message's expression", ALL "validations: [{expression: 'false', message: m, messageExpression: \"'no ' + object.data.a\"}]",
      DENY, "a: x", SAYS("no x") },
    { "a message that cannot be made", ALL "validations: [{expression: 'false', message: m, messageExpression: 'string(object.data.b)'}]",
      DENY, "a: x", SAYS("m") },
    { "a message of two lines", ALL "validations: [{expression: 'false', message: m, messageExpression: \"'a\\\\nb'\"}]", DENY, "",
      SAYS("m") },
    { "a blank message", ALL "validations: [{expression: 'false', messageExpression: \"' '\"}]", DENY, "",
      SAYS("failed expression: false") },
    { "the first of two", ALL "validations: [{expression: 'false', message: m}, {expression: 'false', message: o}]", DENY, "", SAYS("m") },
    { "an error", ALL "validations: [{expression: 'object.data.b == 1'}]", DENY, "a: x",
      SAYS("expression 'object.data.b == 1' resulted in error: no such key: b") },
    { "an error that is ignored", ALL "failurePolicy: Ignore, validations: [{expression: 'object.data.b == 1'}]", DENY, "a: x", "" },
    { "ignoring errors is no ignoring of answers", ALL "failurePolicy: Ignore, validations: [{expression: 'false', message: m}]", DENY, "",
      SAYS("m") },
    { "other operations", ON("UPDATE, DELETE", "configmaps") "validations: [{expression: 'false'}]", DENY, "", "" },
    { "other resources", ON("'*'", "secrets") "validations: [{expression: 'false'}]", DENY, "", "" },
    { "subresources are other resources", ON("'*'", "configmaps/status") "validations: [{expression: 'false'}]", DENY, "", "" },
    { "names", "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps], "
      "resourceNames: [other]}]}, validations: [{expression: 'false'}]", DENY, "", "" },
    { "what is left out", "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: ['*']}], "
      "excludeResourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps], resourceNames: [asked]}]}, "
      "validations: [{expression: 'false'}]", DENY, "", "" },
    { "a binding for other resources", ALL "validations: [{expression: 'false'}]",
      DENY ", matchResources: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]}", "", "" },
    { "a binding for other namespaces", ALL "validations: [{expression: 'false'}]",
      DENY ", matchResources: {namespaceSelector: {matchLabels: {a: b}}}", "", "" },
    { "a binding for other labels", ALL "validations: [{expression: 'false'}]", DENY ", matchResources: {objectSelector: {matchLabels: {a: b}}}",
      "", "" },
    { "a condition that does not hold", ALL "matchConditions: [{name: a, expression: \"request.operation == 'DELETE'\"}], "
      "validations: [{expression: 'false'}]", DENY, "", "" },
    { "a condition that holds", ALL "matchConditions: [{name: a, expression: \"request.operation == 'CREATE'\"}], "
      "validations: [{expression: 'false', message: m}]", DENY, "", SAYS("m") },
    { "variables", ALL "variables: [{name: a, expression: 'size(object.data)'}, {name: b, expression: 'variables.a + 1'}], "
      "validations: [{expression: 'variables.b == 2', messageExpression: 'string(variables.b)'}]", DENY, "x: x, z: z", SAYS("3") },
    { "a variable's error where it is read", ALL "variables: [{name: a, expression: 'object.data.b'}], "
      "validations: [{expression: \"'b' in object.data ? variables.a == 'x' : true\"}]", DENY, "a: x", "" },
    { "and there only", ALL "variables: [{name: a, expression: 'object.data.b'}], validations: [{expression: \"variables.a == 'x'\"}]", DENY,
      "a: x", SAYS("expression 'variables.a == 'x'' resulted in error: composited variable \"a\" fails to evaluate: no such key: b") },
    { "the request, its namespace, and no old object",
      ALL "validations: [{expression: \"request.name == 'asked' && namespaceObject.metadata.name == 'default' && oldObject == null && "
          "request.userInfo.username == 'tester' && request.resource.resource == 'configmaps'\"}]", DENY, "", "" },
    { "a parameter", "paramKind: {apiVersion: v1, kind: ConfigMap}, " ON("CREATE", "configmaps")
      "validations: [{expression: 'object.data.a == params.data.a', messageExpression: 'string(params.data.a)'}]",
      DENY ", paramRef: {name: bounds, namespace: default, parameterNotFoundAction: Deny}", "a: x", SAYS("5") },
    { "parameters by label", "paramKind: {apiVersion: v1, kind: ConfigMap}, " ON("CREATE", "configmaps")
      "validations: [{expression: 'object.data.a == params.data.a'}]",
      DENY ", paramRef: {selector: {matchLabels: {is: bounds}}, parameterNotFoundAction: Deny}", "a: '5'", "" },
    { "no parameter", "paramKind: {apiVersion: v1, kind: ConfigMap}, " ON("CREATE", "configmaps") "validations: [{expression: 'true'}]",
      DENY ", paramRef: {name: nothing, parameterNotFoundAction: Deny}", "",
      SAYS("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction") },
    { "no parameter, which is fine", "paramKind: {apiVersion: v1, kind: ConfigMap}, " ON("CREATE", "configmaps")
      "validations: [{expression: 'false'}]", DENY ", paramRef: {name: nothing, parameterNotFoundAction: Allow}", "", "" },
    { "parameters of a kind that there is not", "paramKind: {apiVersion: example.com/v1, kind: Nothing}, " ON("CREATE", "configmaps")
      "validations: [{expression: 'true'}]", DENY ", paramRef: {name: a, parameterNotFoundAction: Allow}", "",
      SAYS("failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Nothing'") },
    { "a namespace for what has none", "paramKind: {apiVersion: v1, kind: Node}, " ON("CREATE", "configmaps") "validations: [{expression: 'true'}]",
      DENY ", paramRef: {name: a, namespace: b, parameterNotFoundAction: Allow}", "",
      SAYS("failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`") },
    { "an audit annotation's error", ALL "auditAnnotations: [{key: a, valueExpression: 'string(object.data.b)'}]", DENY, "a: x",
      SAYS("expression 'string(object.data.b)' resulted in error: no such key: b") },
    { "notes and warnings reject nothing", ALL "validations: [{expression: 'false'}]", "validationActions: [Warn, Audit]", "", "" },
};

static void create(struct fixture *f, const char *sentence, const char *path, const char *kind, const char *name, const char *spec)
{
    struct str body = str_fmt(f->arena, HEAD "%s, metadata: {name: %s}, spec: {%s}}", kind, name, spec);
    struct reply r = ask(f, "POST", path, "application/json", "application/yaml", body.at);

    if (r.status != 201)
        fail_msg("%s: %.*s\n%.*s", sentence, STR_ARG(body), STR_ARG(r.body));
}

static struct fixture *begin(void)
{
    struct fixture *f = fixture_begin();
    struct reply r = ask_json(f, "POST", CONFIGS,
                              "{\"metadata\":{\"name\":\"bounds\",\"labels\":{\"is\":\"bounds\"}},\"data\":{\"a\":\"5\"}}");

    assert_int_equal(r.status, 201);
    return f;
}

static void put_to_work(struct fixture *f, const char *sentence, const char *policy, const char *binding)
{
    create(f, sentence, POLICIES, "ValidatingAdmissionPolicy", "p", policy);
    create(f, sentence, BINDINGS, "ValidatingAdmissionPolicyBinding", "b",
           str_fmt(f->arena, "policyName: p, %s", binding).at);
}

static void test_answers(void **state)
{
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str body = str_fmt(f->arena, "{metadata: {name: asked}, data: {%s}}", rows[i].data);
        struct reply r;

        put_to_work(f, rows[i].sentence, rows[i].policy, rows[i].binding);
        r = ask(f, "POST", CONFIGS "?dryRun=All", "application/json", "application/yaml", body.at);
        if (rows[i].want[0])
            rows_expect_str(rows[i].sentence, member(f, r.body, "message"),
                            str_fmt(f->arena, "configmaps \"asked\" is forbidden: %s", rows[i].want));
        else
            rows_expect_str(rows[i].sentence, member(f, r.body, "message"), STR(""));
        rows_expect_int(rows[i].sentence, r.status, rows[i].want[0] ? 422 : 201);
        assert_int_equal(ask_json(f, "DELETE", BINDINGS "/b", "").status, 200);
        assert_int_equal(ask_json(f, "DELETE", POLICIES "/p", "").status, 200);
    }
    fixture_end(f);
}

static void test_reasons(void **state)
{
    static const struct {
        const char *reason;
        int status;
    } reasons[] = { { "Invalid", 422 }, { "Forbidden", 403 }, { "RequestEntityTooLarge", 413 } };
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct reply r;

        put_to_work(f, "reasons",
                    str_fmt(f->arena, ALL "validations: [{expression: 'false', message: m, reason: %s}]", reasons[i].reason).at, DENY);
        r = ask_json(f, "POST", CONFIGS, "{\"metadata\":{\"name\":\"asked\"}}");
        rows_expect_int(reasons[i].reason, r.status, reasons[i].status);
        rows_expect_str(reasons[i].reason, member(f, r.body, "reason"), str_of(reasons[i].reason));
        rows_expect_str(reasons[i].reason, member(f, r.body, "details.causes.0.message"), STR(SAYS("m")));
        assert_int_equal(ask_json(f, "DELETE", BINDINGS "/b", "").status, 200);
        assert_int_equal(ask_json(f, "DELETE", POLICIES "/p", "").status, 200);
    }
    fixture_end(f);
}

static void test_old_object(void **state)
{
    struct fixture *f = begin();
    struct reply r;

    (void)state;
    put_to_work(f, "changes", ON("UPDATE", "configmaps") "validations: [{expression: 'object.data.a > oldObject.data.a'}]", DENY);
    r = ask(f, "PATCH", CONFIGS "/bounds", "application/json", "application/merge-patch+json", "{\"data\":{\"a\":\"4\"}}");
    rows_expect_int("a change that is rejected", r.status, 422);
    r = ask(f, "PATCH", CONFIGS "/bounds", "application/json", "application/merge-patch+json", "{\"data\":{\"a\":\"6\"}}");
    rows_expect_int("a change that is not", r.status, 200);
    fixture_end(f);
}

static void test_deletion(void **state)
{
    struct fixture *f = begin();

    (void)state;
    put_to_work(f, "deletions", ON("DELETE", "configmaps") "validations: [{expression: \"oldObject.data.a == 'x' && object == null\"}]",
                DENY);
    rows_expect_int("a deletion that is rejected", ask_json(f, "DELETE", CONFIGS "/bounds", "").status, 422);
    rows_expect_int("and leaves it there", ask_json(f, "GET", CONFIGS "/bounds", "").status, 200);
    rows_expect_int("policies never hold up their own end", ask_json(f, "DELETE", POLICIES "/p", "").status, 200);
    rows_expect_int("a binding alone does nothing", ask_json(f, "DELETE", CONFIGS "/bounds", "").status, 200);
    fixture_end(f);
}

static void test_warning(void **state)
{
    struct fixture *f = begin();
    const char *body = "{\"metadata\":{\"name\":\"asked\"}}";
    int fd = loopback_connect(http_server_port(f->server));
    struct str answer;

    (void)state;
    put_to_work(f, "warnings", ALL "validations: [{expression: 'false', message: m}]", "validationActions: [Warn]");
    loopback_write(fd, str_fmt(f->arena,
                               "POST " CONFIGS " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
                               "Content-Length: %zu\r\n\r\n%s",
                               strlen(body), body));
    answer = loopback_read(f->arena, fd, LOOPBACK_PATIENCE_MS);
    close(fd);
    rows_expect("the request passes", str_find(answer, STR(" 201 "), 0) > 0, answer.at);
    rows_expect("with a warning",
                str_find(answer, STR("299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': m\""), 0) > 0,
                answer.at);
    fixture_end(f);
}

/* What is wrong with a policy is told when it is created: the rest is in requests.txt. */
static const struct rejection {
    const char *sentence, *spec, *want;
} rejections[] = {
    { "what the lab does not evaluate", ALL "validations: [{expression: \"authorizer.group('').resource('pods').check('get').allowed()\"}]",
      "spec.validations[0].expression: Invalid value: \"authorizer.group('').resource('pods').check('get').allowed()\": compilation failed: "
      "ERROR: <input>:1:1: herd-lab does not evaluate 'authorizer': it asks the cluster's authorizer\n | "
      "authorizer.group('').resource('pods').check('get').allowed()\n | ^" },
    { "no answer", ALL "validations: [{expression: '1'}]",
      "spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool but got int" },
    { "parameters without a kind", ALL "validations: [{expression: 'params == null'}]",
      "spec.validations[0].expression: Invalid value: \"params == null\": compilation failed: ERROR: <input>:1:1: undeclared reference to "
      "'params' (in container '')\n | params == null\n | ^" },
};

static void test_rejected(void **state)
{
    struct fixture *f = begin();

    (void)state;
    for (size_t i = 0; i < sizeof(rejections) / sizeof(rejections[0]); i++) {
        struct str body = str_fmt(f->arena, HEAD "ValidatingAdmissionPolicy, metadata: {name: p}, spec: {%s}}", rejections[i].spec);
        struct reply r = ask(f, "POST", POLICIES, "application/json", "application/yaml", body.at);

        rows_expect_int(rejections[i].sentence, r.status, 422);
        rows_expect_str(rejections[i].sentence, member(f, r.body, "message"),
                        str_fmt(f->arena, "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: %s",
                                rejections[i].want));
    }
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),  cmocka_unit_test(test_reasons), cmocka_unit_test(test_old_object),
        cmocka_unit_test(test_deletion), cmocka_unit_test(test_warning), cmocka_unit_test(test_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
