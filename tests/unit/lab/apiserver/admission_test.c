/* SPDX-License-Identifier: Apache-2.0 */
/* admission_test.c: webhooks in this process, called over TLS with their caBundle. */
#include "api_fixture.h"

#include "text/base64.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the webhook does with the next reviews. */
enum manner {
    ALLOW,
    DENY,
    PATCH,
    WARN,
    GARBAGE,
    WRONG_UID,
    SLOW,
    ERRORS, /* from here on: not an answer but an HTTP error, by the table below */
    STATUS_500 = ERRORS,
    STATUS_400,
    STATUS_403,
    STATUS_404,
    STATUS_413,
    STATUS_500_HTML,
    STATUS_500_JSON,
    STATUS_503,
    STATUS_DOCUMENT,
    STATUS_SUCCESS,
};

static const struct http_error {
    int status;
    const char *type, *body;
} http_errors[] = {
    [STATUS_500 - ERRORS] = { 500, "text/plain", "  say \"broken\"\n" },
    [STATUS_400 - ERRORS] = { 400, "text/plain", "not a review" },
    [STATUS_403 - ERRORS] = { 403, "text/plain", "not for you\n" },
    [STATUS_404 - ERRORS] = { 404, "text/plain", "no such page" },
    [STATUS_413 - ERRORS] = { 413, "text/plain", "too large" },
    [STATUS_500_HTML - ERRORS] = { 502, "text/html; charset=utf-8", "<h1>proxy</h1>" },
    [STATUS_500_JSON - ERRORS] = { 500, "application/json", "{\"error\":\"x\"}" },
    [STATUS_503 - ERRORS] = { 503, "text/plain", "later" },
    [STATUS_DOCUMENT - ERRORS] = { 413, "application/json",
                                   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
                                   "\"Failure\",\"message\":\"line 1: a string of more than "
                                   "1048576 bytes\",\"code\":413}" },
    [STATUS_SUCCESS - ERRORS] = { 400, "application/json",
                                  "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
                                  "\"Success\",\"message\":\"fine\"}" },
};

struct hook {
    struct http_server *server;
    struct tls_source *tls;
    struct str bundle; /* CA in base64 */
    atomic_int manner, calls;
    pthread_mutex_t lock;
    char last[16384]; /* the newest review; under `lock`, a slow answer may outlive its request */
};

static const char *response_of(enum manner manner)
{
    if (manner == DENY)
        return "\"allowed\":false,\"status\":{\"code\":422,\"reason\":\"Invalid\",\"message\":\"no "
               "such "
               "luck\",\"details\":{\"causes\":[{\"field\":\"spec.env\",\"message\":\"bad\"}]}}";
    if (manner == PATCH)
        return "\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":"
               "\"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvc2l6ZSIsInZhbHVlIjo3fV0=\"";
    if (manner == WARN)
        return "\"allowed\":true,\"warnings\":[\"be careful\"]";
    return "\"allowed\":true";
}

static void answer_review(struct http_exchange *exchange, void *context)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct hook *hook = context;
    enum manner manner = (enum manner)atomic_load(&hook->manner);
    struct json review;
    struct error err;
    struct str uid;

    atomic_fetch_add(&hook->calls, 1);
    if (manner == SLOW)
        usleep(1500000); /* longer than the configuration's timeoutSeconds: 1 */
    if (manner >= ERRORS) {
        const struct http_error *error = &http_errors[manner - ERRORS];

        http_answer(exchange, error->status, error->type, str_of(error->body));
        return;
    }
    if (manner == GARBAGE ||
        json_read(view->arena, view->body, &json_limits_default, &review, &err)) {
        http_answer(exchange, 200, "application/json", STR("nonsense"));
        return;
    }
    pthread_mutex_lock(&hook->lock);
    snprintf(hook->last, sizeof(hook->last), "%.*s", STR_ARG(view->body));
    pthread_mutex_unlock(&hook->lock);
    uid = manner == WRONG_UID ? STR("other") : json_str(json_walk(review, "request", "uid", NULL));
    http_answer(exchange, 200, "application/json",
                str_fmt(view->arena,
                        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                        "\"response\":{\"uid\":\"%.*s\",%s}}",
                        STR_ARG(uid), response_of(manner)));
}

