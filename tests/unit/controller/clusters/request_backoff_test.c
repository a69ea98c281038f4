/* SPDX-License-Identifier: Apache-2.0 */
/* request_backoff_test.c: what Rancher did not validate is sent again, later and later. */
#include "support/rows.h"

#include "base/limits.h"
#include "controller/clusters/request_backoff.h"

enum { NOW = 1000000 };

static struct request_outcome an_outcome(enum request_result result, enum error_code code,
                                         int64_t retry_after_ms)
{
    struct request_outcome outcome = { .result = result, .retry_after_ms = retry_after_ms };

    if (code != ERROR_NONE)
        error_set(&outcome.error, code, "Rancher's words");
    return outcome;
}

static void only_what_was_not_validated_is_transient(void **state)
{
    static const struct {
        const char *name;
        enum request_result result;
        enum error_code code;
        const char *reason;
    } rows[] = {
        { "flow control", REQUEST_REJECTED, ERROR_TOO_MANY, "TooManyRequests" },
        { "an overloaded or starting server", REQUEST_REJECTED, ERROR_UNAVAILABLE,
          "RancherUnavailable" },
        { "nobody listens", REQUEST_REJECTED, ERROR_CONNECT, "RancherUnavailable" },
        { "reset before it was sent", REQUEST_REJECTED, ERROR_LOST, "RancherUnavailable" },
        { "no connection in time", REQUEST_REJECTED, ERROR_TIMEOUT, "RancherUnavailable" },
        { "a certificate that expired", REQUEST_REJECTED, ERROR_TLS, "RancherUnavailable" },
        { "the lease is lost", REQUEST_REJECTED, ERROR_CANCELLED, "RancherUnavailable" },
        { "the token", REQUEST_REJECTED, ERROR_UNAUTHORIZED, "TokenRejected" },
        { "an answer that was lost may have had its effect", REQUEST_UNKNOWN, ERROR_LOST, "" },
        { "a handler that failed", REQUEST_REJECTED, ERROR_INTERNAL, "" },
        { "a right that lacks", REQUEST_REJECTED, ERROR_FORBIDDEN, "" },
        { "a body that is too large", REQUEST_REJECTED, ERROR_TOO_LARGE, "" },
        { "what was done", REQUEST_DONE, ERROR_NONE, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct request_outcome outcome = an_outcome(rows[i].result, rows[i].code, -1);

        rows_expect_str(rows[i].name, request_transient_reason(&outcome), str_of(rows[i].reason));
    }
}

static void a_rejection_keeps_the_cluster_s_requests_back(void **state)
{
    static const struct {
        const char *name;
        enum request_result result;
        enum error_code code;
        int64_t retry_after_ms;
        int64_t least_ms, most_ms; /* of the wait; 0, 0: none */
    } rows[] = {
        { "a short while", REQUEST_REJECTED, ERROR_CONNECT, -1, 500, LIMIT_RETRY_FIRST },
        { "never shorter than was asked for", REQUEST_REJECTED, ERROR_TOO_MANY, 60000, 60000, 60000 },
        { "an absurd wish is capped", REQUEST_REJECTED, ERROR_UNAVAILABLE, INT64_MAX / 4,
          LIMIT_RETRY_AFTER_MAX, LIMIT_RETRY_AFTER_MAX },
        { "also where nobody knows what became of it", REQUEST_UNKNOWN, ERROR_UNAVAILABLE, 60000,
          60000, 60000 },
        { "a request that was validated keeps back none", REQUEST_REJECTED, ERROR_FORBIDDEN, -1, 0, 0 },
        { "nor does a lost answer", REQUEST_UNKNOWN, ERROR_LOST, -1, 0, 0 },
        { "nor one that was done", REQUEST_DONE, ERROR_NONE, 5000, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(request_backoff_free) struct request_backoff *backoff = request_backoff_create(1);
        struct request_outcome outcome =
            an_outcome(rows[i].result, rows[i].code, rows[i].retry_after_ms);
        int64_t wait_ms;

        rows_expect_int("at first all may be sent", request_backoff_ends_ms(backoff, NOW), -1);
        request_backoff_note(backoff, &outcome, NOW);
        wait_ms = request_backoff_ends_ms(backoff, NOW) < 0
                      ? 0
                      : request_backoff_ends_ms(backoff, NOW) - NOW;
        rows_expect(rows[i].name, wait_ms >= rows[i].least_ms && wait_ms <= rows[i].most_ms,
                    "another wait");
        if (wait_ms == 0)
            continue;
        rows_expect_str(rows[i].name, request_backoff_message(backoff), STR("Rancher's words"));
        rows_expect_int("then it ends", request_backoff_ends_ms(backoff, NOW + wait_ms), -1);
        request_backoff_end(backoff);
        rows_expect_int("or when its cause did", request_backoff_ends_ms(backoff, NOW), -1);
    }
}

static void waits_grow_until_a_request_is_validated(void **state)
{
    AUTO(request_backoff_free) struct request_backoff *backoff = request_backoff_create(1);
    struct request_outcome busy = an_outcome(REQUEST_REJECTED, ERROR_TOO_MANY, -1);
    struct request_outcome done = an_outcome(REQUEST_DONE, ERROR_NONE, -1);
    int64_t now_ms = NOW;
    int64_t wait_ms = 0;

    (void)state;
    for (int i = 0; i < 12; i++) {
        request_backoff_note(backoff, &busy, now_ms);
        wait_ms = request_backoff_ends_ms(backoff, now_ms) - now_ms;
        /* What was under way with it counts with it. */
        request_backoff_note(backoff, &busy, now_ms);
        rows_expect_int("three at once are one", request_backoff_ends_ms(backoff, now_ms) - now_ms,
                        wait_ms);
        now_ms += wait_ms;
    }
    rows_expect("up to the bound", wait_ms > LIMIT_RETRY_MAX / 2 && wait_ms <= LIMIT_RETRY_MAX,
                "not");
    request_backoff_note(backoff, &done, now_ms);
    request_backoff_note(backoff, &busy, now_ms);
    rows_expect("then they begin anew",
                request_backoff_ends_ms(backoff, now_ms) - now_ms <= LIMIT_RETRY_FIRST, "not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_not_validated_is_transient),
        cmocka_unit_test(a_rejection_keeps_the_cluster_s_requests_back),
        cmocka_unit_test(waits_grow_until_a_request_is_validated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
