/* SPDX-License-Identifier: Apache-2.0 */
/* client_test.c: requests, their answers as errors, the fence, cancellation; and Events through the
 * recorder, which is a small user of the client. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "runtime/client.h"
#include "runtime/recorder.h"

#include <stdio.h>

static const struct kube_resource things =
    KUBE_RESOURCE_INIT("x.io", "v1", "things", "Thing", true);

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    bool may_write;
    bool done;
    int status;
    bool sent;
    struct error error;
    struct str body;
    uint32_t told;
    const char *verb;
    struct loop_timer *poll;
    uint32_t want;
};

static bool may_write(void *context)
{
    return ((struct fixture *)context)->may_write;
}

static void on_request(void *context, const char *verb, struct str plural, int status,
                       int64_t duration_ms)
{
    struct fixture *f = context;

    (void)plural, (void)status, (void)duration_ms;
    f->told++;
    f->verb = verb;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0), .may_write = true };
    f->api = scripted_api_create();
    f->loop = loop_create();

    struct kube_config config = scripted_api_config(f->api);

    config.server = str_fmt(f->arena, "%.*s/base", STR_ARG(config.server));
    config.token = STR("secret");
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop,
                                                                          .config = &config,
                                                                          .may_write = may_write,
                                                                          .may_write_context = f,
                                                                          .on_request = on_request,
                                                                          .on_request_context = f });
}

static void tear_down(struct fixture *f)
{
    kube_client_free(f->client);
    loop_timer_free(f->poll);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static void on_done(void *context, const struct kube_answer *answer)
{
    struct fixture *f = context;

    f->done = true;
    f->status = answer->status;
    f->sent = answer->sent;
    f->error = answer->error;
    f->body = str_dup(f->arena, answer->body);
}

static void answers_become_errors_by_reason(void **state)
{
    static const struct {
        const char *row;
        int status;
        const char *body;
        enum error_code code;
        const char *text;
    } rows[] = {
        { "a good answer is none", 200, "{}", ERROR_NONE, "" },
        { "the reason decides before the code", 409,
          "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"there\",\"code\":409}",
          ERROR_ALREADY_EXISTS, "PUT /base/apis/x.io/v1/namespaces/n/things/t: there (HTTP 409)" },
        { "a conflict", 409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"code\":409}",
          ERROR_CONFLICT, "PUT /base/apis/x.io/v1/namespaces/n/things/t: Conflict (HTTP 409)" },
        { "a page of a proxy", 502, "<html>\n<b>bad</b>", ERROR_INTERNAL,
          "PUT /base/apis/x.io/v1/namespaces/n/things/t: HTTP 502 with a body that is no "
          "Kubernetes Status: <html>\\x0a<b>bad</b>" },
        { "nothing at all", 503, "", ERROR_UNAVAILABLE,
          "PUT /base/apis/x.io/v1/namespaces/n/things/t: HTTP 503 with an empty body" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        scripted_api_say(f.api, "PUT", "/base/apis", rows[i].status, rows[i].body);

        struct kube_request request = {
            .verb = KUBE_UPDATE, .resource = things, .namespace_ = STR("n"), .name = STR("t"),
            .body = STR("{}") };

        kube_client_call(f.client, &request, on_done, &f);
        loopback_run_until(f.loop, &f.done);
        rows_expect_int(rows[i].row, f.error.code, rows[i].code);
        if (rows[i].code != ERROR_NONE && !strstr(f.error.text, rows[i].text + 10))
            rows_expect_str(rows[i].row, str_of(f.error.text), str_of(rows[i].text));
        rows_expect_int(rows[i].row, f.told, 1);
        tear_down(&f);
    }
    (void)state;
}

static void the_fence_keeps_writes_back(void **state)
{
    struct fixture f;

    set_up(&f);
    f.may_write = false;
    scripted_api_say(f.api, "GET", "", 200, "{}");

    struct kube_request write = { .verb = KUBE_DELETE, .resource = things, .namespace_ = STR("n"),
                                  .name = STR("t") };

    kube_client_call(f.client, &write, on_done, &f);
    assert_false(f.done);
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.error.code, ERROR_CANCELLED);
    assert_false(f.sent);

    f.done = false;
    kube_client_raw(f.client, "POST", STR("/v1/x?action=go"), "application/json", STR("{}"), 0,
                    on_done, &f);
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.error.code, ERROR_CANCELLED);

    f.done = false;
    kube_client_raw(f.client, "GET", STR("/v1/x"), NULL, STR(""), 0, on_done, &f);
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.status, 200);
    assert_int_equal(scripted_api_count(f.api, "DELETE", ""), 0);
    assert_int_equal(scripted_api_count(f.api, "POST", ""), 0);

    /* Cancelled before it was told. */
    f.done = false;
    kube_call_cancel(kube_client_call(f.client, &write, on_done, &f));
    kube_client_call(f.client, &write, on_done, &f); /* and freed with the client */
    tear_down(&f);
    assert_false(f.done);
    (void)state;
}

