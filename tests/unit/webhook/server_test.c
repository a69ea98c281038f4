/* SPDX-License-Identifier: Apache-2.0 */
/* server_test.c: the review server as the API server meets it: over TLS, on a free port. */
#include "support/rows.h"

#include "support/files.h"
#include "support/folder.h"
#include "support/loopback.h"
#include "support/review_builder.h"

#include "text/limits.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define ONE_CHART(cluster, scheme)                                                                 \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\","         \
    "\"namespace\":\"default\",\"annotations\":{\"herd.suse.com/last-applied-by\":\"ann\"}},"          \
    "\"spec\":{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"" cluster "\"]},"                   \
    "\"charts\":[{\"name\":\"db\",\"repo\":\"" scheme "://charts.example.org\",\"version\":\"1.2.3\"}]}}"
#define GOOD ONE_CHART("c-m-1", "https")
#define PLAIN ONE_CHART("c-m-1", "http")
#define LOOPBACK                                                                                   \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\","         \
    "\"namespace\":\"default\",\"annotations\":{\"herd.suse.com/last-applied-by\":\"ann\"}},"          \
    "\"spec\":{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},"                         \
    "\"charts\":[{\"name\":\"db\",\"repo\":\"https://127.1:8443\",\"version\":\"1.2.3\"}]}}"
#define LOCAL ONE_CHART("local", "https")
#define CYCLE                                                                                      \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\","         \
    "\"namespace\":\"default\"},\"spec\":{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]}," \
    "\"charts\":[{\"name\":\"a\",\"repo\":\"https://x.org\",\"version\":\"1.0.0\",\"dependsOn\":"   \
    "[\"b\"]},{\"name\":\"b\",\"repo\":\"https://x.org\",\"version\":\"1.0.0\",\"dependsOn\":"      \
    "[\"a\"]}]}}"

struct fixture {
    struct arena *arena;
    struct loop *loop;
    const char *folder;
    struct tls_pair ca;
    struct tls_source *tls;
    struct metrics *metrics;
    struct health *health;
    struct fact_source *facts;
    const char *config_file;
    const char *log_file;
    int log_fd;
    struct log *log;
    struct configured *configured;
    struct webhook_server *server;
    struct http_client *client;
};

static void begin(struct fixture *f, size_t arena_budget)
{
    static const char *const checks[] = { "serving" };
    struct error err;

    *f = (struct fixture){ .arena = arena_create(0), .loop = loop_create() };
    f->folder = folder_create(f->arena);
    f->ca = loopback_ca(f->arena, "test CA");

    struct tls_pair leaf = loopback_leaf(f->arena, &f->ca, "herd-webhook.herd-system.svc");

    f->tls = loopback_source(f->arena, f->folder, &leaf);
    f->metrics = webhook_metrics_create();
    f->health = health_create("127.0.0.1", 0, checks, 1, f->metrics, &err);
    f->facts = fact_source_create(NULL, NULL, &err);
    f->config_file = folder_name(f->arena, f->folder, "config.yaml");
    f->configured = configured_create(f->config_file, &(struct configuration_layer){ 0 }, &err);
    f->log_file = folder_name(f->arena, f->folder, "log");
    folder_put(f->log_file, STR(""), 0600);
    f->log_fd = open(f->log_file, O_WRONLY | O_APPEND);
    f->log = log_create(f->log_fd, LOG_INFO, LOG_TEXT, system_clock(), "herd-webhook");
    f->server = webhook_server_create(
        &(struct webhook_server_options){
            .address = "127.0.0.1",
            .tls = f->tls,
            .event_threads = 2,
            .arena_budget = arena_budget,
            .facts = f->facts,
            .configured = f->configured,
            .metrics = f->metrics,
            .health = f->health,
            .log = f->log,
        },
        &err);
    assert_non_null(f->server);
    f->client = http_client_create(
        f->loop, &(struct http_client_options){ .ca_pem = f->ca.certificate_pem }, &err);
    assert_non_null(f->client);
}

