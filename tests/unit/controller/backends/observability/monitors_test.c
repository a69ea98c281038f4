/* SPDX-License-Identifier: Apache-2.0 */
/* monitors_test.c: which release gets a monitor of Herd's, from what a cluster lists. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "controller/backends/observability/monitors.h"

#define LIST(items) "{\"items\":[" items "]}"
#define SERVICE(name, selector, port) \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"selector\":{" selector "},\"ports\":[{\"name\":\"http\"},{\"name\":\"" port "\"}]}}"
#define APP "\"app\":\"web\",\"tier\":\"front\""
/* A pod of the Deployment shop/web, with annotations and ports. */
#define POD(annotations, ports)                                                                                              \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web-5d8f-x7k2p\",\"labels\":{" APP "},\"annotations\":{" annotations "},"    \
    "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"web-5d8f\",\"controller\":true}]},"                               \
    "\"spec\":{\"containers\":[{\"ports\":[{\"name\":\"http\",\"containerPort\":80}" ports "]}]}}"
#define SCRAPE(port) "\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"" port "\",\"prometheus.io/path\":\"/stats\""
#define HERDS(kind_name, stack) \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"herd-" kind_name "\",\"uid\":\"u\",\"resourceVersion\":\"1\"," \
    "\"labels\":{\"app.kubernetes.io/managed-by\":\"Herd\"},\"annotations\":{\"" MONITORING_STACK "\":\"" stack "\"}}}"
#define CHARTS                                                                                                     \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\",\"annotations\":{\"meta.helm.sh/release-name\":\"web\"," \
    "\"meta.helm.sh/release-namespace\":\"shop\"}}}"
#define ALL                                                                                       \
    "{\"serviceMonitorSelector\":{},\"serviceMonitorNamespaceSelector\":{},\"podMonitorSelector\":{}," \
    "\"podMonitorNamespaceSelector\":{},\"ruleSelector\":{},\"ruleNamespaceSelector\":{}}"
#define BY_NAME SERVICE("web", APP, "metrics")
#define METRICS_PORT ",{\"name\":\"metrics\",\"containerPort\":9090}"
#define OF_PODS "shop/(web-[a-z0-9]+-[a-z0-9]{5})"

static const char *const state_names[] = { "undecided", "others", "nothing", "made", "refused" };

struct world {
    const char *row;
    const char *service_monitors, *pod_monitors; /* NULL: none */
    const char *services, *pods;                 /* NULL: they cannot be read */
    const char *prometheus;                      /* spec; NULL: it selects everything */
    bool scraped, unready;
    const char *want; /* state 'message' changes */
};

static struct wire_prometheus prometheus_of(struct arena *arena, const char *text)
{
    struct json spec = test_json(arena, str_of(text ? text : ALL));

    return (struct wire_prometheus){ .namespace_ = STR("m"), .name = STR("p"), .rules = selection_of(arena, spec, "rule"),
                                     .monitors = { selection_of(arena, spec, "serviceMonitor"), selection_of(arena, spec, "podMonitor") } };
}

static struct upkeep upkeep_of(struct arena *arena, bool ready)
{
    struct upkeep upkeep = upkeep_new(arena);

    set_add(upkeep.stacks, STR("team/shop"));
    upkeep_releases_push(&upkeep.releases,
                         (struct upkeep_release){ { STR("team/shop"), STR("shop"), STR("web"), STR("app"), STR("Deployment/shop/web ") },
                                                  30000, ready });
    return upkeep;
}

static void answer(struct monitors *monitors, struct arena *arena, const char *body)
{
    struct error err = { 0 };

    if (!monitors_next_path(monitors, arena).len)
        return;
    if (!body)
        monitors_skip(monitors);
    else
        rows_expect_int(err.text, monitors_read_next(monitors, str_of(body), &err), 0);
}

static struct str outcome_of(struct arena *arena, const struct monitor_findings *findings, const struct upkeep_changes *changes)
{
    struct strbuf out = strbuf_new(arena, 256);

    strbuf_fmt(&out, "%s '%.*s'", state_names[findings->items[0].state], STR_ARG(findings->items[0].message));
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct kube_request *request = &changes->items[i].request;
        struct json spec = request->body.len ? json_get(test_json(arena, request->body), STR("spec")) : (struct json){ NULL, 0 };
        struct json_iter endpoint = json_iter(json_get(spec, str_eq(request->resource.kind, STR("PodMonitor")) ? STR("podMetricsEndpoints")
                                                                                                            : STR("endpoints")));

        strbuf_fmt(&out, " %s %.*s/%.*s", kube_verb_name(request->verb), STR_ARG(request->resource.kind), STR_ARG(request->name));
        while (json_next(&endpoint)) {
            struct json port = json_get(endpoint.value, STR("port"));
            struct json number = json_get(endpoint.value, STR("targetPort"));
            struct str path = json_str(json_get(endpoint.value, STR("path")));
            struct json_iter relabeling = json_iter(json_get(endpoint.value, STR("relabelings")));

            json_next(&relabeling);
            strbuf_fmt(&out, " %.*s%.*s of %.*s", STR_ARG(json_raw(json_is(port, JSON_STRING) ? port : number)), STR_ARG(path),
                       STR_ARG(json_str(json_get(relabeling.value, STR("regex")))));
        }
    }
    return strbuf_str(&out);
}