/* It was open when the request was queued, and is not when the connection stands. */
static void the_fence_is_asked_again_before_sending(void **state)
{
    struct kube_request write = { .verb = KUBE_CREATE, .resource = things,
                                  .namespace_ = STR("n"), .body = STR("{}") };
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "POST", "", 201, "{}");
    scripted_api_say(f.api, "GET", "", 200, "{}");
    kube_client_call(f.client, &write, on_done, &f);
    f.may_write = false;
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.error.code, ERROR_CANCELLED);
    assert_non_null(strstr(f.error.text, "does not hold the lease"));
    assert_false(f.sent);
    assert_int_equal(scripted_api_count(f.api, "POST", ""), 0);

    /* Reads need no lease, and the client goes on. */
    f.done = false;
    kube_client_raw(f.client, "GET", STR("/v1/x"), NULL, STR(""), 0, on_done, &f);
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.status, 200);
    f.done = false;
    f.may_write = true;
    kube_client_call(f.client, &write, on_done, &f);
    loopback_run_until(f.loop, &f.done);
    assert_int_equal(f.status, 201);
    tear_down(&f);
    (void)state;
}

static void raw_requests_are_counted_by_their_verb(void **state)
{
    static const struct {
        const char *name;
        const char *method;
        const char *verb;
    } rows[] = {
        { "a GET is a get", "GET", "get" },
        { "a POST is a create, as audit has it", "POST", "create" },
        { "a PUT is an update", "PUT", "update" },
        { "a PATCH is a patch", "PATCH", "patch" },
        { "a DELETE is a delete", "DELETE", "delete" },
    };
    struct fixture f;

    (void)state;
    set_up(&f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        scripted_api_say(f.api, rows[i].method, "", 200, "{}");
        f.done = false;
        kube_client_raw(f.client, rows[i].method, STR("/v1/x"), "application/json", STR("{}"), 0,
                        on_done, &f);
        loopback_run_until(f.loop, &f.done);
        rows_expect_str(rows[i].name, str_of(f.verb), str_of(rows[i].verb));
    }
    tear_down(&f);
}

struct liner {
    struct fixture *f;
    struct kube_call *call;
    bool cancels;
    struct str line;
};

static bool on_line(void *context, struct str line)
{
    struct liner *liner = context;

    liner->line = str_dup(liner->f->arena, line);
    if (liner->cancels) {
        kube_call_cancel(liner->call);
        liner->f->done = true;
    }
    return false;
}

static void on_watch_done(void *context, const struct kube_answer *answer)
{
    on_done(((struct liner *)context)->f, answer);
}

static void a_watch_ends_when_its_reader_says_so(void **state)
{
    for (int cancels = 0; cancels < 2; cancels++) {
        struct fixture f;
        struct liner liner = { &f, NULL, cancels, { "", 0 } };
        struct kube_request watch = { .verb = KUBE_WATCH, .resource = things, .timeout_s = 300 };

        set_up(&f);
        scripted_api_say_watch(f.api, "\n{\"a\":1}\n{\"b\":2}\n", false);
        liner.call = kube_client_watch(f.client, &watch, on_line, on_watch_done, &liner);
        loopback_run_until(f.loop, &f.done);
        rows_expect_str("one line only", liner.line, STR("{\"a\":1}"));
        rows_expect_int("a cancelled call tells nothing more", f.error.code,
                        cancels ? ERROR_NONE : ERROR_CANCELLED);
        tear_down(&f);
    }
    (void)state;
}

