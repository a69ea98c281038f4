/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_test.c: routes, answers, bodies, budgets, streams and drain, over real sockets. */
#include "support/rows.h"

#include "support/loopback.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static void say_hello(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_answer_header(exchange, "X-Extra", STR("one"));
    http_answer(exchange, 200, "text/plain", STR("hello\n"));
}

/* What the handler saw, for the test to look at. */
static void show(struct http_exchange *exchange, void *context)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct str value = STR("-");

    (void)context;
    http_query(exchange, STR("q"), &value);
    http_answer(exchange, 200, "text/plain",
                str_fmt(view->arena, "%.*s %.*s ?%.*s q=%.*s type=%.*s body=%zu from=%.*s h=%.*s",
                        STR_ARG(view->method), STR_ARG(view->path), STR_ARG(view->query),
                        STR_ARG(value), STR_ARG(view->content_type), view->body.len,
                        STR_ARG(view->peer), STR_ARG(http_header(exchange, "x-mine"))));
}

static void echo(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_answer(exchange, 201, "application/octet-stream", http_view(exchange)->body);
}

static void eat(struct http_exchange *exchange, void *context)
{
    (void)context;
    for (;;)
        arena_alloc(http_view(exchange)->arena, 64 * 1024);
}

static void forget(struct http_exchange *exchange, void *context)
{
    (void)exchange, (void)context;
}

static ptrdiff_t count_down(void *context, char *into, size_t room)
{
    int *left = context;

    if (*left == 0)
        return -1;
    /* Every second call has nothing yet. */
    if ((*left)-- % 2)
        return 0;
    assert_true(room > 5);
    memcpy(into, "tick\n", 5);
    return 5;
}

static atomic_int streams_ended;

static void stream_ended(void *context)
{
    (void)context;
    atomic_fetch_add(&streams_ended, 1);
}

static void stream(struct http_exchange *exchange, void *context)
{
    int *left = arena_new(http_view(exchange)->arena, int);

    (void)context;
    *left = 20;
    http_answer_stream(exchange, "text/event-stream", count_down, stream_ended, left);
}

static const struct http_route routes[] = {
    { "GET", "/hello", 0, say_hello, "hello" },
    { "", "/show/*", 1024, show, "show" },
    { "POST", "/echo", 2 * 1024 * 1024, echo, "echo" },
    { "PUT", "/echo", 10, echo, "echo" },
    { "GET", "/eat", 0, eat, "eat" },
    { "GET", "/forget", 0, forget, "forget" },
    { "GET", "/stream", 0, stream, "stream" },
};

struct fixture {
    struct arena *arena;
    struct loop *loop;
    struct http_server *server;
    struct http_client *client;
};

static struct http_server_options options_of(uint32_t event_threads)
{
    return (struct http_server_options){
        .address = "127.0.0.1",
        .routes = routes,
        .route_count = sizeof(routes) / sizeof(routes[0]),
        .event_threads = event_threads,
    };
}

static struct fixture begin(const struct http_server_options *options)
{
    struct fixture fixture = { .arena = arena_create(0), .loop = loop_create() };
    struct http_client_options client = { .plain_allowed = true };
    struct error err;

    fixture.server = http_server_create(options, &err);
    if (!fixture.server)
        fail_msg("%s", err.text);
    fixture.client = http_client_create(fixture.loop, &client, &err);
    assert_non_null(fixture.client);
    return fixture;
}

static void end(struct fixture *fixture)
{
    http_client_free(fixture->client);
    http_server_free(fixture->server);
    loop_free(fixture->loop);
    arena_free(fixture->arena);
}

static struct reply get(struct fixture *fixture, const char *path)
{
    return loopback_get(fixture->loop, fixture->client, "http", http_server_port(fixture->server),
                        path, fixture->arena);
}

