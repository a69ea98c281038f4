/* SPDX-License-Identifier: Apache-2.0 */
/* node.c: nodes, and what the compiler says of them. The form of messages is that of
 * github.com/google/cel-go/common/error.go. */
#include "lab/cel/node.h"

#include "lab/cel/text.h"

struct cel_node *cel_node_new(struct arena *arena, enum cel_node_kind kind, size_t at)
{
    struct cel_node *node = arena_new(arena, struct cel_node);

    node->kind = kind;
    node->at = at;
    return node;
}

struct cel_node *cel_node_literal(struct arena *arena, size_t at, struct cel_value value)
{
    struct cel_node *node = cel_node_new(arena, NODE_LITERAL, at);

    node->literal = value;
    return node;
}

struct cel_node *cel_node_ident(struct arena *arena, size_t at, struct str name)
{
    struct cel_node *node = cel_node_new(arena, NODE_IDENT, at);

    node->name = name;
    return node;
}

struct cel_node *cel_node_call(struct arena *arena, size_t at, struct str name,
                               struct cel_node **args, uint32_t count)
{
    struct cel_node *node = cel_node_new(arena, NODE_CALL, at);

    node->name = name;
    node->args = arena_array(arena, struct cel_node *, count);
    for (uint32_t i = 0; i < count; i++)
        node->args[i] = args[i];
    node->count = count;
    return node;
}

static void add(struct cel_issues *issues, struct cel_issue issue)
{
    if (issues->count == issues->capacity) {
        uint32_t capacity = issues->capacity ? issues->capacity * 2 : 4;
        struct cel_issue *items = arena_array(issues->arena, struct cel_issue, capacity);

        if (issues->count)
            memcpy(items, issues->items, sizeof(*items) * issues->count);
        issues->items = items;
        issues->capacity = capacity;
    }
    issues->items[issues->count++] = issue;
}

void cel_issue(struct cel_issues *issues, size_t at, const char *format, ...)
{
    va_list args;

    if (issues->alone)
        return;
    va_start(args, format);
    add(issues, (struct cel_issue){ at, str_vfmt(issues->arena, format, args) });
    va_end(args);
}

void cel_issue_alone(struct cel_issues *issues, size_t at, const char *format, ...)
{
    va_list args;

    if (!issues->alone)
        issues->count = 0;
    issues->alone = true;
    va_start(args, format);
    add(issues, (struct cel_issue){ at, str_vfmt(issues->arena, format, args) });
    va_end(args);
}

/* In order of place; equal places stay in order of telling. */
static void sort(struct cel_issues *issues)
{
    for (uint32_t i = 1; i < issues->count; i++)
        for (uint32_t k = i; k > 0 && issues->items[k].at < issues->items[k - 1].at; k--) {
            struct cel_issue kept = issues->items[k];

            issues->items[k] = issues->items[k - 1];
            issues->items[k - 1] = kept;
        }
}

static void put_issue(struct strbuf *out, struct str text, const struct cel_issue *issue)
{
    size_t begin = 0, line = 1, column = 0, at;
    ptrdiff_t end;

    for (at = 0; at < issue->at && at < text.len; at++)
        if (text.at[at] == '\n') {
            line++;
            begin = at + 1;
        }
    end = str_find_char(text, '\n', begin);
    for (at = begin; at < issue->at && at < text.len; at++)
        column += ((unsigned char)text.at[at] & 0xc0) != 0x80;
    strbuf_fmt(out, "ERROR: <input>:%zu:%zu: %.*s\n | ", line, column + 1, STR_ARG(issue->text));
    for (at = begin; at < (end < 0 ? text.len : (size_t)end); at++)
        strbuf_char(out, text.at[at] == '\t' ? ' ' : text.at[at]);
    strbuf_lit(out, "\n | ");
    for (at = begin; at < issue->at && at < text.len;) {
        size_t bytes;

        cel_character_at(text, at, &bytes);
        strbuf_put(out, bytes > 1 ? STR("\uff0e") : STR("."));
        at += bytes;
    }
    strbuf_char(out, '^');
}

struct str cel_issues_text(struct cel_issues *issues)
{
    struct strbuf out = strbuf_new(issues->arena, 256);

    sort(issues);
    for (uint32_t i = 0; i < issues->count; i++) {
        if (i)
            strbuf_char(&out, '\n');
        put_issue(&out, issues->expression, &issues->items[i]);
    }
    return strbuf_str(&out);
}