static void poll_requests(void *context)
{
    struct fixture *f = context;

    f->done = f->told >= f->want;
    if (!f->done)
        loop_timer_set(f->poll, 2);
}

static void wait_for_requests(struct fixture *f, uint32_t count)
{
    f->want = count;
    f->done = false;
    loop_timer_free(f->poll);
    f->poll = loop_timer_create(f->loop, poll_requests, f);
    loop_timer_set(f->poll, 0);
    loopback_run_until(f->loop, &f->done);
}

static void events_are_created_and_then_counted(void **state)
{
    struct fixture f;
    struct kube_event event = { .resource = things, .namespace_ = STR("n"), .name = STR("t"),
                                .uid = STR("u"), .warning = true, .reason = STR("Broken"),
                                .message = STR("it broke") };

    set_up(&f);
    scripted_api_say(f.api, "POST", "/events", 201, "{}");
    scripted_api_say(f.api, "PATCH", "/events", 200, "{}");

    AUTO(recorder_free) struct recorder *recorder =
        recorder_create(f.client, STR("herd"), STR("herd-1"));

    recorder_emit(recorder, &event);
    wait_for_requests(&f, 1);
    recorder_emit(recorder, &event);
    wait_for_requests(&f, 2);

    struct str created = scripted_api_last(f.api, f.arena, "POST", "/namespaces/n/events");
    struct str patched = scripted_api_last(f.api, f.arena, "PATCH", "/namespaces/n/events/t.");

    rows_expect("involvedObject", str_find(created, STR("\"involvedObject\":{\"apiVersion\":"
                                                        "\"x.io/v1\",\"kind\":\"Thing\""), 0) > 0,
                created.at);
    rows_expect("the second is a count", str_find(patched, STR("{\"count\":2,"), 0) > 0,
                patched.at);
    assert_int_equal(recorder_failed(recorder), 0);

    /* Without a cure, it is counted and not sent again. */
    event.reason = STR("Other");
    scripted_api_say(f.api, "POST", "/events", 403, "{}");
    recorder_emit(recorder, &event);
    wait_for_requests(&f, 3);
    assert_int_equal(recorder_failed(recorder), 1);
    recorder_free(TAKE(recorder));
    tear_down(&f);
    (void)state;
}

static void get_things(struct fixture *f)
{
    const struct kube_request request = { .verb = KUBE_LIST, .resource = things };

    f->done = false;
    kube_client_call(f->client, &request, on_done, f);
    loopback_run_until(f->loop, &f->done);
}

static void count_return(void *context)
{
    ++*(uint32_t *)context;
}

/* Of a server that was away, the first answer tells, and no second one. */
static void tells_when_the_server_is_back(void **state)
{
    struct fixture f;
    uint32_t returns = 0, gone = 0;
    struct kube_return wish = { .told = count_return, .context = &returns };
    struct kube_return dropped = { .told = count_return, .context = &gone };

    set_up(&f);
    scripted_api_say(f.api, "GET", "/things", 403, "{}");
    kube_client_await_return(f.client, &wish);
    kube_client_await_return(f.client, &dropped);
    kube_client_drop_return(f.client, &dropped);
    get_things(&f);
    rows_expect_int("it was not away", returns, 0);
    scripted_api_leave(f.api);
    get_things(&f);
    rows_expect_int("cannot connect", f.error.code, ERROR_CONNECT);
    get_things(&f);
    rows_expect_int("it is away", returns, 0);
    scripted_api_return(f.api);
    get_things(&f);
    rows_expect_int("it is back, whatever it answers", returns, 1);
    get_things(&f);
    rows_expect_int("and told of once", returns, 1);
    rows_expect_int("to nobody who left", gone, 0);
    tear_down(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_become_errors_by_reason),
        cmocka_unit_test(the_fence_keeps_writes_back),
        cmocka_unit_test(the_fence_is_asked_again_before_sending),
        cmocka_unit_test(raw_requests_are_counted_by_their_verb),
        cmocka_unit_test(a_watch_ends_when_its_reader_says_so),
        cmocka_unit_test(tells_when_the_server_is_back),
        cmocka_unit_test(events_are_created_and_then_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
