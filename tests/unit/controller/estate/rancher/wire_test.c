/* wire_test.c: Rancher's objects and bodies, as rancher/rancher v2.14 writes and reads them. */
#include "support/rows.h"

#include "controller/estate/rancher/keep.h"
#include "text/value.h"

static struct json parse(struct arena *arena, const char *text)
{
    struct error err = { .code = ERROR_NONE };
    struct json root;

    if (json_read(arena, str_of(text), &json_limits_default, &root, &err) < 0)
        fail_msg("%s: %s", err.text, text);
    return root;
}

static void app_is_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct observed_release release;

    (void)state;
    wire_app_read(
        parse(arena,
              "{\"apiVersion\":\"catalog.cattle.io/v1\",\"kind\":\"App\",\"metadata\":{\"name\":"
              "\"web\",\"namespace\":\"demo\"},\"spec\":{\"name\":\"web\",\"namespace\":\"demo\","
              "\"version\":2,\"info\":{\"status\":\"deployed\",\"description\":\"Upgrade "
              "complete\"},\"chart\":{\"metadata\":{\"name\":\"nginx\",\"version\":\"1.2.3\","
              "\"annotations\":{\"herd.suse.com/stack\":\"team-a/shop\",\"herd.suse.com/stack-uid\":"
              "\"u1\",\"herd.suse.com/chart\":\"web\",\"herd.suse.com/spec-hash\":\"sha256:9b\","
              "\"herd.suse.com/depends-on\":\"db\"}}}},\"status\":{\"summary\":{\"state\":"
              "\"deployed\"}}}"),
        &release);
    rows_expect_str("namespace", release.namespace_, STR("demo"));
    rows_expect_str("name", release.name, STR("web"));
    rows_expect_int("phase", release.phase, RELEASE_DEPLOYED);
    rows_expect_int("revision", release.revision, 2);
    rows_expect_str("chart version", release.chart_version, STR("1.2.3"));
    rows_expect_str("stack", release.stack, STR("team-a/shop"));
    rows_expect_str("uid", release.stack_uid, STR("u1"));
    rows_expect_str("chart", release.chart_name, STR("web"));
    rows_expect_str("digest", release.digest, STR("sha256:9b"));
    rows_expect_str("depends on", release.depends_on, STR("db"));
}

static void app_phases(void **state)
{
    static const struct {
        const char *name;
        const char *status;
        enum release_phase phase;
    } rows[] = {
        { "deployed is deployed", "deployed", RELEASE_DEPLOYED },
        { "failed is failed", "failed", RELEASE_FAILED },
        { "a first install under way is pending", "pending-install", RELEASE_PENDING },
        { "an upgrade under way is pending", "pending-upgrade", RELEASE_PENDING },
        { "a rollback under way is pending", "pending-rollback", RELEASE_PENDING },
        { "uninstalling is uninstalling", "uninstalling", RELEASE_UNINSTALLING },
        { "superseded is none of them", "superseded", RELEASE_OTHER },
        { "an unknown word is not taken for deployed", "Deployed", RELEASE_OTHER },
        { "no word is not taken for deployed", "", RELEASE_OTHER },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct observed_release release;
        struct str text =
            str_fmt(arena, "{\"spec\":{\"info\":{\"status\":\"%s\"}}}", rows[i].status);

        wire_app_read(parse(arena, text.at), &release);
        rows_expect_int(rows[i].name, release.phase, rows[i].phase);
    }
}

