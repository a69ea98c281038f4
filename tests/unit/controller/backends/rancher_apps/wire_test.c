/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: Rancher's objects and bodies, as rancher/rancher v2.14 writes and reads them. */
#include "support/rows.h"

#include "controller/backends/rancher_apps/keep.h"
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
    kept_app(strbuf_str(&kept), &release);
    rows_expect_int("phase", release.phase, RELEASE_FAILED);
    rows_expect_int("revision", release.revision, 7);
    rows_expect_str("version", release.chart_version, STR("1.2.3"));
    rows_expect_str("stack", release.stack, STR("a/b"));
    rows_expect_str("uid", release.stack_uid, STR("u"));
    rows_expect_str("chart", release.chart_name, STR("c"));
    rows_expect_str("digest", release.digest, STR("d"));
    rows_expect_str("depends on", release.depends_on, STR("e,f"));
    rows_expect_str("description", release.description, STR("Upgrade \"web\" failed"));
    rows_expect_str("nobody marked it", release.marked_uid, STR(""));

    kept = strbuf_new(arena, 64);
    keep_app(NULL, parse(arena, "{\"metadata\":{\"annotations\":{\"herd.suse.com/stack\":\"a/b\","
                                "\"herd.suse.com/stack-uid\":\"u\",\"herd.suse.com/chart\":\"c\","
                                "\"herd.suse.com/spec-hash\":\"d\",\"herd.suse.com/depends-on\":\"e\","
                                "\"herd.suse.com/replaces\":\"n/old\","
                                "\"herd.suse.com/corrections\":\"2\",\"herd.suse.com/marked-at\":"
                                "\"2023-11-14T22:13:20Z\"}},\"spec\":{\"version\":8,\"info\":{"
                                "\"status\":\"deployed\"}}}"),
             &kept);
    kept_app(strbuf_str(&kept), &release);
    rows_expect_str("a mark outlives the stamp", release.marked_uid, STR("u"));
    rows_expect_str("with the Stack", release.marked_stack, STR("a/b"));
    rows_expect_str("the chart", release.chart_name, STR("c"));
    rows_expect_str("what that depends on", release.depends_on, STR("e"));
    rows_expect_str("what it follows", release.replaces, STR("n/old"));
    rows_expect_str("what was deployed", release.marked_digest, STR("d"));
    rows_expect_int("how often it was corrected", release.corrections, 2);
    rows_expect_int("and when", release.marked_ms, 1700000000000);
    rows_expect_str("and there is no stamp", release.stack, STR(""));

    kept = strbuf_new(arena, 64);
    keep_app(NULL, parse(arena, "{\"metadata\":{\"annotations\":{\"herd.suse.com/stack\":\"a/b\","
                                "\"herd.suse.com/stack-uid\":\"u\",\"herd.suse.com/spec-hash\":\"d\"}},"
                                "\"spec\":{\"version\":8,\"info\":{\"status\":\"deployed\"},"
                                "\"chart\":{\"metadata\":{\"annotations\":{"
                                "\"herd.suse.com/stack\":\"a/b\",\"herd.suse.com/stack-uid\":\"u\","
                                "\"herd.suse.com/spec-hash\":\"d\",\"herd.suse.com/revision\":\"8\","
                                "\"herd.suse.com/replaces\":\"n/old\"}}}}}"),
             &kept);
    kept_app(strbuf_str(&kept), &release);
    rows_expect_str("what is said twice comes back twice", release.marked_digest, STR("d"));
    rows_expect_str("the Stack, too", release.marked_stack, STR("a/b"));
    rows_expect_int("the stamp's revision", release.stamped_revision, 8);
    rows_expect_str("and whom it follows", release.replaces, STR("n/old"));

    kept = strbuf_new(arena, 64);
    keep_app(NULL, parse(arena, "{\"spec\":{\"info\":{\"status\":\"deployed\",\"description\":\"x\"},"
                                "\"chart\":{\"metadata\":{\"version\":\"1\"}}}}"),
             &kept);
    rows_expect("a foreign App takes few bytes", kept.len < 32, strbuf_str(&kept).at);
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
          "its pod is pending (waiting to run operation)" },
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
        kept_operation(strbuf_str(&kept), &read);
        rows_expect_str(rows[i].name, read.stack_uid, str_of(rows[i].stack_uid));
    }
}

