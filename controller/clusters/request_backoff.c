/* SPDX-License-Identifier: Apache-2.0 */
/* request_backoff.c: one wait for each cluster. Requests that were under way together are rejected
 * together: the wait grows by what was sent after it had ended. */
#include "controller/clusters/request_backoff.h"

#include "base/limits.h"
#include "base/memory.h"
#include "kube/backoff.h"
#include "stack/model/reasons.h"

struct request_backoff {
    struct backoff backoff;
    struct rng rng;
    int64_t ends_ms;
    struct str reason;   /* a constant */
    struct arena *arena; /* of the message */
    struct str message;
};

struct request_backoff *request_backoff_create(uint64_t seed)
{
    struct request_backoff *backoff = mem_new(struct request_backoff);

    backoff->backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX);
    backoff->rng = rng_from_seed(seed);
    backoff->arena = arena_create(0);
    request_backoff_end(backoff);
    return backoff;
}

void request_backoff_free(struct request_backoff *backoff)
{
    if (!backoff)
        return;
    arena_free(backoff->arena);
    mem_free(backoff);
}

struct str request_transient_reason(const struct request_outcome *outcome)
{
    if (outcome->result != REQUEST_REJECTED ||
        error_course(outcome->error.code) != COURSE_TRANSIENT)
        return STR("");
    if (outcome->error.code == ERROR_UNAUTHORIZED)
        return REASON(TOKEN_REJECTED);
    return outcome->error.code == ERROR_TOO_MANY ? REASON(TOO_MANY_REQUESTS)
                                                 : REASON(RANCHER_UNAVAILABLE);
}

static void wait_for_it(struct request_backoff *backoff, struct str reason,
                        const struct request_outcome *outcome, int64_t wait_ms, int64_t now_ms)
{
    if (now_ms + wait_ms <= backoff->ends_ms)
        return;
    backoff->ends_ms = now_ms + wait_ms;
    backoff->reason = reason;
    arena_reset(backoff->arena);
    backoff->message = str_dup(backoff->arena, str_of(outcome->error.text));
}

void request_backoff_note(struct request_backoff *backoff, const struct request_outcome *outcome,
                          int64_t now_ms)
{
    struct str reason = request_transient_reason(outcome);
    int64_t asked_ms = outcome->result == REQUEST_DONE ? -1 : outcome->retry_after_ms;

    if (asked_ms > LIMIT_RETRY_AFTER_MAX)
        asked_ms = LIMIT_RETRY_AFTER_MAX;
    if (!reason.len) {
        if (outcome->result != REQUEST_UNKNOWN)
            backoff_reset(&backoff->backoff);
        if (asked_ms > 0)
            wait_for_it(backoff, REASON(RANCHER_UNAVAILABLE), outcome, asked_ms, now_ms);
    } else if (now_ms >= backoff->ends_ms) {
        wait_for_it(backoff, reason, outcome,
                    backoff_next(&backoff->backoff, asked_ms, &backoff->rng), now_ms);
    } else {
        wait_for_it(backoff, reason, outcome, asked_ms, now_ms);
    }
}

int64_t request_backoff_ends_ms(const struct request_backoff *backoff, int64_t now_ms)
{
    return backoff->ends_ms > now_ms ? backoff->ends_ms : -1;
}

struct str request_backoff_reason(const struct request_backoff *backoff)
{
    return backoff->reason;
}

struct str request_backoff_message(const struct request_backoff *backoff)
{
    return backoff->message;
}

void request_backoff_end(struct request_backoff *backoff)
{
    backoff_reset(&backoff->backoff);
    backoff->ends_ms = INT64_MIN;
    backoff->reason = backoff->message = STR("");
}
