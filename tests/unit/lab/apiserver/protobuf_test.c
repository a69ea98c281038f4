/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf_test.c: bodies as kubectl 1.32 sends them (captured; they are the fuzzer's corpus too),
 * and what damage to them is answered with. */
#include "support/rows.h"

#include "lab/apiserver/kind.h"
#include "lab/apiserver/protobuf.h"
#include "text/value.h"

#include <stdio.h>

#define CORPUS "tests/fuzz/corpus/protobuf/"

static struct str file_bytes(struct arena *arena, const char *name)
{
    struct strbuf buf = strbuf_new(arena, 1024);
    struct str path = str_fmt(arena, "%s%s", CORPUS, name);
    FILE *file = fopen(path.at, "rb");
    char part[512];
    size_t len;

    if (!file)
        fail_msg("%s cannot be read", path.at);
    while ((len = fread(part, 1, sizeof(part), file)) > 0)
        strbuf_put(&buf, str_make(part, len));
    fclose(file);
    return strbuf_str(&buf);
}

static const struct schema *type_of(const struct builtin *builtin, const char *kind)
{
    for (uint32_t i = 0; i < builtin->kinds.count; i++)
        if (str_eq(builtin->kinds.items[i]->kind, str_of(kind)))
            return builtin->kinds.items[i]->schema;
    return map_get(builtin->types, str_of(kind));
}

/* ---- what kubectl sends ---- */

static const struct real {
    const char *row, *file, *kind;
    const char *parts[6]; /* of the JSON */
} reals[] = {
    { "create namespace", "namespace", "Namespace",
      { "\"apiVersion\":\"v1\"", "\"kind\":\"Namespace\"", "\"name\":\"team-a\"" } },
    { "create configmap with text, an empty text and bytes", "configmap", "ConfigMap",
      { "\"data\":{\"a\":\"1\",\"empty\":\"\"}", "\"binaryData\":{\"b.bin\":\"//4AYmlu\"}" } },
    { "create secret generic", "secret", "Secret",
      { "\"data\":{\"p\":\"aHVudGVyMg==\"}" } },
    { "create serviceaccount", "serviceaccount", "ServiceAccount",
      { "\"name\":\"sa3\"", "\"namespace\":\"x\"" } },
    { "create deployment with port and command", "deployment", "Deployment",
      { "\"replicas\":2", "\"matchLabels\":{\"app\":\"web\"}", "\"image\":\"nginx\"",
        "\"command\":[\"sleep\",\"1\"]", "\"containerPort\":80" } },
    { "create service clusterip, a target by number and one by name", "service", "Service",
      { "\"port\":80", "\"targetPort\":8080", "\"targetPort\":\"http\"",
        "\"type\":\"ClusterIP\"" } },
    { "create role: the core group is an empty text", "role", "Role",
      { "\"apiGroups\":[\"\"]", "\"apiGroups\":[\"apps\"]", "\"verbs\":[\"get\",\"list\"]" } },
    { "create rolebinding to a user and an account", "rolebinding", "RoleBinding",
      { "\"kind\":\"User\"", "\"kind\":\"ServiceAccount\"", "\"namespace\":\"x\"",
        "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\"" } },
    { "create clusterrole for a path", "clusterrole", "ClusterRole",
      { "\"nonResourceURLs\":[\"/healthz\"]" } },
    { "create clusterrolebinding", "clusterrolebinding", "ClusterRoleBinding",
      { "\"kind\":\"Group\"", "\"name\":\"g\"" } },
    { "create priorityclass below zero", "priorityclass", "PriorityClass",
      { "\"value\":-5", "\"preemptionPolicy\":\"Never\"", "\"description\":\"d\"" } },
    { "auth can-i", "accessreview", "SelfSubjectAccessReview",
      { "\"verb\":\"create\"", "\"resource\":\"pods\"" } },
    { "a deletion with a precondition", "delete-options", "DeleteOptions",
      { "\"preconditions\":{\"uid\":\"wrong-uid\"}" } },
    { "a lease with times and an owner", "lease", "Lease",
      { "\"creationTimestamp\":\"2023-11-14T22:13:20Z\"",
        "\"renewTime\":\"2023-11-14T22:13:21.005000Z\"", "\"leaseDurationSeconds\":15",
        "\"controller\":true" } },
    { "create clusterrole --aggregation-rule", "clusterrole-aggregation", "ClusterRole",
      { "\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{\"a\":\"b\"}}]}" } },
    { "a whole second is a MicroTime, too; a counter may be zero", "lease-microtime", "Lease",
      { "\"acquireTime\":\"2023-11-14T22:13:20.000000Z\"",
        "\"renewTime\":\"2023-11-14T22:13:21.123456Z\"", "\"leaseTransitions\":0" } },
    { "managers and their fields, and false where it was said", "managed-fields", "ConfigMap",
      { "\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\"",
        "\"time\":\"2023-11-14T22:13:20Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":"
        "{\".\":{},\"f:a\":{}}}", "\"immutable\":false" } },
    { "a pod that limits a resource by quantity", "pod-quantity", "Pod",
      { "\"limits\":{\"cpu\":\"500m\"}" } },
};

static void reads_what_kubectl_sends(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);

    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        const struct real *r = &reals[i];
        const struct schema *type = type_of(builtin, r->kind);
        struct str body = file_bytes(arena, r->file), json;
        struct error err = { 0 };
        struct value *object;

        if (protobuf_read(arena, builtin->types, type, body, &object, &err) != 0)
            fail_msg("%s\n  rejected: %s", r->row, err.text);
        json = value_json(arena, object);
        for (size_t k = 0; k < 6 && r->parts[k]; k++)
            if (str_find(json, str_of(r->parts[k]), 0) < 0)
                fail_msg("%s\n  got:  %.*s\n  without: %s", r->row, STR_ARG(json), r->parts[k]);
    }
    (void)state;
}

