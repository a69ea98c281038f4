/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_data_test.c: Secrets, Leases, Events and webhooks that an API server rejects. */
#include "support/rows.h"

#include "lab/apiserver/object.h"
#include "text/yaml.h"

#define TLS "type: kubernetes.io/tls, "
#define OLD_EVENT "metadata: {namespace: default}, "
#define NEW_EVENT OLD_EVENT "eventTime: x, involvedObject: {namespace: other}, "

static const struct row {
    const char *sentence, *plural, *object, *want;
} rows[] = {
    { "a Secret of a type that asks for nothing", "secrets", "{type: mine}", "" },
    { "one for TLS with both", "secrets", "{" TLS "data: {tls.crt: '', tls.key: ''}}", "" },
    { "one for TLS without a key", "secrets", "{" TLS "data: {tls.crt: ''}}", "data[tls.key]: Required value" },
    { "one for TLS with nothing", "secrets", "{" TLS "data: {}}",
      "[data[tls.crt]: Required value, data[tls.key]: Required value]" },
    { "either is enough for a login", "secrets",
      "{type: kubernetes.io/basic-auth, data: {password: ''}}", "" },
    { "a login without either", "secrets", "{type: kubernetes.io/basic-auth}",
      "[data[username]: Required value, data[password]: Required value]" },
    { "an empty key for SSH", "secrets", "{type: kubernetes.io/ssh-auth, data: {ssh-privatekey: ''}}",
      "data[ssh-privatekey]: Required value" },
    { "a registry's file", "secrets",
      "{type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: e30=}}", "" },
    { "a registry without its file", "secrets", "{type: kubernetes.io/dockercfg}",
      "data[.dockercfg]: Required value" },
    { "a registry's file that is a list", "secrets",
      "{type: kubernetes.io/dockercfg, data: {.dockercfg: W10=}}",
      "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": json: cannot unmarshal array into "
      "Go value of type map[string]interface {}" },
    { "a token of nobody", "secrets", "{type: kubernetes.io/service-account-token}",
      "metadata.annotations[kubernetes.io/service-account.name]: Required value" },
    { "a Lease for no time", "leases", "{spec: {leaseDurationSeconds: 0}}",
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0" },
    { "a Lease that never changed hands", "leases", "{spec: {leaseTransitions: 0, leaseDurationSeconds: 1}}",
      "" },
    { "or less than that", "leases", "{spec: {leaseTransitions: -1}}",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0" },
    { "an Event of its object's namespace", "events",
      "{" OLD_EVENT "involvedObject: {namespace: default}}", "" },
    { "of an object without one, in default", "events", "{" OLD_EVENT "involvedObject: {}}", "" },
    { "elsewhere", "events", "{metadata: {namespace: a}, involvedObject: {}}",
      "involvedObject.namespace: Invalid value: \"\": does not match event.namespace" },
    { "of another namespace", "events", "{" OLD_EVENT "involvedObject: {namespace: other}}",
      "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace" },
    { "a new Event may be of another, and says who, what and why", "events",
      "{" NEW_EVENT "reportingComponent: a.io/b, reportingInstance: b, action: c, reason: d}", "" },
    { "one that does not say why", "events",
      "{" NEW_EVENT "reportingComponent: a.io/b, reportingInstance: b, action: c}",
      "reason: Required value" },
    { "a webhook that is right", "validatingwebhookconfigurations",
      "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1, v9], clientConfig: {url: "
      "'https://a'}, rules: [{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}]}",
      "" },
    { "a webhook with too short a name", "validatingwebhookconfigurations",
      "{webhooks: [{name: a.b, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "
      "'https://a'}}]}",
      "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated "
      "by dots" },
    { "two of one name", "mutatingwebhookconfigurations",
      "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "
      "'https://a'}}, {name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "
      "'https://a'}}]}",
      "webhooks[1].name: Duplicate value: \"a.b.c\"" },
    { "words that a webhook does not know", "mutatingwebhookconfigurations",
      "{webhooks: [{name: a.b.c, sideEffects: Some, failurePolicy: x, matchPolicy: why, reinvocationPolicy: z, "
      "timeoutSeconds: 31, admissionReviewVersions: [v2], clientConfig: {url: 'http://a'}}]}",
      "[webhooks[0].failurePolicy: Unsupported value: \"x\": supported values: \"Fail\", \"Ignore\", "
      "webhooks[0].matchPolicy: Unsupported value: \"why\": supported values: \"Equivalent\", \"Exact\", "
      "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\", "
      "webhooks[0].reinvocationPolicy: Unsupported value: \"z\": supported values: \"IfNeeded\", \"Never\", "
      "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1, "
      "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds, "
      "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired "
      "format: https://host[/path]]" },
    { "a rule of a webhook that says too much and too little", "mutatingwebhookconfigurations",
      "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: "
      "{name: x}}, rules: [{operations: ['*', READ], apiGroups: ['*', a], scope: Some}]}]}",
      "[webhooks[0].clientConfig.service.namespace: Required value, "
      "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"READ\"]: if '*' is present, must not specify "
      "other operations, "
      "webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify other "
      "API groups, "
      "webhooks[0].rules[0].apiVersions: Required value, "
      "webhooks[0].rules[0].resources: Required value, "
      "webhooks[0].rules[0].operations[1]: Unsupported value: \"READ\": supported values: \"*\", "
      "\"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\", "
      "webhooks[0].rules[0].scope: Unsupported value: \"Some\": supported values: \"*\", \"Cluster\", "
      "\"Namespaced\"]" },
};

static const struct kind *kind_of(const struct builtin *builtin, const char *plural)
{
    for (uint32_t i = 0; i < builtin->kinds.count; i++)
        if (str_eq(builtin->kinds.items[i]->plural, str_of(plural)))
            return builtin->kinds.items[i];
    fail_msg("no %s", plural);
    return NULL;
}

static void test_rows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct findings found = findings_new(arena, 0);
        struct yaml_documents documents;
        struct value *object;
        struct error err;

        if (yaml_read(arena, str_of(rows[i].object), &documents, &err) != 0 ||
            value_read(arena, documents.items[0].json, &json_limits_default, &object, &err) != 0)
            fail_msg("%s: %s", rows[i].sentence, err.text);
        builtin_validate(arena, kind_of(builtin, rows[i].plural), NULL, object, &found);
        rows_expect_str(rows[i].sentence, findings_join(arena, &found), str_of(rows[i].want));
    }
}

