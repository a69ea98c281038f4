/* SPDX-License-Identifier: Apache-2.0 */
/* token_gate.h: what is asked of a Rancher that rejects the token.
 *
 * A 401 may concern one cluster only: Rancher says the same where the token's user may not see it.
 * So one request that needs nothing but a good token decides ("login"). While it is rejected all
 * others are kept back; the same token is tried again TOKEN_APART_MS later, and after
 * TOKEN_REJECTIONS_MAX rejections never more. Another token is tried at once. Pure. */
#ifndef HERD_CONTROLLER_CLUSTERS_TOKEN_GATE_H
#define HERD_CONTROLLER_CLUSTERS_TOKEN_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOKEN_REJECTIONS_MAX = 3,
    TOKEN_APART_MS = 30000,   /* reliability.md C9: logins are so far apart, */
    TOKEN_WINDOW_MS = 120000, /* and rejections within so long make the three */
};

struct token_gate {
    uint64_t token;      /* hash of the one that was rejected last */
    uint32_t rejections; /* of it, in a row; 0: none is rejected */
    int64_t first_ms, last_ms;
};

/* How a login ended. `token` is the hash of what was sent. */
void token_gate_rejected(struct token_gate *gate, uint64_t token, int64_t now_ms);
void token_gate_accepted(struct token_gate *gate);
/* Whether other requests may be sent. */
bool token_gate_is_open(const struct token_gate *gate);
/* Whether nothing but another token than `token`, which is in the file now, helps. */
bool token_gate_is_closed(const struct token_gate *gate, uint64_t token);
/* How long to wait before a login with `token`, which is in the file now; -1: for ever. */
int64_t token_gate_wait_ms(const struct token_gate *gate, uint64_t token, int64_t now_ms);

#endif