/* The end of the object, before the two empty fields that close the envelope. */
static size_t object_end(struct str body)
{
    return str_ends(body, str_make("\x1a\0\"\0", 4)) ? body.len - 4 : body.len;
}

static void rejects_every_body_that_was_cut_off(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);

    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        const struct schema *type = type_of(builtin, reals[i].kind);
        struct str body = file_bytes(arena, reals[i].file);

        for (size_t len = 0; len < object_end(body); len++) {
            struct error err = { 0 };
            struct str part = str_dup(arena, str_slice(body, 0, len));
            struct value *object;

            if (protobuf_read(arena, builtin->types, type, part, &object, &err) == 0)
                fail_msg("%s\n  accepted with %zu of %zu bytes", reals[i].row, len, body.len);
            rows_expect_int(reals[i].row, err.code, ERROR_SYNTAX);
        }
    }
    (void)state;
}

/* ---- what nobody should send ---- */

#define BODY(bytes) { bytes, sizeof(bytes) - 1 }
/* A ConfigMap whose object is `len` bytes (in octal or hex as C writes it). */
#define MAP(len, bytes) BODY("k8s\0\x0a\x0f\x0a\x02v1\x12\x09" "ConfigMap\x12" len bytes)

static const struct damage {
    const char *row;
    struct str body;
    enum error_code code;
    const char *part; /* of the text */
} damages[] = {
    { "nothing at all", BODY(""), ERROR_SYNTAX, "does not begin with" },
    { "JSON", BODY("{\"kind\":\"ConfigMap\"}"), ERROR_SYNTAX, "does not begin with" },
    { "the magic alone", BODY("k8s\0"), ERROR_SYNTAX, "ends before its object" },
    { "an envelope that ends before the object", BODY("k8s\0\x0a\x04\x0a\x02v1"), ERROR_SYNTAX,
      "ends before its object" },
    { "a field that ends within its key", MAP("\x01", "\x80"), ERROR_SYNTAX, "cut off" },
    { "a length beyond the message", MAP("\x02", "\x0a\x05"), ERROR_SYNTAX, "cut off" },
    { "a length beyond all memory", MAP("\x0b", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERROR_SYNTAX, "cut off" },
    { "a group, which the format gave up", MAP("\x02", "\x0b\x0c"), ERROR_SYNTAX, "wire type 3" },
    { "a text that is not UTF-8", MAP("\x08", "\x12\x06\x0a\x01k\x12\x01\xff"), ERROR_SYNTAX, "ConfigMap.data: protobuf: a text is not" },
    { "a surrogate in a key", MAP("\x07", "\x12\x05\x0a\x03\xed\xa0\x80"), ERROR_SYNTAX, "is not UTF-8" },
    { "a NUL in a text", MAP("\x08", "\x12\x06\x0a\x01k\x12\x01\0"), ERROR_SYNTAX, "holds a NUL" },
    { "a time beyond all calendars", MAP("\x0e", "\x0a\x0c" "B\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), ERROR_SYNTAX,
      "ConfigMap.metadata: ObjectMeta.creationTimestamp: " },
};

static void says_what_is_wrong(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);
    const struct schema *type = type_of(builtin, "ConfigMap");

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        struct error err = { 0 };
        struct value *object;

        rows_expect(damages[i].row,
                    protobuf_read(arena, builtin->types, type, str_dup(arena, damages[i].body), &object, &err) != 0,
                    "it is rejected");
        rows_expect_int(damages[i].row, err.code, damages[i].code);
        if (str_find(str_of(err.text), str_of(damages[i].part), 0) < 0)
            fail_msg("%s\n  got:  %s\n  without: %s", damages[i].row, err.text, damages[i].part);
    }
    (void)state;
}

static void names_no_form_that_it_does_not_know(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);
    const struct schema *custom = schema_new(arena, SCHEMA_OBJECT);
    struct error err = { 0 };
    struct value *object;

    rows_expect("a custom resource",
                protobuf_read(arena, builtin->types, custom, file_bytes(arena, "configmap"), &object, &err) != 0, "rejected");
    rows_expect_int("a custom resource", err.code, ERROR_MEDIA_TYPE);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_kubectl_sends),
        cmocka_unit_test(rejects_every_body_that_was_cut_off),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(names_no_form_that_it_does_not_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