#define KEPT "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " \
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
static const struct {
    const char *sentence, *spec, *want;
} sets[] = {
    { "a StatefulSet as it was", "{serviceName: a, selector: {matchLabels: {a: b}}, replicas: 1}", "" },
    { "more replicas, another template", "{serviceName: a, selector: {matchLabels: {a: b}}, replicas: 2, template: {}}", "" },
    { "another Service", "{serviceName: b, selector: {matchLabels: {a: b}}, replicas: 1}", KEPT },
    { "another selector", "{serviceName: a, selector: {matchLabels: {a: c}}, replicas: 1}", KEPT },
    { "volumes that it did not have", "{serviceName: a, selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{}]}", KEPT },
    { "pods all at once", "{serviceName: a, selector: {matchLabels: {a: b}}, podManagementPolicy: Parallel}", KEPT },
};

static struct value *set_of(struct arena *arena, const char *spec)
{
    struct yaml_documents documents;
    struct value *object = NULL;
    struct error err;

    if (yaml_read(arena, str_fmt(arena, "spec: %s", spec), &documents, &err) != 0 ||
        value_read(arena, documents.items[0].json, &json_limits_default, &object, &err) != 0)
        fail_msg("%s: %s", spec, err.text);
    return object;
}

static void test_what_a_stateful_set_keeps(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = kind_of(builtin_new(arena), "statefulsets");

    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct findings found = findings_new(arena, 0);

        builtin_validate(arena, kind, set_of(arena, sets[0].spec), set_of(arena, sets[i].spec), &found);
        rows_expect_str(sets[i].sentence, findings_join(arena, &found), str_of(sets[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_what_a_stateful_set_keeps) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
