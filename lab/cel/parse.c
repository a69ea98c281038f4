/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c: the parser: one function for each level of precedence. Source of the grammar and of the
 * places that messages name: github.com/google/cel-go parser/gen/CEL.g4 and parser.go. */
#include "lab/cel/parser.h"
#include "lab/limits.h"

void cel_parse_advance(struct parser *p)
{
    if (!p->broken)
        p->token = cel_token_at(p->arena, p->text, p->token.end);
}

struct str cel_parse_shown(struct parser *p, const struct cel_token *token)
{
    if (token->kind == TOKEN_END)
        return STR("<EOF>");
    return str_shown(p->arena, str_slice(p->text, token->at, token->end), 64);
}

struct cel_node *cel_parse_fail(struct parser *p, const char *format, struct str token,
                                const char *expected)
{
    const struct cel_token *t = &p->token;

    if (!p->broken && t->kind == TOKEN_BROKEN)
        cel_issue(p->issues, t->at, "Syntax error: token recognition error at: '%.*s'",
                  STR_ARG(cel_parse_shown(p, t)));
    else if (!p->broken)
        cel_issue(p->issues, t->at, "Syntax error: %s '%.*s'%s%s", format, STR_ARG(token),
                  *expected ? " expecting " : "", expected);
    p->broken = true;
    p->token.kind = TOKEN_END;
    return cel_node_literal(p->arena, t->at, cel_null());
}

static struct cel_node *mismatched(struct parser *p, const char *expected)
{
    return cel_parse_fail(p, "mismatched input", cel_parse_shown(p, &p->token), expected);
}

static bool begins_expression(const struct cel_token *token)
{
    if (token->kind == TOKEN_SIGN)
        return token->text.len == 1 && strchr("[{(.-!", token->text.at[0]);
    return token->kind != TOKEN_END && token->kind != TOKEN_BROKEN && token->kind != TOKEN_QUOTED &&
           !str_eq(token->text, STR("in"));
}

struct cel_node *cel_parse_unexpected(struct parser *p, const char *expected)
{
    struct cel_token behind = cel_token_at(p->arena, p->text, p->token.end);

    if (p->token.kind != TOKEN_END && begins_expression(&behind))
        return cel_parse_fail(p, "extraneous input", cel_parse_shown(p, &p->token), expected);
    return mismatched(p, expected);
}

bool cel_parse_sees(const struct parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && str_eq(p->token.text, str_of(sign));
}

bool cel_parse_sees_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_WORD && str_eq(p->token.text, str_of(word));
}

bool cel_parse_take(struct parser *p, const char *sign)
{
    if (!cel_parse_sees(p, sign))
        return false;
    cel_parse_advance(p);
    return true;
}

void cel_parse_want(struct parser *p, const char *sign)
{
    const char *expected = str_z(p->arena, str_fmt(p->arena, "'%s'", sign));

    if (cel_parse_take(p, sign))
        return;
    if (p->token.kind == TOKEN_END && *sign == ')')
        cel_parse_fail(p, "missing ')' at", STR("<EOF>"), "");
    else if (*sign == ']')
        mismatched(p, "{']', ','}");
    else
        mismatched(p, expected);
}

bool cel_parse_count(struct parser *p)
{
    if (++p->nodes <= LIMIT_CEL_NODES)
        return true;
    cel_parse_fail(p, "more links than herd-lab follows at", cel_parse_shown(p, &p->token), "");
    return false;
}

struct cel_node *cel_parse_call(struct parser *p, size_t at, const char *name, struct cel_node *a,
                                struct cel_node *b)
{
    struct cel_node *args[] = { a, b };

    return cel_node_call(p->arena, at, str_of(name), args, b ? 2 : 1);
}

/* An even number of signs is none. A minus is part of the number behind it. */
static struct cel_node *unary(struct parser *p)
{
    const char *sign = cel_parse_sees(p, "!") ? "!" : cel_parse_sees(p, "-") ? "-" : "";
    size_t at = p->token.at;
    bool odd = false;
    struct cel_node *node;

    if (!*sign)
        return cel_parse_member(p);
    while (cel_parse_take(p, sign))
        odd = !odd;
    if (*sign == '-' && odd && (p->token.kind == TOKEN_INT || p->token.kind == TOKEN_DOUBLE))
        return cel_parse_behind(p, cel_parse_number(p, at, true));
    node = cel_parse_member(p);
    if (!odd)
        return node;
    return cel_parse_call(p, at, *sign == '!' ? "!_" : "-_", node, NULL);
}

/* The levels from loose to tight; operators of one level bind to the left. */
static const struct level {
    struct {
        const char *sign, *function;
    } operators[8];
} levels[] = {
    { { { "||", "_||_" } } },
    { { { "&&", "_&&_" } } },
    { { { "<=", "_<=_" },
        { ">=", "_>=_" },
        { "<", "_<_" },
        { ">", "_>_" },
        { "==", "_==_" },
        { "!=", "_!=_" },
        { "in", "@in" } } },
    { { { "+", "_+_" }, { "-", "_-_" } } },
    { { { "*", "_*_" }, { "/", "_/_" }, { "%", "_%_" } } },
};

static const char *operator_at(const struct parser *p, const struct level *level)
{
    for (size_t i = 0; i < 8 && level->operators[i].sign; i++)
        if (cel_parse_sees(p, level->operators[i].sign) ||
            (level->operators[i].sign[0] == 'i' && cel_parse_sees_word(p, "in")))
            return level->operators[i].function;
    return NULL;
}

static struct cel_node *binary(struct parser *p, size_t level)
{
    struct cel_node *left;
    const char *function;

    if (level == sizeof(levels) / sizeof(levels[0]))
        return unary(p);
    left = binary(p, level + 1);
    while (!p->broken && (function = operator_at(p, &levels[level])) != NULL) {
        size_t at = p->token.at;

        cel_parse_advance(p);
        left = cel_parse_call(p, at, function, left, binary(p, level + 1));
        if (!cel_parse_count(p))
            break;
    }
    return left;
}

struct cel_node *cel_parse_expression(struct parser *p)
{
    struct cel_node *args[3];
    size_t at;

    if (++p->depth > LIMIT_CEL_DEPTH)
        return cel_parse_fail(p, "deeper than herd-lab follows at", cel_parse_shown(p, &p->token),
                              "");
    args[0] = binary(p, 0);
    at = p->token.at;
    if (cel_parse_take(p, "?")) {
        args[1] = binary(p, 0);
        cel_parse_want(p, ":");
        args[2] = cel_parse_expression(p);
        args[0] = cel_node_call(p->arena, at, STR("_?_:_"), args, 3);
    }
    p->depth--;
    return args[0];
}

struct cel_node *cel_parse(struct arena *arena, struct str text, struct cel_issues *issues)
{
    struct parser p = { .arena = arena, .text = text, .issues = issues };
    struct cel_node *root;

    p.token = cel_token_at(arena, text, 0);
    root = cel_parse_expression(&p);
    if (!p.broken && p.token.kind != TOKEN_END)
        cel_parse_fail(&p, "extraneous input", cel_parse_shown(&p, &p.token), "<EOF>");
    return issues->count ? NULL : root;
}
