/* SPDX-License-Identifier: Apache-2.0 */
/* round_test.c: what a round makes of the answers of a cluster and of its Prometheus. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/backends/observability/round.h"
#include "controller/backends/observability/wish.h"

#define NO_AGENT "{\"items\":[]}"
#define AGENT "{\"items\":[{\"status\":{\"availableReplicas\":1}}]}"
#define PROMETHEUS                                                                       \
    "{\"items\":[{\"metadata\":{\"namespace\":\"m\",\"name\":\"p\"},\"status\":{\"conditions\":" \
    "[{\"type\":\"Available\",\"status\":\"True\"}]}}]}"
#define UP                                                                               \
    "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"__name__\":\"up\",\"namespace\":\"shop\"," \
    "\"pod\":\"web-5d8f-x7k2p\"},\"value\":[1,\"1\"]}]}}"
#define RULES "{\"status\":\"success\",\"data\":{\"groups\":[]}}"
#define FORBIDDEN "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"it is forbidden\",\"code\":403}"
#define TAKEN "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"it already exists\",\"code\":409}"

struct fixture {
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct connection *connection;
    struct rounds *rounds;
    struct known *nothing, *known;
    uint32_t samples;
    bool has_samples, done, wants, has_release, no_look, traces;
};

static void on_connection(void *context, struct str id)
{
    (void)context, (void)id;
}

static void on_done(void *context, struct known *known, const struct sample_index *samples)
{
    struct fixture *f = context;

    f->known = known;
    f->has_samples = samples != NULL;
    f->samples = samples ? map_count(samples->lists) : 0;
    f->done = true;
}

static void add_upkeep(void *context, const struct wire_prometheus *prometheus, struct upkeep *upkeep)
{
    const struct fixture *f = context;

    (void)prometheus;
    if (f->has_release) {
        set_add(upkeep->stacks, STR("team/shop"));
        upkeep_releases_push(&upkeep->releases, (struct upkeep_release){ { STR("team/shop"), STR("shop"), STR("db"), STR("app"),
                                                                           STR("Deployment/shop/db ") }, 30000, true });
    }
    if (f->traces) {
        set_add(upkeep->stacks, STR("team/shop"));
        upkeep_traces_push(&upkeep->traces, (struct upkeep_trace){ { STR("team/shop"), STR("shop"), STR("db"), STR("app"),
                                                                     STR("Deployment/shop/db ") }, STR("0.1"), false });
    }
    if (!f->wants)
        return;
    set_add(upkeep->stacks, STR("team/shop"));
    upkeep_objects_push(&upkeep->rules, (struct upkeep_object){ STR("shop"), STR("herd-web"), STR("{\"spec\":{\"groups\":[1]}}"),
                                                                 STR("team/shop") });
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .api = scripted_api_create(), .loop = loop_create() };
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->connection = connection_create(&(struct connection_options){
        .requests = f->client, .watches = f->client, .id = STR("c-m-1"), .changed = on_connection, .idle = on_connection });
    f->rounds = rounds_create();
    f->nothing = known_create();
}

static void tear_down(struct fixture *f)
{
    known_free(f->known);
    known_free(f->nothing);
    connection_free(f->connection);
    rounds_free(f->rounds);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
}

static struct round *begin(struct fixture *f)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list namespaces = str_list_new(arena, 1);

    str_list_push(&namespaces, STR("shop"));
    return round_begin(f->rounds, &(struct round_options){ .connection = f->connection, .before = f->nothing, .looks = !f->no_look,
                                                           .namespaces = &namespaces, .add_upkeep = add_upkeep,
                                                           .done = on_done, .context = f });
}

struct answer {
    int status;
    const char *body;
};

static void a_round_tells_what_was_answered(void **state)
{
    static const struct {
        const char *row;
        struct answer agent, prometheuses, query, rules, objects, apply;
        const char *want; /* found, back ends, samples, trouble, refusal */
    } rows[] = {
        { "the operator is not there", { 200, NO_AGENT }, { 404, "404 page not found" }, { 0 }, { 0 }, { 0 }, { 0 }, "found 0 none '' ''" },
        { "the agent alone", { 200, AGENT }, { 404, "404 page not found" }, { 0 }, { 0 }, { 0 }, { 0 }, "found 1 none '' ''" },
        { "what there is may not be looked up", { 403, FORBIDDEN }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES }, { 0 }, { 0 },
          "unknown 2 2 'what monitors it cannot be looked up: it is forbidden (HTTP 403)' ''" },
        { "both answer", { 200, AGENT }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES }, { 0 }, { 0 }, "found 3 2 '' ''" },
        { "Prometheus starts", { 200, NO_AGENT }, { 200, PROMETHEUS }, { 503, "Service Unavailable" }, { 503, "Service Unavailable" }, { 0 }, { 0 },
          "found 2 none 'Prometheus m/p does not answer: Service Unavailable (HTTP 503)' ''" },
        { "a rule is applied", { 200, NO_AGENT }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES }, { 200, "{\"items\":[]}" }, { 201, "{}" },
          "found 2 2 '' ''" },
        { "a rule may not be applied: figures stand", { 200, NO_AGENT }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES },
          { 200, "{\"items\":[]}" }, { 403, FORBIDDEN },
          "found 2 2 '' 'PrometheusRule shop/herd-web cannot be created: it is forbidden (HTTP 403)'" },
        { "a rule of somebody else has the name", { 200, NO_AGENT }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES },
          { 200, "{\"items\":[]}" }, { 409, TAKEN },
          "found 2 2 '' 'PrometheusRule shop/herd-web is there already and lacks the label app.kubernetes.io/managed-by=Herd, so it is not "
          "Herd's to change: rename or remove it'" },
        { "rules may not be listed", { 200, NO_AGENT }, { 200, PROMETHEUS }, { 200, UP }, { 200, RULES }, { 403, FORBIDDEN }, { 0 },
          "found 2 2 '' 'what Herd added to its monitoring cannot be listed: it is forbidden (HTTP 403)'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct fixture f;

        set_up(&f);
        f.wants = rows[i].objects.status;
        scripted_api_say(f.api, "GET", "/deployments", rows[i].agent.status, rows[i].agent.body);
        scripted_api_say(f.api, "GET", "/prometheuses", rows[i].prometheuses.status, rows[i].prometheuses.body);
        if (rows[i].query.status)
            scripted_api_say(f.api, "GET", "/api/v1/query", rows[i].query.status, rows[i].query.body);
        if (rows[i].rules.status)
            scripted_api_say(f.api, "GET", "/api/v1/rules", rows[i].rules.status, rows[i].rules.body);
        if (rows[i].objects.status)
            scripted_api_say(f.api, "GET", "/prometheusrules", rows[i].objects.status, rows[i].objects.body);
        if (rows[i].apply.status)
            scripted_api_say(f.api, "POST", "/prometheusrules", rows[i].apply.status, rows[i].apply.body);
        scripted_api_say(f.api, "GET", "/servicemonitors", 200, "{\"items\":[]}");
        scripted_api_say(f.api, "GET", "/podmonitors", 200, "{\"items\":[]}");
        begin(&f);
        loopback_run_until(f.loop, &f.done);
        rows_expect_str(rows[i].row,
                        str_fmt(arena, "%s %u %s '%.*s' '%.*s'", f.known->found ? "found" : "unknown", f.known->backends,
                                f.has_samples ? str_z(arena, str_fmt(arena, "%u", f.samples)) : "none", STR_ARG(f.known->trouble.text),
                                STR_ARG(f.known->refusals.count ? f.known->refusals.items[0].text : STR(""))),
                        str_of(rows[i].want));
        tear_down(&f);
    }
}

