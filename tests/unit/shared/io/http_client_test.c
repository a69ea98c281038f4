/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_test.c: what the client makes of peers that behave, fail and lie. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/peer.h"

#include "base/limits.h"

#include <stdlib.h>
#include <unistd.h>

static int get_status(struct meeting *meeting)
{
    return meeting_ask(meeting, (struct http_request){ .method = "GET" }).status;
}

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
      { ANSWER("302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0", ""), KEEP },
      "GET", 0, 0, 0, 302, ERROR_NONE, "", true },
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
    { "an answer that is too large is rejected", { ANSWER(OK_3, "abc"), KEEP }, "GET", 0, 0, 2, 0,
      ERROR_TOO_LARGE, "is larger than 2 bytes", true },
    { "what is not HTTP is no answer", { "hello\r\n\r\n", CLOSE }, "GET", 0, 0, 0, 0, ERROR_INVALID,
      "", true },
};

static void test_outcomes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(outcome_rows) / sizeof(outcome_rows[0]); i++) {
        const struct outcome_row *row = &outcome_rows[i];
        struct meeting meeting = meeting_begin(&row->step);
        struct reply reply = meeting_ask(&meeting, (struct http_request){
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
        rows_expect_int(row->name, http_client_in_flight(meeting.client), 0);
        meeting_end(&meeting);
    }
}

static void test_nobody_listens(void **state)
{
    struct meeting meeting = meeting_begin(NULL);
    uint16_t port;
    int fd = peer_listen(&port);

    (void)state;
    close(fd);

    struct reply reply = meeting_ask(&meeting, (struct http_request){
                                           .method = "POST",
                                           .body = STR("x"),
                                           .url = str_fmt(meeting.arena,
                                                          "https://127.0.0.1:%u/secret?token=1",
                                                          port) });

    rows_expect_str("a rejected connection is told in one line", str_of(reply.error.text),
                    str_fmt(meeting.arena,
                            "cannot connect to https://127.0.0.1:%u: connection refused", port));
    rows_expect_int("with its code", reply.error.code, ERROR_CONNECT);
    rows_expect("and nothing was sent", !reply.sent, "sent is false");

    reply = meeting_ask(&meeting,
                        (struct http_request){ .url = STR("https://no-such-host.invalid/") });
    rows_expect("an unknown host is told",
                strstr(reply.error.text, "the host name is not known"), reply.error.text);
    rows_expect("and nothing was sent either", !reply.sent, "sent is false");

    /* A peer that speaks no TLS. */
    reply = meeting_ask(&meeting, (struct http_request){
                              .url = str_fmt(meeting.arena, "https://127.0.0.1:%u/",
                                             meeting.peer->port),
                              .timeout_ms = 300, .connect_ms = 300 });
    rows_expect("no handshake, no request", !reply.sent && reply.error.code != ERROR_NONE,
                reply.error.text);
    meeting_end(&meeting);
}

static const struct rejection_row {
    const char *name;
    const char *method;
    const char *url;
    const char *header;
    const char *value;
    const char *says;
} rejection_rows[] = {
    { "another scheme", "GET", "ftp://127.0.0.1/x", NULL, NULL, "ftp:// is not allowed here" },
    { "a file", "GET", "file:///etc/passwd", NULL, NULL, "file:// is not allowed here" },
    { "a line end in the address", "GET", "http://127.0.0.1/\r\nX: y", NULL, NULL,
      "cannot be used" },
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

static void test_requests_that_are_rejected(void **state)
{
    struct meeting meeting = meeting_begin(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(rejection_rows) / sizeof(rejection_rows[0]); i++) {
        const struct rejection_row *row = &rejection_rows[i];
        struct http_header header = { str_of(row->header), str_of(row->value) };
        struct http_request request = { .method = row->method,
                                        .url = str_of(row->url),
                                        .headers = &header,
                                        .header_count = row->header ? 1 : 0 };
        struct reply reply = loopback_ask(meeting.loop, meeting.client, &request, meeting.arena);

        rows_expect_int(row->name, reply.error.code, ERROR_INVALID);
        rows_expect(row->name, strstr(reply.error.text, row->says), reply.error.text);
        rows_expect(row->name, !strstr(reply.error.text, "secret"), "no secret is told");
        rows_expect(row->name, !reply.sent, "nothing was sent");
    }
    meeting_end(&meeting);
}

static void test_plain_http_is_rejected_unless_allowed(void **state)
{
    struct meeting meeting = meeting_begin(NULL);
    struct http_client_options options = { .user_agent = NULL };
    struct error err;

    (void)state;
    http_client_free(meeting.client);
    meeting.client = http_client_create(meeting.loop, &options, &err);

    struct reply reply = meeting_ask(&meeting, (struct http_request){ .method = "GET" });

    rows_expect_str("plain http", str_of(reply.error.text),
                    STR("http:// is not allowed here, only https://"));
    meeting_end(&meeting);
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
      "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 07:28:30 GMT\r\n",
      30000 },
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
        struct meeting meeting = meeting_begin(&step);
        struct reply reply = meeting_ask(&meeting, (struct http_request){ .method = "GET" });

        rows_expect_int(retry_rows[i].name, reply.status, 503);
        rows_expect_int(retry_rows[i].name, reply.retry_after_ms, retry_rows[i].ms);
        meeting_end(&meeting);
    }
}

