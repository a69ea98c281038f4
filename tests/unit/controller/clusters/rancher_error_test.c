/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_error_test.c: the six shapes of Rancher's errors, and what each proves. */
#include "support/rows.h"

#include "controller/clusters/rancher_error.h"

static void each_shape_is_read(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
        enum error_code code;
        const char *part;
        bool rejection;
    } rows[] = {
        { "steve: a key twice", 404,
          "{\"type\":\"error\",\"links\":{},\"code\":\"NotFound\",\"message\":\"clusterrepos.catalog."
          "cattle.io \\\"x\\\" not found\",\"status\":404,\"type\":\"error\"}",
          ERROR_NOT_FOUND, "clusterrepos.catalog.cattle.io \"x\" not found", true },
        { "steve: inside an action only the words tell", 500,
          "{\"type\":\"error\",\"links\":{},\"code\":\"ServerError\",\"message\":\"no chart version "
          "found for nginx-9.9.9\",\"status\":500,\"type\":\"error\"}",
          ERROR_NOT_FOUND, "no chart version found for nginx-9.9.9", true },
        { "steve: too large", 500,
          "{\"type\":\"error\",\"code\":\"ServerError\",\"message\":\"Secret \\\"h\\\" is invalid: "
          "data: Too long: must have at most 1048576 bytes\",\"status\":500}",
          ERROR_TOO_LARGE, "Too long", true },
        { "norman", 403,
          "{\"baseType\":\"error\",\"code\":\"PermissionDenied\",\"message\":\"no\",\"status\":403,"
          "\"type\":\"error\"}",
          ERROR_FORBIDDEN, "no (HTTP 403)", true },
        { "Kubernetes", 409,
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
          "\"message\":\"there already\",\"reason\":\"AlreadyExists\",\"details\":{\"name\":\"a\"},"
          "\"code\":409}",
          ERROR_ALREADY_EXISTS, "there already", true },
        { "login filter", 401,
          "{\"type\":\"error\",\"status\":\"401\",\"message\":\"Unauthorized 401: must "
          "authenticate\"}",
          ERROR_UNAUTHORIZED, "Rancher rejects the token: Unauthorized 401: must authenticate (HTTP 401)", true },
        { "cluster router", 503,
          "{\"Code\":{\"Code\":\"ClusterUnavailable\",\"Status\":503},\"Message\":\"cluster not "
          "provisioned\",\"Cause\":null,\"FieldName\":\"\"}",
          ERROR_UNAVAILABLE, "cluster not provisioned", true },
        { "a tunnel that is down reached nobody", 500,
          "lost connection to cluster: failed to find Session for client stv-cluster-c-m-1",
          ERROR_CONNECT, "failed to find Session", true },
        { "an agent that is away reached nobody", 500, "cluster agent disconnected", ERROR_CONNECT,
          "cluster agent disconnected", true },
        { "a chart's host that rejects connections is not the cluster", 500,
          "{\"type\":\"error\",\"links\":{},\"code\":\"ServerError\",\"message\":\"Get \\\"https://c/a.tgz"
          "\\\": dial tcp 10.0.0.1:443: connect: connection refused\",\"status\":500,\"type\":\"error\"}",
          ERROR_INTERNAL, "connection refused", true },
        { "an empty 401 says what to check", 401, "", ERROR_UNAUTHORIZED, "token", true },
        { "an empty 404 is not found", 404, "", ERROR_NOT_FOUND, "may not see it", true },
        { "a gateway that gave up proves nothing", 504, "<html>timeout</html>", ERROR_TIMEOUT,
          "HTML page", false },
        { "a bad gateway proves nothing", 502, "", ERROR_INTERNAL, "HTTP 502", false },
        { "a 503 of who knows whom proves nothing", 503, "no healthy upstream", ERROR_UNAVAILABLE,
          "no healthy upstream", false },
        { "an empty 503 proves nothing", 503, "", ERROR_UNAVAILABLE, "HTTP 503", false },
        { "a 503 in JSON without a code proves nothing", 503, "{\"message\":\"overloaded\"}",
          ERROR_UNAVAILABLE, "overloaded", false },
        { "a 503 of a tunnel that is down reached nobody", 503, "cluster agent disconnected",
          ERROR_UNAVAILABLE, "cluster agent disconnected", true },
        { "a request that took too long proves nothing", 408, "", ERROR_BAD_REQUEST,
          "HTTP 408", false },
        { "a redirect proves nothing", 302, "<html>moved</html>", ERROR_BAD_REQUEST,
          "HTML page", false },
        { "an unknown text proves nothing", 500, "unexpected EOF", ERROR_INTERNAL,
          "unexpected EOF", false },
        { "a body cut in the middle is survived", 500, "{\"message\":\"abc", ERROR_INTERNAL,
          "HTTP 500", true },
        { "nonsense is survived", 500, "{\"a\" 1}", ERROR_INTERNAL, "HTTP 500", true },
        { "control bytes are written out", 400, "a\x1b[2Jb", ERROR_BAD_REQUEST, "\\x1b[2Jb", true },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { .code = ERROR_NONE };

        rancher_error_read(arena, rows[i].status, str_of(rows[i].body), &err);
        if (rows[i].status != 502)
            rows_expect_str(rows[i].name, str_of(error_reason(err.code)),
                            str_of(error_reason(rows[i].code)));
        rows_expect(rows[i].name, str_find(str_of(err.text), str_of(rows[i].part), 0) >= 0,
                    err.text);
        rows_expect_int(rows[i].name, rancher_error_is_rejection(rows[i].status, str_of(rows[i].body)),
                        rows[i].rejection);
    }
}

static void only_rancher_answers_with_a_collection(void **state)
{
    struct error err = { .code = ERROR_NONE };

    (void)state;
    rows_expect_int("a collection is Rancher's, whatever is in it",
                    rancher_collection_read(STR("{\"type\":\"collection\",\"data\":[]}"), &err), 0);
    rows_expect_int("JSON of somebody else is not",
                    rancher_collection_read(STR("{\"kind\":\"APIVersions\"}"), &err), -1);
    rows_expect_int("nor is a page", rancher_collection_read(STR("<html>"), &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_read),
        cmocka_unit_test(only_rancher_answers_with_a_collection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
