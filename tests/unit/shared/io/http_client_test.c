/* http_client_test.c: what the client makes of peers that behave, fail and lie. The peer is a script: a
 * thread that answers one request after the other with given bytes. */
#include "support/rows.h"

#include "support/loopback.h"

#include "base/limits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum after { KEEP, CLOSE, HANG };

struct step {
    const char *answer; /* NULL: none */
    enum after after;
};

enum { SEEN_MAX = 8192 };

struct peer {
    int listener;
    uint16_t port;
    const struct step *steps;
    struct str raw; /* sent behind each step's answer: bytes that hold NULs */
    atomic_int step; /* requests that came */
    atomic_bool end;
    char seen[SEEN_MAX]; /* all that came, for the end of the test */
    size_t seen_len;
    pthread_t thread;
};

/* One request's bytes; false if the client closed or the test ends. */
static bool take_request(struct peer *peer, int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char text[4096];
    size_t len = 0;

    while (!atomic_load(&peer->end)) {
        if (poll(&ready, 1, 10) == 0)
            continue;

        ssize_t got = recv(fd, text + len, sizeof(text) - 1 - len, 0);

        if (got <= 0)
            return false;
        len += (size_t)got;
        text[len] = '\0';

        const char *length = strcasestr(text, "content-length: ");
        const char *body = strstr(text, "\r\n\r\n");

        if (body && (!length || len - (size_t)(body + 4 - text) >= strtoul(length + 16, NULL, 10))) {
            if (peer->seen_len + len < SEEN_MAX) {
                memcpy(peer->seen + peer->seen_len, text, len);
                peer->seen_len += len;
            }
            return true;
        }
    }
    return false;
}

static void serve_connection(struct peer *peer, int fd)
{
    while (take_request(peer, fd)) {
        const struct step *step = &peer->steps[atomic_fetch_add(&peer->step, 1)];

        if (step->answer)
            loopback_write(fd, str_of(step->answer));
        loopback_write(fd, peer->raw);
        while (step->after == HANG && !atomic_load(&peer->end))
            usleep(1000);
        if (step->after != KEEP)
            return;
    }
}

static void *run_peer(void *context)
{
    struct peer *peer = context;
    struct pollfd ready = { .fd = peer->listener, .events = POLLIN };

    while (!atomic_load(&peer->end)) {
        if (poll(&ready, 1, 10) <= 0)
            continue;

        int fd = accept(peer->listener, NULL, NULL);

        serve_connection(peer, fd);
        close(fd);
    }
    return NULL;
}

struct fixture {
    struct arena *arena;
    struct loop *loop;
    struct http_client *client;
    struct peer *peer;
    const char *url;
};