static const struct answer_row {
    const char *name;
    const char *method;
    const char *path;
    size_t body;
    int status;
    const char *holds;
} answer_rows[] = {
    { "a route is found by its path", "GET", "/hello", 0, 200, "hello\n" },
    { "HEAD is answered by the GET route, without a body", "HEAD", "/hello", 0, 200, "" },
    { "a prefix takes what lies below it", "GET", "/show/a/b", 0, 200, "GET /show/a/b ?" },
    { "a prefix does not take the folder without its slash", "GET", "/show", 0, 404, "nothing" },
    { "a path is decoded once", "GET", "/show/a%20b%2541", 0, 200, "/show/a b%41 ?" },
    { "a query stays raw and its values are decoded", "GET", "/show/x?a&q=1+%2B2&b=%zz", 0, 200,
      "?a&q=1+%2B2&b=%zz q=1 +2 " },
    { "a method that the path does not take is told which it takes", "DELETE", "/echo", 0, 405,
      "not allowed" },
    { "an unknown path is not found", "GET", "/nowhere", 0, 404, "nothing at this path" },
    { "a bad escape is rejected", "GET", "/show/%zz", 0, 400, "malformed" },
    { "an escape cut short is rejected", "GET", "/show/%2", 0, 400, "malformed" },
    { "a NUL in a path is rejected", "GET", "/show/a%00b", 0, 400, "malformed" },
    { "dot segments are rejected", "GET", "/show/../hello", 0, 400, "malformed" },
    { "hidden dot segments are rejected", "GET", "/show/%2e%2e/hello", 0, 400, "malformed" },
    { "any method reaches a route that takes all", "FROB", "/show/x", 0, 200, "FROB /show/x" },
    { "a body arrives whole", "POST", "/echo", 1000000, 201, NULL },
    { "a body of the largest size arrives", "PUT", "/echo", 10, 201, NULL },
    { "a body one byte larger is rejected", "PUT", "/echo", 11, 413, "too large" },
    { "a body where none is taken is rejected", "GET", "/hello", 1, 413, "too large" },
    { "work that passes its budget is an error and the server lives", "GET", "/eat", 0, 500,
      "more memory" },
    { "a handler that forgets to answer is an error", "GET", "/forget", 0, 500, "not answered" },
};

static void answer_as_rows_say(uint32_t event_threads)
{
    struct http_server_options options = options_of(event_threads);

    options.arena_budget = 1024 * 1024;

    struct fixture fixture = begin(&options);

    for (size_t i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]); i++) {
        const struct answer_row *row = &answer_rows[i];
        char *bytes = arena_bytes(fixture.arena, row->body + 1);

        for (size_t k = 0; k < row->body; k++)
            bytes[k] = (char)('a' + k % 23);

        struct http_request request = {
            .method = row->method,
            .url = str_fmt(fixture.arena, "http://127.0.0.1:%u%s",
                           http_server_port(fixture.server), row->path),
            .body = str_make(bytes, row->body),
        };
        struct reply reply = loopback_ask(fixture.loop, fixture.client, &request, fixture.arena);

        rows_expect_str(row->name, str_of(reply.error.text), STR(""));
        rows_expect_int(row->name, reply.status, row->status);
        if (row->holds && row->holds[0])
            rows_expect(row->name, str_find(reply.body, str_of(row->holds), 0) >= 0, reply.body.at);
        else if (!row->holds)
            rows_expect_str(row->name, reply.body, request.body);
    }
    end(&fixture);
}

static void test_answers_with_event_threads(void **state)
{
    (void)state;
    answer_as_rows_say(1);
    answer_as_rows_say(2);
}

static void test_answers_with_a_thread_for_each(void **state)
{
    (void)state;
    answer_as_rows_say(0);
}

static void test_headers_reach_the_handler(void **state)
{
    struct http_server_options options = options_of(1);
    struct fixture fixture = begin(&options);
    struct http_header headers[] = { { STR("X-Mine"), STR("7") },
                                     { STR("Content-Type"), STR("application/json") } };
    struct http_request request = {
        .method = "POST",
        .url = str_fmt(fixture.arena, "http://127.0.0.1:%u/show/x",
                       http_server_port(fixture.server)),
        .headers = headers,
        .header_count = 2,
        .body = STR("{}"),
    };

    (void)state;

    struct reply reply = loopback_ask(fixture.loop, fixture.client, &request, fixture.arena);

    rows_expect_str("headers, type, body and peer are seen", reply.body,
                    STR("POST /show/x ? q=- type=application/json body=2 from=127.0.0.1 h=7"));
    rows_expect_str("the type of the answer arrives", reply.content_type, STR("text/plain"));
    end(&fixture);
}