static const struct http_route hook_routes[] = {
    { "POST", "/review", 1024 * 1024, answer_review, "review" },
};

static void hook_begin(struct fixture *f, struct hook *hook)
{
    struct tls_pair ca = loopback_ca(f->arena, "hook-ca");
    struct tls_pair leaf = loopback_leaf(f->arena, &ca, "hook.default.svc");
    struct http_server_options options = { .address = "127.0.0.1",
                                           .routes = hook_routes,
                                           .route_count = 1,
                                           .context = hook };
    struct error err;

    *hook = (struct hook){ .bundle = base64_encode(f->arena, ca.certificate_pem),
                           .lock = PTHREAD_MUTEX_INITIALIZER };
    hook->tls = loopback_source(f->arena, f->folder, &leaf);
    options.tls = hook->tls;
    hook->server = http_server_create(&options, &err);
    if (!hook->server)
        fail_msg("%s", err.text);
}

static void hook_end(struct hook *hook)
{
    http_server_drain(hook->server, 2000);
    http_server_free(hook->server);
    tls_source_free(hook->tls);
}

static void configure(struct fixture *f, const struct hook *hook, bool mutates, const char *more)
{
    const char *path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    struct reply reply;

    if (!mutates)
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    ask_json(f, "DELETE", str_z(f->arena, str_fmt(f->arena, "%s/hook", path)), "");
    reply = ask_json(
        f, "POST", path,
        str_z(f->arena, str_fmt(f->arena,
                                "{\"metadata\":{\"name\":\"hook\"},\"webhooks\":[{\"name\":\"hook."
                                "test.io\","
                                "\"sideEffects\":\"None\",\"admissionReviewVersions\":[\"v1\"],"
                                "\"timeoutSeconds\":1,\"clientConfig\":{\"url\":\"https://"
                                "127.0.0.1:%u/review\","
                                "\"caBundle\":\"%.*s\"},\"rules\":[{\"operations\":[\"CREATE\","
                                "\"UPDATE\"],"
                                "\"apiGroups\":[\"test.example.com\"],\"apiVersions\":[\"v1\"],"
                                "\"resources\":["
                                "\"widgets\"]}]%s}]}",
                                http_server_port(hook->server), STR_ARG(hook->bundle), more)));
    if (reply.status != 201)
        fail_msg("%.*s", STR_ARG(reply.body));
}

static struct reply make_widget(struct fixture *f)
{
    return ask_json(f, "POST", WIDGETS,
                    "{" WIDGET "\"metadata\":{\"generateName\":\"w-\",\"labels\":{\"a\":\"b\"}},\"spec\":{"
                    "\"env\":\"x\"}}");
}

#define FAILED_CALL                                                                                \
    "Internal error occurred: failed calling webhook \"hook.test.io\": failed to call webhook: "

