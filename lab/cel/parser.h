/* SPDX-License-Identifier: Apache-2.0 */
/* parser.h: what the two halves of the parser share: parse.c has levels of operators, and below
 * them parse_primary.c has what they join. Inside of lab/cel only. */
#ifndef HERD_LAB_CEL_PARSER_H
#define HERD_LAB_CEL_PARSER_H

#include "lab/cel/node.h"
#include "lab/cel/token.h"

struct parser {
    struct arena *arena;
    struct str text;
    struct cel_issues *issues;
    struct cel_token token; /* the next one */
    uint32_t depth, nodes;
    bool broken; /* a syntax error was told: nothing behind it is read */
};

void cel_parse_advance(struct parser *p);
bool cel_parse_sees(const struct parser *p, const char *sign);
bool cel_parse_sees_word(const struct parser *p, const char *word);
/* Sees it, and goes on behind it. */
bool cel_parse_take(struct parser *p, const char *sign);
void cel_parse_want(struct parser *p, const char *sign);
/* A syntax error at the token, or behind it: the rest is not read. */
struct cel_node *cel_parse_fail(struct parser *p, const char *what, struct str token,
                                const char *expected);
/* It is called too many if what stands behind it would do. */
struct cel_node *cel_parse_unexpected(struct parser *p, const char *expected);
struct str cel_parse_shown(struct parser *p, const struct cel_token *token);
/* A link of a chain; false and an error: there are too many of them. */
bool cel_parse_count(struct parser *p);
struct cel_node *cel_parse_call(struct parser *p, size_t at, const char *name, struct cel_node *a,
                                struct cel_node *b);

struct cel_node *cel_parse_expression(struct parser *p);
/* A literal, a name, something in brackets, with what hangs on it: members, calls, indexes. */
struct cel_node *cel_parse_member(struct parser *p);
/* The same for what was read already. */
struct cel_node *cel_parse_behind(struct parser *p, struct cel_node *node);
/* A number as written, with the minus in front of it. */
struct cel_node *cel_parse_number(struct parser *p, size_t at, bool minus);

#endif