static void end(struct fixture *f)
{
    http_client_free(f->client);
    webhook_server_free(f->server);
    log_free(f->log);
    close(f->log_fd);
    fact_source_free(f->facts);
    configured_free(f->configured);
    health_free(f->health);
    metrics_free(f->metrics);
    tls_source_free(f->tls);
    folder_remove(f->folder);
    loop_free(f->loop);
    arena_free(f->arena);
}

static uint16_t port_of(struct fixture *f)
{
    return http_server_port(webhook_server_http(f->server));
}

static struct reply ask(struct fixture *f, const char *method, const char *path, struct str body)
{
    struct http_request request = {
        .method = method,
        .url = str_fmt(f->arena, "https://127.0.0.1:%u%s", port_of(f), path),
        .body = body,
    };
    const struct http_header json = { STR("Content-Type"), STR("application/json") };

    request.headers = &json;
    request.header_count = body.len ? 1 : 0;
    return loopback_ask(f->loop, f->client, &request, f->arena);
}

static struct str create(struct fixture *f, const char *object)
{
    return a_review(f->arena, "u-1", "CREATE", str_of(object), STR("null"));
}

/* A request is counted once it has ended, a moment after its client may have seen the answer. */
static int64_t counted(struct fixture *f, enum webhook_metric metric, const char *a, const char *b,
                       const char *c)
{
    const struct str labels[] = { str_of(a), str_of(b), str_of(c) };

    for (int i = 0; i < 1000 && http_server_in_flight(webhook_server_http(f->server)); i++)
        usleep(1000);
    return (int64_t)metrics_value(f->metrics, metric, labels);
}

static void reviews_are_answered_over_tls(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 0);

    struct reply reply = ask(&f, "POST", "/validate", create(&f, GOOD));
    struct json response = review_response(f.arena, "good", reply.body, "u-1");

    rows_expect_int("a review is answered with 200", reply.status, 200);
    rows_expect_str("as JSON", reply.content_type, STR("application/json"));
    rows_expect("a good Stack is allowed", json_bool(json_get(response, STR("allowed"))), "allowed");

    reply = ask(&f, "POST", "/mutate", create(&f, GOOD));
    response = review_response(f.arena, "mutate", reply.body, "u-1");
    rows_expect("mutate patches", json_is(json_get(response, STR("patch")), JSON_STRING), "patch");

    reply = ask(&f, "POST", "/validate", create(&f, CYCLE));
    response = review_response(f.arena, "cycle", reply.body, "u-1");
    rows_expect_int("a rejection is an answer too", reply.status, 200);
    rows_expect("a cycle is rejected", !json_bool(json_get(response, STR("allowed"))), "rejected");

    rows_expect_int("allowed ones are counted",
                    counted(&f, WEBHOOK_REVIEWS, "validate", "CREATE", "allowed"), 1);
    rows_expect_int("by route", counted(&f, WEBHOOK_REVIEWS, "mutate", "CREATE", "allowed"), 1);
    rows_expect_int("and rejected ones",
                    counted(&f, WEBHOOK_REVIEWS, "validate", "CREATE", "denied"), 1);
    rows_expect_int("with their rule", counted(&f, WEBHOOK_FINDINGS, "graph.cycle", "deny", ""), 1);
    rows_expect_int("and how long they took",
                    counted(&f, WEBHOOK_REVIEW_DURATION, "validate", "", ""), 2);
    rows_expect_int("none failed", counted(&f, WEBHOOK_REVIEWS, "validate", "unknown", "failed"), 0);
    end(&f);
}

/* What the log says since it was asked last, without the time; "" if nothing. */
static struct str logged(struct fixture *f)
{
    struct str text = test_file(f->arena, f->log_file);
    ptrdiff_t level = str_find(text, STR(" INFO  "), 0);

    assert_int_equal(truncate(f->log_file, 0), 0);
    return level < 0 ? text : str_slice(text, (size_t)level + 7, text.len);
}