static const struct row {
    const char *sentence;
    enum manner manner;
    bool mutates;
    const char *more;
    int status;
    const char *message; /* "..." ends what is compared */
    int calls;
} rows[] = {
    { "allowed", ALLOW, false, "", 201, NULL, 1 },
    { "denied with its own code and words", DENY, false, "", 422,
      "admission webhook \"hook.test.io\" denied the request: no such luck", 1 },
    { "garbage is a failure", GARBAGE, false, "", 500,
      "Internal error occurred: failed calling webhook \"hook.test.io\": ...", 1 },
    { "an answer to another question", WRONG_UID, false, "", 500,
      "Internal error occurred: failed calling webhook \"hook.test.io\": received invalid webhook "
      "response: expected response.uid=...",
      1 },
    { "an error of the server", STATUS_500, false, "", 500,
      "Internal error occurred: failed calling webhook \"hook.test.io\": failed to call webhook: "
      "an error on the server (\"say \\\"broken\\\"\") has prevented the request from succeeding",
      1 },
    { "a page of HTML is text, too", STATUS_500_HTML, false, "", 500,
      FAILED_CALL "an error on the server (\"<h1>proxy</h1>\") has prevented the request from "
                  "succeeding",
      1 },
    { "JSON that says nothing", STATUS_500_JSON, false, "", 500,
      FAILED_CALL "an error on the server (\"unknown\") has prevented the request from succeeding",
      1 },
    { "a request that it did not like", STATUS_400, false, "", 500,
      FAILED_CALL "the server rejected our request for an unknown reason", 1 },
    { "who may not ask learns why", STATUS_403, false, "", 500, FAILED_CALL "not for you", 1 },
    { "a wrong path", STATUS_404, false, "", 500,
      FAILED_CALL "the server could not find the requested resource", 1 },
    { "a status that has no words of its own", STATUS_413, false, "", 500,
      FAILED_CALL "the server responded with the status code 413 but did not return more "
                  "information",
      1 },
    { "busy", STATUS_503, false, "", 500,
      FAILED_CALL "the server is currently unable to handle the request", 1 },
    { "a Status document says it in its own words", STATUS_DOCUMENT, false, "", 500,
      FAILED_CALL "line 1: a string of more than 1048576 bytes", 1 },
    { "a Status of success explains no error", STATUS_SUCCESS, false, "", 500,
      FAILED_CALL "the server rejected our request for an unknown reason", 1 },
    { "too slow", SLOW, false, "", 500,
      "Internal error occurred: failed calling webhook \"hook.test.io\": failed to call webhook: "
      "Post \"https://127.0.0.1:...",
      1 },
    { "a failure that is ignored", STATUS_500, false, ",\"failurePolicy\":\"Ignore\"", 201, NULL,
      1 },
    { "a rejection is never ignored", DENY, false, ",\"failurePolicy\":\"Ignore\"", 422,
      "admission webhook \"hook.test.io\" denied the request: no such luck", 1 },
    { "other labels are not asked about", DENY, false,
      ",\"objectSelector\":{\"matchLabels\":{\"a\":\"c\"}}", 201, NULL, 0 },
    { "these labels are", DENY, false, ",\"objectSelector\":{\"matchLabels\":{\"a\":\"b\"}}", 422,
      NULL, 1 },
    { "other namespaces are not asked about", DENY, false,
      ",\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":\"x\"}}", 201, NULL,
      0 },
    { "a condition that does not hold", DENY, false,
      ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"request.operation == 'UPDATE'\"}]",
      201, NULL, 0 },
    { "a condition that is an error rejects", DENY, false,
      ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"object.nothing == 'x'\"}]", 403,
      NULL, 0 },
    { "unless failures are ignored", DENY, false,
      ",\"failurePolicy\":\"Ignore\",\"matchConditions\":[{\"name\":\"c\",\"expression\":"
      "\"object.nothing == 'x'\"}]",
      201, NULL, 0 },
    { "or another condition is false", DENY, false,
      ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"object.nothing == 'x'\"},{\"name\":"
      "\"d\",\"expression\":\"false\"}]",
      201, NULL, 0 },
    { "a mutating webhook denies, too", DENY, true, "", 422,
      "admission webhook \"hook.test.io\" denied the request: no such luck", 1 },
    { "a mutating webhook patches", PATCH, true, "", 201, NULL, 1 },
};

static void test_rows(void **state)
{
    struct fixture *f = fixture_begin();
    struct hook *hook = arena_new(f->arena, struct hook);

    (void)state;
    hook_begin(f, hook);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct reply reply;

        configure(f, hook, row->mutates, row->more);
        atomic_store(&hook->manner, (int)row->manner);
        atomic_store(&hook->calls, 0);
        reply = make_widget(f);
        rows_expect_int(row->sentence, reply.status, row->status);
        rows_expect_int(row->sentence, atomic_load(&hook->calls), row->calls);
        if (row->message) {
            struct str got = member(f, reply.body, "message");
            struct str want = str_of(row->message);

            if (str_ends(want, STR("..."))) {
                want.len -= 3;
                got = str_slice(got, 0, want.len);
            }
            rows_expect_str(row->sentence, got, want);
        }
        if (row->manner == PATCH)
            rows_expect_str(row->sentence, member(f, reply.body, "spec.size"), STR("7"));
        ask_json(f, "DELETE",
                 row->mutates ? "/apis/admissionregistration.k8s.io/v1/"
                                "mutatingwebhookconfigurations/"
                                "hook"
                              : "/apis/admissionregistration.k8s.io/v1/"
                                "validatingwebhookconfigurations/hook",
                 "");
    }
    hook_end(hook);
    fixture_end(f);
}