static void kept_bytes_come_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 64);
    struct observed_release release;

    (void)state;
    keep_app(NULL,
             parse(arena, "{\"metadata\":{\"name\":\"web\",\"namespace\":\"demo\"},\"spec\":{"
                          "\"version\":7,\"info\":{\"status\":\"failed\",\"description\":\"Upgrade "
                          "\\\"web\\\" failed\"},\"chart\":{\"metadata\":{\"version\":\"1.2.3\","
                          "\"annotations\":{\"herd.suse.com/stack\":\"a/b\",\"herd.suse.com/"
                          "stack-uid\":\"u\",\"herd.suse.com/chart\":\"c\",\"herd.suse.com/"
                          "spec-hash\":\"d\",\"herd.suse.com/depends-on\":\"e,f\"}}}}}"),
             &kept);
    kept_app(arena, strbuf_str(&kept), &release);
    rows_expect_int("phase", release.phase, RELEASE_FAILED);
    rows_expect_int("revision", release.revision, 7);
    rows_expect_str("version", release.chart_version, STR("1.2.3"));
    rows_expect_str("stack", release.stack, STR("a/b"));
    rows_expect_str("uid", release.stack_uid, STR("u"));
    rows_expect_str("chart", release.chart_name, STR("c"));
    rows_expect_str("digest", release.digest, STR("d"));
    rows_expect_str("depends on", release.depends_on, STR("e,f"));
    rows_expect_str("description", release.description, STR("Upgrade \"web\" failed"));

    kept = strbuf_new(arena, 64);
    keep_app(NULL, parse(arena, "{\"spec\":{\"info\":{\"status\":\"deployed\",\"description\":\"x\"},"
                                "\"chart\":{\"metadata\":{\"version\":\"1\"}}}}"),
             &kept);
    rows_expect("a foreign App takes few bytes", kept.len < 20, strbuf_str(&kept).at);
}

