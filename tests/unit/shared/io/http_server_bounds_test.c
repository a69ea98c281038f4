/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_bounds_test.c: what a hostile client gets: smuggling pairs, floods and drips. Raw
 * sockets. */
#include "support/rows.h"

#include "support/loopback.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void ok(struct http_exchange *exchange, void *context)
{
    (void)context;
    http_answer(exchange, 200, "text/plain", STR("fine"));
}

static void seven_megabytes(struct http_exchange *exchange, void *context)
{
    struct arena *arena = http_view(exchange)->arena;
    size_t len = 7 * 1024 * 1024;

    (void)context;
    http_answer(exchange, 200, "text/plain", str_make(arena_alloc(arena, len), len));
}

static const struct http_route routes[] = {
    { "GET", "/", 0, ok, "root" },
    { "POST", "/", 4096, ok, "root" },
    { "GET", "/large", 0, seven_megabytes, "large" },
};

static struct http_server *serve(struct http_server_options options)
{
    struct error err;

    options.address = "127.0.0.1";
    options.routes = routes;
    options.route_count = sizeof(routes) / sizeof(routes[0]);

    struct http_server *server = http_server_create(&options, &err);

    if (!server)
        fail_msg("%s", err.text);
    return server;
}

#define HEAD "Host: a\r\n"

static const struct raw_row {
    const char *name;
    const char *sent;
    const char *begins; /* "" = closed without an answer */
    bool closes;
} raw_rows[] = {
    { "a sound request", "GET / HTTP/1.1\r\n" HEAD "\r\n", "HTTP/1.1 200", false },
    { "HTTP/1.0 is answered and closed", "GET / HTTP/1.0\r\n\r\n", "HTTP/1.", true },
    { "two lengths, equal",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
      "HTTP/1.1 400", true },
    { "two lengths, different",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length: 1\r\ncontent-length: 5\r\n\r\nx", "HTTP/1.1 400",
      true },
    { "a length and chunks",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "chunks and a length",
      "POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "two encodings",
      "POST / HTTP/1.1\r\n" HEAD
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "an encoding that is not chunked",
      "POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "an encoding spelled with a tab",
      "POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: \x0b" "chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "a space before the colon of the length",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length : 1\r\n\r\nx", "HTTP/1.1 400", true },
    { "a length with a sign", "POST / HTTP/1.1\r\n" HEAD "Content-Length: +1\r\n\r\nx",
      "HTTP/1.1 400", true },
    { "a length in two parts", "POST / HTTP/1.1\r\n" HEAD "Content-Length: 1, 1\r\n\r\nx",
      "HTTP/1.1 400", true },
    { "a length beyond 64 bits",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length: 99999999999999999999\r\n\r\nx", "HTTP/1.1 4",
      true },
    { "two hosts", "GET / HTTP/1.1\r\n" HEAD "Host: b\r\n\r\n", "HTTP/1.1 400", true },
    { "no host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400", true },
    { "a length larger than the route takes is answered before the body",
      "POST / HTTP/1.1\r\n" HEAD "Content-Length: 100000000\r\n\r\n", "HTTP/1.1 413", true },
    { "sound chunks",
      "POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 200", false },
    { "a chunk size that is no number",
      "POST / HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 400", true },
    { "not HTTP at all", "\x16\x03\x01\x02\x00\r\n\r\n", "", true },
};

/* After an answer that closes, a second request must not be served. */
static void test_malformed_requests(void **state)
{
    struct http_server *server = serve((struct http_server_options){ .event_threads = 1 });

    (void)state;
    for (size_t i = 0; i < sizeof(raw_rows) / sizeof(raw_rows[0]); i++) {
        const struct raw_row *row = &raw_rows[i];
        AUTO(arena_free) struct arena *arena = arena_create(0);
        int fd = loopback_connect(http_server_port(server));

        loopback_write(fd, str_of(row->sent));
        if (row->closes)
            loopback_write(fd, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));

        struct str text = loopback_read(arena, fd, row->closes ? 2000 : 100);

        if (row->begins[0])
            rows_expect(row->name, str_starts(text, str_of(row->begins)), text.at);
        if (row->closes) {
            rows_expect(row->name, str_find(text, STR("fine"), 0) < 0 ||
                                       str_starts(text, STR("HTTP/1.0 200")) ||
                                       strstr(row->sent, "HTTP/1.0"),
                        "nothing behind it was served");
            rows_expect(row->name, loopback_read(arena, fd, 2000).len == 0, "it was closed");
        }
        close(fd);
    }
    http_server_free(server);
}