static struct str newest_review(struct fixture *f, struct hook *hook)
{
    struct str review;

    pthread_mutex_lock(&hook->lock);
    review = str_dup(f->arena, str_of(hook->last));
    pthread_mutex_unlock(&hook->lock);
    return review;
}

static void test_review(void **state)
{
    struct fixture *f = fixture_begin();
    struct hook *hook = arena_new(f->arena, struct hook);
    struct reply made;
    struct str review;
    const char *path;

    (void)state;
    hook_begin(f, hook);
    configure(f, hook, false, "");
    made = make_widget(f);
    review = newest_review(f, hook);
    rows_expect_str("what it is", member(f, review, "request.operation"), STR("CREATE"));
    rows_expect_str("who asks", member(f, review, "request.userInfo.username"), STR("tester"));
    rows_expect_str("nothing old", member(f, review, "request.oldObject"), STR("null"));
    rows_expect_str("defaults are in", member(f, review, "request.object.spec.size"), STR("3"));
    rows_expect("managers are, too",
                member(f, review, "request.object.metadata.managedFields.0.fieldsV1").len > 2,
                "set");
    path = str_z(f->arena, str_fmt(f->arena, WIDGETS "/%.*s?dryRun=All",
                                   STR_ARG(member(f, made.body, "metadata.name"))));
    ask(f, "PATCH", path, "", "application/merge-patch+json", "{\"spec\":{\"size\":4}}");
    review = newest_review(f, hook);
    rows_expect_str("an update", member(f, review, "request.operation"), STR("UPDATE"));
    rows_expect_str("that is only tried", member(f, review, "request.dryRun"), STR("true"));
    rows_expect_str("what is new", member(f, review, "request.object.spec.size"), STR("4"));
    rows_expect_str("what was", member(f, review, "request.oldObject.spec.size"), STR("3"));
    atomic_store(&hook->calls, 0);
    ask(f, "PATCH",
        str_z(f->arena, str_fmt(f->arena, WIDGETS "/%.*s/status",
                                STR_ARG(member(f, made.body, "metadata.name")))),
        "", "application/merge-patch+json", "{\"status\":{\"phase\":\"x\"}}");
    rows_expect_int("a status is not asked about", atomic_load(&hook->calls), 0);
    hook_end(hook);
    fixture_end(f);
}

static void test_service(void **state)
{
    struct fixture *f = fixture_begin();
    struct hook *hook = arena_new(f->arena, struct hook);
    struct reply reply;

    (void)state;
    hook_begin(f, hook);
    atomic_store(&hook->manner, DENY);
    reply =
        ask_json(f, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                 str_z(f->arena, str_fmt(f->arena,
                                         "{\"metadata\":{\"name\":\"hook\"},\"webhooks\":[{"
                                         "\"name\":\"hook.test.io\","
                                         "\"sideEffects\":\"None\",\"admissionReviewVersions\":["
                                         "\"v1\"],\"clientConfig\":{"
                                         "\"service\":{\"namespace\":\"default\",\"name\":\"hook\","
                                         "\"path\":\"/review\"},"
                                         "\"caBundle\":\"%.*s\"},\"rules\":[{\"operations\":[\"*\"]"
                                         ",\"apiGroups\":[\"*\"],"
                                         "\"apiVersions\":[\"*\"],\"resources\":[\"widgets\"]}]}]}",
                                         STR_ARG(hook->bundle))));
    rows_expect_int("configured", reply.status, 201);
    reply = make_widget(f);
    rows_expect("a service without an address is told",
                str_find(member(f, reply.body, "message"),
                         STR("https://hook.default.svc:443/review"), 0) > 0,
                "URL in the message");
    api_set_service(f->api, STR("default"), STR("hook"),
                    str_fmt(f->arena, "127.0.0.1:%u", http_server_port(hook->server)));
    rows_expect_int("with one it is asked, under its own name", make_widget(f).status, 422);
    hook_end(hook);
    reply = make_widget(f);
    rows_expect_int("stopped, it fails the request", reply.status, 500);
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_review),
        cmocka_unit_test(test_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
