/* SPDX-License-Identifier: Apache-2.0 */
/* monitoring_objects_test.c: rules and dashboards as they are applied. That Prometheus takes the expressions,
 * tests/lint/validators.sh shows. */
#include "support/rows.h"

#include "base/set.h"
#include "stack/observability/monitoring_objects.h"
#include "support/stack_builder.h"

#define NAME46 "a234567890b234567890c234567890d234567890e23456"

static void pods_of_workloads_have_a_pattern(void **state)
{
    static const struct {
        const char *row, *workloads, *want;
    } rows[] = {
        { "none", "", "" },
        { "a Deployment", "Deployment/shop/web ", "web-[a-z0-9]+-[a-z0-9]{5}" },
        { "a StatefulSet", "StatefulSet/shop/db ", "db-[0-9]+" },
        { "several", "DaemonSet/shop/agent StatefulSet/shop/db ", "agent-[a-z0-9]{5}|db-[0-9]+" },
        { "a dot is a dot", "StatefulSet/shop/db.v1 ", "db[.]v1-[0-9]+" },
        { "46 characters: the longest hash fits", "Deployment/shop/" NAME46 " ", NAME46 "-[a-z0-9]+-[a-z0-9]{5}" },
        { "47: it may be cut", "Deployment/shop/" NAME46 "x ", NAME46 "x-([a-z0-9]+-[a-z0-9]{5}|[a-z0-9]{15})" },
        { "56: it is cut", "Deployment/shop/" NAME46 "1234567890 ", NAME46 "1234567890-[a-z0-9]{6}" },
        { "57: nothing of it is left", "Deployment/shop/" NAME46 "12345678901 ", NAME46 "12345678901-[a-z0-9]{5}" },
        { "58: nor the dash", "Deployment/shop/" NAME46 "123456789012 ", NAME46 "123456789012[a-z0-9]{5}" },
        { "60: nor the rest", "Deployment/shop/" NAME46 "12345678901234 ", NAME46 "123456789012[a-z0-9]{5}" },
        { "57 of a DaemonSet", "DaemonSet/shop/" NAME46 "12345678901 ", NAME46 "12345678901-[a-z0-9]{5}" },
        { "60 of a DaemonSet", "DaemonSet/shop/" NAME46 "12345678901234 ", NAME46 "123456789012[a-z0-9]{5}" },
        { "pods of a StatefulSet are not cut", "StatefulSet/shop/" NAME46 "12345678901234 ", NAME46 "12345678901234-[0-9]+" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].row, monitoring_pods_pattern(arena, str_of(rows[i].workloads)), str_of(rows[i].want));
    }
}

static struct str rule(struct arena *arena, const char *labels)
{
    const struct monitored_release release = { STR_INIT("team/shop"), STR_INIT("shop-ns"), STR_INIT("web"), STR_INIT("u1"),
                                               STR_INIT("Deployment/shop-ns/web StatefulSet/shared/db ") };

    return monitoring_rule(arena, &release, test_json(arena, str_of(labels)));
}

static uint32_t count_rules(struct json spec, struct str stack)
{
    uint32_t count = 0;

    for (struct json_iter group = json_iter(json_get(spec, STR("groups"))); json_next(&group);)
        for (struct json_iter one = json_iter(json_get(group.value, STR("rules"))); json_next(&one);)
            count += str_eq(json_str(json_walk(one.value, "labels", "herd_stack", NULL)), stack);
    return count;
}

static void a_rule_is_of_its_release(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str text = rule(arena, "{\"app.kubernetes.io/managed-by\":\"Herd\",\"release\":\"prometheus\"}");
    struct json json = test_json(arena, text);
    struct json meta = json_get(json, STR("metadata"));

    (void)state;
    rows_expect("every name is put in", str_find(text, STR("HERD_"), 0) < 0, "a placeholder stays");
    rows_expect_int("all rules have the Stack's label", count_rules(json_get(json, STR("spec")), STR("team/shop")), 16);
    rows_expect_str("its name", json_str(json_get(meta, STR("name"))), STR("herd-web"));
    rows_expect_str("what Prometheus selects by", json_str(json_walk(meta, "labels", "release", NULL)), STR("prometheus"));
    rows_expect_str("whose it is", json_str(json_walk(meta, "annotations", MONITORING_STACK, NULL)), STR("team/shop"));
    rows_expect("its owner", str_find(text, STR("\"ownerReferences\":[{\"apiVersion\":\"catalog.cattle.io/v1\",\"kind\":\"App\","
                                                "\"name\":\"web\",\"uid\":\"u1\"}]"), 0) > 0, text.at);
    rows_expect("its pods",
                str_find(text, STR("up{namespace=~\\\"shop-ns|shared\\\",pod=~\\\"web-[a-z0-9]+-[a-z0-9]{5}|db-[0-9]+\\\"} == 0"), 0) > 0,
                text.at);
}