static void test_a_connection_is_used_again(void **state)
{
    struct http_server_options options = options_of(1);
    struct fixture fixture = begin(&options);

    (void)state;
    for (int i = 0; i < 50; i++)
        rows_expect_int("each request is answered", get(&fixture, "/hello").status, 200);
    rows_expect_int("on one connection",
                    (int64_t)http_client_connections_opened(fixture.client), 1);
    rows_expect_int("which the server counts", http_server_connections(fixture.server), 1);
    end(&fixture);
}

static void test_streams(void **state)
{
    struct http_server_options options = options_of(0);
    struct fixture fixture = begin(&options);

    (void)state;
    atomic_store(&streams_ended, 0);

    struct reply reply = get(&fixture, "/stream");

    rows_expect_int("a stream is answered", reply.status, 200);
    rows_expect_int("with all its pieces", (int64_t)reply.body.len, 50);
    rows_expect_int("and a following request on the connection",
                    get(&fixture, "/hello").status, 200);
    rows_expect_int("and ended once", atomic_load(&streams_ended), 1);
    end(&fixture);
}

/* A stream that has nothing to say, until its peer goes or the server drains. */
static ptrdiff_t stay_quiet(void *context, char *into, size_t room)
{
    (void)context, (void)into, (void)room;
    usleep(2000);
    return 0;
}

static void quiet(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_answer_stream(exchange, "text/plain", stay_quiet, stream_ended, NULL);
}

static const struct http_route quiet_routes[] = { { "GET", "/quiet", 0, quiet, "quiet" } };

static void wait_for_streams(int count)
{
    for (int i = 0; i < 5000 && atomic_load(&streams_ended) < count; i++)
        usleep(1000);
}

/* A server, and a connection that asked it for a stream that says nothing. */
static struct fixture begin_quiet_stream(int *ret_fd)
{
    struct http_server_options options = options_of(0);

    options.routes = quiet_routes;
    options.route_count = 1;

    struct fixture fixture = begin(&options);

    *ret_fd = loopback_connect(http_server_port(fixture.server));
    atomic_store(&streams_ended, 0);
    loopback_write(*ret_fd, STR("GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n"));
    return fixture;
}

static void test_a_quiet_stream_notices_that_its_peer_went(void **state)
{
    int fd;
    struct fixture fixture = begin_quiet_stream(&fd);

    (void)state;
    rows_expect("the stream began",
                str_starts(loopback_read(fixture.arena, fd, 200), STR("HTTP/1.1 200")), "200");
    close(fd);
    wait_for_streams(1);
    rows_expect_int("and ended with its peer", atomic_load(&streams_ended), 1);
    end(&fixture);
}

static struct http_exchange *_Atomic flooded;
static pthread_mutex_t flood_lock = PTHREAD_MUTEX_INITIALIZER;

static ptrdiff_t flood(void *context, char *into, size_t room)
{
    (void)context;
    memset(into, 'x', room);
    return (ptrdiff_t)room;
}

static void flood_ended(void *context)
{
    pthread_mutex_lock(&flood_lock);
    pthread_mutex_unlock(&flood_lock);
    stream_ended(context);
}

static void answer_flood(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_answer_stream(exchange, "text/plain", flood, flood_ended, NULL);
    atomic_store(&flooded, exchange);
}

static const struct http_route flood_routes[] = { { "GET", "/flood", 0, answer_flood, "flood" } };

static void test_a_stream_that_nobody_reads_can_be_abandoned(void **state)
{
    struct http_server_options options = options_of(0);
    int fd;

    (void)state;
    options.routes = flood_routes;
    options.route_count = 1;

    struct fixture fixture = begin(&options);

    fd = loopback_connect(http_server_port(fixture.server));
    atomic_store(&streams_ended, 0);
    loopback_write(fd, STR("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n"));
    while (!atomic_load(&flooded))
        usleep(1000);
    usleep(100000);
    rows_expect_int("it waits for its reader", atomic_load(&streams_ended), 0);
    pthread_mutex_lock(&flood_lock);
    http_abandon(atomic_load(&flooded));
    pthread_mutex_unlock(&flood_lock);
    wait_for_streams(1);
    rows_expect_int("until it is abandoned", atomic_load(&streams_ended), 1);
    close(fd);
    end(&fixture);
}

