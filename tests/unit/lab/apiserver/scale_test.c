/* SPDX-License-Identifier: Apache-2.0 */
/* scale_test.c: replicas by one path, of a Deployment and of a kind by definition. */
#include "api_fixture.h"

static const char *const farms =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: farms.test.example.com}\n"
    "spec:\n"
    "  group: test.example.com\n"
    "  scope: Namespaced\n"
    "  names: {plural: farms, kind: Farm}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources:\n"
    "      status: {}\n"
    "      scale: {specReplicasPath: .spec.size.cows, statusReplicasPath: .status.cows,"
    " labelSelectorPath: .status.selector}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec: {type: object, properties: {size: {type: object, properties: {cows: {type: integer}}}}}\n"
    "          status: {type: object, properties: {cows: {type: integer}, selector: {type: string}}}\n";

#define FARM "\"apiVersion\":\"test.example.com/v1\",\"kind\":\"Farm\","
#define FARMS "/apis/test.example.com/v1/namespaces/default/farms"
#define WEB "/apis/apps/v1/namespaces/default/deployments/web/scale"
#define MERGE "application/merge-patch+json"

static const struct row {
    const char *sentence, *method, *path, *type, *body;
    int status;
    const char *member, *want;
} rows[] = {
    { "a Deployment's Scale", "GET", WEB, "", "", 200, "spec.replicas", "2" },
    { "tells how its pods are found", "GET", WEB, "", "", 200, "status.selector", "app=web,tier in (a,b)" },
    { "is of autoscaling/v1", "GET", WEB, "", "", 200, "apiVersion", "autoscaling/v1" },
    { "is patched", "PATCH", WEB, MERGE, "{\"spec\":{\"replicas\":5}}", 200, "spec.replicas", "5" },
    { "is replaced", "PUT", WEB, "application/json",
      "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
      "\"replicas\":3}}", 200, "spec.replicas", "3" },
    { "only in the version that it names", "PUT", WEB, "application/json",
      "{\"kind\":\"Scale\",\"metadata\":{\"name\":\"web\",\"resourceVersion\":\"1\"},\"spec\":{"
      "\"replicas\":4}}", 409, "reason", "Conflict" },
    { "never below zero", "PATCH", WEB, MERGE, "{\"spec\":{\"replicas\":-1}}", 422, "message",
      "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or "
      "equal to 0" },
    { "is not deleted", "DELETE", WEB, "", "", 405, "reason", "MethodNotAllowed" },
    { "a kind by definition has its own paths", "GET", FARMS "/a/scale", "", "", 200, "spec.replicas", "7" },
    { "which are written, too", "PATCH", FARMS "/a/scale", MERGE, "{\"spec\":{\"replicas\":8}}", 200,
      "spec.replicas", "8" },
    { "into the object", "GET", FARMS "/a", "", "", 200, "spec.size.cows", "8" },
    { "that must have the field", "GET", FARMS "/b/scale", "", "", 500, "message",
      "Internal error occurred: the spec replicas field \".spec.size.cows\" does not exist" },
    { "a kind without replicas has no Scale", "GET", WIDGETS "/a/scale", "", "", 404, "reason",
      "NotFound" },
    { "discovery tells", "GET", "/apis/test.example.com/v1", "", "", 200, "resources.4.name",
      "farms/scale" },
};

static void test_rows(void **state)
{
    struct fixture *f = fixture_begin();
    struct error err;

    (void)state;
    assert_int_equal(api_add_definition(f->api, STR("local"), str_of(farms), &err), 0);
    ask_json(f, "POST", "/apis/apps/v1/namespaces/default/deployments",
             "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{"
             "\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"In\",\"values\":["
             "\"a\",\"b\"]}]},\"template\":{}}}");
    ask_json(f, "POST", FARMS, "{" FARM "\"metadata\":{\"name\":\"a\"},\"spec\":{\"size\":{\"cows\":7}}}");
    ask_json(f, "POST", FARMS, "{" FARM "\"metadata\":{\"name\":\"b\"},\"spec\":{}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reply reply = ask(f, rows[i].method, rows[i].path, "application/json", rows[i].type,
                                 rows[i].body);

        rows_expect_int(rows[i].sentence, reply.status, rows[i].status);
        rows_expect_str(rows[i].sentence, member(f, reply.body, rows[i].member),
                        str_of(rows[i].want));
    }
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
