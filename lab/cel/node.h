/* SPDX-License-Identifier: Apache-2.0 */
/* node.h: an expression as a tree. Operators are calls of functions named as CEL names them
 * ("_+_"); macros are folds already. The check (check.h) fills in the last members. Inside of
 * lab/cel only. */
#ifndef HERD_LAB_CEL_NODE_H
#define HERD_LAB_CEL_NODE_H

#include "lab/cel/value.h"

enum cel_node_kind {
    NODE_LITERAL,
    NODE_IDENT,
    NODE_SELECT, /* args[0].name */
    NODE_CALL,
    NODE_LIST,
    NODE_MAP, /* key, value, key, value, ... */
    NODE_FOLD,
};

struct cel_node;

/* result after: accu = init; for each var in range while condition: accu = step */
struct cel_fold {
    struct str accu, var, var2; /* var2 "" = none; else var is index or key */
    struct cel_node *range, *init, *condition, *step, *result;
    uint32_t accu_slot, var_slot, var2_slot;
};

struct cel_function;

struct cel_node {
    enum cel_node_kind kind;
    size_t at; /* byte offset that messages point to */
    struct cel_value literal;
    struct str name;
    struct cel_node **args;
    uint32_t count;
    bool member;   /* a call on args[0] */
    bool test;     /* has() */
    bool optional; /* marked with '?' in a list or, on the key, in a map */
    struct cel_fold *fold;

    const struct cel_type *type;
    uint32_t slot;                        /* of NODE_IDENT: where its value stands */
    const struct cel_function *functions; /* of NODE_CALL: all of its name */
    uint64_t overloads;                   /* a bit for each of them that may be meant */
};

/* What the compiler has to say, in order of place. */
struct cel_issues {
    struct arena *arena;
    struct str expression;
    struct cel_issue {
        size_t at;
        struct str text;
    } * items;
    uint32_t count, capacity;
    bool alone;
};

__attribute__((format(printf, 3, 4))) void cel_issue(struct cel_issues *issues, size_t at,
                                                     const char *format, ...);
/* One that explains all others: they are not told. */
__attribute__((format(printf, 3, 4))) void cel_issue_alone(struct cel_issues *issues, size_t at,
                                                           const char *format, ...);
/* "ERROR: <input>:1:5: ...", with the line and a mark below. */
struct str cel_issues_text(struct cel_issues *issues);

struct cel_node *cel_node_new(struct arena *arena, enum cel_node_kind kind, size_t at);
struct cel_node *cel_node_literal(struct arena *arena, size_t at, struct cel_value value);
struct cel_node *cel_node_ident(struct arena *arena, size_t at, struct str name);
struct cel_node *cel_node_call(struct arena *arena, size_t at, struct str name,
                               struct cel_node **args, uint32_t count);

/* The tree; NULL and issues if it is none. */
struct cel_node *cel_parse(struct arena *arena, struct str expression, struct cel_issues *issues);
/* What a call comes down to if it names a macro: a fold, or has(); else NULL. An argument that is
 * none goes to `issues`. */
struct cel_node *cel_expand(struct arena *arena, struct cel_node *call, struct cel_issues *issues);

#endif