static void test_headers_are_bounded(void **state)
{
    struct http_server *server = serve((struct http_server_options){ .event_threads = 1 });
    AUTO(arena_free) struct arena *arena = arena_create(0);

    static const int sizes[] = { 1, 8, 15, 17, 24, 32, 64 };

    (void)state;
    for (size_t row = 0; row < sizeof(sizes) / sizeof(sizes[0]); row++) {
        int kib = sizes[row];
        struct strbuf request = strbuf_new(arena, 1024);
        int fd = loopback_connect(http_server_port(server));

        strbuf_lit(&request, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (int i = 0; i < kib; i++) {
            strbuf_fmt(&request, "X-%03d: ", i);
            for (int k = 0; k < 1010; k++)
                strbuf_char(&request, 'x');
            strbuf_lit(&request, "\r\n");
        }
        strbuf_lit(&request, "\r\n");
        loopback_write(fd, strbuf_str(&request));

        struct str text = loopback_read(arena, fd, 100);
        bool is_fine = str_starts(text, STR("HTTP/1.1 200"));

        rows_expect(kib < 16 ? "headers within 16 KiB are taken" : "larger ones are rejected",
                    is_fine == (kib < 16), text.at);
        if (!is_fine && text.len)
            rows_expect("as too large", str_starts(text, STR("HTTP/1.1 431")), text.at);
        close(fd);
    }
    http_server_free(server);
}

static void test_a_hundred_thousand_headers(void **state)
{
    struct http_server *server = serve((struct http_server_options){ .event_threads = 1 });
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int fd = loopback_connect(http_server_port(server));
    bool open = loopback_write(fd, STR("GET / HTTP/1.1\r\nHost: a\r\n"));

    (void)state;
    for (int i = 0; i < 100000 && open; i++)
        open = loopback_write(fd, STR("a:b\r\n"));
    rows_expect("the flood is cut off", !open || loopback_read(arena, fd, 1000).len < 1000, "cut");
    close(fd);
    http_server_free(server);
}

static void test_endless_chunks(void **state)
{
    struct http_server *server = serve((struct http_server_options){ .event_threads = 1 });
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int fd = loopback_connect(http_server_port(server));
    char chunk[1024 + 8];
    int sent = 0;

    (void)state;
    memcpy(chunk, "400\r\n", 5);
    memset(chunk + 5, 'x', 1024);
    memcpy(chunk + 5 + 1024, "\r\n", 2);
    loopback_write(fd, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    while (sent < 20000 && loopback_write(fd, str_make(chunk, 5 + 1024 + 2)))
        sent++;
    rows_expect("chunks without end are cut off", sent < 20000, "the server closed");
    close(fd);

    /* A few too many are told so. */
    fd = loopback_connect(http_server_port(server));
    loopback_write(fd, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 5; i++)
        loopback_write(fd, str_make(chunk, 5 + 1024 + 2));
    loopback_write(fd, STR("0\r\n\r\n"));

    struct str text = loopback_read(arena, fd, 1000);

    rows_expect("too many chunks are 413", str_starts(text, STR("HTTP/1.1 413")), text.at);
    close(fd);
    http_server_free(server);
}

static const struct drip_row {
    const char *name;
    const char *before;
    const char *slowly;
} drip_rows[] = {
    { "a drip in the request line", "",
      "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { "a drip in the headers", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "aaaaaaaaa" },
    { "a drip in the body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000\r\n\r\n", "aaaa" },
    { "a drip in chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "1\r\na\r\n" },
    { "a drip in the second request",
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
};

enum { DRIPS = sizeof(drip_rows) / sizeof(drip_rows[0]) };

/* One more byte; false once the server has closed. */
static bool drip(int fd, const struct drip_row *row, size_t at)
{
    struct str slowly = str_of(row->slowly);
    char answer[512];

    at %= slowly.len;
    return loopback_write(fd, str_slice(slowly, at, at + 1)) &&
           recv(fd, answer, sizeof(answer), MSG_DONTWAIT) != 0;
}

static void all_drips_end(uint16_t port, int64_t least_ms, int64_t most_ms)
{
    int fds[DRIPS];
    int64_t taken_ms[DRIPS] = { 0 };
    int64_t begun_ms = clock_monotonic_ms(system_clock());
    int open = DRIPS;

    for (int i = 0; i < DRIPS; i++) {
        fds[i] = loopback_connect(port);
        loopback_write(fds[i], str_of(drip_rows[i].before));
    }
    for (size_t at = 0; open && at < 500; at++, usleep(20000))
        for (int i = 0; i < DRIPS; i++)
            if (!taken_ms[i] && !drip(fds[i], &drip_rows[i], at)) {
                taken_ms[i] = clock_monotonic_ms(system_clock()) - begun_ms;
                open--;
            }
    for (int i = 0; i < DRIPS; i++) {
        close(fds[i]);
        rows_expect(drip_rows[i].name, taken_ms[i] >= least_ms, "not before the bound");
        rows_expect(drip_rows[i].name, taken_ms[i] < most_ms, "soon after the bound");
    }
}

static void test_a_drip_ends_at_the_absolute_bound(void **state)
{
    (void)state;
    for (uint32_t threads = 0; threads <= 1; threads++) {
        struct http_server *server = serve((struct http_server_options){
            .event_threads = threads, .request_ms = 400, .idle_ms = 60000 });

        /* The bound, two looks of the watchdog, and a slow machine. */
        all_drips_end(http_server_port(server), 350, 3000);
        http_server_free(server);
    }
}

static void test_a_slow_reader_ends_at_the_absolute_bound(void **state)
{
    struct http_server *server =
        serve((struct http_server_options){ .event_threads = 1, .request_ms = 300 });
    int fd = loopback_connect(http_server_port(server));

    (void)state;
    loopback_write(fd, STR("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"));
    while (http_server_connections(server) == 0)
        usleep(1000);
    for (int i = 0; i < 5000 && http_server_connections(server) > 0; i++)
        usleep(1000);
    rows_expect_int("who does not read the answer is cut off", http_server_connections(server), 0);
    close(fd);
    http_server_free(server);
}

static void test_an_idle_connection_ends(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct http_server *server =
        serve((struct http_server_options){ .event_threads = 1, .idle_ms = 300 });
    int64_t begun_ms = clock_monotonic_ms(system_clock());
    int fd = loopback_connect(http_server_port(server));

    (void)state;
    loopback_write(fd, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    loopback_read(arena, fd, 5000);

    int64_t taken_ms = clock_monotonic_ms(system_clock()) - begun_ms;

    rows_expect("an idle connection is closed at its bound", taken_ms >= 290 && taken_ms < 3000,
                "in time");
    close(fd);
    http_server_free(server);
}

static void test_connections_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct http_server *server = serve((struct http_server_options){
        .event_threads = 1, .connections_per_address_max = 3 });
    int fds[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        fds[i] = loopback_connect(http_server_port(server));
    for (int i = 0; i < 4; i++) {
        loopback_write(fds[i], STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));

        struct str text = loopback_read(arena, fds[i], 100);

        rows_expect(i < 3 ? "as many as allowed are served" : "one more from the address is not",
                    (text.len > 0) == (i < 3), text.at);
    }
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    http_server_free(server);
}

static void test_pipelined_requests(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct http_server *server = serve((struct http_server_options){ .event_threads = 1 });
    struct strbuf requests = strbuf_new(arena, 4096);
    int fd = loopback_connect(http_server_port(server));
    int answers = 0;

    (void)state;
    for (int i = 0; i < 99; i++)
        strbuf_lit(&requests, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    strbuf_lit(&requests, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    loopback_write(fd, strbuf_str(&requests));

    struct str text = loopback_read(arena, fd, LOOPBACK_PATIENCE_MS);

    for (ptrdiff_t at = 0; (at = str_find(text, STR("fine"), (size_t)at)) >= 0; at++)
        answers++;
    rows_expect_int("each of many requests sent at once is answered", answers, 100);
    close(fd);
    http_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_requests),
        cmocka_unit_test(test_headers_are_bounded),
        cmocka_unit_test(test_a_hundred_thousand_headers),
        cmocka_unit_test(test_endless_chunks),
        cmocka_unit_test(test_a_drip_ends_at_the_absolute_bound),
        cmocka_unit_test(test_a_slow_reader_ends_at_the_absolute_bound),
        cmocka_unit_test(test_an_idle_connection_ends),
        cmocka_unit_test(test_connections_are_bounded),
        cmocka_unit_test(test_pipelined_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