static void names_cannot_leave_their_string(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct monitored_release release = { STR_INIT("team/\"shop\\"), STR_INIT("a\"b"), STR_INIT("we\nb"), STR_INIT("u1"),
                                               STR_INIT("Deployment/shop-ns/w\"eb ") };
    struct json json = test_json(arena, monitoring_rule(arena, &release, test_json(arena, STR(MONITORING_RULE_LABELS))));

    (void)state;
    rows_expect_int("each rule has the Stack's label as it is", count_rules(json_get(json, STR("spec")), STR("team/\"shop\\")), 16);
}

static void a_monitor_keeps_what_is_its_own(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct monitored_release release = { STR_INIT("team/shop"), STR_INIT("shop-ns"), STR_INIT("web"), STR_INIT("u1"), STR_INIT("") };
    struct monitor_endpoints endpoints = monitor_endpoints_new(arena, 2);
    struct str service, pod;

    (void)state;
    monitor_endpoints_push(&endpoints, (struct monitor_endpoint){ .namespace_ = STR("shop-ns"), .service = STR("web"),
                                                                   .port = STR("metrics"), .path = STR("/metrics") });
    service = monitoring_monitor(arena, MONITOR_SERVICE, &release, test_json(arena, STR(MONITORING_MONITOR_LABELS)), &endpoints, 30000);
    rows_expect_str("a ServiceMonitor", json_raw(json_get(test_json(arena, service), STR("spec"))),
                    STR("{\"selector\":{},\"namespaceSelector\":{\"matchNames\":[\"shop-ns\"]},\"sampleLimit\":20000,"
                        "\"endpoints\":[{\"port\":\"metrics\","
                        "\"path\":\"/metrics\",\"interval\":\"30s\",\"relabelings\":[{\"action\":\"keep\",\"sourceLabels\":"
                        "[\"__meta_kubernetes_namespace\",\"__meta_kubernetes_service_name\"],\"separator\":\"/\",\"regex\":"
                        "\"shop-ns/(web)\"},{\"action\":\"replace\",\"targetLabel\":\"herd_stack\",\"replacement\":\"team/shop\"},"
                        "{\"action\":\"replace\",\"targetLabel\":\"herd_release\",\"replacement\":\"web\"}]}]}"));
    rows_expect("for the agent, too", str_find(service, STR("\"observability.suse.com/agent\":\"scrape\""), 0) > 0, service.at);
    rows_expect("it goes with the release", str_find(service, STR("\"kind\":\"App\",\"name\":\"web\",\"uid\":\"u1\""), 0) > 0, service.at);
    endpoints.items[0] = (struct monitor_endpoint){ .namespace_ = STR("shop-ns"), .pods = STR("web-[0-9]+"), .number = 9090,
                                                    .path = STR("/m"), .scheme = STR("https") };
    pod = monitoring_monitor(arena, MONITOR_POD, &release, test_json(arena, STR("{}")), &endpoints, 30000);
    rows_expect("a PodMonitor", str_find(pod, STR("\"podMetricsEndpoints\":[{\"targetPort\":9090,\"path\":\"/m\",\"scheme\":\"https\","),
                                         0) > 0, pod.at);
    rows_expect("of these pods",
                str_find(pod, STR("\"__meta_kubernetes_pod_name\"],\"separator\":\"/\",\"regex\":\"shop-ns/(web-[0-9]+)\""), 0) > 0,
                pod.at);
}

