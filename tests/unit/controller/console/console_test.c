/* SPDX-License-Identifier: Apache-2.0 */
/* console_test.c: the console over HTTP, with an API server of the test's own behind it. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/console/console.h"
#include "controller/metrics.h"
#include "kinds_fixture.h"

#include <unistd.h>

#define STACKS "/apis/herd.suse.com/v1/namespaces/a/stacks"
#define STACK(name, version)                                                                                                               \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\",\"uid\":\"u-" name    \
    "\",\"resourceVersion\":\"" version "\",\"labels\":{\"env\":\"" name "\"}},\"spec\":{}}"
#define CHANGE(type, name, version) "{\"type\":\"" type "\",\"object\":" STACK(name, version) "}\n"
#define REVIEW "selfsubjectaccessreviews"
#define ALLOWED "{\"kind\":\"SelfSubjectAccessReview\",\"status\":{\"allowed\":true}}"
#define DENIED "{\"kind\":\"SelfSubjectAccessReview\",\"status\":{\"allowed\":false}}"
#define STATUS(code, reason)                                                                                                               \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"as it "                                               \
    "says\",\"reason\":\"" reason "\",\"code\":" #code "}"

struct fixture {
    struct arena *arena;
    struct loop *loop;
    struct scripted_api *api;
    struct kube_client *client;
    struct http_client *http;
    struct metrics *metrics;
    struct log *log;
    struct health *health;
    struct console_kinds kinds;
    struct console *console;
};

/* `list` NULL: it is never answered. */
static void begin_with(struct fixture *f, bool serves_anonymous, const char *list, const char *namespace_)
{
    static const char *const checks[] = { "console" };
    const struct console_settings settings = {
        .is_on = true, .host = "127.0.0.1", .certificate_file = "", .key_file = "", .serves_anonymous = serves_anonymous
    };
    const struct http_client_options http = { .plain_allowed = true, .user_agent = "test" };
    struct kube_config config;
    struct error err = { .code = ERROR_NONE };

    *f = (struct fixture){ .arena = arena_create(0), .loop = loop_create(), .api = scripted_api_create() };
    config = scripted_api_config(f->api);
    config.token = STR("of-the-controller");
    if (list)
        scripted_api_say(f->api, "GET", "/stacks?limit", 200, list);
    else
        scripted_api_hang(f->api, "GET", "/stacks?limit");
    scripted_api_say_watch(f->api, CHANGE("ADDED", "three", "11"), false);
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop, .config = &config });
    f->http = http_client_create(f->loop, &http, &err);
    f->metrics = controller_metrics_create();
    f->log = log_create(STDERR_FILENO, LOG_ERROR, LOG_TEXT, system_clock(), "test");
    f->health = health_create("127.0.0.1", 0, checks, 1, f->metrics, &err);
    console_kinds_add(&f->kinds, &crds[0]);
    f->console = console_create(&(struct console_options){ .settings = &settings,
                                                           .api = &config,
                                                           .client = f->client,
                                                           .health = f->health,
                                                           .metrics = f->metrics,
                                                           .log = f->log,
                                                           .kinds = &f->kinds,
                                                           .namespace_ = str_of(namespace_),
                                                           .seed = 0xabc },
                                &err);
    rows_expect("the console listens", f->console, err.text);
}

/* Two Stacks are there, and a third comes. */
static void begin(struct fixture *f, bool serves_anonymous)
{
    begin_with(f, serves_anonymous,
               "{\"kind\":\"StackList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" STACK("one", "5") "," STACK("two", "6") "]}",
               "");
}

static void end(struct fixture *f)
{
    console_free(f->console);
    health_free(f->health);
    metrics_free(f->metrics);
    log_free(f->log);
    http_client_free(f->http);
    kube_client_free(f->client);
    scripted_api_free(f->api);
    loop_free(f->loop);
    arena_free(f->arena);
}

static struct reply ask(struct fixture *f, const char *method, const char *path, const char *token, const char *body)
{
    struct http_header headers[2];
    struct http_request request = {
        .method = method,
        .url = str_fmt(f->arena, "http://127.0.0.1:%u%s", console_port(f->console), path),
        .headers = headers,
        .body = str_of(body),
    };

    if (token[0])
        headers[request.header_count++] = (struct http_header){ STR("Authorization"), str_fmt(f->arena, "Bearer %s", token) };
    if (body[0])
        headers[request.header_count++] = (struct http_header){ STR("Content-Type"), STR("application/json") };
    return loopback_ask(f->loop, f->http, &request, f->arena);
}

