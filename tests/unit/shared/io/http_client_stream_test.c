/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_stream_test.c: answers in pieces, cancelled calls, and a client used from its own
 * callbacks. */
#include "support/rows.h"

#include "support/peer.h"

struct collected {
    struct http_call *call;
    char text[64];
    size_t len;
    size_t stop_after; /* end or cancel once so much came; 0 = never */
    bool cancel;
    bool done;
    bool cancelled;
    enum error_code code;
    int begun;
    int status;
};

static void on_begin(void *context, int status, struct str content_type)
{
    struct collected *collected = context;

    rows_expect_int("a beginning comes before the first byte", (int64_t)collected->len, 0);
    rows_expect_str("with the type of what comes", content_type, STR("application/json"));
    collected->begun++;
    collected->status = status;
}

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

static struct collected stream(struct meeting *meeting, struct collected collected)
{
    struct http_request request = { .method = "GET",
                                    .url = str_of(meeting->url),
                                    .timeout_ms = -1,
                                    .on_begin = on_begin,
                                    .on_data = on_data,
                                    .on_done = on_done,
                                    .context = &collected };

    collected.call = http_send(meeting->client, &request);
    loopback_run_until(meeting->loop, collected.cancel ? &collected.cancelled : &collected.done);
    return collected;
}

#define CHUNKS                                                                                     \
    ANSWER("200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked",            \
           "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")

static void test_streams(void **state)
{
    static const struct step steps[] = { { CHUNKS, KEEP }, { CHUNKS, KEEP }, { CHUNKS, KEEP } };
    struct meeting meeting = meeting_begin(steps);
    struct collected got = stream(&meeting, (struct collected){ .cancel = false });

    (void)state;
    rows_expect_str("all pieces come", str_make(got.text, got.len), STR("abcdef"));
    rows_expect_int("and the end", got.code, ERROR_NONE);
    rows_expect_int("the beginning was told once", got.begun, 1);
    rows_expect_int("as the status that it has", got.status, 200);
    got = stream(&meeting, (struct collected){ .stop_after = 1 });
    rows_expect_int("who says stop gets no more", got.code, ERROR_CANCELLED);
    got = stream(&meeting, (struct collected){ .stop_after = 1, .cancel = true });
    rows_expect("who cancels is not called again", !got.done, "no on_done");
    rows_expect_int("and nothing is left", http_client_in_flight(meeting.client), 0);
    meeting_end(&meeting);
}

static void test_an_error_body_is_collected_for_streams_too(void **state)
{
    static const struct step steps[] = { { ANSWER("410 Gone\r\nContent-Length: 3", "old"), KEEP } };
    struct meeting meeting = meeting_begin(steps);
    struct http_request request = { .method = "GET", .on_data = on_data };
    struct reply reply = meeting_ask(&meeting, request);

    (void)state;
    rows_expect_int("the status", reply.status, 410);
    rows_expect_str("and its body", reply.body, STR("old"));
    meeting_end(&meeting);
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
    struct meeting meeting = meeting_begin(steps);
    struct http_request request = { .method = "GET", .url = str_of(meeting.url), .on_done = never };
    bool passed = false;
    struct loop_timer *timer = loop_timer_create(meeting.loop, raise_flag, &passed);
    struct http_call *early = http_send(meeting.client, &request);
    struct http_call *late = http_send(meeting.client, &request);
    struct http_request bad = { .url = STR("x:"), .on_done = never };

    (void)state;
    http_call_cancel(http_send(meeting.client, &bad));
    http_call_cancel(early);
    loop_timer_set(timer, 50);
    loopback_run_until(meeting.loop, &passed);
    rows_expect_int("one is under way", http_client_in_flight(meeting.client), 1);
    http_call_cancel(late);
    rows_expect_int("none is", http_client_in_flight(meeting.client), 0);
    http_send(meeting.client, &request);
    http_send(meeting.client, &bad);
    loop_timer_free(timer);
    /* Freeing the client ends what is under way without a call. */
    meeting_end(&meeting);
}

struct chain {
    struct meeting *meeting;
    int left;
    bool done;
    bool free_client;
};

static void next_of_chain(void *context, const struct http_response *response)
{
    struct chain *chain = context;
    struct http_request request = { .method = "GET",
                                    .url = str_of(chain->meeting->url),
                                    .on_done = next_of_chain,
                                    .context = chain };

    if (response)
        assert_int_equal(response->status, 200);
    if (chain->left-- > 0) {
        http_send(chain->meeting->client, &request);
        return;
    }
    if (chain->free_client) {
        http_client_free(chain->meeting->client);
        chain->meeting->client = NULL;
    }
    chain->done = true;
}

static void test_sending_and_freeing_from_within_on_done(void **state)
{
    static const struct step steps[] = { { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP },
                                         { ANSWER(OK_3, "abc"), KEEP } };
    struct meeting meeting = meeting_begin(steps);
    struct chain chain = { .meeting = &meeting, .left = 3, .free_client = true };

    (void)state;
    next_of_chain(&chain, NULL);
    loopback_run_until(meeting.loop, &chain.done);
    meeting_end(&meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_an_error_body_is_collected_for_streams_too),
        cmocka_unit_test(test_cancel_in_flight),
        cmocka_unit_test(test_sending_and_freeing_from_within_on_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