static void test_parameters_come_one_after_the_other(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf seen = strbuf_new(arena, 0);
    struct str rest = STR("a=1&&b&%63=x+%2B&bad=%zz&a=2");
    struct str name, value;

    (void)state;
    while (http_query_next(arena, &rest, &name, &value))
        strbuf_fmt(&seen, "%.*s=%.*s;", STR_ARG(name), STR_ARG(value));
    rows_expect_str("decoded, and without what is malformed", strbuf_str(&seen),
                    STR("a=1;b=;c=x +;a=2;"));
}

static void test_drain_ends_streams_and_rejects_connections(void **state)
{
    int fd;
    struct fixture fixture = begin_quiet_stream(&fd);

    (void)state;
    loopback_read(fixture.arena, fd, 100);
    http_server_drain(fixture.server, 5000);

    struct str rest = loopback_read(fixture.arena, fd, 1000);

    rows_expect("a drained stream ends as a whole one", str_ends(rest, STR("0\r\n\r\n")), "0");
    rows_expect_int("its end was told", atomic_load(&streams_ended), 1);
    close(fd);

    struct reply reply = get(&fixture, "/quiet");

    rows_expect_int("no new connection is taken", reply.error.code, ERROR_CONNECT);
    rows_expect("and nothing was sent", !reply.sent, "sent is false");
    http_server_drain(fixture.server, 5000);
    end(&fixture);
}

static atomic_bool release;

static void slow(struct http_exchange *exchange, void *context)
{
    (void)context;
    while (!atomic_load(&release))
        usleep(1000);
    http_answer(exchange, 200, "text/plain", STR("done"));
}

static const struct http_route slow_routes[] = { { "GET", "/slow", 0, slow, "slow" },
                                                 { "POST", "/echo", 1000, echo, "echo" } };

static void *drain_in_thread(void *context)
{
    http_server_drain(context, 10000);
    return NULL;
}

static void release_it(void *context)
{
    (void)context;
    atomic_store(&release, true);
}