#define REJECTED "review rejected user=ann kind=Stack namespace=default name=s operation=CREATE dry_run=false route="
#define TEN(text) text text text text text text text text text text
#define NO_ENV                                                                                     \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\"},\"spec\":{\"env\":"    \
    "\"my secret\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{\"name\":\"db\",\"repo\":\"x\","       \
    "\"version\":\"?\"},{\"name\":\"e\",\"repo\":\"x\",\"version\":\"1.0.0\"}]}}"

static void a_rejection_is_logged_and_audited(void **state)
{
    static const struct {
        const char *row, *path, *object, *line, *rules;
    } rows[] = {
        { "allowed", "/validate", GOOD, "", "" },
        { "by one rule", "/validate", LOCAL, REJECTED "validate rules=targets.local faults=1\n", "targets.local" },
        { "by several, each told once", "/mutate", NO_ENV,
          REJECTED "mutate rules=shape.repo,shape.version,shape.env faults=4\n", "shape.repo,shape.version,shape.env" },
        { "what cannot be decoded", "/validate", TEN(TEN("[")) TEN("[[[") TEN("]]]") TEN(TEN("]")),
          REJECTED "validate rules=shape.undecodable faults=1\n", "shape.undecodable" },
    };
    struct fixture f;

    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str body = a_review_by(f.arena, "u-1", "CREATE", STR("\"ann\""), str_of(rows[i].object), STR("null"));
        struct reply reply = ask(&f, "POST", rows[i].path, body);
        struct json response = review_response(f.arena, rows[i].row, reply.body, "u-1");

        rows_expect_int(rows[i].row, reply.status, 200);
        rows_expect_int(rows[i].row, json_bool(json_get(response, STR("allowed"))), !rows[i].rules[0]);
        rows_expect_str(rows[i].row, json_str(json_walk(response, "auditAnnotations", "rejected-by", NULL)),
                        str_of(rows[i].rules));
        rows_expect_str(rows[i].row, logged(&f), str_of(rows[i].line));
    }
    end(&f);
}

static bool is_allowed(struct fixture *f, const char *object)
{
    struct reply reply = ask(f, "POST", "/validate", create(f, object));

    return json_bool(json_get(review_response(f->arena, object, reply.body, "u-1"), STR("allowed")));
}

static void the_next_review_is_validated_by_the_newest_configuration(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        bool plain, local, loopback;
    } rows[] = {
        { "the defaults", "", false, false, false },
        { "hosts", "allowRepoHosts: ['127.1']", false, false, true },
        { "other hosts", "allowRepoHosts: [127.0.0.1]", false, false, false },
        { "plain http", "allowPlainHttpRepos: true", true, false, false },
        { "a rule that is off", "rules: {shape.repo: deny, targets.cluster-id: deny, targets.local: off}", false, true, false },
        { "both", "allowPlainHttpRepos: true\nrules: {targets.local: warn}", true, true, false },
        { "the defaults again", "", false, false, false },
    };
    struct fixture f;
    struct error err;

    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        folder_put(f.config_file, str_of(rows[i].text), 0644);
        rows_expect_int(rows[i].row, configured_refresh(f.configured, &err), 1);
        rows_expect_int(rows[i].row, is_allowed(&f, PLAIN), rows[i].plain);
        rows_expect_int(rows[i].row, is_allowed(&f, LOCAL), rows[i].local);
        rows_expect_int(rows[i].row, is_allowed(&f, LOOPBACK), rows[i].loopback);
        rows_expect(rows[i].row, is_allowed(&f, GOOD), "what is good stays good");
    }
    end(&f);
}

