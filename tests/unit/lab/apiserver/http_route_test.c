/* SPDX-License-Identifier: Apache-2.0 */
/* http_route_test.c: what is said where there is no path, no such method, no such option. */
#include "api_fixture.h"

#define MERGE "application/merge-patch+json"
#define JSON_PATCH "application/json-patch+json"
#define JSON "application/json"
#define MAPS "/api/v1/namespaces/default/configmaps"
#define NO_METHOD "the server does not allow this method on the requested resource"
#define NO_RESOURCE "the server could not find the requested resource"

static const struct row {
    const char *sentence, *method, *path, *type, *body;
    int status;
    const char *member, *want; /* member "": the whole body */
} rows[] = {
    { "a group that there is not is text", "GET", "/apis/nope/v1/things", "", "", 404, "",
      "404 page not found\n" },
    { "a resource that no definition gives, too", "GET",
      "/apis/test.example.com/v1/namespaces/default/nothings", "", "", 404, "",
      "404 page not found\n" },
    { "and one of a definition in all namespaces", "GET", "/apis/test.example.com/v1/widgets/a", "", "",
      404, "", "404 page not found\n" },
    { "and a deletion in all of them", "DELETE", "/apis/test.example.com/v1/widgets", "", "", 404, "",
      "404 page not found\n" },
    { "a resource that the core does not have is a Status", "GET", "/api/v1/nothings", "", "", 404,
      "message", NO_RESOURCE },
    { "with empty details", "GET", "/api/v1/nothings", "", "", 404, "details", "{}" },
    { "one of the core in all namespaces, too", "GET", "/api/v1/configmaps/a", "", "", 404, "message",
      NO_RESOURCE },
    { "a subresource that the core does not have, too", "GET", MAPS "/a/status", "", "", 404, "message",
      NO_RESOURCE },
    { "a subresource of a definition is of an object", "GET", WIDGETS "/a/nothing", "", "", 404,
      "message", "widgets.test.example.com \"a\" not found" },
    { "a method that the core does not have", "POST", MAPS "/a", JSON, "{}", 405, "message", NO_METHOD },
    { "creating in all namespaces", "POST", "/api/v1/configmaps", JSON, "{}", 405, "message", NO_METHOD },
    { "a question is asked, not read", "GET", "/apis/authentication.k8s.io/v1/tokenreviews", "", "", 405,
      "message", NO_METHOD },
    { "a definition's list is no object", "PUT", WIDGETS, JSON, "{}", 400, "message",
      "name must be provided" },
    { "a status is not deleted", "DELETE", WIDGETS "/a/status", "", "", 405, "message",
      "delete is not supported on resources of kind \"widgets.test.example.com\"" },
    { "a creation reads its body, whatever the path", "POST", WIDGETS "/a", JSON, "{}", 400, "message",
      "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' "
      "({})" },
    { "a body without a version", "POST", WIDGETS, JSON, "{\"kind\":\"Widget\"}", 400, "message",
      "the API version in the data () does not match the expected API version (test.example.com/v1)" },
    { "a body that nobody reads", "POST", WIDGETS, "text/plain", "hello", 415, "message",
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf" },
    { "a dry run that there is not", "POST", WIDGETS "?dryRun=Some", JSON, "{}", 422, "message",
      "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported "
      "values: \"All\"" },
    { "with its cause", "PATCH", WIDGETS "/a?dryRun=Some", MERGE, "{}", 422, "details",
      "{\"group\":\"meta.k8s.io\",\"kind\":\"PatchOptions\",\"causes\":[{\"reason\":"
      "\"FieldValueNotSupported\",\"message\":\"Unsupported value: [\\\"Some\\\"]: supported values: "
      "\\\"All\\\"\",\"field\":\"dryRun\"}]}" },
    { "a way of validation that there is not", "PUT", WIDGETS "/a?fieldValidation=Loose", JSON, "{}", 422,
      "message",
      "UpdateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Loose\": "
      "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"" },
    { "a read has no such options", "GET", WIDGETS "?dryRun=Some", "", "", 200, "kind", "WidgetList" },
    { "forcing what is not applied", "PATCH", WIDGETS "/a?force=true", MERGE, "{}", 422, "message",
      "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply "
      "patch" },
    { "applying without a manager", "PATCH", WIDGETS "/a", "application/apply-patch+yaml", "{}", 422,
      "message",
      "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply "
      "patch" },
    { "a policy that there is not", "DELETE", WIDGETS "/a?propagationPolicy=Some", "", "", 422, "message",
      "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Some\": "
      "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"" },
    { "of options in a body, the query says nothing", "DELETE", WIDGETS "/a?dryRun=Some", JSON,
      "{\"preconditions\":{\"uid\":\"other\"}}", 409, "details.kind", "Widget" },
    { "a version that is not the one any more", "DELETE", WIDGETS "/a", JSON,
      "{\"preconditions\":{\"resourceVersion\":\"x\"}}", 409, "reason", "Conflict" },
    { "a uid is not patched", "PATCH", WIDGETS "/a", MERGE, "{\"metadata\":{\"uid\":\"other\"}}", 422,
      "message",
      "Widget.test.example.com \"a\" is invalid: metadata.uid: Invalid value: \"other\": field is "
      "immutable" },
    { "a replacement without a version", "PUT", WIDGETS "/a", JSON,
      "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\"}}", 422, "details.kind", "widgets" },
    { "a version that is no number", "PUT", WIDGETS "/a", JSON,
      "{" WIDGET "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"new\"}}", 500, "message",
      "strconv.ParseUint: parsing \"new\": invalid syntax" },
    { "a JSON patch whose test fails", "PATCH", WIDGETS "/a", JSON_PATCH,
      "[{\"op\":\"test\",\"path\":\"/spec/env\",\"value\":\"y\"}]", 422, "details", "{}" },
    { "one with an operation that there is not", "PATCH", WIDGETS "/a", JSON_PATCH,
      "[{\"op\":\"swap\",\"path\":\"/spec\"}]", 422, "reason", "Invalid" },
    { "one that is no list", "PATCH", WIDGETS "/a", JSON_PATCH, "{}", 400, "reason", "BadRequest" },
    { "one of what are no operations", "PATCH", WIDGETS "/a", JSON_PATCH, "[1]", 400, "reason",
      "BadRequest" },
    { "a merge patch that is a list", "PATCH", WIDGETS "/a", MERGE, "[1]", 400, "message",
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}" },
    { "what nobody knows is the patch's fault, strictly", "PATCH", WIDGETS "/a?fieldValidation=Strict",
      MERGE, "{\"spec\":{\"b\":1}}", 422, "details.causes.0.field", "patch" },
    { "a deleted collection is answered", "DELETE", WIDGETS, "", "", 200, "items.0.metadata.name", "a" },
    { "as a list", "DELETE", WIDGETS, "", "", 200, "kind", "WidgetList" },
    { "which is empty now", "GET", WIDGETS, "", "", 200, "items", "[]" },
};

static void test_rows(void **state)
{
    struct fixture *f = fixture_begin();

    (void)state;
    ask_json(f, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    ask_json(f, "POST", WIDGETS, "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\"}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct reply reply =
            ask(f, row->method, row->path, "application/json", row->type, row->body);

        rows_expect_int(row->sentence, reply.status, row->status);
        rows_expect_str(row->sentence,
                        row->member[0] ? member(f, reply.body, row->member) : reply.body,
                        str_of(row->want));
    }
    fixture_end(f);
}

static void test_lists(void **state)
{
    struct fixture *f = fixture_begin();
    struct str end = STR("\"continue\":\"\"");
    struct reply table;

    (void)state;
    rows_expect("a list of custom resources says that it ends",
                str_find(ask_json(f, "GET", WIDGETS, "").body, end, 0) > 0, "is there");
    rows_expect("a typed list leaves it out",
                str_find(ask_json(f, "GET", MAPS, "").body, end, 0) < 0, "is not there");
    table = ask(f, "GET", WIDGETS, "application/json;as=Table;v=v1;g=meta.k8s.io", "", "");
    rows_expect_str("a column without a description says where its cells stand",
                    member(f, table.body, "columnDefinitions.1.description"),
                    STR("Custom resource definition column (in JSONPath format): .spec.env"));
    rows_expect("nor does a table", str_find(table.body, end, 0) < 0, "is not there");
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_lists) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
