/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_waiting_test.c: many calls at once: how many connect at a time, and what becomes of those that wait. */
#include "support/rows.h"

#include "support/peer.h"

#include <unistd.h>

enum { CALLS = 100, CONNECTING_MAX = 32 };

struct crowd {
    struct meeting *meeting;
    int done;
    int answered;
    int sent;
    int unconnected;
    int in_turn;
    bool all_done;
    struct http_call *last;
};

struct member {
    struct crowd *crowd;
    int number;
};

static void on_done(void *context, const struct http_response *response)
{
    const struct member *member = context;
    struct crowd *crowd = member->crowd;

    crowd->in_turn += member->number <= crowd->done + CONNECTING_MAX;
    crowd->done++;
    crowd->sent += response->sent;
    crowd->answered += response->status == 200;
    crowd->unconnected += strncmp(response->error.text, "cannot connect to https://", 26) == 0 && !response->sent;
    crowd->all_done = crowd->done == CALLS;
}

static void send_all(struct crowd *crowd, struct member *members, const struct http_request *request)
{
    struct http_request each = *request;

    for (int i = 0; i < CALLS; i++) {
        members[i] = (struct member){ crowd, i };
        each.on_done = on_done;
        each.context = &members[i];
        crowd->last = http_send(crowd->meeting->client, &each);
    }
}

static void raise_flag(void *context)
{
    *(bool *)context = true;
}

static void wait_ms(struct loop *loop, int64_t ms)
{
    bool passed = false;
    struct loop_timer *timer = loop_timer_create(loop, raise_flag, &passed);

    loop_timer_set(timer, ms);
    loopback_run_until(loop, &passed);
    loop_timer_free(timer);
}

/* It takes connections, and says nothing: no TLS handshake ends. */
static void test_few_connect_at_a_time(void **state)
{
    const struct http_client_options options = { .connections_max = 1000, .http1 = true, .insecure = true };
    struct meeting meeting = meeting_begin_with(NULL, options);
    struct crowd crowd = { .meeting = &meeting };
    struct member members[CALLS];
    uint16_t port;
    int listener = peer_listen(&port);
    struct http_request request = { .url = str_fmt(meeting.arena, "https://127.0.0.1:%u/", port), .connect_ms = 2000 };

    (void)state;
    send_all(&crowd, members, &request);
    wait_ms(meeting.loop, 50);
    rows_expect_int("few connect", (int64_t)http_client_connections_opened(meeting.client), CONNECTING_MAX);
    http_call_cancel(crowd.last);
    rows_expect_int("one that waits can be cancelled", http_client_in_flight(meeting.client), CALLS - 1);
    crowd.done = 1;
    loopback_run_until(meeting.loop, &crowd.all_done);
    rows_expect_int("nobody gets through, and none of the others tries", (int64_t)http_client_connections_opened(meeting.client),
                    CONNECTING_MAX);
    rows_expect_int("all are told the same", crowd.unconnected, CALLS - 1);
    meeting_end(&meeting);
    close(listener);
}

static void test_all_come_through(void **state)
{
    struct step steps[CALLS];
    struct meeting meeting;
    struct member members[CALLS];
    struct crowd crowd = { .meeting = &meeting };
    struct http_request request = { .method = "GET", .silence_ms = 60000 };

    (void)state;
    for (int i = 0; i < CALLS; i++)
        steps[i] = (struct step){ ANSWER(OK_3, "abc"), KEEP };
    meeting = meeting_begin_with(steps, (struct http_client_options){ .connections_max = 1, .plain_allowed = true });
    request.url = str_of(meeting.url);
    send_all(&crowd, members, &request);
    loopback_run_until(meeting.loop, &crowd.all_done);
    rows_expect_int("all are answered", crowd.answered, CALLS);
    rows_expect_int("the oldest first, as far as libcurl does not choose", crowd.in_turn, CALLS);
    rows_expect_int("over one connection", (int64_t)http_client_connections_opened(meeting.client), 1);
    meeting_end(&meeting);
}

static void test_each_on_a_connection_of_its_own(void **state)
{
    struct step steps[CALLS];
    struct meeting meeting;
    struct member members[CALLS];
    struct crowd crowd = { .meeting = &meeting };
    struct http_request request = { .method = "GET", .timeout_ms = 60000, .connect_ms = 30000 };

    (void)state;
    for (int i = 0; i < CALLS; i++)
        steps[i] = (struct step){ ANSWER("200 OK\r\nContent-Length: 3\r\nConnection: close", "abc"), CLOSE };
    meeting = meeting_begin_with(steps, (struct http_client_options){ .connections_max = 1, .plain_allowed = true });
    request.url = str_of(meeting.url);
    send_all(&crowd, members, &request);
    loopback_run_until(meeting.loop, &crowd.all_done);
    rows_expect_int("all are answered", crowd.answered, CALLS);
    rows_expect_int("over as many connections", (int64_t)http_client_connections_opened(meeting.client), CALLS);
    meeting_end(&meeting);
}

/* One connection is all that there is, and it is taken: libcurl's calls wait for it. */
static void test_a_peer_that_hangs_fails_those_that_wait_with_the_first(void **state)
{
    static const struct step steps[] = { { NULL, HANG } };
    const struct http_client_options options = { .connections_max = 1, .plain_allowed = true };
    struct meeting meeting = meeting_begin_with(steps, options);
    struct crowd crowd = { .meeting = &meeting };
    struct member members[CALLS];
    struct http_request request = { .method = "POST", .url = str_of(meeting.url), .timeout_ms = 2000 };

    (void)state;
    http_send(meeting.client, &request);
    while (!atomic_load(&meeting.peer->step))
        wait_ms(meeting.loop, 10);
    request.timeout_ms = 1000;
    send_all(&crowd, members, &request);
    loopback_run_until(meeting.loop, &crowd.all_done);
    rows_expect_int("nothing of them was sent", crowd.sent, 0);
    meeting_end(&meeting);
}

/* The peer is there, and something else is wrong: each is told its own. */
static void test_while_one_is_connected_all_the_others_try(void **state)
{
    static const struct step steps[] = { { NULL, HANG } };
    struct meeting meeting = meeting_begin_with(steps, (struct http_client_options){ .connections_max = 1000, .plain_allowed = true });
    struct crowd crowd = { .meeting = &meeting };
    struct member members[CALLS];
    struct http_request request = { .method = "GET", .url = str_of(meeting.url), .timeout_ms = -1 };
    struct http_call *connected = http_send(meeting.client, &request);

    (void)state;
    while (!atomic_load(&meeting.peer->step))
        wait_ms(meeting.loop, 10);
    request.url = STR("http://127.0.0.1:1/");
    send_all(&crowd, members, &request);
    loopback_run_until(meeting.loop, &crowd.all_done);
    rows_expect_int("each tried", (int64_t)http_client_connections_opened(meeting.client), CALLS + 1);
    http_call_cancel(connected);
    meeting_end(&meeting);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_connect_at_a_time),
        cmocka_unit_test(test_all_come_through),
        cmocka_unit_test(test_a_peer_that_hangs_fails_those_that_wait_with_the_first),
        cmocka_unit_test(test_while_one_is_connected_all_the_others_try),
        cmocka_unit_test(test_each_on_a_connection_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