/* Until the list was read and the change came. */
static void wait_for_change(struct fixture *f, const char *token)
{
    for (int tries = 0; tries < 2000; tries++) {
        struct reply reply = ask(f, "GET", STACKS "/three", token, "");

        if (reply.status == 200)
            return;
        usleep(5000);
    }
    fail_msg("the third Stack did not show");
}

static bool has(struct reply reply, const char *text)
{
    return str_find(reply.body, str_of(text), 0) >= 0;
}

static void reads_come_from_memory_for_those_who_may(void **state)
{
    struct fixture f;
    struct reply reply;
    uint32_t reviews;

    begin(&f, false);
    scripted_api_say(f.api, "POST", REVIEW, 201, ALLOWED);
    wait_for_change(&f, "good");
    rows_expect("the token of the caller asks, and no other", scripted_api_last_has(f.api, "POST", REVIEW, "Authorization: Bearer good"),
                "another");
    rows_expect("it asks for the object",
                str_find(scripted_api_last(f.api, f.arena, "POST", REVIEW),
                         STR("{\"resourceAttributes\":{\"verb\":\"get\",\"group\":\"herd.suse."
                             "com\",\"version\":\"v1\","
                             "\"resource\":\"stacks\",\"namespace\":\"a\",\"name\":\"three\"}}"),
                         0) >= 0,
                scripted_api_last(f.api, f.arena, "POST", REVIEW).at);
    reviews = scripted_api_count(f.api, "POST", REVIEW);
    rows_expect_str("an object as it is", ask(&f, "GET", STACKS "/three", "good", "").body, STR(STACK("three", "11")));
    rows_expect_int("is not asked about twice", scripted_api_count(f.api, "POST", REVIEW), reviews);
    rows_expect_int("nor read anew", scripted_api_count(f.api, "GET", STACKS "/three"), 0);
    reply = ask(&f, "GET", STACKS, "good", "");
    rows_expect_str("a list is sorted", reply.body,
                    STR("{\"apiVersion\":\"herd.suse.com/"
                        "v1\",\"kind\":\"StackList\",\"metadata\":{\"resourceVersion\":\"\"},"
                        "\"items\":[" STACK("one", "5") ",\n" STACK("three", "11") ",\n" STACK("two", "6") "]}\n"));
    reply = ask(&f, "GET", STACKS "?labelSelector=env%20in%20(two)", "good", "");
    rows_expect("and selected", has(reply, "u-two") && !has(reply, "u-one"), reply.body.at);
    rows_expect_int("by a selector that can be read", ask(&f, "GET", STACKS "?labelSelector=a(", "good", "").status, 400);
    rows_expect_int("no such object", ask(&f, "GET", STACKS "/four", "good", "").status, 404);
    reply = ask(&f, "GET", "/apis/herd.suse.com/v1/namespaces/b/stacks", "good", "");
    rows_expect("another namespace is empty", reply.status == 200 && has(reply, "\"items\":[]"), reply.body.at);
    end(&f);
    (void)state;
}

static void who_may_not_is_told_so(void **state)
{
    struct fixture f;
    struct reply reply;

    begin(&f, false);
    reply = ask(&f, "GET", STACKS, "", "");
    rows_expect("no token", reply.status == 401 && has(reply, "\"reason\":\"Unauthorized\""), reply.body.at);
    scripted_api_say(f.api, "POST", REVIEW, 201, DENIED);
    reply = ask(&f, "GET", STACKS, "poor", "");
    rows_expect("no right",
                reply.status == 403 && has(reply, "stacks.herd.suse.com is forbidden: the caller cannot list resource \\\"stacks\\\" "
                                                  "in API group \\\"herd.suse.com\\\" in the namespace \\\"a\\\""),
                reply.body.at);
    rows_expect_int("not of one object either", ask(&f, "GET", STACKS "/one", "poor", "").status, 403);
    rows_expect_int("nor of events there", ask(&f, "GET", "/events?namespace=a", "poor", "").status, 403);
    rows_expect_int("nor a stream", ask(&f, "GET", "/watch?namespace=a", "poor", "").status, 403);
    reply = ask(&f, "GET", "/events", "poor", "");
    rows_expect("of all namespaces none are shown", reply.status == 200 && has(reply, "\"events\":[]"), reply.body.at);
    scripted_api_say(f.api, "POST", REVIEW, 401, STATUS(401, "Unauthorized"));
    rows_expect_int("a token of nobody's", ask(&f, "GET", STACKS, "bad", "").status, 401);
    rows_expect_int("for events, too", ask(&f, "GET", "/events", "worse", "").status, 401);
    end(&f);
    (void)state;
}

