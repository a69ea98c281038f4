/* SPDX-License-Identifier: Apache-2.0 */
/* token_gate.c: rejections of one token are counted; another one begins anew. */
#include "controller/clusters/token_gate.h"

void token_gate_rejected(struct token_gate *gate, uint64_t token, int64_t now_ms)
{
    if (gate->rejections == 0 || token != gate->token || now_ms - gate->first_ms > TOKEN_WINDOW_MS)
        *gate = (struct token_gate){ .token = token, .first_ms = now_ms };
    gate->rejections++;
    gate->last_ms = now_ms;
}

void token_gate_accepted(struct token_gate *gate)
{
    gate->rejections = 0;
}

bool token_gate_is_open(const struct token_gate *gate)
{
    return gate->rejections == 0;
}

bool token_gate_is_closed(const struct token_gate *gate, uint64_t token)
{
    return token == gate->token && gate->rejections >= TOKEN_REJECTIONS_MAX;
}

int64_t token_gate_wait_ms(const struct token_gate *gate, uint64_t token, int64_t now_ms)
{
    if (token_gate_is_closed(gate, token))
        return -1;
    if (token_gate_is_open(gate) || token != gate->token ||
        now_ms >= gate->last_ms + TOKEN_APART_MS)
        return 0;
    return gate->last_ms + TOKEN_APART_MS - now_ms;
}
