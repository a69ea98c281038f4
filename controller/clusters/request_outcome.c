/* SPDX-License-Identifier: Apache-2.0 */
/* request_outcome.c: status and body, or the lack of both. */
#include "controller/clusters/request_outcome.h"

#include "controller/clusters/rancher_error.h"

static enum request_result result_of_failure(const struct kube_answer *answer)
{
    if (answer->status == 0)
        return answer->sent ? REQUEST_UNKNOWN : REQUEST_REJECTED;
    return rancher_error_is_rejection(answer->status, answer->body) ? REQUEST_REJECTED
                                                                    : REQUEST_UNKNOWN;
}

struct request_outcome request_outcome_of(const struct kube_answer *answer)
{
    struct request_outcome outcome = { .result = REQUEST_DONE,
                                       .text = STR(""),
                                       .error = answer->error,
                                       .retry_after_ms = answer->retry_after_ms };

    if (answer->status >= 200 && answer->status < 300 && answer->error.code == ERROR_NONE)
        return outcome;
    if (answer->status)
        request_read_error(answer->status, answer->body, &outcome.error);
    outcome.result = result_of_failure(answer);
    return outcome;
}

void request_read_error(int http_status, struct str body, struct error *ret_error)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    rancher_error_read(arena, http_status, body, ret_error);
}