static void test_drain_lets_a_request_end(void **state)
{
    struct http_server_options options = options_of(0);

    (void)state;
    options.routes = slow_routes;
    options.route_count = 1;

    struct fixture fixture = begin(&options);
    pthread_t thread;
    struct loop_timer *timer = loop_timer_create(fixture.loop, release_it, NULL);
    int fd = loopback_connect(http_server_port(fixture.server));

    atomic_store(&release, false);
    loopback_write(fd, STR("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
    while (http_server_in_flight(fixture.server) == 0)
        usleep(1000);
    pthread_create(&thread, NULL, drain_in_thread, fixture.server);
    usleep(20000);
    rows_expect_int("drain waits for it", http_server_in_flight(fixture.server), 1);
    release_it(NULL);

    struct str text = loopback_read(fixture.arena, fd, 2000);

    pthread_join(thread, NULL);
    rows_expect("the request in flight was answered", str_ends(text, STR("done")), text.at);
    rows_expect("and told to go elsewhere", str_find(text, STR("Connection: close"), 0) > 0,
                text.at);
    close(fd);
    loop_timer_free(timer);
    end(&fixture);
}

static void drop(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_drop(exchange);
}

static const struct http_route drop_routes[] = { { "GET", "/drop", 0, drop, "drop" },
                                                 { "GET", "/slow", 0, slow, "slow" } };

static void test_a_dropped_request_gets_no_answer(void **state)
{
    struct http_server_options options = options_of(1);

    (void)state;
    options.routes = drop_routes;
    options.route_count = 2;
    atomic_store(&release, true);

    struct fixture fixture = begin(&options);
    struct reply reply = get(&fixture, "/drop");

    rows_expect_int("no status", reply.status, 0);
    rows_expect_int("the connection ended", reply.error.code, ERROR_LOST);
    rows_expect("and the request had been sent", reply.sent, "sent is true");
    rows_expect_int("the next one is answered", get(&fixture, "/slow").status, 200);
    end(&fixture);
}

static void test_lame_duck(void **state)
{
    struct http_server_options options = options_of(1);
    struct fixture fixture = begin(&options);

    (void)state;
    get(&fixture, "/hello");
    http_server_lame_duck(fixture.server);
    rows_expect_int("a lame duck answers", get(&fixture, "/hello").status, 200);
    rows_expect_int("each time", get(&fixture, "/hello").status, 200);
    rows_expect_int("and closes after each answer",
                    (int64_t)http_client_connections_opened(fixture.client), 2);
    end(&fixture);
}

static void test_all_bodies_together_are_bounded(void **state)
{
    struct http_server_options options = options_of(1);

    (void)state;
    options.bodies_max = 1000;

    struct fixture fixture = begin(&options);
    int fd = loopback_connect(http_server_port(fixture.server));
    struct http_request request = {
        .method = "POST",
        .url = str_fmt(fixture.arena, "http://127.0.0.1:%u/echo",
                       http_server_port(fixture.server)),
        .body = STR("0123456789"),
    };

    loopback_write(fd, STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 995\r\n\r\nx"));
    while (http_server_in_flight(fixture.server) == 0)
        usleep(1000);

    struct reply reply = loopback_ask(fixture.loop, fixture.client, &request, fixture.arena);

    rows_expect_int("a body that does not fit beside the others waits", reply.status, 503);
    rows_expect_int("for a second", reply.retry_after_ms, 1000);
    close(fd);
    while (http_server_in_flight(fixture.server) != 0)
        usleep(1000);
    reply = loopback_ask(fixture.loop, fixture.client, &request, fixture.arena);
    rows_expect_int("and fits once the other has gone", reply.status, 201);
    end(&fixture);
}

static void test_a_used_port_is_told(void **state)
{
    struct http_server_options options = options_of(1);
    struct fixture fixture = begin(&options);
    struct error err;

    (void)state;
    options.port = http_server_port(fixture.server);
    assert_null(http_server_create(&options, &err));
    rows_expect_str("a used port says what to do", str_of(err.text),
                    str_fmt(fixture.arena,
                            "cannot listen on 127.0.0.1:%u: address in use; choose another "
                            "--listen or stop what uses it",
                            options.port));
    options.address = "localhost";
    assert_null(http_server_create(&options, &err));
    rows_expect("a name is no address", strstr(err.text, "not a numeric address"), err.text);
    end(&fixture);
}

static atomic_int ended_count;
static atomic_int ended_status;

static void note_end(void *context, const struct http_exchange_view *view, int status,
                     int64_t duration_us)
{
    (void)context;
    assert_true(duration_us >= 0 && view->path.len > 0);
    atomic_store(&ended_status, status);
    atomic_fetch_add(&ended_count, 1);
}

static void test_each_end_is_told(void **state)
{
    struct http_server_options options = options_of(1);

    (void)state;
    options.on_end = note_end;
    atomic_store(&ended_count, 0);

    struct fixture fixture = begin(&options);

    get(&fixture, "/nowhere");
    get(&fixture, "/hello");
    http_server_drain(fixture.server, 1000);
    rows_expect_int("every exchange ends once", atomic_load(&ended_count), 2);
    rows_expect_int("with its status", atomic_load(&ended_status), 200);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_with_event_threads),
        cmocka_unit_test(test_answers_with_a_thread_for_each),
        cmocka_unit_test(test_headers_reach_the_handler),
        cmocka_unit_test(test_a_connection_is_used_again),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_a_quiet_stream_notices_that_its_peer_went),
        cmocka_unit_test(test_a_stream_that_nobody_reads_can_be_abandoned),
        cmocka_unit_test(test_parameters_come_one_after_the_other),
        cmocka_unit_test(test_drain_ends_streams_and_rejects_connections),
        cmocka_unit_test(test_drain_lets_a_request_end),
        cmocka_unit_test(test_a_dropped_request_gets_no_answer),
        cmocka_unit_test(test_lame_duck),
        cmocka_unit_test(test_all_bodies_together_are_bounded),
        cmocka_unit_test(test_a_used_port_is_told),
        cmocka_unit_test(test_each_end_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
