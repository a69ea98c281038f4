/* SPDX-License-Identifier: Apache-2.0 */
/* parse_primary.c: literals, names, lists, maps, calls, and what hangs on them. */
#include "lab/cel/parser.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What is gathered between brackets. */
struct nodes {
    struct cel_node **items;
    uint32_t count, capacity;
};

static void push(struct parser *p, struct nodes *nodes, struct cel_node *node)
{
    if (nodes->count == nodes->capacity) {
        uint32_t capacity = nodes->capacity ? nodes->capacity * 2 : 4;
        struct cel_node **items = arena_array(p->arena, struct cel_node *, capacity);

        if (nodes->count)
            memcpy(items, nodes->items, sizeof(*items) * nodes->count);
        nodes->items = items;
        nodes->capacity = capacity;
    }
    nodes->items[nodes->count++] = node;
}

static void arguments(struct parser *p, struct nodes *nodes)
{
    if (cel_parse_take(p, ")"))
        return;
    do
        push(p, nodes, cel_parse_expression(p));
    while (cel_parse_take(p, ","));
    cel_parse_want(p, ")");
}

static struct cel_node *expanded(struct parser *p, struct cel_node *node)
{
    struct cel_node *expansion = cel_expand(p->arena, node, p->issues);

    return expansion ? expansion : node;
}

static struct cel_node *list(struct parser *p, size_t at)
{
    struct nodes nodes = { 0 };
    struct cel_node *node;

    while (!p->broken && !cel_parse_sees(p, "]")) {
        bool optional = cel_parse_take(p, "?");
        struct cel_node *element = cel_parse_expression(p);

        element->optional = optional;
        push(p, &nodes, element);
        if (!cel_parse_take(p, ","))
            break;
    }
    cel_parse_want(p, "]");
    node = cel_node_call(p->arena, at, STR(""), nodes.items, nodes.count);
    node->kind = NODE_LIST;
    return node;
}

static struct cel_node *map(struct parser *p, size_t at)
{
    struct nodes nodes = { 0 };
    struct cel_node *node;

    while (!p->broken && !cel_parse_sees(p, "}")) {
        bool optional = cel_parse_take(p, "?");
        struct cel_node *key = cel_parse_expression(p);

        key->optional = optional;
        push(p, &nodes, key);
        cel_parse_want(p, ":");
        push(p, &nodes, cel_parse_expression(p));
        if (!cel_parse_take(p, ","))
            break;
    }
    cel_parse_want(p, "}");
    node = cel_node_call(p->arena, at, STR(""), nodes.items, nodes.count);
    node->kind = NODE_MAP;
    return node;
}

struct cel_node *cel_parse_number(struct parser *p, size_t at, bool minus)
{
    struct cel_token t = p->token;
    struct str digits = str_slice(t.text, 0, t.text.len - (t.kind == TOKEN_UINT));
    const char *text = str_z(p->arena, digits);
    bool hex = str_starts(digits, STR("0x"));
    struct cel_value value = cel_null();
    unsigned long long natural;

    errno = 0;
    cel_parse_advance(p);
    if (t.kind == TOKEN_DOUBLE) {
        double real = strtod(text, NULL);

        value = cel_double(minus ? -real : real);
        if (isinf(real))
            cel_issue(p->issues, at, "invalid double literal");
        return cel_node_literal(p->arena, at, value);
    }
    natural = strtoull(hex ? text + 2 : text, NULL, hex ? 16 : 10);
    if (t.kind == TOKEN_UINT) {
        value = cel_uint(natural);
        if (errno == ERANGE)
            cel_issue(p->issues, at, "invalid uint literal");
    } else {
        value = cel_int(minus ? (int64_t)(0 - natural) : (int64_t)natural);
        if (errno == ERANGE || natural > (uint64_t)INT64_MAX + minus)
            cel_issue(p->issues, at, "invalid int literal");
    }
    return cel_node_literal(p->arena, at, value);
}

static struct cel_node *text(struct parser *p)
{
    struct cel_value value = cel_string(p->token.text);
    size_t at = p->token.at;

    if (p->token.kind == TOKEN_BYTES)
        value.kind = CEL_BYTES;
    cel_parse_advance(p);
    return cel_node_literal(p->arena, at, value);
}

static struct cel_node *constant(struct parser *p, struct cel_value value)
{
    size_t at = p->token.at;

    cel_parse_advance(p);
    return cel_node_literal(p->arena, at, value);
}

static struct cel_node *name(struct parser *p)
{
    struct cel_token t = p->token;
    struct nodes nodes = { 0 };
    size_t open;

