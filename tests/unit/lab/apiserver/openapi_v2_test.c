/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_v2_test.c: the document that old kubectls read, and its protobuf. */
#include "api_fixture.h"

#include "lab/apiserver/openapi_v2.h"

#define B(literal) { literal, sizeof(literal) - 1 }

static const struct row {
    const char *sentence, *json;
    struct str want;
} rows[] = {
    { "the version", "{\"swagger\":\"2.0\"}", B("\x0a\x03" "2.0") },
    { "an empty message is there", "{\"paths\":{}}", B("\x42\x00") },
    { "what has no row is not said", "{\"nothing\":1}", B("") },
    { "a definition is a name and a schema, a type one of several",
      "{\"definitions\":{\"A\":{\"type\":\"object\"}}}",
      B("J\x12\x0a\x10\x0a\x01" "A\x12\x0b\xb2\x01\x08\x0a\x06object") },
    { "a reference", "{\"definitions\":{\"A\":{\"$ref\":\"#x\"}}}",
      B("J\x0b\x0a\x09\x0a\x01" "A\x12\x04\x0a\x02#x") },
    { "required members are texts", "{\"definitions\":{\"A\":{\"required\":[\"a\",\"b\"]}}}",
      B("J\x0f\x0a\x0d\x0a\x01" "A\x12\x08\x9a\x01\x01" "a\x9a\x01\x01" "b") },
    { "elements are a schema in a message of their own",
      "{\"definitions\":{\"A\":{\"items\":{\"format\":\"f\"}}}}",
      B("J\x0f\x0a\x0d\x0a\x01" "A\x12\x08\xba\x01\x05\x0a\x03\x12\x01" "f") },
    { "a map's values, too", "{\"definitions\":{\"A\":{\"additionalProperties\":{\"format\":\"f\"}}}}",
      B("J\x0f\x0a\x0d\x0a\x01" "A\x12\x08\xaa\x01\x05\x0a\x03\x12\x01" "f") },
    { "an extension is a name and YAML", "{\"definitions\":{\"A\":{\"x-a\":[1]}}}",
      B("J\x17\x0a\x15\x0a\x01" "A\x12\x10\xfa\x01\x0d\x0a\x03x-a\x12\x06\x12\x04[1]\x0a") },
    { "a value of an enumeration is YAML", "{\"definitions\":{\"A\":{\"enum\":[\"v\"]}}}",
      B("J\x10\x0a\x0e\x0a\x01" "A\x12\x09\xa2\x01\x06\x12\x04\"v\"\x0a") },
    { "a parameter of the query, four messages deep",
      "{\"paths\":{\"/p\":{\"patch\":{\"parameters\":[{\"name\":\"dryRun\",\"in\":\"query\"}]}}}}",
      B("B!\x12\x1f\x0a\x02/p\x12\x19" "B\x17" "B\x15\x0a\x13\x12\x11\x1a\x0f\"\x06" "dryRun\x12\x05query") },
};

static void test_protobuf(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json json;
        struct error err;

        if (json_read(arena, str_of(rows[i].json), &json_limits_default, &json, &err) != 0)
            fail_msg("%s", err.text);
        rows_expect_str(rows[i].sentence, openapi_v2_protobuf(arena, json), rows[i].want);
    }
}

static void test_document(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply reply = ask_json(f, "GET", "/openapi/v2", "");
    struct json doc, widget, patch;
    struct error err;

    (void)state;
    rows_expect_int("status", reply.status, 200);
    if (json_read(f->arena, reply.body, &json_limits_default, &doc, &err) != 0)
        fail_msg("%s", err.text);
    widget = json_walk(doc, "definitions", "com.example.test.v1.Widget", NULL);
    rows_expect_str("a kind by definition has its fields",
                    json_str(json_walk(widget, "properties", "spec", "properties", "env", "type",
                                       NULL)),
                    STR("string"));
    rows_expect_str("and metadata",
                    json_str(json_walk(widget, "properties", "metadata", "$ref", NULL)),
                    STR("#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    rows_expect_str("built-in types have Kubernetes' names, and what objects must have",
                    json_raw(json_walk(doc, "definitions", "io.k8s.api.core.v1.PodSpec",
                                       "required", NULL)),
                    STR("[\"containers\"]"));
    rows_expect_str("so do questions",
                    json_raw(json_walk(doc, "definitions",
                                       "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
                                       "required", NULL)),
                    STR("[\"spec\"]"));
    patch = json_walk(doc, "paths",
                      "/apis/test.example.com/v1/namespaces/{namespace}/widgets/{name}", "patch",
                      NULL);
    assert_true(str_find(json_raw(patch), STR("\"name\":\"dryRun\""), 0) > 0);
    reply = ask(f, "GET", "/openapi/v2",
                "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "", "");
    rows_expect_int("protobuf", reply.status, 200);
    assert_true(str_starts(reply.body, STR("\x0a\x03"
                                           "2.0")));
    assert_true(str_find(reply.body, STR("com.example.test.v1.Widget"), 0) > 0);
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protobuf),
        cmocka_unit_test(test_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
