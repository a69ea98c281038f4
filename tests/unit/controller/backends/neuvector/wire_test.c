/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: who answered, and what NeuVector's documents say. */
#include "support/rows.h"

#include "controller/backends/neuvector/wire.h"

static struct json read(struct arena *arena, const char *text)
{
    struct error err = { .code = ERROR_NONE };
    struct json json = { NULL, 0 };

    if (wire_read(arena, str_of(text), &json, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return json;
}

#define STATUS(message) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\"}"
#define NV(code) "{\"code\":" code ",\"error\":\"words\",\"message\":\"words\"}"

static void answers_are_told_apart_by_their_shape(void **state)
{
    static const struct {
        const char *row;
        int status;
        const char *body;
        enum wire_answer want;
    } rows[] = {
        { "an action", 200, "", WIRE_OK },
        { "no Service", 404, STATUS("services \\\"x\\\" not found"), WIRE_NO_SERVICE },
        { "a Service without the port", 503, STATUS("no service port 10443 found for service"),
          WIRE_NO_SERVICE },
        { "no controller", 503, STATUS("no endpoints available for service"), WIRE_NOT_READY },
        { "a controller that does not answer", 503, STATUS("error trying to reach service"),
          WIRE_NOT_READY },
        { "no right on the proxy", 403, STATUS("services is forbidden"), WIRE_PROXY_FORBIDDEN },
        { "a token that Kubernetes does not know is Rancher's business", 401,
          STATUS("Unauthorized"), WIRE_ELSEWHERE },
        { "wrong credentials", 401, NV("3"), WIRE_UNAUTHORIZED },
        { "an expired session, before 5.4.1", 408, NV("3"), WIRE_UNAUTHORIZED },
        { "a blocked user", 401, NV("47"), WIRE_UNAUTHORIZED },
        { "an expired password", 401, NV("48"), WIRE_PASSWORD },
        { "a role that may not", 403, NV("25"), WIRE_DENIED },
        { "no such object", 404, NV("7"), WIRE_NOT_FOUND },
        { "no such path", 404, NV("1"), WIRE_NOT_FOUND },
        { "objects that a CR manages", 400, NV("4"), WIRE_REFUSED },
        { "its store failed", 500, NV("8"), WIRE_FAILED },
        { "a code nobody knows", 500, NV("99"), WIRE_FAILED },
        { "a cluster that is not connected", 500, "cluster agent disconnected", WIRE_ELSEWHERE },
        { "Rancher's login filter", 401,
          "{\"type\":\"error\",\"status\":\"401\",\"message\":\"must authenticate\"}",
          WIRE_ELSEWHERE },
        { "nothing", 502, "", WIRE_ELSEWHERE },
        { "Rancher: the user may not use the cluster", 403,
          "{\"type\":\"error\",\"status\":403,\"code\":\"Forbidden\",\"message\":\"cluster access denied\"}",
          WIRE_PROXY_FORBIDDEN },
        { "the same in words", 403, "Forbidden", WIRE_PROXY_FORBIDDEN },
        { "the same without words", 403, "", WIRE_PROXY_FORBIDDEN },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str message;

        rows_expect_int(rows[i].row,
                        wire_answer_of(arena, rows[i].status, str_of(rows[i].body), &message),
                        rows[i].want);
    }
}

static void logins_give_a_token_or_ask_for_a_password(void **state)
{
    static const struct {
        const char *row, *body, *token; /* NULL: it is rejected */
    } rows[] = {
        { "a session", "{\"token\":{\"token\":\"abc\"},\"need_to_reset_password\":false}", "abc" },
        { "a password to be changed, with status 200",
          "{\"token\":null,\"need_to_reset_password\":true}", "" },
        { "neither", "{}", NULL },
        { "a login page in JSON", "[]", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct error err = { .code = ERROR_NONE };
        struct str token = STR("none");
        int result = wire_login_read(read(arena, rows[i].body), &token, &err);

        rows_expect_int(rows[i].row, result, rows[i].token ? 0 : -1);
        if (rows[i].token)
            rows_expect_str(rows[i].row, token, str_of(rows[i].token));
    }
}

static void finds_a_controller_that_is_ready(void **state)
{
    static const struct {
        const char *row, *items, *pod;
        uint32_t count;
    } rows[] = {
        { "none", "", "", 0 },
        { "one that is not ready",
          "{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[{\"type\":\"Ready\","
          "\"status\":\"False\"}]}}",
          "", 1 },
        { "the first that is",
          "{\"metadata\":{\"name\":\"a\"},\"status\":{}},"
          "{\"metadata\":{\"name\":\"b\",\"namespace\":\"nv\"},\"status\":{\"conditions\":[{"
          "\"type\":\"Ready\",\"status\":\"True\"}]}}",
          "b", 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str list = str_fmt(arena, "{\"items\":[%s]}", rows[i].items);
        struct str pod;

        rows_expect_int(rows[i].row, wire_controllers_read(read(arena, list.at), &pod),
                        rows[i].count);
        rows_expect_str(rows[i].row, pod, str_of(rows[i].pod));
    }
}

#define WORKLOAD(summary)                                                                          \
    "{\"workloads\":[{\"brief\":{\"id\":\"c1\",\"domain\":\"shop\",\"image_id\":\"i1\","           \
    "\"service\":\"web.shop\"},\"security\":{\"policy_mode\":\"Discover\",\"scan_"                 \
    "summary\":" summary "}}]}"

static void counters_count_once_a_scan_is_finished(void **state)
{
    static const struct {
        const char *row, *summary;
        int result;
        enum wire_scan scan;
        uint32_t critical, high;
        bool tells_critical;
    } rows[] = {
        { "finished",
          "{\"status\":\"finished\",\"critical\":1,\"high\":2,\"medium\":3,\"scanned_timestamp\":"
          "5}",
          0, WIRE_SCAN_FINISHED, 1, 2, true },
        { "before 5.4.0",
          "{\"status\":\"finished\",\"high\":2,\"medium\":3,\"scanned_timestamp\":5}", 0,
          WIRE_SCAN_FINISHED, 0, 2, false },
        { "queued: zeros mean nothing",
          "{\"status\":\"scheduled\",\"critical\":0,\"high\":0,\"medium\":0}", 0,
          WIRE_SCAN_UNDER_WAY, 0, 0, false },
        { "running", "{\"status\":\"scanning\"}", 0, WIRE_SCAN_UNDER_WAY, 0, 0, false },
        { "never scanned", "{\"status\":\"\",\"high\":0}", 0, WIRE_SCAN_IDLE, 0, 0, false },
        { "failed", "{\"status\":\"failed\",\"result\":\"timeout\"}", 0, WIRE_SCAN_FAILED, 0, 0,
          false },
        { "a word nobody knows", "{\"status\":\"pondering\"}", 0, WIRE_SCAN_IDLE, 0, 0, false },
        { "finished, with a counter that is none",
          "{\"status\":\"finished\",\"critical\":\"1\",\"high\":-2,\"medium\":3,\"scanned_"
          "timestamp\":5}",
          -1, 0, 0, 0, false },
        { "finished, without a time",
          "{\"status\":\"finished\",\"critical\":1,\"high\":2,\"medium\":3}", -1, 0, 0, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct wire_workloads list = wire_workloads_new(arena, 1);
        struct error err = { .code = ERROR_NONE };
        struct str text = str_fmt(arena, WORKLOAD("%s"), rows[i].summary);

        rows_expect_int(rows[i].row,
                        wire_workloads_read(read(arena, text.at), STR("shop"), &list, &err),
                        rows[i].result);
        if (rows[i].result < 0)
            continue;
        rows_expect_int(rows[i].row, list.items[0].scan, rows[i].scan);
        rows_expect_int("critical", list.items[0].critical, rows[i].critical);
        rows_expect_int("high", list.items[0].high, rows[i].high);
        rows_expect(rows[i].row, list.items[0].tells_critical == rows[i].tells_critical,
                    "tells critical ones");
        rows_expect_str("the service", list.items[0].service, STR("web.shop"));
    }
}

static void lists_are_checked(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_workloads list = wire_workloads_new(arena, 1);
    struct error err = { .code = ERROR_NONE };

    (void)state;
    rows_expect_int(
        "a filter that was ignored",
        wire_workloads_read(read(arena, "{\"workloads\":[{\"id\":\"c1\",\"domain\":\"other\"},"
                                        "{\"id\":\"c2\",\"domain\":\"shop\",\"image_id\":\"i\"}]}"),
                            STR("shop"), &list, &err),
        0);
    rows_expect_int("leaves those of the namespace", list.count, 1);
    rows_expect_str("also of the flat form", list.items[0].id, STR("c2"));
    rows_expect_int(
        "no list",
        wire_workloads_read(read(arena, "{\"status\":\"ok\"}"), STR("shop"), &list, &err), -1);
    rows_expect_int("no id",
                    wire_workloads_read(read(arena, "{\"workloads\":[{\"domain\":\"shop\"}]}"),
                                        STR("shop"), &list, &err),
                    -1);
}

static void writes_what_neuvector_reads(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list services = str_list_new(arena, 1);

    (void)state;
    str_list_push(&services, STR("web.shop"));
    rows_expect_str("a login", wire_login_body(arena, STR("u\""), STR("p")),
                    STR("{\"password\":{\"username\":\"u\\\"\",\"password\":\"p\"}}"));
    rows_expect_str("modes", wire_mode_body(arena, &services, STR("Monitor"), WIRE_BOTH_MODES),
                    STR("{\"config\":{\"services\":[\"web.shop\"],\"policy_mode\":\"Monitor\","
                        "\"profile_mode\":\"Monitor\"}}"));
    rows_expect_str("one of them",
                    wire_mode_body(arena, &services, STR("Monitor"), WIRE_PROFILE_MODE),
                    STR("{\"config\":{\"services\":[\"web.shop\"],\"profile_mode\":\"Monitor\"}}"));
    rows_expect_str("a namespace", wire_workloads_path(arena, STR("a b")),
                    STR("/v2/workload?f_domain=a%20b"));
    rows_expect_str("an id that tries to leave its place", wire_scan_path(arena, STR("../x")),
                    STR("/v1/scan/workload/..%2Fx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_told_apart_by_their_shape),
        cmocka_unit_test(logins_give_a_token_or_ask_for_a_password),
        cmocka_unit_test(finds_a_controller_that_is_ready),
        cmocka_unit_test(counters_count_once_a_scan_is_finished),
        cmocka_unit_test(lists_are_checked),
        cmocka_unit_test(writes_what_neuvector_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