    cel_parse_advance(p);
    if (cel_is_reserved(t.text))
        cel_issue(p->issues, t.at, "reserved identifier: %.*s", STR_ARG(t.text));
    open = p->token.at;
    if (!cel_parse_take(p, "("))
        return cel_node_ident(p->arena, t.at, t.text);
    arguments(p, &nodes);
    return expanded(p, cel_node_call(p->arena, open, t.text, nodes.items, nodes.count));
}

static struct cel_node *primary(struct parser *p)
{
    size_t at = p->token.at;
    struct cel_node *inner;

    switch (p->token.kind) {
    case TOKEN_INT:
    case TOKEN_UINT:
    case TOKEN_DOUBLE:
        return cel_parse_number(p, at, false);
    case TOKEN_STRING:
    case TOKEN_BYTES:
        return text(p);
    case TOKEN_WORD:
        if (cel_parse_sees_word(p, "true") || cel_parse_sees_word(p, "false"))
            return constant(p, cel_bool(cel_parse_sees_word(p, "true")));
        if (cel_parse_sees_word(p, "null"))
            return constant(p, cel_null());
        if (!cel_parse_sees_word(p, "in"))
            return name(p);
        break;
    case TOKEN_SIGN:
        if (cel_parse_take(p, "(")) {
            inner = cel_parse_expression(p);
            cel_parse_want(p, ")");
            return inner;
        }
        if (cel_parse_take(p, "["))
            return list(p, at);
        if (cel_parse_take(p, "{"))
            return map(p, at);
        if (cel_parse_take(p, ".") && p->token.kind == TOKEN_WORD)
            return name(p);
        break;
    case TOKEN_QUOTED:
    case TOKEN_END:
    case TOKEN_BROKEN:
        break;
    }
    return cel_parse_unexpected(p, "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
                                   "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}");
}

/* Behind a dot: a field, a field that may be absent, or a call. */
static struct cel_node *select_from(struct parser *p, struct cel_node *operand, size_t dot)
{
    bool optional = cel_parse_take(p, "?");
    struct cel_token t = p->token;
    struct cel_node *node;
    struct nodes nodes = { 0 };
    size_t open;

    if (t.kind != TOKEN_WORD && t.kind != TOKEN_QUOTED)
        return cel_parse_fail(
            p, "no viable alternative at input",
            str_fmt(p->arena, ".%.*s",
                    STR_ARG(t.kind == TOKEN_END ? STR("") : cel_parse_shown(p, &t))),
            "");
    cel_parse_advance(p);
    open = p->token.at;
    if (optional)
        return cel_parse_call(p, dot, "_?._", operand,
                              cel_node_literal(p->arena, t.at, cel_string(t.text)));
    if (t.kind == TOKEN_WORD && cel_parse_take(p, "(")) {
        push(p, &nodes, operand);
        arguments(p, &nodes);
        node = cel_node_call(p->arena, open, t.text, nodes.items, nodes.count);
        node->member = true;
        return expanded(p, node);
    }
    node = cel_node_call(p->arena, dot, t.text, &operand, 1);
    node->kind = NODE_SELECT;
    return node;
}

/* "a.b" of identifiers; "" of all else. */
static struct str dotted(struct parser *p, const struct cel_node *node)
{
    struct str front;

    if (node->kind == NODE_IDENT)
        return node->name;
    if (node->kind != NODE_SELECT || node->test)
        return STR("");
    front = dotted(p, node->args[0]);
    return front.len ? str_fmt(p->arena, "%.*s.%.*s", STR_ARG(front), STR_ARG(node->name)) : front;
}

/* Type{field: value}: there are no types of which one could write values. */
static struct cel_node *refuse_object(struct parser *p, const struct cel_node *node, size_t at)
{
    struct str type = dotted(p, node);

    cel_parse_advance(p);
    map(p, at);
    cel_issue(p->issues, at, "undeclared reference to '%.*s' (in container '')", STR_ARG(type));
    return cel_node_literal(p->arena, at, cel_null());
}

struct cel_node *cel_parse_behind(struct parser *p, struct cel_node *node)
{
    while (!p->broken) {
        size_t at = p->token.at;

        if (cel_parse_take(p, ".")) {
            node = select_from(p, node, at);
        } else if (cel_parse_take(p, "[")) {
            bool optional = cel_parse_take(p, "?");

            node =
                cel_parse_call(p, at, optional ? "_[?_]" : "_[_]", node, cel_parse_expression(p));
            cel_parse_want(p, "]");
        } else if (cel_parse_sees(p, "{") && dotted(p, node).len) {
            node = refuse_object(p, node, at);
        } else {
            break;
        }
        if (!cel_parse_count(p))
            break;
    }
    return node;
}

struct cel_node *cel_parse_member(struct parser *p)
{
    return cel_parse_behind(p, primary(p));
}