static void writes_go_to_the_api_server_as_the_caller(void **state)
{
    struct fixture f;
    struct reply reply;

    begin(&f, false);
    scripted_api_say(f.api, "POST", REVIEW, 201, ALLOWED);
    wait_for_change(&f, "good");
    scripted_api_say(f.api, "POST", STACKS "?dryRun=All", 409, STATUS(409, "AlreadyExists"));
    reply = ask(&f, "POST", STACKS "?dryRun=All", "good", STACK("one", ""));
    rows_expect("what it answers is passed on", reply.status == 409 && has(reply, "as it says"), reply.body.at);
    rows_expect("it was asked by the caller", scripted_api_last_has(f.api, "POST", STACKS "?dryRun=All", "Authorization: Bearer good"),
                "by another");
    reply = ask(&f, "POST", STACKS, "good", "{\"metadata\":");
    rows_expect("broken JSON is not", reply.status == 400 && has(reply, "the body is not JSON"), reply.body.at);

    scripted_api_say(f.api, "GET", STACKS "/three", 200, STACK("three", "11"));
    scripted_api_say(f.api, "PUT", STACKS "/three", 200, STACK("three", "11"));
    rows_expect_int("a PUT without a version", ask(&f, "PUT", STACKS "/three", "good", "{\"metadata\":{\"name\":\"three\"}}").status, 200);
    rows_expect("is made of the live object, read by the caller",
                scripted_api_last_has(f.api, "GET", STACKS "/three", "Authorization: Bearer good") &&
                    str_find(scripted_api_last(f.api, f.arena, "PUT", STACKS), STR("\"resourceVersion\":\"11\""), 0) >= 0,
                scripted_api_last(f.api, f.arena, "PUT", STACKS).at);
    rows_expect_int("a PUT with one", ask(&f, "PUT", STACKS "/three", "good", STACK("three", "11")).status, 200);
    rows_expect_int("is not", scripted_api_count(f.api, "GET", STACKS "/three"), 1);

    scripted_api_say(f.api, "DELETE", STACKS "/gone", 502, "<html>");
    reply = ask(&f, "DELETE", STACKS "/gone", "good", "");
    rows_expect("what is not of the API server becomes a Status", reply.status >= 500 && has(reply, "\"kind\":\"Status\""), reply.body.at);
    rows_expect_int("all of a collection cannot be deleted", ask(&f, "DELETE", STACKS, "good", "").status, 405);
    rows_expect_int("no object can be made without a namespace", ask(&f, "POST", "/apis/herd.suse.com/v1/stacks", "good", "{}").status,
                    405);
    rows_expect_int("a page takes no POST", ask(&f, "POST", "/events", "good", "{}").status, 405);
    rows_expect_int("and nothing else is there", ask(&f, "GET", "/secrets", "good", "").status, 404);
    end(&f);
    (void)state;
}

static void an_api_server_that_is_away_is_told(void **state)
{
    struct fixture f;
    struct reply reply;

    begin(&f, true);
    wait_for_change(&f, "");
    scripted_api_leave(f.api);
    rows_expect_int("what was read is still there", ask(&f, "GET", STACKS "/one", "", "").status, 200);
    reply = ask(&f, "DELETE", STACKS "/one", "", "");
    rows_expect("a write is not possible", reply.status == 503 && has(reply, "\"reason\":\"ServiceUnavailable\""), reply.body.at);
    reply = ask(&f, "GET", STACKS "/one", "somebody", "");
    rows_expect("nor to know who somebody is", reply.status == 503, reply.body.at);
    end(&f);
    (void)state;
}

static void before_all_was_read_nothing_is_shown(void **state)
{
    struct fixture f;
    struct reply reply;

    begin_with(&f, true, NULL, "");
    rows_expect_int("but the index", ask(&f, "GET", "/", "", "").status, 200);
    reply = ask(&f, "GET", STACKS, "", "");
    rows_expect("a list would lack what is there", reply.status == 503 && has(reply, "stacks.herd.suse.com are not read yet"),
                reply.body.at);
    rows_expect("and comes soon", reply.retry_after_ms >= 0, "no Retry-After");
    rows_expect_int("an object might be there", ask(&f, "GET", STACKS "/one", "", "").status, 503);
    end(&f);
    (void)state;
}