static void what_is_no_review_gets_an_error(void **state)
{
    static const struct {
        const char *row;
        const char *method;
        const char *path;
        const char *body;
        int status;
        const char *label; /* of herd_webhook_http_requests_total */
    } rows[] = {
        { "another path", "POST", "/admit", "{}", 404, "none" },
        { "a path below a route", "POST", "/validate/x", "{}", 404, "none" },
        { "metrics are not on this port", "GET", "/metrics", "", 404, "none" },
        { "GET of a review", "GET", "/validate", "", 405, "none" },
        { "POST of a probe", "POST", "/healthz", "x", 405, "none" },
        { "no JSON", "POST", "/validate", "nonsense", 400, "validate" },
        { "JSON that is no review", "POST", "/mutate", "{}", 400, "mutate" },
        { "a Stack outside a review", "POST", "/mutate", GOOD, 400, "mutate" },
        { "an empty body", "POST", "/validate", "", 400, "validate" },
        { "a probe of life", "GET", "/healthz", "", 200, "healthz" },
        { "a probe of readiness before the start is over", "GET", "/readyz", "", 500, "readyz" },
    };
    struct fixture f;

    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str code = str_fmt(f.arena, "%d", rows[i].status);
        int64_t before = counted(&f, WEBHOOK_REQUESTS, rows[i].label, code.at, "");
        struct reply reply = ask(&f, rows[i].method, rows[i].path, str_of(rows[i].body));

        rows_expect_str(rows[i].row, str_of(reply.error.text), STR(""));
        rows_expect_int(rows[i].row, reply.status, rows[i].status);
        rows_expect_int(rows[i].row, counted(&f, WEBHOOK_REQUESTS, rows[i].label, code.at, ""),
                        before + 1);
        rows_expect(rows[i].row, str_find(reply.body, STR("\"allowed\":true"), 0) < 0, "no yes");
    }
    rows_expect_int("bad reviews are counted",
                    counted(&f, WEBHOOK_REVIEWS, "validate", "unknown", "failed"), 2);
    health_set(f.health, 0, STR(""));
    rows_expect_int("readiness comes", ask(&f, "GET", "/readyz", STR("")).status, 200);
    health_shutting_down(f.health);
    rows_expect_int("and goes", ask(&f, "GET", "/readyz", STR("")).status, 500);
    rows_expect_int("life stays", ask(&f, "GET", "/healthz", STR("")).status, 200);
    end(&f);
}

static void a_malformed_review_gets_a_status(void **state)
{
    struct fixture f;
    int64_t code = 0;

    (void)state;
    begin(&f, 0);

    struct reply reply = ask(&f, "POST", "/validate", STR("{\"kind\":\"AdmissionReview\"}"));
    struct json status;
    struct error err;

    assert_int_equal(json_read(f.arena, reply.body, &json_limits_default, &status, &err), 0);
    rows_expect_str("kind", json_str(json_get(status, STR("kind"))), STR("Status"));
    rows_expect_str("reason", json_str(json_get(status, STR("reason"))), STR("BadRequest"));
    rows_expect("code", json_int64(json_get(status, STR("code")), &code) && code == 400, "400");
    rows_expect("the remedy",
                str_find(json_str(json_get(status, STR("message"))),
                         STR("admissionReviewVersions: [v1]"), 0) >= 0,
                reply.body.at);
    end(&f);
}

static void a_body_over_the_bound_is_rejected(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 0);

    struct strbuf body = strbuf_new(f.arena, LIMIT_REVIEW_BODY + 1);

    memset(strbuf_reserve(&body, LIMIT_REVIEW_BODY + 1), ' ', LIMIT_REVIEW_BODY + 1);
    body.len = LIMIT_REVIEW_BODY + 1;

    struct reply reply = ask(&f, "POST", "/validate", strbuf_str(&body));

    /* The server closes at once, which may cut the sending short. */
    rows_expect("413, or cut short", reply.status == 413 || reply.error.code != ERROR_NONE,
                reply.body.at);
    rows_expect_int("counted", counted(&f, WEBHOOK_REQUESTS, "validate", "413", ""), 1);
    rows_expect_int("as failed", counted(&f, WEBHOOK_REVIEWS, "validate", "unknown", "failed"), 1);
    reply = ask(&f, "POST", "/validate", create(&f, GOOD));
    rows_expect_int("the next one is answered", reply.status, 200);
    end(&f);
}