#define SERVICES \
    "{\"items\":[{\"metadata\":{\"name\":\"db\"},\"spec\":{\"selector\":{\"app\":\"db\"},\"ports\":[{\"name\":\"metrics\"}]}}]}"
#define PODS                                                                                                                   \
    "{\"items\":[{\"metadata\":{\"namespace\":\"shop\",\"name\":\"db-1-2\",\"labels\":{\"app\":\"db\"},\"ownerReferences\":"         \
    "[{\"kind\":\"ReplicaSet\",\"name\":\"db-1\",\"controller\":true}]},\"spec\":{\"containers\":[{}]}}]}"

static void a_release_that_nothing_scrapes_gets_a_monitor(void **state)
{
    static const struct {
        const char *row;
        struct answer services, pods, create;
        enum monitor_state want;
        const char *refusal;
    } rows[] = {
        { "it is made", { 200, SERVICES }, { 200, PODS }, { 201, "{}" }, MONITOR_MADE, "" },
        { "it may not be made", { 200, SERVICES }, { 200, PODS }, { 403, FORBIDDEN }, MONITOR_REFUSED,
          "ServiceMonitor shop/herd-db cannot be created: it is forbidden (HTTP 403)" },
        { "its Services may not be listed: nothing is decided", { 403, FORBIDDEN }, { 0 }, { 0 }, MONITOR_UNDECIDED,
          "where pods have their metrics cannot be looked up: it is forbidden (HTTP 403)" },
        { "nor its pods", { 200, SERVICES }, { 403, FORBIDDEN }, { 0 }, MONITOR_UNDECIDED,
          "where pods have their metrics cannot be looked up: it is forbidden (HTTP 403)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fixture f;

        set_up(&f);
        f.has_release = true;
        scripted_api_say(f.api, "GET", "/deployments", 200, NO_AGENT);
        scripted_api_say(f.api, "GET", "/prometheuses", 200, PROMETHEUS);
        scripted_api_say(f.api, "GET", "/api/v1/query", 200, UP);
        scripted_api_say(f.api, "GET", "/api/v1/rules", 200, RULES);
        scripted_api_say(f.api, "GET", "/prometheusrules", 200, "{\"items\":[]}");
        scripted_api_say(f.api, "GET", "/servicemonitors", 200, "{\"items\":[]}");
        scripted_api_say(f.api, "GET", "/podmonitors", 200, "{\"items\":[]}");
        scripted_api_say(f.api, "GET", "/namespaces/shop/services", rows[i].services.status, rows[i].services.body);
        if (rows[i].pods.status)
            scripted_api_say(f.api, "GET", "/namespaces/shop/pods", rows[i].pods.status, rows[i].pods.body);
        if (rows[i].create.status)
            scripted_api_say(f.api, "POST", "/servicemonitors", rows[i].create.status, rows[i].create.body);
        begin(&f);
        loopback_run_until(f.loop, &f.done);
        rows_expect_int(rows[i].row, f.known->monitors.count, 1);
        rows_expect_int(rows[i].row, f.known->monitors.items[0].state, rows[i].want);
        rows_expect_str(rows[i].row, f.known->refusals.count ? f.known->refusals.items[0].text : STR(""),
                        str_of(rows[i].refusal));
        tear_down(&f);
    }
}

#define OTEL "{\"resources\":[{\"name\":\"instrumentations\"}]}"
#define TAKERS                                                                                                         \
    "{\"items\":[{\"metadata\":{\"namespace\":\"t\",\"name\":\"c\"},\"spec\":{\"ports\":[{\"port\":4318}]}},"                  \
    "{\"metadata\":{\"namespace\":\"t\",\"name\":\"jaeger\"},\"spec\":{\"ports\":[{\"port\":16686}]}}]}"
#define TRACED_PODS                                                                                                    \
    "{\"items\":[{\"metadata\":{\"namespace\":\"shop\",\"name\":\"db-1-2\",\"annotations\":{\"instrumentation.opentelemetry.io/inject-java\":" \
    "\"true\"},\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"db-1\",\"controller\":true}]},\"spec\":{\"containers\":[{}]}}]}"
#define NO_TRACES "{\"error\":{\"httpCode\":404,\"message\":\"No services found\"}}"

/* Also where no Prometheus is. */
static void a_round_asks_what_becomes_of_traces(void **state)
{
    static const struct {
        const char *row;
        struct answer jaeger;
        const char *want, *trouble;
    } rows[] = {
        { "they arrive", { 200, "{\"services\":[\"db\"]}" }, "counted 1 of 1", "" },
        { "an empty search is a 404", { 404, NO_TRACES }, "counted 0 of 1", "" },
        { "it is not known", { 503, "no" }, "unknown 0 of 0", "Jaeger does not say which services it knows: no (HTTP 503)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct fixture f;
        uint32_t arrive = 0;

        set_up(&f);
        f.traces = true;
        scripted_api_say(f.api, "GET", "/deployments", 200, NO_AGENT);
        scripted_api_say(f.api, "GET", "/prometheuses", 404, "404 page not found");
        scripted_api_say(f.api, "GET", "/v1alpha1", 200, OTEL);
        scripted_api_say(f.api, "GET", "/api/v1/services", 200, TAKERS);
        scripted_api_say(f.api, "GET", "/instrumentations", 200, "{\"items\":[]}");
        scripted_api_say(f.api, "GET", "/api/v3/services", rows[i].jaeger.status, rows[i].jaeger.body);
        scripted_api_say(f.api, "GET", "/namespaces/shop/pods", 200, TRACED_PODS);
        scripted_api_say(f.api, "POST", "/instrumentations", 201, "{}");
        begin(&f);
        loopback_run_until(f.loop, &f.done);
        for (uint32_t k = 0; k < f.known->traces.releases.count; k++)
            arrive += f.known->traces.releases.items[k].arrives;
        rows_expect_str(rows[i].row, str_fmt(arena, "%s %u of %u", f.known->traces.counted ? "counted" : "unknown", arrive,
                                             f.known->traces.releases.count), str_of(rows[i].want));
        rows_expect_str(rows[i].row, f.known->traces_trouble.text, str_of(rows[i].trouble));
        rows_expect_int("the Instrumentation is made", scripted_api_count(f.api, "POST", "/instrumentations"), 1);
        tear_down(&f);
    }
}

/* With what the one before found. */
static void run_next(struct fixture *f)
{
    if (f->known) {
        known_free(f->nothing);
        f->nothing = f->known;
    }
    f->known = NULL;
    f->done = false;
    begin(f);
    loopback_run_until(f->loop, &f->done);
}

#define BY_PROXY(port) "{\"kind\":\"Status\",\"message\":\"port " port " is closed\",\"code\":503}"

static void a_refusal_is_told_to_its_stack_the_second_time(void **state)
{
    AUTO(wish_free) struct wish *wish = wish_create();
    const struct str own = STR("team/shop"), other = STR("team/other");
    struct fixture f;

    (void)state;
    set_up(&f);
    f.wants = true;
    scripted_api_say(f.api, "GET", "/deployments", 200, NO_AGENT);
    scripted_api_say(f.api, "GET", "/prometheuses", 200, PROMETHEUS);
    scripted_api_say(f.api, "GET", "/api/v1/query", 200, UP);
    scripted_api_say(f.api, "GET", "/api/v1/rules", 200, RULES);
    scripted_api_say(f.api, "GET", "/prometheusrules", 200, "{\"items\":[]}");
    scripted_api_say(f.api, "GET", "/servicemonitors", 200, "{\"items\":[]}");
    scripted_api_say(f.api, "GET", "/podmonitors", 200, "{\"items\":[]}");
    scripted_api_say(f.api, "POST", "/prometheusrules", 503, BY_PROXY("40001"));
    scripted_api_say(f.api, "POST", "/prometheusrules", 503, BY_PROXY("40002"));
    scripted_api_say(f.api, "POST", "/prometheusrules", 403, FORBIDDEN);
    run_next(&f);
    rows_expect_str("once is no news", known_trouble_of(f.known, wish, own), STR(""));
    rows_expect("it is tried again soon", known_is_in_doubt(f.known), "it is not");
    run_next(&f);
    rows_expect_str("the second time it is told, in its first words", known_trouble_of(f.known, wish, own),
                    STR("PrometheusRule shop/herd-web cannot be created: port 40001 is closed (HTTP 503)"));
    rows_expect("whose it is", known_refuses(f.known, wish, own), "nobody's");
    rows_expect_str("others are told nothing", known_trouble_of(f.known, wish, other), STR(""));
    rows_expect("nor are they kept waiting", !known_refuses(f.known, wish, other), "they are");
    rows_expect("there is no doubt left", !known_is_in_doubt(f.known), "there is");
    run_next(&f);
    rows_expect_str("another reason is told", known_trouble_of(f.known, wish, own),
                    STR("PrometheusRule shop/herd-web cannot be created: it is forbidden (HTTP 403)"));
    tear_down(&f);
}

static void trouble_of_one_kind_keeps_its_first_words(void **state)
{
    AUTO(wish_free) struct wish *wish = wish_create();
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "/deployments", 200, NO_AGENT);
    scripted_api_say(f.api, "GET", "/prometheuses", 200, PROMETHEUS);
    scripted_api_say(f.api, "GET", "/api/v1/rules", 200, RULES);
    scripted_api_say(f.api, "GET", "/api/v1/query", 503, BY_PROXY("40001"));
    scripted_api_say(f.api, "GET", "/api/v1/query", 503, BY_PROXY("40002"));
    scripted_api_say(f.api, "GET", "/api/v1/query", 403, FORBIDDEN);
    run_next(&f);
    run_next(&f);
    rows_expect_str("the second round", known_trouble_of(f.known, wish, STR("team/shop")),
                    STR("Prometheus m/p does not answer: port 40001 is closed (HTTP 503)"));
    run_next(&f);
    rows_expect_str("another kind", known_trouble_of(f.known, wish, STR("team/shop")),
                    STR("Prometheus m/p does not answer: it is forbidden (HTTP 403)"));
    tear_down(&f);
}

/* Between two rounds that look, somebody deletes one. */
static void a_dashboard_that_is_gone_is_missed_at_once(void **state)
{
    static const struct {
        const char *row;
        struct answer answer;
        uint32_t count;
        bool amiss;
    } rows[] = {
        { "both are there", { 200, "{\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]}" }, 2, false },
        { "one is gone", { 200, "{\"items\":[{\"metadata\":{\"name\":\"b\"}}]}" }, 1, true },
        { "what is not answered stands", { 403, FORBIDDEN }, 2, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fixture f;

        set_up(&f);
        f.no_look = true;
        f.nothing->found = f.nothing->counts_dashboards = true;
        f.nothing->backends = MONITORING_PROMETHEUS;
        f.nothing->prometheus = (struct wire_prometheus){ .namespace_ = STR("m"), .name = STR("p") };
        str_list_push(&f.nothing->dashboards, STR("a"));
        str_list_push(&f.nothing->dashboards, STR("b"));
        scripted_api_say(f.api, "GET", "/api/v1/query", 200, UP);
        scripted_api_say(f.api, "GET", "/api/v1/rules", 200, RULES);
        scripted_api_say(f.api, "GET", "/namespaces/m/configmaps", rows[i].answer.status, rows[i].answer.body);
        begin(&f);
        loopback_run_until(f.loop, &f.done);
        rows_expect_int(rows[i].row, f.known->dashboards.count, rows[i].count);
        rows_expect_int(rows[i].row, f.known->amiss, rows[i].amiss);
        rows_expect_int("it is no trouble", f.known->refusals.count + f.known->trouble.text.len, 0);
        tear_down(&f);
    }
}

/* The cluster was closed meanwhile. */
static void a_round_that_is_abandoned_tells_nothing(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "/deployments", 200, NO_AGENT);
    scripted_api_say(f.api, "GET", "/prometheuses", 404, "");
    round_abandon(begin(&f));
    scripted_api_run_until(f.api, f.loop, "GET", "/deployments", 1);
    round_abandon(begin(&f));
    begin(&f);
    loopback_run_until(f.loop, &f.done);
    rows_expect("the one that is not abandoned tells", f.known->found, "nothing");
    rows_expect_int("the others asked for nothing more", scripted_api_count(f.api, "GET", "/prometheuses"), 1);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_tells_what_was_answered),
        cmocka_unit_test(a_release_that_nothing_scrapes_gets_a_monitor),
        cmocka_unit_test(a_round_asks_what_becomes_of_traces),
        cmocka_unit_test(a_refusal_is_told_to_its_stack_the_second_time),
        cmocka_unit_test(trouble_of_one_kind_keeps_its_first_words),
        cmocka_unit_test(a_dashboard_that_is_gone_is_missed_at_once),
        cmocka_unit_test(a_round_that_is_abandoned_tells_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