static int listen_somewhere(uint16_t *ret_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t len = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static struct fixture begin_with(const struct step *steps, struct http_client_options options)
{
    struct fixture fixture = { .arena = arena_create(0), .loop = loop_create() };
    struct error err;

    options.plain_allowed = true;
    fixture.client = http_client_create(fixture.loop, &options, &err);
    assert_non_null(fixture.client);
    fixture.peer = calloc(1, sizeof(*fixture.peer));
    fixture.peer->steps = steps;
    fixture.peer->listener = listen_somewhere(&fixture.peer->port);
    fixture.url = str_fmt(fixture.arena, "http://127.0.0.1:%u/x", fixture.peer->port).at;
    pthread_create(&fixture.peer->thread, NULL, run_peer, fixture.peer);
    return fixture;
}

static struct fixture begin(const struct step *steps)
{
    return begin_with(steps, (struct http_client_options){ .user_agent = "herd-test/1" });
}

static void stop_peer(struct peer *peer)
{
    if (atomic_exchange(&peer->end, true))
        return;
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

static void end(struct fixture *fixture)
{
    http_client_free(fixture->client);
    stop_peer(fixture->peer);
    free(fixture->peer);
    loop_free(fixture->loop);
    arena_free(fixture->arena);
}

static struct reply ask(struct fixture *fixture, struct http_request request)
{
    if (!request.url.len)
        request.url = str_of(fixture->url);
    return loopback_ask(fixture->loop, fixture->client, &request, fixture->arena);
}

#define ANSWER(headers, body) "HTTP/1.1 " headers "\r\n\r\n" body
#define OK_3 "200 OK\r\nContent-Length: 3"

static const struct outcome_row {
    const char *name;
    struct step step;
    const char *method;
    int64_t timeout_ms;
    int64_t silence_ms;
    size_t answer_max;
    int status;
    enum error_code code;
    const char *says;
    bool sent;
} outcome_rows[] = {
    { "an answer", { ANSWER(OK_3, "abc"), KEEP }, "GET", 0, 0, 0, 200, ERROR_NONE, "", true },
    { "an answer without a length, to the end", { ANSWER("200 OK", "abc"), CLOSE }, "GET", 0, 0, 0,
      200, ERROR_NONE, "", true },
    { "an error status is an answer", { ANSWER("500 Oh\r\nContent-Length: 3", "abc"), KEEP }, "GET",
      0, 0, 0, 500, ERROR_NONE, "", true },
    { "a redirect is an answer and not followed",
      { ANSWER("302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0", ""), KEEP }, "GET",
      0, 0, 0, 302, ERROR_NONE, "", true },
    { "an answer cut short is a loss", { ANSWER("200 OK\r\nContent-Length: 30", "abc"), CLOSE },
      "GET", 0, 0, 0, 0, ERROR_LOST, "lost the connection to http://127.0.0.1:", true },
    { "chunks cut short are a loss",
      { ANSWER("200 OK\r\nTransfer-Encoding: chunked", "3\r\nabc\r\n"), CLOSE }, "GET", 0, 0, 0, 0,
      ERROR_LOST, "lost the connection", true },
    { "no answer at all is a loss", { NULL, CLOSE }, "POST", 0, 0, 0, 0, ERROR_LOST,
      "lost the connection", true },
    { "a peer that hangs is timed out", { NULL, HANG }, "POST", 100, 0, 0, 0, ERROR_TIMEOUT,
      "did not answer POST in time", true },
    { "a peer that falls silent is given up", { ANSWER(OK_3, "a"), HANG }, "GET", 0, 100, 0, 0,
      ERROR_TIMEOUT, "fell silent for 100 ms", true },
    { "an answer that is too large is refused", { ANSWER(OK_3, "abc"), KEEP }, "GET", 0, 0, 2, 0,
      ERROR_TOO_LARGE, "is larger than 2 bytes", true },
    { "what is not HTTP is no answer", { "hello\r\n\r\n", CLOSE }, "GET", 0, 0, 0, 0, ERROR_INVALID,
      "", true },
};

static void test_outcomes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(outcome_rows) / sizeof(outcome_rows[0]); i++) {
        const struct outcome_row *row = &outcome_rows[i];
        struct fixture fixture = begin(&row->step);
        struct reply reply = ask(&fixture, (struct http_request){
                                               .method = row->method,
                                               .timeout_ms = row->timeout_ms,
                                               .silence_ms = row->silence_ms,
                                               .answer_bytes_max = row->answer_max });

        rows_expect_int(row->name, reply.status, row->status);
        if (row->status == 200)
            rows_expect_str(row->name, reply.body, STR("abc"));
        if (row->code == ERROR_INVALID) /* any failure will do */
            rows_expect(row->name, reply.error.code != ERROR_NONE, "an error");
        else
            rows_expect_int(row->name, reply.error.code, row->code);
        rows_expect(row->name, strstr(reply.error.text, row->says), reply.error.text);
        rows_expect(row->name, reply.sent == row->sent, "sent is honest");
        rows_expect_int(row->name, http_client_in_flight(fixture.client), 0);
        end(&fixture);
    }
}