static void test_date(void **state)
{
    static const struct retry_row rows[] = {
        { "none", "", -1 },
        { "one", "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\n", 1445412480000 },
        { "words", "Date: today\r\n", -1 },
        { "nothing", "Date:\r\n", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct step step = {
            str_fmt(arena, "HTTP/1.1 200 OK\r\n%sContent-Length: 0\r\n\r\n", rows[i].headers).at,
            KEEP
        };
        struct meeting meeting = meeting_begin(&step);
        struct reply reply = meeting_ask(&meeting, (struct http_request){ .method = "GET" });

        rows_expect_int(rows[i].name, reply.date_ms, rows[i].ms);
        meeting_end(&meeting);
    }
}

static void test_what_is_sent(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct meeting meeting = meeting_begin(steps);
    struct http_header headers[] = { { STR("Accept"), STR("application/json") },
                                     { STR("X-Empty"), STR("") } };

    (void)state;
    meeting_ask(&meeting, (struct http_request){ .method = "PATCH", .headers = headers,
                                         .header_count = 2, .body = STR("{\"a\":1}") });
    meeting_ask(&meeting, (struct http_request){ .method = "DELETE" });
    meeting_ask(&meeting, (struct http_request){ .method = "POST" });
    peer_stop(meeting.peer);

    struct str seen = str_make(meeting.peer->seen, meeting.peer->seen_len);

    rows_expect("method and body", str_find(seen, STR("PATCH /x HTTP/1.1\r\n"), 0) == 0, seen.at);
    rows_expect("user agent", str_find(seen, STR("User-Agent: herd-test/1\r\n"), 0) > 0, seen.at);
    rows_expect("headers", str_find(seen, STR("Accept: application/json\r\nX-Empty:\r\n"), 0) > 0,
                seen.at);
    rows_expect("body", str_find(seen, STR("Content-Length: 7\r\n\r\n{\"a\":1}"), 0) > 0, seen.at);
    rows_expect("no type that nobody gave", str_find(seen, STR("Content-Type"), 0) < 0, seen.at);
    rows_expect("no waiting for 100", str_find(seen, STR("Expect"), 0) < 0, seen.at);
    rows_expect("no token where there is none", str_find(seen, STR("Authorization"), 0) < 0,
                seen.at);
    rows_expect("a request without a body", str_find(seen, STR("DELETE /x HTTP/1.1\r\n"), 0) > 0,
                seen.at);
    rows_expect("an empty POST says so", str_find(seen, STR("Content-Length: 0\r\n"), 0) > 0,
                seen.at);
    rows_expect_int("all on one connection",
                    (int64_t)http_client_connections_opened(meeting.client), 1);
    meeting_end(&meeting);
}

/* A cookie that was set, a proxy and a netrc of the environment: libcurl takes each of them if it is let. */
static void test_nothing_comes_from_the_environment(void **state)
{
    static const char *const proxies[] = { "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy" };
    static const struct step steps[] = {
        { ANSWER("200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 3", "abc"), KEEP },
        { ANSWER(OK_3, "abc"), KEEP },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *home = getenv("HOME");
    struct str netrc = STR("default login ann password secret\n");

    (void)state;
    folder_put(folder_name(arena, folder, ".netrc"), netrc, 0600);
    setenv("HOME", folder, 1);
    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        setenv(proxies[i], "http://127.0.0.1:1", 1);

    struct meeting meeting = meeting_begin(steps);

    rows_expect_int("the peer is asked, not a proxy", get_status(&meeting), 200);
    rows_expect_int("again", get_status(&meeting), 200);
    peer_stop(meeting.peer);

    struct str seen = str_make(meeting.peer->seen, meeting.peer->seen_len);

    rows_expect("no name of a netrc", str_find(seen, STR("Authorization"), 0) < 0, seen.at);
    rows_expect("no cookie", str_find(seen, STR("Cookie"), 0) < 0, seen.at);
    meeting_end(&meeting);
    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        unsetenv(proxies[i]);
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    folder_remove(folder);
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
    struct meeting meeting = meeting_begin_with(
        steps, (struct http_client_options){ .bearer = bearer, .bearer_context = &token });

    (void)state;
    rows_expect_int("a token", get_status(&meeting), 200);
    token = "second";
    rows_expect_int("a new token", get_status(&meeting), 200);
    token = "bad\r\nX-Injected: 1";

    struct reply reply = meeting_ask(&meeting, (struct http_request){ .method = "GET" });

    rows_expect_int("a token of two lines is rejected", reply.error.code, ERROR_INVALID);
    rows_expect("and not told", !strstr(reply.error.text, "bad"), reply.error.text);
    peer_stop(meeting.peer);

    struct str seen = str_make(meeting.peer->seen, meeting.peer->seen_len);

    rows_expect("the first was sent", str_find(seen, STR("Authorization: Bearer first\r\n"), 0) > 0,
                seen.at);
    rows_expect("then the second", str_find(seen, STR("Authorization: Bearer second\r\n"), 0) > 0,
                seen.at);
    meeting_end(&meeting);
}

/* libcurl would send a POST again when a kept connection closes under it. */
static void test_a_post_is_not_sent_twice(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { NULL, CLOSE },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { NULL, CLOSE },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct meeting meeting = meeting_begin(steps);

    (void)state;
    rows_expect_int("first", get_status(&meeting), 200);

    struct http_request post = { .method = "POST", .body = STR("x") };
    struct reply reply = meeting_ask(&meeting, post);

    rows_expect_int("the loss is told", reply.error.code, ERROR_LOST);
    rows_expect("and that it may have acted", reply.sent, "sent");
    rows_expect_int("the peer saw it once", atomic_load(&meeting.peer->step), 2);
    rows_expect_int("a GET is fresh", get_status(&meeting), 200);
    rows_expect_int("a GET may be sent again",
                    get_status(&meeting), 200);
    rows_expect_int("and was", atomic_load(&meeting.peer->step), 5);
    meeting_end(&meeting);
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
    struct meeting meeting = meeting_begin(steps);

    meeting.peer->raw = strbuf_str(&answer);

    struct reply reply = meeting_ask(&meeting, (struct http_request){ .answer_bytes_max = 10000 });

    rows_expect_int("one that fits decoded is taken", (int64_t)reply.body.len, 10000);
    reply = meeting_ask(&meeting, (struct http_request){ .answer_bytes_max = 9999 });
    rows_expect_int("one that does not is rejected", reply.error.code, ERROR_TOO_LARGE);
    meeting_end(&meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_requests_that_are_rejected),
        cmocka_unit_test(test_plain_http_is_rejected_unless_allowed),
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_what_is_sent),
        cmocka_unit_test(test_nothing_comes_from_the_environment),
        cmocka_unit_test(test_bearer_tokens),
        cmocka_unit_test(test_a_post_is_not_sent_twice),
        cmocka_unit_test(test_compressed_answers_are_bounded_decoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
