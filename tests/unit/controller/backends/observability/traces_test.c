/* SPDX-License-Identifier: Apache-2.0 */
/* traces_test.c: where traces go, which Instrumentations are there, and which releases' traces arrive. */
#include "support/rows.h"

#include "controller/backends/observability/traces.h"

#define API "{\"resources\":[{\"name\":\"opampbridges\"},{\"name\":\"instrumentations\"}]}"
#define SERVICE(ns, name, more, port)                                                                     \
    "{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\"},\"spec\":{" more "\"ports\":[{\"port\":1},{\"port\":" port "}]}}"
#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define PAGE(items) "{\"metadata\":{\"continue\":\"next\"},\"items\":[" items "]}"
#define JAEGER SERVICE("tracing", "jaeger", "", "16686")

struct answer {
    const char *path; /* its end */
    int status;       /* 0: nothing answers */
    const char *body;
};

struct asked {
    struct upkeep upkeep;
    struct upkeep_changes changes;
    struct traces_found found;
    struct str trouble;
};

static struct upkeep one_release(struct arena *arena)
{
    struct upkeep upkeep = upkeep_new(arena);

    set_add(upkeep.stacks, STR("team/shop"));
    upkeep_traces_push(&upkeep.traces, (struct upkeep_trace){ { STR("team/shop"), STR("ai"), STR("web"), STR("u1"),
                                                               STR("Deployment/ai/web StatefulSet/ai/db ") },
                                                             STR("0.25"), false });
    return upkeep;
}

/* Whatever is not in the list is an empty list. */
static const struct answer *answer_to(const struct answer *answers, struct str path)
{
    static const struct answer nothing = { "", 200, LIST("") };

    for (; answers->path; answers++)
        if (str_ends(path, str_of(answers->path)))
            return answers;
    return &nothing;
}

static struct asked ask(struct arena *arena, struct upkeep upkeep, const struct answer *answers)
{
    struct asked asked = { .upkeep = upkeep, .changes = upkeep_changes_new(arena, 2), .trouble = STR("") };
    struct traces *traces = traces_new(arena, &asked.upkeep);
    struct str path;

    for (int i = 0; i < 200 && (path = traces_next_path(traces, arena)).len; i++) {
        const struct answer *answer = answer_to(answers, path);
        struct error err = { .code = ERROR_NONE };

        if (answer->status &&
            traces_read(traces, answer->status, str_of(answer->body), &asked.changes, &err) == 0)
            continue;
        asked.trouble = str_fmt(arena, "%.*s: %s", STR_ARG(path), err.text);
        traces_skip(traces);
    }
    rows_expect_str("it ends", traces_next_path(traces, arena), STR(""));
    asked.found = traces_conclude(traces);
    return asked;
}

