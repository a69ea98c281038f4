/* SPDX-License-Identifier: Apache-2.0 */
/* token.h: an expression as words. Source: cel-spec doc/langdef.md "Syntax". */
#ifndef HERD_LAB_CEL_TOKEN_H
#define HERD_LAB_CEL_TOKEN_H

#include "base/str.h"

enum cel_token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* an identifier, or a word that is kept */
    TOKEN_QUOTED, /* `an identifier with - . / or blanks` */
    TOKEN_INT,
    TOKEN_UINT,
    TOKEN_DOUBLE,
    TOKEN_STRING,
    TOKEN_BYTES,
    TOKEN_SIGN, /* an operator or a bracket */
    TOKEN_BROKEN,
};

struct cel_token {
    enum cel_token_kind kind;
    size_t at, end;  /* byte offsets in the expression */
    struct str text; /* as written; of TOKEN_STRING and TOKEN_BYTES what it says */
};

/* The token at or after `at`. Texts that have escapes are decoded into the arena. */
struct cel_token cel_token_at(struct arena *arena, struct str expression, size_t at);

#endif