static void operations(void **state)
{
    static const struct {
        const char *name;
        const char *status;
        bool known;
        enum operation_state state;
        const char *message;
    } rows[] = {
        { "one without a status says nothing yet", "{}", false, OPERATION_RUNNING, "" },
        { "one without conditions runs, and its pod does not",
          "{\"releaseName\":\"web\"}", true, OPERATION_RUNNING,
          "its pod has no container yet" },
        { "one whose pod waits says so",
          "{\"releaseName\":\"web\",\"conditions\":[{\"type\":\"Reconciling\",\"status\":\"True\","
          "\"message\":\"waiting to run operation\"}]}",
          true, OPERATION_RUNNING,
          "its pod has not started yet (waiting to run operation)" },
        { "one whose pod runs has nothing to say",
          "{\"releaseName\":\"web\",\"conditions\":[{\"type\":\"Reconciling\",\"status\":\"True\","
          "\"message\":\"running operation\"}]}",
          true, OPERATION_RUNNING, "" },
        { "waiting runs",
          "{\"releaseName\":\"web\",\"conditions\":[{\"type\":\"Reconciling\",\"status\":\"True\"},"
          "{\"type\":\"Stalled\",\"status\":\"False\"}]}",
          true, OPERATION_RUNNING, "" },
        { "neither reconciling nor stalled is over",
          "{\"releaseName\":\"web\",\"conditions\":[{\"type\":\"Reconciling\",\"status\":\"False\"},"
          "{\"type\":\"Stalled\",\"status\":\"False\"}]}",
          true, OPERATION_SUCCEEDED, "" },
        { "stalled has failed",
          "{\"releaseName\":\"web\",\"conditions\":[{\"type\":\"Reconciling\",\"status\":\"False\"},"
          "{\"type\":\"Stalled\",\"status\":\"True\",\"reason\":\"Stalled\",\"message\":\" exit code:"
          " 123\"}]}",
          true, OPERATION_FAILED, "exit code: 123" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct observed_operation read = { .message = STR("") };
        struct str text = str_fmt(arena,
                                  "{\"metadata\":{\"name\":\"helm-operation-x7k2p\",\"namespace\":"
                                  "\"demo\",\"creationTimestamp\":\"2026-08-20T08:00:00Z\"},"
                                  "\"status\":%s}",
                                  rows[i].status);

        rows_expect_int(rows[i].name, wire_operation_read(arena, parse(arena, text.at), &read),
                        rows[i].known);
        if (!rows[i].known)
            continue;
        rows_expect_int(rows[i].name, read.state, rows[i].state);
        rows_expect_str(rows[i].name, read.message, str_of(rows[i].message));
        rows_expect_int(rows[i].name, read.created_ms, 1787212800000);
    }
}

static void operations_say_whose_they_are(void **state)
{
    static const struct {
        const char *name, *option, *stack_uid;
    } rows[] = {
        { "one that a Stack asked for says which", "--description=Stack team/shop, uid u1", "u1" },
        { "somebody's own words name none", "--description=by hand, uid u1", "" },
        { "nor does one without words", "--install=true", "" },
        { "nor another option", "--set=a=Stack team/shop, uid u1", "" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf kept = strbuf_new(arena, 64);
        struct observed_operation read;
        struct str text = str_fmt(arena,
                                  "{\"metadata\":{\"name\":\"o\",\"namespace\":\"demo\"},\"status\":"
                                  "{\"releaseName\":\"web\",\"command\":[\"helm\",\"upgrade\",\"%s\","
                                  "\"web\",\"/home/shell/helm/web-1.0.0.tgz\"]}}",
                                  rows[i].option);

        rows_expect(rows[i].name, keep_operation(NULL, parse(arena, text.at), &kept), "it is kept");
        kept_operation(arena, strbuf_str(&kept), &read);
        rows_expect_str(rows[i].name, read.stack_uid, str_of(rows[i].stack_uid));
    }
}

static void repos(void **state)
{
    static const struct {
        const char *name;
        const char *repo;
        bool known;
        enum repo_state state;
    } rows[] = {
        { "a git repository serves no URL", "{\"spec\":{\"gitRepo\":\"https://g\"}}", false, 0 },
        { "one that is switched off is none",
          "{\"spec\":{\"url\":\"https://c/\",\"enabled\":false}}", false, 0 },
        { "a new one is downloading", "{\"metadata\":{\"generation\":1},\"spec\":{\"url\":\"https://"
                                      "c/\"}}",
          true, REPO_DOWNLOADING },
        { "downloaded, observed and indexed is ready",
          "{\"metadata\":{\"generation\":1},\"spec\":{\"url\":\"https://c/\"},\"status\":{"
          "\"observedGeneration\":1,\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":"
          "\"Downloaded\",\"status\":\"True\"}]}}",
          true, REPO_READY },
        { "a changed one is not ready before it was observed",
          "{\"metadata\":{\"generation\":2},\"spec\":{\"url\":\"https://c/\"},\"status\":{"
          "\"observedGeneration\":1,\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":"
          "\"Downloaded\",\"status\":\"True\"}]}}",
          true, REPO_DOWNLOADING },
        { "one over OCI has a condition of its own",
          "{\"metadata\":{\"generation\":1},\"spec\":{\"url\":\"oci://c\"},\"status\":{"
          "\"observedGeneration\":1,\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":"
          "\"Downloaded\",\"status\":\"True\"}]}}",
          true, REPO_DOWNLOADING },
        { "one that cannot be downloaded has failed",
          "{\"metadata\":{\"generation\":1},\"spec\":{\"url\":\"https://c\"},\"status\":{"
          "\"conditions\":[{\"type\":\"Downloaded\",\"status\":\"False\",\"message\":\"x509\"}]}}",
          true, REPO_FAILED },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wire_repo repo = { .state = REPO_UNREAD };

        rows_expect_int(rows[i].name, wire_repo_read(arena, parse(arena, rows[i].repo), &repo),
                        rows[i].known);
        if (rows[i].known)
            rows_expect_int(rows[i].name, repo.state, rows[i].state);
    }
}

static void clusters(void **state)
{
    static const struct {
        const char *name;
        const char *conditions;
        bool usable;
        bool disconnected;
        const char *message;
    } rows[] = {
        { "Ready and Connected is usable",
          "{\"type\":\"Connected\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}",
          true, false, "" },
        { "Ready without a word on Connected is usable",
          "{\"type\":\"Ready\",\"status\":\"True\"}", true, false, "" },
        { "not Connected is not usable whatever Ready says",
          "{\"type\":\"Connected\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}",
          false, true, "its agent is not connected" },
        { "not Ready says why",
          "{\"type\":\"Connected\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"False\","
          "\"reason\":\"Disconnected\",\"message\":\"Cluster agent is not connected\"}",
          false, true, "Cluster agent is not connected" },
        { "no conditions is not usable", "", false, false, "it is not Ready" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wire_cluster cluster;
        struct strbuf kept = strbuf_new(arena, 64);
        struct str text = str_fmt(
            arena,
            "{\"metadata\":{\"name\":\"c-m-1\",\"labels\":{\"env\":\"edge\"}},\"spec\":{"
            "\"displayName\":\"store\",\"internal\":false},\"status\":{\"conditions\":[%s]}}",
            rows[i].conditions);

        keep_cluster(NULL, parse(arena, text.at), &kept);
        kept_cluster(arena, strbuf_str(&kept), &cluster);
        rows_expect_int(rows[i].name, cluster.usable, rows[i].usable);
        rows_expect_int(rows[i].name, cluster.disconnected, rows[i].disconnected);
        rows_expect_str(rows[i].name, cluster.message, str_of(rows[i].message));
        rows_expect_str(rows[i].name, json_raw(cluster.labels), STR("{\"env\":\"edge\"}"));
        rows_expect_str(rows[i].name, cluster.display_name, STR("store"));
    }
}

static void upgrade_body(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct desired_release desired = {
        .chart_name = STR("web"), .chart_in_repo = STR("nginx"), .namespace_ = STR("demo"),
        .release_name = STR("web"), .values = STR("{\"a\":1}"), .digest = STR("sha256:9b"),
        .depends_on = STR("db"), .timeout_ms = 86400000, .wait = true,
    };
    const struct wire_upgrade upgrade = { STR("team-a/shop"), STR("u1"), STR("herd-3f"),
                                          STR("1.2.3"), &desired };
    struct json body = parse(arena, wire_upgrade_body(arena, &upgrade).at);
    struct json chart = (struct json){ NULL, 0 };
    struct json_iter it = json_iter(json_get(body, STR("charts")));

    (void)state;
    rows_expect_str("a timeout is a string and ends before the pod's rights do",
                    json_raw(json_get(body, STR("timeout"))), STR("\"50m0s\""));
    rows_expect_int("wait", json_bool(json_get(body, STR("wait"))), true);
    rows_expect_str("history", json_raw(json_get(body, STR("historyMax"))), STR("5"));
    while (json_next(&it))
        chart = it.value;
    rows_expect_int("values are never those of the revision before",
                    json_bool(json_get(chart, STR("resetValues"))), true);
    rows_expect_str("values", json_raw(json_get(chart, STR("values"))), STR("{\"a\":1}"));
    rows_expect_str("chart", json_str(json_get(chart, STR("chartName"))), STR("nginx"));
    rows_expect_str("version", json_str(json_get(chart, STR("version"))), STR("1.2.3"));
    rows_expect_str("stamp",
                    json_str(json_walk(chart, "annotations", "herd.suse.com/stack", NULL)),
                    STR("team-a/shop"));
    rows_expect_str("repository for the UI",
                    json_str(json_walk(chart, "annotations", "catalog.cattle.io/ui-source-repo",
                                       NULL)),
                    STR("herd-3f"));
    rows_expect_str("its operation says whose it is",
                    release_description_uid(json_str(json_get(chart, STR("description")))),
                    STR("u1"));
    body = parse(arena, wire_uninstall_body(arena, STR("team-a/shop"), STR("u1")).at);
    rows_expect_str("that of an uninstall, too", json_str(json_get(body, STR("description"))),
                    STR("Stack team-a/shop, uid u1"));
}

static void answers(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct str text = STR("");

    (void)state;
    rows_expect_int("an info answer names the version",
                    wire_info_read(parse(arena, "{\"readme\":\"\",\"chart\":{\"version\":\"1.2.9\"}}"),
                                   &text, &err),
                    0);
    rows_expect_str("version", text, STR("1.2.9"));
    rows_expect_int("an info answer without it is an error",
                    wire_info_read(parse(arena, "{}"), &text, &err), -1);
    rows_expect_int("a collection is Rancher's, whatever is in it",
                    wire_collection_read(parse(arena, "{\"type\":\"collection\",\"data\":[]}"), &err),
                    0);
    rows_expect_int("JSON of somebody else is not",
                    wire_collection_read(parse(arena, "{\"kind\":\"APIVersions\"}"), &err), -1);
    rows_expect_int("an action names its operation",
                    wire_output_read(parse(arena, "{\"type\":\"chartActionOutput\",\"links\":{},"
                                                  "\"operationName\":\"helm-operation-x7k2p\","
                                                  "\"operationNamespace\":\"demo\"}"),
                                     &text, &err),
                    0);
    rows_expect_str("operation", text, STR("helm-operation-x7k2p"));
    rows_expect("1.2.9 is not 1.2.3", !wire_version_fits(STR("1.2.3"), STR("1.2.9")), "fits");
    rows_expect("other build metadata is another version",
                !wire_version_fits(STR("1.2.3+a"), STR("1.2.3+b")), "fits");
    rows_expect("v1.2.3 is 1.2.3", wire_version_fits(STR("v1.2.3"), STR("1.2.3")), "does not");
    rows_expect("within a range Rancher chooses", wire_version_fits(STR("^1.2"), STR("1.2.9")),
                "does not");
}

static void logs(void **state)
{
    static const struct {
        const char *name;
        const char *log;
        const char *cause;
    } rows[] = {
        { "the last error counts, without its CR",
          "helm upgrade ...\r\nError: first\r\nError: UPGRADE FAILED: context deadline exceeded\r\n",
          "Error: UPGRADE FAILED: context deadline exceeded" },
        { "a success has no cause", "SUCCESS: helm upgrade web\r\n---\r\n", "" },
        { "a pod that reached no API says so",
          "Waiting for Kubernetes API to be available\nTimeout waiting for kubernetes\n",
          "Timeout waiting for kubernetes" },
        { "all lines of an error count",
          "Error: UPGRADE FAILED: values don't meet the specifications of the schema(s) in the "
          "following chart(s):\r\nweb:\r\n- (root): image is required\r\n- port: too high\r\n\r\n",
          "Error: UPGRADE FAILED: values don't meet the specifications of the schema(s) in the "
          "following chart(s): web: - (root): image is required; - port: too high" },
        { "Helm's trace and the script's words are no part of it",
          "Error: UPGRADE FAILED: no\nhelm.go:84: [debug] no\nmain.go:1\n", "Error: UPGRADE FAILED: no" },
        { "escapes on later lines are written out, too", "Error: no:\n\x1b[31m\x07red",
          "Error: no: \\x1b[31m\\x07red" },
        { "terminal escapes are written out", "Error: \x1b[31mred", "Error: \\x1b[31mred" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_str(rows[i].name, wire_log_cause(arena, str_of(rows[i].log)),
                        str_of(rows[i].cause));
}

static void errors(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
        enum error_code code;
        const char *part;
        bool refusal;
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
          ERROR_UNAUTHORIZED, "Rancher does not take the token: Unauthorized 401: must authenticate (HTTP 401)", true },
        { "cluster router", 503,
          "{\"Code\":{\"Code\":\"ClusterUnavailable\",\"Status\":503},\"Message\":\"cluster not "
          "provisioned\",\"Cause\":null,\"FieldName\":\"\"}",
          ERROR_UNAVAILABLE, "cluster not provisioned", true },
        { "a tunnel that is down reached nobody", 500,
          "lost connection to cluster: failed to find Session for client stv-cluster-c-m-1",
          ERROR_CONNECT, "failed to find Session", true },
        { "an agent that is away reached nobody", 500, "cluster agent disconnected", ERROR_CONNECT,
          "cluster agent disconnected", true },
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

        wire_error_read(arena, rows[i].status, str_of(rows[i].body), &err);
        if (rows[i].status != 502)
            rows_expect_str(rows[i].name, str_of(error_reason(err.code)),
                            str_of(error_reason(rows[i].code)));
        rows_expect(rows[i].name, str_find(str_of(err.text), str_of(rows[i].part), 0) >= 0,
                    err.text);
        rows_expect_int(rows[i].name, wire_error_is_refusal(rows[i].status, str_of(rows[i].body)),
                        rows[i].refusal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(app_is_read), cmocka_unit_test(app_phases),
        cmocka_unit_test(kept_bytes_come_back), cmocka_unit_test(operations),
        cmocka_unit_test(operations_say_whose_they_are),
        cmocka_unit_test(repos), cmocka_unit_test(clusters),
        cmocka_unit_test(upgrade_body), cmocka_unit_test(answers),
        cmocka_unit_test(logs), cmocka_unit_test(errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