static struct str or_empty(const char *list)
{
    return list ? str_of(list) : STR(LIST(""));
}

static void check(const struct world *world)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_prometheus prometheus = prometheus_of(arena, world->prometheus);
    struct upkeep upkeep = upkeep_of(arena, !world->unready);
    struct samples samples = samples_new(arena, 1);
    struct sample_index index;
    struct upkeep_changes changes = upkeep_changes_new(arena, 2);
    struct monitor_findings findings;
    struct monitors *monitors;
    struct error err = { 0 };

    if (world->scraped)
        samples_push(&samples, (struct sample){ .namespace_ = STR("shop"), .pod = STR("web-5d8f-x7k2p"), .value = 1 });
    index = sample_index_new(arena, &samples);
    monitors = monitors_new(arena, &upkeep, &prometheus, &index);
    rows_expect_int(world->row, monitors_read(monitors, MONITOR_SERVICE, or_empty(world->service_monitors), &err), 0);
    rows_expect_int(world->row, monitors_read(monitors, MONITOR_POD, or_empty(world->pod_monitors), &err), 0);
    answer(monitors, arena, world->services);
    if (world->services)
        answer(monitors, arena, world->pods);
    rows_expect_str(world->row, monitors_next_path(monitors, arena), STR(""));
    rows_expect_int(world->row, monitors_decide(monitors, &changes, &findings, &err), 0);
    rows_expect_str(world->row, outcome_of(arena, &findings, &changes), str_of(world->want));
}

#define NO_PORT "nothing 'no Service and no pod of it has a port named metrics, http-metrics or prometheus, and no pod the annotations " \
    "prometheus.io/scrape and port'"
#define BY_SERVICE "create ServiceMonitor/herd-web \"metrics\"/metrics of shop/(web)"