static void test_nobody_listens(void **state)
{
    struct fixture fixture = begin(NULL);
    uint16_t port;
    int fd = listen_somewhere(&port);

    (void)state;
    close(fd);

    struct reply reply = ask(&fixture, (struct http_request){
                                           .method = "POST",
                                           .body = STR("x"),
                                           .url = str_fmt(fixture.arena,
                                                          "https://127.0.0.1:%u/secret?token=1",
                                                          port) });

    rows_expect_str("a refused connection is told in one line", str_of(reply.error.text),
                    str_fmt(fixture.arena,
                            "cannot connect to https://127.0.0.1:%u: connection refused", port));
    rows_expect_int("with its code", reply.error.code, ERROR_CONNECT);
    rows_expect("and nothing was sent", !reply.sent, "sent is false");

    reply = ask(&fixture, (struct http_request){ .url = STR("https://no-such-host.invalid/") });
    rows_expect("an unknown host is told",
                strstr(reply.error.text, "the host name is not known"), reply.error.text);
    rows_expect("and nothing was sent either", !reply.sent, "sent is false");

    /* A peer that speaks no TLS. */
    reply = ask(&fixture, (struct http_request){
                              .url = str_fmt(fixture.arena, "https://127.0.0.1:%u/",
                                             fixture.peer->port),
                              .timeout_ms = 300, .connect_ms = 300 });
    rows_expect("no handshake, no request", !reply.sent && reply.error.code != ERROR_NONE,
                reply.error.text);
    end(&fixture);
}

static const struct refusal_row {
    const char *name;
    const char *method;
    const char *url;
    const char *header;
    const char *value;
    const char *says;
} refusal_rows[] = {
    { "another scheme", "GET", "ftp://127.0.0.1/x", NULL, NULL, "ftp:// is not allowed here" },
    { "a file", "GET", "file:///etc/passwd", NULL, NULL, "file:// is not allowed here" },
    { "a line end in the address", "GET", "http://127.0.0.1/\r\nX: y", NULL, NULL, "cannot be used" },
    { "a space in the address", "GET", "http://127.0.0.1/a b", NULL, NULL, "cannot be used" },
    { "a user in the address", "GET", "http://u:secret@127.0.0.1/", NULL, NULL, "cannot be used" },
    { "no address", "GET", "", NULL, NULL, "cannot be used" },
    { "no host", "GET", "http://:80/x", NULL, NULL, "cannot be used" },
    { "a method of two words", "GET /", "http://127.0.0.1/", NULL, NULL, "method is not a word" },
    { "a line end in a header's value", "GET", "http://127.0.0.1/", "X", "a\r\nY: b",
      "control characters" },
    { "a line end in a header's name", "GET", "http://127.0.0.1/", "X: a\r\nY", "b",
      "control characters" },
};

static void test_requests_that_are_refused(void **state)
{
    struct fixture fixture = begin(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(refusal_rows) / sizeof(refusal_rows[0]); i++) {
        const struct refusal_row *row = &refusal_rows[i];
        struct http_header header = { str_of(row->header), str_of(row->value) };
        struct http_request request = { .method = row->method,
                                        .url = str_of(row->url),
                                        .headers = &header,
                                        .header_count = row->header ? 1 : 0 };
        struct reply reply = loopback_ask(fixture.loop, fixture.client, &request, fixture.arena);

        rows_expect_int(row->name, reply.error.code, ERROR_INVALID);
        rows_expect(row->name, strstr(reply.error.text, row->says), reply.error.text);
        rows_expect(row->name, !strstr(reply.error.text, "secret"), "no secret is told");
        rows_expect(row->name, !reply.sent, "nothing was sent");
    }
    end(&fixture);
}

static void test_plain_http_is_refused_unless_allowed(void **state)
{
    struct fixture fixture = begin(NULL);
    struct http_client_options options = { .user_agent = NULL };
    struct error err;

    (void)state;
    http_client_free(fixture.client);
    fixture.client = http_client_create(fixture.loop, &options, &err);

    struct reply reply = ask(&fixture, (struct http_request){ .method = "GET" });

    rows_expect_str("plain http", str_of(reply.error.text),
                    STR("http:// is not allowed here, only https://"));
    end(&fixture);
}