/* A dashboard of one namespace asks for nothing of the others; alerts are of all Stacks. */
static void expect_query(struct json dashboard, struct json target, const char *uid)
{
    struct str query = json_str(json_get(target, STR("expr")));
    bool narrow = json_count(json_walk(dashboard, "templating", "list", NULL)) > 1;

    rows_expect("each query has an expression", query.len > 0, uid);
    rows_expect("it is of the namespaces that are selected",
                !narrow || str_find(query, STR("$namespace"), 0) > 0 || str_find(query, STR("ALERTS{"), 0) > 0, query.at);
    rows_expect_str("it is sent to the selected Prometheus", json_str(json_walk(target, "datasource", "uid", NULL)),
                    STR("${datasource}"));
}

static void expect_panels(struct arena *arena, struct json dashboard, const char *uid)
{
    struct set places = set_new(arena, 16);
    int64_t id = 0;

    for (struct json_iter panel = json_iter(json_get(dashboard, STR("panels"))); json_next(&panel);) {
        int64_t given = 0;

        json_int64(json_get(panel.value, STR("id")), &given);
        rows_expect_int("panels are numbered", given, ++id);
        rows_expect("no panel covers another", set_add(places, json_raw(json_get(panel.value, STR("gridPos")))), uid);
        for (struct json_iter target = json_iter(json_get(panel.value, STR("targets"))); json_next(&target);)
            expect_query(dashboard, target.value, uid);
    }
    rows_expect("it has panels", id > 0, uid);
}

static void dashboards_are_those_that_herd_has(void **state)
{
    static const char *const uids[] = { "ai-workloads", "herd-gpu", "herd-inference", "herd-platform", "herd-vector-db" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct set titles = set_new(arena, 8);

    (void)state;
    for (size_t i = 0; i < sizeof(uids) / sizeof(*uids); i++) {
        struct str uid = str_of(uids[i]);
        struct json map = test_json(arena, monitoring_dashboard(arena, uid, STR("d")));
        struct str key = str_fmt(arena, "herd-%.*s.json", STR_ARG(uid));
        struct json dashboard = test_json(arena, json_str(json_get(json_get(map, STR("data")), key)));

        rows_expect_str("the dashboard has the uid that it is asked for by", json_str(json_get(dashboard, STR("uid"))), uid);
        rows_expect("it is provisioned, so it has no __inputs", !json_may_hold(dashboard, STR("__inputs")), uids[i]);
        rows_expect("rate() drops names: two spellings of one metric would be an error (422)",
                    str_find(json_str(json_get(json_get(map, STR("data")), key)), STR("rate({__name__"), 0) < 0, uids[i]);
        rows_expect("Grafana takes each title once", set_add(titles, json_str(json_get(dashboard, STR("title")))), uids[i]);
        expect_panels(arena, dashboard, uids[i]);
    }
    rows_expect_str("another one", monitoring_dashboard(arena, STR("x"), STR("d")), STR(""));
}

static void what_others_add_is_no_difference(void **state)
{
#define STORED(labels, spec, uid) \
    "{\"metadata\":{\"labels\":{\"a\":\"b\"" labels "},\"ownerReferences\":[{\"uid\":\"" uid "\",\"name\":\"n\",\"more\":1}]},\"spec\":" spec "}"
    static const char wanted[] =
        "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"ownerReferences\":[{\"uid\":\"u\",\"name\":\"n\"}]},\"spec\":{\"groups\":[1]}}";
    static const struct {
        const char *row, *stored;
        bool same;
    } rows[] = {
        { "the same", STORED("", "{\"groups\":[1]}", "u"), true },
        { "a further label", STORED(",\"c\":\"d\"", "{\"groups\":[1]}", "u"), true },
        { "another spec", STORED("", "{\"groups\":[]}", "u"), false },
        { "an App of the same name, made anew", STORED("", "{\"groups\":[1]}", "v"), false },
        { "nothing", "{}", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_int(rows[i].row,
                        monitoring_is_as_wanted(test_json(arena, str_of(rows[i].stored)), test_json(arena, str_of(wanted))),
                        rows[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_of_workloads_have_a_pattern),
        cmocka_unit_test(a_rule_is_of_its_release),
        cmocka_unit_test(names_cannot_leave_their_string),
        cmocka_unit_test(a_monitor_keeps_what_is_its_own),
        cmocka_unit_test(dashboards_are_those_that_herd_has),
        cmocka_unit_test(what_others_add_is_no_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