static void repos_are_refreshed_and_known_again(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 64);
    struct strbuf app = strbuf_new(arena, 64);
    struct wire_repo repo;
    struct observed_release release;

    (void)state;
    rows_expect_str("a refresh is a change of the spec", wire_refresh_body(arena, 1787212800000),
                    STR("{\"spec\":{\"forceUpdate\":\"2026-08-20T08:00:00Z\"}}"));
    rows_expect("what Herd made is kept",
                keep_repo(NULL, parse(arena, wire_repo_body(arena, STR("herd-1"), STR("https://c")).at),
                          &kept), "it is");
    kept_repo(strbuf_str(&kept), &repo);
    rows_expect_int("as such", repo.managed, true);
    keep_app(NULL, parse(arena, "{\"metadata\":{\"labels\":{\"catalog.cattle.io/cluster-repo-name\":"
                                "\"herd-1\"}}}"), &app);
    kept_app(strbuf_str(&app), &release);
    rows_expect_str("a release says where it came from", release.repo_name, STR("herd-1"));
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
        { "one that is disabled is not to be used, whatever it was before",
          "{\"metadata\":{\"generation\":1},\"spec\":{\"url\":\"https://c/\",\"enabled\":false},"
          "\"status\":{\"observedGeneration\":1,\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":"
          "\"Downloaded\",\"status\":\"True\"}]}}",
          true, REPO_UNUSABLE },
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
        struct wire_repo repo = { .state = REPO_NOT_SYNCED };

        rows_expect_int(rows[i].name, wire_repo_read(arena, parse(arena, rows[i].repo), &repo),
                        rows[i].known);
        if (rows[i].known)
            rows_expect_int(rows[i].name, repo.state, rows[i].state);
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
    const struct wire_upgrade upgrade = {
        .stack = STR("team-a/shop"), .stack_uid = STR("u1"), .repo_name = STR("herd-3f"),
        .version = STR("1.2.3"), .revision = 4, .replaces = STR("demo/old"), .desired = &desired,
    };
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
    rows_expect_str("the revision that it makes",
                    json_str(json_walk(chart, "annotations", STAMP_REVISION, NULL)), STR("5"));
    rows_expect_str("whom it follows",
                    json_str(json_walk(chart, "annotations", STAMP_REPLACES, NULL)),
                    STR("demo/old"));
    rows_expect_str("repository for the UI",
                    json_str(json_walk(chart, "annotations", "catalog.cattle.io/ui-source-repo",
                                       NULL)),
                    STR("herd-3f"));
    rows_expect_str("its operation says whose it is",
                    release_description_uid(json_str(json_get(chart, STR("description")))),
                    STR("u1"));
    body = parse(arena, wire_mark_body(arena, &(const struct wire_mark){
        .uid = STR("a1"), .stack = STR("team-a/shop"), .stack_uid = STR("u1"),
        .replaces = STR("demo/old"), .digest = STR("sha256:9b"), .corrections = 2,
        .now_ms = 1700000000000 }).at);
    rows_expect_str("a mark is for that App alone",
                    json_str(json_walk(body, "metadata", "uid", NULL)), STR("a1"));
    rows_expect_str("it says whose it is",
                    json_str(json_walk(body, "metadata", "annotations", STAMP_STACK_UID, NULL)),
                    STR("u1"));
    rows_expect_str("whom it follows",
                    json_str(json_walk(body, "metadata", "annotations", STAMP_REPLACES, NULL)),
                    STR("demo/old"));
    rows_expect_str("how often it was corrected",
                    json_str(json_walk(body, "metadata", "annotations", MARK_CORRECTIONS, NULL)),
                    STR("2"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(app_is_read), cmocka_unit_test(app_phases),
        cmocka_unit_test(kept_bytes_come_back), cmocka_unit_test(operations),
        cmocka_unit_test(operations_say_whose_they_are),
        cmocka_unit_test(repos), cmocka_unit_test(repos_are_refreshed_and_known_again),
        cmocka_unit_test(upgrade_body), cmocka_unit_test(answers),
        cmocka_unit_test(logs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
