/* SPDX-License-Identifier: Apache-2.0 */
/* token.h: bearer tokens of ServiceAccounts: JSON Web Tokens with the API server's claims, signed
 * by HMAC-SHA256 (RFC 7515, RFC 7519). A real API server signs with a key pair, so that others may
 * check its tokens; here only the lab itself does, and to its clients a token is opaque. Pure. */
#ifndef HERD_LAB_APISERVER_TOKEN_H
#define HERD_LAB_APISERVER_TOKEN_H

#include "base/error.h"
#include "base/list.h"

#define TOKEN_ISSUER "https://kubernetes.default.svc"

struct token_claims {
    struct str namespace_, name, uid; /* of the ServiceAccount */
    struct str id;                    /* of the token itself, jti */
    struct str_list audiences;
    int64_t issued_s, expires_s;                  /* wall */
    struct str bound_kind, bound_name, bound_uid; /* Pod or Secret that it lives with; "" = none */
};

struct str token_write(struct arena *arena, struct str key, const struct token_claims *claims);
/* -1: it is none of ours, was changed, or its time is over at `now_s`. */
int token_read(struct arena *arena, struct str key, struct str token, int64_t now_s,
               struct token_claims *ret_claims, struct error *err);

#endif