static void a_namespace_that_is_not_followed_is_not_empty(void **state)
{
    struct fixture f;
    struct reply reply;

    begin_with(&f, true, "{\"kind\":\"StackList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}", "a");
    wait_for_change(&f, "");
    rows_expect_int("what is followed is shown", ask(&f, "GET", STACKS, "", "").status, 200);
    rows_expect_int("and alone asked for", scripted_api_count(f.api, "GET", "/namespaces/a/stacks?limit"), 1);
    reply = ask(&f, "GET", "/apis/herd.suse.com/v1/namespaces/b/stacks", "", "");
    rows_expect("another is not empty", reply.status == 404 && has(reply, "follows the namespace \\\"a\\\" alone"), reply.body.at);
    rows_expect_int("nor are all", ask(&f, "GET", "/apis/herd.suse.com/v1/stacks", "", "").status, 404);
    end(&f);
    (void)state;
}

/* The console's threads need no loop for callers on this machine. */
static struct str watch(struct fixture *f, const char *headers)
{
    int fd = loopback_connect(console_port(f->console));
    struct str text;

    loopback_write(fd, str_fmt(f->arena, "GET /watch HTTP/1.1\r\nHost: localhost\r\n%s\r\n", headers));
    text = loopback_read(f->arena, fd, 300);
    close(fd);
    return text;
}

static void a_stream_goes_on_where_it_was(void **state)
{
    struct fixture f;
    struct str text;

    begin(&f, true);
    wait_for_change(&f, "");
    text = watch(&f, "");
    rows_expect("a new client sees where it is, and no past",
                str_find(text, STR("id: 0000000000000abc-1\n\n"), 0) >= 0 && str_find(text, STR("data:"), 0) < 0, text.at);
    text = watch(&f, "Last-Event-ID: 0000000000000abc-0\r\n");
    rows_expect("one that missed a change gets it",
                str_find(text, STR("id: 0000000000000abc-1\ndata: {\"type\":\"ADDED\",\"object\":" STACK("three", "11") "}\n\n"), 0) >= 0,
                text.at);
    text = watch(&f, "Last-Event-ID: 0000000000000def-1\r\n");
    rows_expect("one of another process is told to list again",
                str_find(text, STR("event: reset\nid: 0000000000000abc-1\ndata: {\"reason\":\"Expired\""), 0) >= 0, text.at);
    text = ask(&f, "GET", "/events", "", "").body;
    rows_expect("the history has what came, not what was there",
                str_find(text, STR("\"name\":\"three\""), 0) >= 0 && str_find(text, STR("\"name\":\"one\""), 0) < 0, text.at);
    rows_expect_int("a filter that cannot be read", ask(&f, "GET", "/events?kind=Pod", "", "").status, 400);
    end(&f);
    (void)state;
}

static void streams_end_when_the_process_does(void **state)
{
    struct fixture f;
    int64_t began_ms = clock_monotonic_ms(system_clock());
    struct str text;
    int fd;

    begin(&f, true);
    wait_for_change(&f, "");
    fd = loopback_connect(console_port(f.console));
    loopback_write(fd, STR("GET /watch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    text = loopback_read(f.arena, fd, 100);
    rows_expect("it streams", str_find(text, STR("heartbeat"), 0) >= 0, text.at);
    rows_expect_int("one client", (int64_t)metrics_value(f.metrics, CONTROLLER_CONSOLE_WATCHERS, NULL), 1);
    console_stop(f.console);
    loopback_read(f.arena, fd, LOOPBACK_PATIENCE_MS);
    rows_expect("the connection is closed, and not just silent", clock_monotonic_ms(system_clock()) - began_ms < LOOPBACK_PATIENCE_MS,
                "silent");
    close(fd);
    end(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_come_from_memory_for_those_who_may),
        cmocka_unit_test(who_may_not_is_told_so),
        cmocka_unit_test(writes_go_to_the_api_server_as_the_caller),
        cmocka_unit_test(an_api_server_that_is_away_is_told),
        cmocka_unit_test(before_all_was_read_nothing_is_shown),
        cmocka_unit_test(a_namespace_that_is_not_followed_is_not_empty),
        cmocka_unit_test(a_stream_goes_on_where_it_was),
        cmocka_unit_test(streams_end_when_the_process_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