static const struct retry_row {
    const char *name;
    const char *headers;
    int64_t ms;
} retry_rows[] = {
    { "none", "", -1 },
    { "seconds", "Retry-After: 7\r\n", 7000 },
    { "no time at all", "retry-after:0\r\n", 0 },
    { "leading zeros", "Retry-After: 007\r\n", 7000 },
    { "more than is honoured", "Retry-After: 86400\r\n", LIMIT_RETRY_AFTER_MAX },
    { "more than fits a number", "Retry-After: 99999999999999999999999\r\n", -1 },
    { "a negative number", "Retry-After: -5\r\n", -1 },
    { "words", "Retry-After: soon\r\n", -1 },
    { "nothing", "Retry-After:\r\n", -1 },
    { "a date, by the peer's clock",
      "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 07:28:30 GMT\r\n", 30000 },
    { "a date that has passed",
      "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 07:27:30 GMT\r\n", 0 },
    { "a date by our own clock", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", 0 },
    { "a far date", "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n", LIMIT_RETRY_AFTER_MAX },
};

static void test_retry_after(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(retry_rows) / sizeof(retry_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct step step = {
            str_fmt(arena, "HTTP/1.1 503 No\r\n%sContent-Length: 0\r\n\r\n",
                    retry_rows[i].headers)
                .at,
            KEEP
        };
        struct fixture fixture = begin(&step);
        struct reply reply = ask(&fixture, (struct http_request){ .method = "GET" });

        rows_expect_int(retry_rows[i].name, reply.status, 503);
        rows_expect_int(retry_rows[i].name, reply.retry_after_ms, retry_rows[i].ms);
        end(&fixture);
    }
}

static void test_what_is_sent(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct fixture fixture = begin(steps);
    struct http_header headers[] = { { STR("Accept"), STR("application/json") },
                                     { STR("X-Empty"), STR("") } };

    (void)state;
    ask(&fixture, (struct http_request){ .method = "PATCH", .headers = headers,
                                         .header_count = 2, .body = STR("{\"a\":1}") });
    ask(&fixture, (struct http_request){ .method = "DELETE" });
    ask(&fixture, (struct http_request){ .method = "POST" });
    stop_peer(fixture.peer);

    struct str seen = str_make(fixture.peer->seen, fixture.peer->seen_len);

    rows_expect("method and body", str_find(seen, STR("PATCH /x HTTP/1.1\r\n"), 0) == 0, seen.at);
    rows_expect("user agent", str_find(seen, STR("User-Agent: herd-test/1\r\n"), 0) > 0, seen.at);
    rows_expect("headers", str_find(seen, STR("Accept: application/json\r\nX-Empty:\r\n"), 0) > 0,
                seen.at);
    rows_expect("body", str_find(seen, STR("Content-Length: 7\r\n\r\n{\"a\":1}"), 0) > 0, seen.at);
    rows_expect("no type that nobody gave", str_find(seen, STR("Content-Type"), 0) < 0, seen.at);
    rows_expect("no waiting for 100", str_find(seen, STR("Expect"), 0) < 0, seen.at);
    rows_expect("no token where there is none", str_find(seen, STR("Authorization"), 0) < 0, seen.at);
    rows_expect("a request without a body", str_find(seen, STR("DELETE /x HTTP/1.1\r\n"), 0) > 0,
                seen.at);
    rows_expect("an empty POST says so", str_find(seen, STR("Content-Length: 0\r\n"), 0) > 0,
                seen.at);
    rows_expect_int("all on one connection",
                    (int64_t)http_client_connections_opened(fixture.client), 1);
    end(&fixture);
}

static struct str bearer(void *context)
{
    return str_of(*(const char **)context);
}

static void test_bearer_tokens(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    const char *token = "first\n";
    struct fixture fixture = begin_with(
        steps, (struct http_client_options){ .bearer = bearer, .bearer_context = &token });

    (void)state;
    rows_expect_int("a token", ask(&fixture, (struct http_request){ .method = "GET" }).status, 200);
    token = "second";
    rows_expect_int("a new token", ask(&fixture, (struct http_request){ .method = "GET" }).status,
                    200);
    token = "bad\r\nX-Injected: 1";

    struct reply reply = ask(&fixture, (struct http_request){ .method = "GET" });

    rows_expect_int("a token of two lines is refused", reply.error.code, ERROR_INVALID);
    rows_expect("and not told", !strstr(reply.error.text, "bad"), reply.error.text);
    stop_peer(fixture.peer);

    struct str seen = str_make(fixture.peer->seen, fixture.peer->seen_len);

    rows_expect("the first was sent", str_find(seen, STR("Authorization: Bearer first\r\n"), 0) > 0,
                seen.at);
    rows_expect("then the second", str_find(seen, STR("Authorization: Bearer second\r\n"), 0) > 0,
                seen.at);
    end(&fixture);
}

/* libcurl would send a POST again when a kept connection closes under it. */
static void test_a_post_is_not_sent_twice(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { NULL, CLOSE },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { NULL, CLOSE },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct fixture fixture = begin(steps);

    (void)state;
    rows_expect_int("first", ask(&fixture, (struct http_request){ .method = "GET" }).status, 200);

    struct reply reply = ask(&fixture, (struct http_request){ .method = "POST", .body = STR("x") });

    rows_expect_int("the loss is told", reply.error.code, ERROR_LOST);
    rows_expect("and that it may have acted", reply.sent, "sent");
    rows_expect_int("the peer saw it once", atomic_load(&fixture.peer->step), 2);
    rows_expect_int("a GET is fresh", ask(&fixture, (struct http_request){ .method = "GET" }).status,
                    200);
    rows_expect_int("a GET may be sent again",
                    ask(&fixture, (struct http_request){ .method = "GET" }).status, 200);
    rows_expect_int("and was", atomic_load(&fixture.peer->step), 5);
    end(&fixture);
}

struct collected {
    struct fixture *fixture;
    struct http_call *call;
    char text[64];
    size_t len;
    size_t stop_after; /* end or cancel once so much came; 0 = never */
    bool cancel;
    bool done;
    bool cancelled;
    enum error_code code;
};

static bool on_data(void *context, struct str piece)
{
    struct collected *collected = context;

    assert_true(collected->len + piece.len < sizeof(collected->text));
    memcpy(collected->text + collected->len, piece.at, piece.len);
    collected->len += piece.len;
    if (!collected->stop_after || collected->len < collected->stop_after)
        return true;
    if (!collected->cancel)
        return false;
    http_call_cancel(collected->call);
    collected->cancelled = true;
    return true;
}

static void on_done(void *context, const struct http_response *response)
{
    struct collected *collected = context;

    assert_false(collected->done);
    collected->done = true;
    collected->code = response->error.code;
}

static struct collected stream(struct fixture *fixture, struct collected collected)
{
    struct http_request request = { .method = "GET",
                                    .url = str_of(fixture->url),
                                    .timeout_ms = -1,
                                    .on_data = on_data,
                                    .on_done = on_done,
                                    .context = &collected };

    collected.fixture = fixture;
    collected.call = http_send(fixture->client, &request);
    loopback_run_until(fixture->loop, collected.cancel ? &collected.cancelled : &collected.done);
    return collected;
}

#define CHUNKS ANSWER("200 OK\r\nTransfer-Encoding: chunked", "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")

static void test_streams(void **state)
{
    static const struct step steps[] = { { CHUNKS, KEEP }, { CHUNKS, KEEP }, { CHUNKS, KEEP } };
    struct fixture fixture = begin(steps);
    struct collected got = stream(&fixture, (struct collected){ .cancel = false });

    (void)state;
    rows_expect_str("all pieces come", str_make(got.text, got.len), STR("abcdef"));
    rows_expect_int("and the end", got.code, ERROR_NONE);
    got = stream(&fixture, (struct collected){ .stop_after = 1 });
    rows_expect_int("who says stop gets no more", got.code, ERROR_CANCELLED);
    got = stream(&fixture, (struct collected){ .stop_after = 1, .cancel = true });
    rows_expect("who cancels is not called again", !got.done, "no on_done");
    rows_expect_int("and nothing is left", http_client_in_flight(fixture.client), 0);
    end(&fixture);
}

static void test_an_error_body_is_collected_for_streams_too(void **state)
{
    static const struct step steps[] = { { ANSWER("410 Gone\r\nContent-Length: 3", "old"), KEEP } };
    struct fixture fixture = begin(steps);
    struct reply reply = ask(&fixture, (struct http_request){ .method = "GET", .on_data = on_data });

    (void)state;
    rows_expect_int("the status", reply.status, 410);
    rows_expect_str("and its body", reply.body, STR("old"));
    end(&fixture);
}

static void never(void *context, const struct http_response *response)
{
    (void)context, (void)response;
    fail_msg("a cancelled call came back");
}

static void raise_flag(void *context)
{
    *(bool *)context = true;
}

static void test_cancel_in_flight(void **state)
{
    static const struct step steps[] = { { NULL, HANG } };
    struct fixture fixture = begin(steps);
    struct http_request request = { .method = "GET", .url = str_of(fixture.url), .on_done = never };
    bool passed = false;
    struct loop_timer *timer = loop_timer_create(fixture.loop, raise_flag, &passed);
    struct http_call *early = http_send(fixture.client, &request);
    struct http_call *late = http_send(fixture.client, &request);
    struct http_request bad = { .url = STR("x:"), .on_done = never };

    (void)state;
    http_call_cancel(http_send(fixture.client, &bad));
    http_call_cancel(early);
    loop_timer_set(timer, 50);
    loopback_run_until(fixture.loop, &passed);
    rows_expect_int("one is under way", http_client_in_flight(fixture.client), 1);
    http_call_cancel(late);
    rows_expect_int("none is", http_client_in_flight(fixture.client), 0);
    http_send(fixture.client, &request);
    http_send(fixture.client, &bad);
    loop_timer_free(timer);
    /* Freeing the client ends what is under way without a call. */
    end(&fixture);
}

struct chain {
    struct fixture *fixture;
    int left;
    bool done;
    bool free_client;
};

static void next_of_chain(void *context, const struct http_response *response)
{
    struct chain *chain = context;
    struct http_request request = { .method = "GET",
                                    .url = str_of(chain->fixture->url),
                                    .on_done = next_of_chain,
                                    .context = chain };

    if (response)
        assert_int_equal(response->status, 200);
    if (chain->left-- > 0) {
        http_send(chain->fixture->client, &request);
        return;
    }
    if (chain->free_client) {
        http_client_free(chain->fixture->client);
        chain->fixture->client = NULL;
    }
    chain->done = true;
}

static void test_sending_and_freeing_from_within_on_done(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct fixture fixture = begin(steps);
    struct chain chain = { .fixture = &fixture, .left = 3, .free_client = true };

    (void)state;
    next_of_chain(&chain, NULL);
    loopback_run_until(fixture.loop, &chain.done);
    end(&fixture);
}

/* What a gzip answer decodes to is what counts. */
static void test_compressed_answers_are_bounded_decoded(void **state)
{
    /* 10,000 times 'a'. */
    static const char packed[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xed\xc1"
        "\x01\x0d\x00\x00\x00\xc2\xa0\xac\xef\x5f\xc2\x1c"
        "\x6e\x40\x01\x00\x00\x00\x00\x00\x00\x00\x00\xc0"
        "\xbf\x01\x97\xd4\x7e\x46\x10\x27\x00\x00";
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf answer = strbuf_new(arena, 256);

    (void)state;
    strbuf_fmt(&answer, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
               sizeof(packed) - 1);
    strbuf_put(&answer, str_make(packed, sizeof(packed) - 1));

    struct step steps[] = { { "", KEEP }, { "", KEEP } };
    struct fixture fixture = begin(steps);

    fixture.peer->raw = strbuf_str(&answer);

    struct reply reply = ask(&fixture, (struct http_request){ .answer_bytes_max = 10000 });

    rows_expect_int("one that fits decoded is taken", (int64_t)reply.body.len, 10000);
    reply = ask(&fixture, (struct http_request){ .answer_bytes_max = 9999 });
    rows_expect_int("one that does not is refused", reply.error.code, ERROR_TOO_LARGE);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test(test_plain_http_is_refused_unless_allowed),
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_what_is_sent),
        cmocka_unit_test(test_bearer_tokens),
        cmocka_unit_test(test_a_post_is_not_sent_twice),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_an_error_body_is_collected_for_streams_too),
        cmocka_unit_test(test_cancel_in_flight),
        cmocka_unit_test(test_sending_and_freeing_from_within_on_done),
        cmocka_unit_test(test_compressed_answers_are_bounded_decoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