static void a_review_over_its_budget_fails_alone(void **state)
{
    enum { BUDGET = 1 }; /* beside what every review of up to 64 KiB has: 256 KiB */
    struct fixture f;

    (void)state;
    begin(&f, BUDGET);

    struct strbuf charts = strbuf_new(f.arena, 64 * 1024);

    for (int i = 0; charts.len < 50 * 1024; i++)
        strbuf_fmt(&charts, "%s{\"name\":\"c%d\",\"x%d\":[]}", i ? "," : "", i, i);

    struct str object = str_fmt(f.arena,
                                "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\","
                                "\"spec\":{\"charts\":[%.*s]}}",
                                STR_ARG(strbuf_str(&charts)));
    struct str review = a_review(f.arena, "u-2", "CREATE", object, STR("null"));

    for (int i = 0; i < 20; i++) {
        struct reply reply = ask(&f, "POST", "/validate", review);

        rows_expect_int("an answer", reply.status, 200);
        rows_expect("a rejection that says why",
                    str_find(reply.body, STR("\"allowed\":false"), 0) >= 0 &&
                        str_find(reply.body, STR("needs more memory than one review may have"), 0) >= 0,
                    reply.body.at);
    }
    rows_expect_int("counted as denied",
                    counted(&f, WEBHOOK_REVIEWS, "validate", "CREATE", "denied"), 20);
    rows_expect_int("a small one is answered",
                    ask(&f, "POST", "/validate", create(&f, GOOD)).status, 200);
    end(&f);
}

/* --- company --- */

struct nuisance {
    uint16_t port;
    pthread_t thread;
    int open[8];
};

/* Plain HTTP at a TLS port, a handshake that stops, connections that say nothing. */
static void *disturb(void *context)
{
    struct nuisance *nuisance = context;

    for (size_t i = 0; i < sizeof(nuisance->open) / sizeof(int); i++) {
        int fd = loopback_connect(nuisance->port);

        nuisance->open[i] = fd;
        if (i % 3 == 0)
            loopback_write(fd, STR("POST /validate HTTP/1.1\r\nHost: x\r\n\r\n"));
        else if (i % 3 == 1)
            loopback_write(fd, STR("\x16\x03\x01\x02\x00\x01\x00"));
    }
    return NULL;
}

static void bad_clients_do_not_disturb_good_ones(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 0);

    struct nuisance nuisance = { .port = port_of(&f) };

    assert_int_equal(pthread_create(&nuisance.thread, NULL, disturb, &nuisance), 0);
    for (int i = 0; i < 50; i++) {
        struct reply good = ask(&f, "POST", "/validate", create(&f, GOOD));
        struct reply bad = ask(&f, "POST", "/validate", STR("\xff{"));

        rows_expect_int("good ones are answered", good.status, 200);
        rows_expect_int("bad ones too", bad.status, 400);
    }
    pthread_join(nuisance.thread, NULL);
    rows_expect_int("all of them", counted(&f, WEBHOOK_REVIEWS, "validate", "CREATE", "allowed"),
                    50);
    rows_expect_int("and of the others",
                    counted(&f, WEBHOOK_REVIEWS, "validate", "unknown", "failed"), 50);
    for (size_t i = 0; i < sizeof(nuisance.open) / sizeof(int); i++)
        close(nuisance.open[i]);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reviews_are_answered_over_tls),
        cmocka_unit_test(a_rejection_is_logged_and_audited),
        cmocka_unit_test(the_next_review_is_validated_by_the_newest_configuration),
        cmocka_unit_test(what_is_no_review_gets_an_error),
        cmocka_unit_test(a_malformed_review_gets_a_status),
        cmocka_unit_test(a_body_over_the_bound_is_rejected),
        cmocka_unit_test(a_review_over_its_budget_fails_alone),
        cmocka_unit_test(bad_clients_do_not_disturb_good_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