static void what_nothing_scrapes_gets_a_monitor(void **state)
{
    static const struct world rows[] = {
        { .row = "its pods are targets", .scraped = true, .want = "others ''" },
        { .row = "its chart made a monitor", .pod_monitors = LIST(CHARTS), .want = "others ''" },
        { .row = "it is not ready", .unready = true, .want = "undecided ''" },
        { .row = "a Service has a port of the name", .services = LIST(BY_NAME), .pods = LIST(POD("", "")),
          .want = "made '' " BY_SERVICE },
        { .row = "that of another chart",
          .services = LIST(SERVICE("web", "\"app\":\"db\"", "metrics")), .pods = LIST(POD("", "")), .want = NO_PORT },
        { .row = "one of two that select the same pods",
          .services = LIST(SERVICE("web-headless", "\"tier\":\"front\"", "metrics") "," BY_NAME),
          .pods = LIST(POD("", "")),
          .want = "made '' " BY_SERVICE },
        { .row = "a Service without a selector, and one without such a port",
          .services = LIST(SERVICE("all", "", "metrics") "," SERVICE("web", APP, "grpc")), .pods = LIST(POD("", "")), .want = NO_PORT },
        { .row = "only its pods have a port of the name", .services = LIST(""),
          .pods = LIST(POD("", ",{\"name\":\"http-metrics\",\"containerPort\":9090}")),
          .want = "made '' create PodMonitor/herd-web \"http-metrics\"/metrics of " OF_PODS },
        { .row = "two pods of one workload are one endpoint", .services = LIST(""),
          .pods = LIST(POD("", METRICS_PORT) "," POD("", METRICS_PORT)),
          .want = "made '' create PodMonitor/herd-web \"metrics\"/metrics of " OF_PODS },
        { .row = "an annotation names a port that has a name", .services = LIST(""), .pods = LIST(POD(SCRAPE("80"), "")),
          .want = "made '' create PodMonitor/herd-web \"http\"/stats of " OF_PODS },
        { .row = "and one that has none", .services = LIST(""), .pods = LIST(POD(SCRAPE("9090"), ",{\"containerPort\":9090}")),
          .want = "made '' create PodMonitor/herd-web 9090/stats of " OF_PODS },
        { .row = "and one that nothing declares", .services = LIST(""), .pods = LIST(POD(SCRAPE("9090"), "")),
          .want = "nothing 'no container declares the port of the annotation prometheus.io/port, 9090'" },
        { .row = "and no port", .services = LIST(""), .pods = LIST(POD(SCRAPE("0x50\\n"), "")),
          .want = "nothing 'no container declares the port of the annotation prometheus.io/port, 0x50\\x0a'" },
        { .row = "an annotation says no",
          .services = LIST(BY_NAME), .pods = LIST(POD("\"prometheus.io/scrape\":\"false\"", "")),
          .want = "nothing 'the annotation prometheus.io/scrape of its pods is false'" },
        { .row = "nothing says where", .services = LIST(""), .pods = LIST(POD("", "")), .want = NO_PORT },
        { .row = "nothing runs", .services = LIST(BY_NAME), .pods = LIST(""), .want = "undecided ''" },
        { .row = "what is there when it is scraped otherwise goes", .scraped = true, .service_monitors = LIST(HERDS("web", "team/shop")),
          .want = "others '' delete ServiceMonitor/herd-web" },
        { .row = "that of another Stack does not", .scraped = true,
          .service_monitors = LIST(HERDS("db", "team/other")), .want = "others ''" },
        { .row = "nor one while it is not known what is needed",
          .service_monitors = LIST(HERDS("web", "team/shop")), .want = "undecided ''" },
        { .row = "one that somebody changed is set right", .services = LIST(BY_NAME), .pods = LIST(POD("", "")),
          .service_monitors = LIST(HERDS("web", "team/shop")),
          .want = "made '' patch ServiceMonitor/herd-web \"metrics\"/metrics of shop/(web)" },
        { .row = "Prometheus selects no ServiceMonitors", .services = LIST(BY_NAME), .pods = LIST(POD("", "")),
          .prometheus = "{}",
          .want = "made 'Prometheus m/p does not select the monitor that Herd made of it: its spec.serviceMonitorSelector is not "
                  "set; set it to {} to select all' " BY_SERVICE },
        { .row = "nor in that namespace", .services = LIST(BY_NAME), .pods = LIST(POD("", "")),
          .prometheus = "{\"serviceMonitorSelector\":{}}",
          .want = "made 'Prometheus m/p does not select the monitor that Herd made of it: its spec.serviceMonitorNamespaceSelector is "
                  "not set, so that it selects nothing in namespace shop; set it to {} to select in all' " BY_SERVICE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(&rows[i]);
}

static void rules_that_are_not_selected_are_told_once(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_prometheus prometheus =
        prometheus_of(arena, "{\"ruleSelector\":{},\"ruleNamespaceSelector\":{\"matchLabels\":{\"team\":\"ml\"}}}");
    struct upkeep upkeep = upkeep_of(arena, true);
    struct samples none = samples_new(arena, 0);
    struct sample_index index = sample_index_new(arena, &none);
    struct monitors *monitors;
    struct rule_findings findings;
    struct error err = { 0 };

    (void)state;
    upkeep_objects_push(&upkeep.rules, (struct upkeep_object){ STR("shop"), STR("herd-web"), STR("{}"), STR("team/shop") });
    upkeep_objects_push(&upkeep.rules, (struct upkeep_object){ STR("shop"), STR("herd-db"), STR("{}"), STR("team/shop") });
    upkeep_objects_push(&upkeep.rules, (struct upkeep_object){ STR("ml"), STR("herd-x"), STR("{}"), STR("team/ml") });
    monitors = monitors_new(arena, &upkeep, &prometheus, &index);
    rows_expect_int("labels of namespaces decide", monitors_ask_namespaces(monitors), true);
    rows_expect_int("as long as they are not known nothing is said", monitors_unselected_rules(monitors).count, 0);
    rows_expect_int("they are read", monitors_read_namespaces(monitors, STR(LIST("{\"metadata\":{\"name\":\"shop\",\"labels\":{}}},"
                                     "{\"metadata\":{\"name\":\"ml\",\"labels\":{\"team\":\"ml\"}}}")), &err), 0);
    findings = monitors_unselected_rules(monitors);
    rows_expect_int("one", findings.count, 1);
    rows_expect_str("what to do", findings.items[0].message,
                    STR("Prometheus m/p does not select PrometheusRule shop/herd-web: its spec.ruleNamespaceSelector leaves namespace "
                        "shop out; label that so that it meets team=ml"));
}

static void lists_are_read_in_pages_within_a_bound(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_prometheus prometheus = prometheus_of(arena, NULL);
    struct upkeep upkeep = upkeep_of(arena, true);
    struct samples none = samples_new(arena, 0);
    struct sample_index index = sample_index_new(arena, &none);
    struct monitors *monitors = monitors_new(arena, &upkeep, &prometheus, &index);
    struct upkeep_changes changes = upkeep_changes_new(arena, 1);
    struct monitor_findings findings;
    struct error err = { 0 };
    int pages = 0;

    (void)state;
    monitors_read(monitors, MONITOR_SERVICE, STR(LIST("")), &err);
    monitors_read(monitors, MONITOR_POD, STR(LIST("")), &err);
    rows_expect_str("the first", monitors_next_path(monitors, arena), STR("/api/v1/namespaces/shop/services?limit=250"));
    for (; monitors_next_path(monitors, arena).len && pages < 1000; pages++)
        monitors_read_next(monitors, STR("{\"metadata\":{\"continue\":\"more\"},\"items\":[]}"), &err);
    rows_expect_int("a list without an end", pages, 40);
    rows_expect_int("nothing is decided", monitors_decide(monitors, &changes, &findings, &err), 0);
    rows_expect_int("nothing is decided", findings.items[0].state, MONITOR_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nothing_scrapes_gets_a_monitor),
        cmocka_unit_test(rules_that_are_not_selected_are_told_once),
        cmocka_unit_test(lists_are_read_in_pages_within_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