static void traces_go_to_the_best_that_takes_them(void **state)
{
    static const struct {
        const char *row, *services, *endpoint; /* NULL: there is no object */
    } rows[] = {
        { "nothing takes any", LIST(SERVICE("a", "web", "", "80") "," JAEGER), NULL },
        { "a collector", LIST(SERVICE("a", "otel-collector", "", "4318")), "http://otel-collector.a.svc:4318" },
        { "the gateway of the agent comes first",
          LIST(SERVICE("a", "otel-collector", "", "4318") "," SERVICE("s", "suse-observability-agent-otel-telemetry-gateway", "", "4318")),
          "http://suse-observability-agent-otel-telemetry-gateway.s.svc:4318" },
        { "Jaeger comes last", LIST(SERVICE("a", "jaeger", "", "4318") "," SERVICE("b", "c", "", "4318")), "http://c.b.svc:4318" },
        { "but it does", LIST(SERVICE("a", "jaeger", "", "4318")), "http://jaeger.a.svc:4318" },
        { "one with an address before a headless one", LIST(SERVICE("a", "c-headless", "\"clusterIP\":\"None\",", "4318") "," SERVICE("b", "c", "", "4318")),
          "http://c.b.svc:4318" },
        { "of equal ones the first by name", LIST(SERVICE("b", "c", "", "4318") "," SERVICE("a", "d", "", "4318")), "http://d.a.svc:4318" },
        { "the server of SUSE Observability wants a key", LIST(SERVICE("s", "suse-observability-otel-collector", "", "4318")), NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct answer answers[] = { { "/v1alpha1", 200, API }, { "/services?limit=250", 200, rows[i].services }, { NULL, 0, NULL } };
        struct asked asked = ask(arena, one_release(arena), answers);

        rows_expect_int(rows[i].row, asked.found.lacks_endpoint, rows[i].endpoint == NULL);
        rows_expect_int(rows[i].row, asked.changes.count, rows[i].endpoint != NULL);
        if (rows[i].endpoint)
            rows_expect(rows[i].row, str_find(asked.changes.items[0].request.body, str_fmt(arena, "\"%s\"", rows[i].endpoint), 0) > 0,
                        str_z(arena, asked.changes.items[0].request.body));
    }
}

#define TAKER SERVICE("a", "c", "", "4318")
#define OBJECT(name, stack, more)                                                                                      \
    "{\"metadata\":{\"namespace\":\"ai\",\"name\":\"" name "\",\"uid\":\"u\",\"labels\":{\"app.kubernetes.io/managed-by\":\"Herd\"}," \
    "\"annotations\":{\"" MONITORING_STACK "\":\"" stack "\"},\"ownerReferences\":[{\"apiVersion\":\"catalog.cattle.io/v1\",\"kind\":\"App\"," \
    "\"name\":\"web\",\"uid\":\"u1\"}]},\"spec\":{\"exporter\":{\"endpoint\":\"http://c.a.svc:4318\"},\"python\":{\"image\":\"i\"}," \
    "\"propagators\":[\"tracecontext\",\"baggage\"],\"sampler\":{\"type\":\"parentbased_traceidratio\",\"argument\":\"0.25\"}," \
    "\"resource\":{\"resourceAttributes\":{\"herd.stack\":\"team/shop\"" more "}}}}"
#define OBJECTS "instrumentations?labelSelector=app.kubernetes.io%2Fmanaged-by%3DHerd"

static void instrumentations_are_set_right(void **state)
{
    static const struct {
        const char *row;
        struct answer api, services, objects;
        const char *want;
        bool paused, none_wanted;
    } rows[] = {
        { "there is no operator", { "/v1alpha1", 404, "404 page not found" }, { "-", 0, "" }, { "-", 0, "" }, "", false, false },
        { "none is there", { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST(TAKER) }, { OBJECTS, 200, LIST("") },
          "create ai/herd-team.shop;", false, false },
        { "it is there, and the operator and somebody else added to it", { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST(TAKER) },
          { OBJECTS, 200, LIST(OBJECT("herd-team.shop", "team/shop", ",\"team\":\"ml\"")) }, "", false, false },
        { "one of the Stack is not wanted, that of another stays", { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST(TAKER) },
          { OBJECTS, 200, LIST(OBJECT("herd-team.shop", "team/shop", "") "," OBJECT("old", "team/shop", "") "," OBJECT("other", "team/other", "")) },
          "delete ai/old;", false, false },
        { "nothing takes traces any more", { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST("") },
          { OBJECTS, 200, LIST(OBJECT("herd-team.shop", "team/shop", "")) }, "delete ai/herd-team.shop;", false, false },
        { "it is not known what takes traces", { "/v1alpha1", 200, API }, { "/services?limit=250", 0, "" },
          { OBJECTS, 200, LIST(OBJECT("herd-team.shop", "team/shop", "")) }, "", false, false },
        { "tracing was disabled", { "/v1alpha1", 200, API }, { "-", 0, "" }, { OBJECTS, 200, LIST(OBJECT("herd-team.shop", "team/shop", "")) },
          "delete ai/herd-team.shop;", false, true },
        { "the Stack is paused", { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST(TAKER) }, { OBJECTS, 200, LIST("") }, "", true, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct answer answers[] = { rows[i].api, rows[i].services, rows[i].objects, { NULL, 0, NULL } };
        struct upkeep upkeep = one_release(arena);
        struct strbuf told = strbuf_new(arena, 64);
        struct asked asked;

        upkeep.traces.items[0].paused = rows[i].paused;
        if (rows[i].paused)
            upkeep.stacks = set_new(arena, 1);
        if (rows[i].none_wanted)
            upkeep.traces.count = 0;
        asked = ask(arena, upkeep, answers);
        for (uint32_t k = 0; k < asked.changes.count; k++)
            strbuf_fmt(&told, "%s %.*s/%.*s;", kube_verb_name(asked.changes.items[k].request.verb),
                       STR_ARG(asked.changes.items[k].request.namespace_), STR_ARG(asked.changes.items[k].request.name));
        rows_expect_str(rows[i].row, strbuf_str(&told), str_of(rows[i].want));
    }
}

static void releases_of_a_namespace_share_one(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct answer answers[] = { { "/v1alpha1", 200, API }, { "/services?limit=250", 200, PAGE("") },
                                      { "/services?limit=250&continue=next", 200, LIST(TAKER) }, { NULL, 0, NULL } };
    struct upkeep upkeep = one_release(arena);
    struct asked asked;

    (void)state;
    upkeep_traces_push(&upkeep.traces, (struct upkeep_trace){ { STR("team/shop"), STR("ai"), STR("db"), STR("u2"), STR("") },
                                                               STR("0.25"), false });
    upkeep_traces_push(&upkeep.traces, (struct upkeep_trace){ { STR("team/b"), STR("ai"), STR("x"), STR("u3"), STR("") },
                                                               STR("1"), false });
    asked = ask(arena, upkeep, answers);
    rows_expect_int("one for each Stack", asked.upkeep.instrumentations.count, 2);
    rows_expect("both releases own it", str_find(asked.upkeep.instrumentations.items[0].body, STR("\"uid\":\"u2\""), 0) > 0, "one does");
    rows_expect_str("the other Stack's", asked.upkeep.instrumentations.items[1].name, STR("herd-team.b"));
}

#define POD(kind, owner, annotations, env)                                                                             \
    "{\"metadata\":{\"namespace\":\"ai\",\"name\":\"p\",\"annotations\":{" annotations "},\"ownerReferences\":[{\"controller\":true," \
    "\"kind\":\"" kind "\",\"name\":\"" owner "\"}]},\"spec\":{\"containers\":[{\"env\":[{\"name\":\"A\"}" env "]}]}}"
#define OPTS "\"instrumentation.opentelemetry.io/inject-python\":\"herd-team.shop\""
#define NAMED(name) ",{\"name\":\"OTEL_SERVICE_NAME\",\"value\":\"" name "\"}"

static void a_release_is_traced_if_jaeger_knows_what_opted_in(void **state)
{
    static const struct {
        const char *row;
        struct answer v3, v1;
        const char *pods;
        const char *want; /* counted, then releases */
    } rows[] = {
        { "known by the name that the operator injected", { "/api/v3/services", 200, "{\"services\":[\"shop\"]}" }, { "-", 0, "" },
          POD("ReplicaSet", "web-5d4f8", OPTS, NAMED("shop")), "counted ai/web:arrives" },
        { "known by its workload", { "/api/v3/services", 200, "{\"services\":[\"db\"]}" }, { "-", 0, "" },
          POD("StatefulSet", "db", OPTS, ""), "counted ai/web:arrives" },
        { "known by its annotation", { "/api/v3/services", 200, "{\"services\":[\"x\"]}" }, { "-", 0, "" },
          POD("StatefulSet", "db", OPTS ",\"resource.opentelemetry.io/service.name\":\"x\"", ""), "counted ai/web:arrives" },
        { "it was injected, and its workload's name is somebody else's", { "/api/v3/services", 200, "{\"services\":[\"db\"]}" }, { "-", 0, "" },
          POD("StatefulSet", "db", OPTS, NAMED("shop")), "counted ai/web:missing" },
        { "one of two workloads is missing", { "/api/v3/services", 200, "{\"services\":[\"db\"]}" }, { "-", 0, "" },
          POD("StatefulSet", "db", OPTS, "") "," POD("ReplicaSet", "web-5d4f8", OPTS, ""), "counted ai/web:missing" },
        { "nobody opted in", { "/api/v3/services", 200, "{\"services\":[\"db\"]}" }, { "-", 0, "" },
          POD("StatefulSet", "db", "\"instrumentation.opentelemetry.io/inject-java\":\"False\","
                                   "\"instrumentation.opentelemetry.io/inject-nginx-container-names\":\"a\"", ""), "counted" },
        { "an empty search is a 404", { "/api/v3/services", 404, "{\"error\":{\"httpCode\":404,\"message\":\"No services found\"}}" }, { "-", 0, "" },
          POD("StatefulSet", "db", OPTS, ""), "counted ai/web:missing" },
        { "an old Jaeger", { "/api/v3/services", 404, "404 page not found" }, { "/api/services", 200, "{\"data\":[\"db\"],\"errors\":null}" },
          POD("StatefulSet", "db", OPTS, ""), "counted ai/web:arrives" },
        { "an old Jaeger that answers with its page", { "/api/v3/services", 200, "<html>" }, { "/api/services", 200, "{\"data\":[\"db\"],\"errors\":null}" },
          POD("StatefulSet", "db", OPTS, ""), "counted ai/web:arrives" },
        { "a Service without an endpoint is no empty search", { "/api/v3/services", 404, "{\"kind\":\"Status\",\"code\":404}" },
          { "/api/services", 404, "{\"kind\":\"Status\",\"code\":404}" }, POD("StatefulSet", "db", OPTS, ""), "unknown" },
        { "it does not answer", { "/api/v3/services", 0, "" }, { "-", 0, "" }, POD("StatefulSet", "db", OPTS, ""), "unknown" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct answer answers[] = { { "/v1alpha1", 200, API }, { "/services?limit=250", 200, LIST(JAEGER) }, rows[i].v3, rows[i].v1,
                                          { "/pods?limit=250", 200, str_z(arena, str_fmt(arena, LIST("%s"), rows[i].pods)) },
                                          { NULL, 0, NULL } };
        struct asked asked = ask(arena, one_release(arena), answers);
        struct strbuf told = strbuf_new(arena, 64);

        strbuf_put(&told, asked.found.counted ? STR("counted") : STR("unknown"));
        for (uint32_t k = 0; k < asked.found.releases.count; k++)
            strbuf_fmt(&told, " %.*s:%s", STR_ARG(asked.found.releases.items[k].release),
                       asked.found.releases.items[k].arrives ? "arrives" : "missing");
        rows_expect_str(rows[i].row, strbuf_str(&told), str_of(rows[i].want));
        rows_expect_int(rows[i].row, asked.trouble.len > 0, !asked.found.counted);
    }
}

static void what_has_no_end_is_not_read_to_the_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct answer answers[] = { { "/v1alpha1", 200, API }, { "/services?limit=250", 200, PAGE("") },
                                      { "continue=next", 200, PAGE("") }, { NULL, 0, NULL } };
    struct asked asked = ask(arena, one_release(arena), answers);

    (void)state;
    rows_expect_int("nothing is concluded", asked.found.lacks_endpoint, false);
    rows_expect_int("nor changed", asked.changes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_go_to_the_best_that_takes_them),
        cmocka_unit_test(instrumentations_are_set_right),
        cmocka_unit_test(releases_of_a_namespace_share_one),
        cmocka_unit_test(a_release_is_traced_if_jaeger_knows_what_opted_in),
        cmocka_unit_test(what_has_no_end_is_not_read_to_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
