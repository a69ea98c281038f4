/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c: libyaml's events to a tree of nodes.
 *
 * libyaml is quadratic where many flow collections are open and in its document API's anchors, and
 * has no depth limit. Only its events are used, one at a time, and depth, nodes and anchors are
 * checked as each comes: it looks at most 1024 characters ahead of an event (the length of a simple
 * key), so it never has more than that many collections open. A NUL ends libyaml's input
 * silently, so bytes are searched for one first. libyaml's memory is not in the arena: the walk
 * runs under arena_run, and the parser is deleted on every remedy. */
#include "text/yaml.h"

#include "base/memory.h"
#include "text/limits.h"
#include "text/yaml_node.h"

#include <stdio.h>
#include <yaml.h>

struct anchor {
    struct str name;
    struct yaml_node *node;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    struct arena *arena;
    struct str text;
    struct yaml_documents documents;
    struct anchor anchors[LIMIT_YAML_ANCHORS];
    uint32_t anchor_count;
    uint32_t nodes;
    struct yaml_node *open[LIMIT_YAML_DEPTH];
    uint32_t depth;
    struct yaml_node *root; /* of the document at hand */
    int result;
    struct error *err;
};

/* ---- errors ---- */

__attribute__((format(printf, 3, 4))) static int fail_here(struct reader *r, enum error_code code,
                                                           const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return yaml_fail(r->err, code, (uint32_t)r->event.start_mark.line + 1,
                     (uint32_t)r->event.start_mark.column + 1, "%s", text);
}

/* Bytes that libyaml's reader rejects have an offset, but no mark. */
static int fail_at_offset(struct reader *r, size_t offset, const char *what)
{
    uint32_t line = 1;
    uint32_t column = 1;

    for (size_t i = 0; i < offset && i < r->text.len; i++) {
        if (r->text.at[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)r->text.at[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    return yaml_fail(r->err, ERROR_SYNTAX, line, column, "%s", what);
}

static int fail_parse(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;

    if (p->error == YAML_MEMORY_ERROR)
        mem_exhausted("YAML parser");
    if (p->error == YAML_READER_ERROR)
        return fail_at_offset(r, p->problem_offset, p->problem ? p->problem : "unreadable bytes");
    return yaml_fail(r->err, ERROR_SYNTAX, (uint32_t)p->problem_mark.line + 1,
                     (uint32_t)p->problem_mark.column + 1, "%s%s%s",
                     p->problem ? p->problem : "not YAML", p->context ? ", " : "",
                     p->context ? p->context : "");
}

/* ---- nodes ---- */

static struct yaml_node *new_node(struct reader *r, enum yaml_node_kind kind)
{
    struct yaml_node *node;

    if (++r->nodes > LIMIT_YAML_NODES) {
        fail_here(r, ERROR_TOO_LARGE, "more than %d nodes", LIMIT_YAML_NODES);
        return NULL;
    }
    node = arena_new(r->arena, struct yaml_node);
    node->kind = kind;
    node->line = (uint32_t)r->event.start_mark.line + 1;
    node->column = (uint32_t)r->event.start_mark.column + 1;
    return node;
}

static int name_anchor(struct reader *r, const yaml_char_t *name, struct yaml_node *node)
{
    if (!name)
        return 0;
    if (r->anchor_count == LIMIT_YAML_ANCHORS)
        return fail_here(r, ERROR_TOO_LARGE, "more than %d anchors", LIMIT_YAML_ANCHORS);
    r->anchors[r->anchor_count++] =
        (struct anchor){ str_dup(r->arena, str_of((const char *)name)), node };
    return 0;
}

/* Put a node into the collection at hand, or make it the document. */
static void place(struct reader *r, struct yaml_node *node)
{
    struct yaml_node *around = r->depth ? r->open[r->depth - 1] : NULL;

    if (!around) {
        r->root = node;
        return;
    }
    if (around->last)
        around->last->next = node;
    else
        around->first = node;
    around->last = node;
    around->count++;
}

static const char *shown(struct reader *r, const void *text)
{
    return str_shown(r->arena, str_of(text), 128).at;
}

#define TAG(name) "tag:yaml.org,2002:" name

static bool is_tag(const yaml_char_t *tag, const char *name)
{
    return strcmp((const char *)tag, name) == 0;
}

/* A tag forces the type; the text must fit it. */
static int apply_tag(struct reader *r, const yaml_char_t *tag, struct str text,
                     struct yaml_node *node)
{
    enum yaml_node_kind want;

    if (is_tag(tag, "!") && text.len == 0) /* of [!, a] goyaml makes !a */
        return fail_here(r, ERROR_SYNTAX, "a '!' without a text behind it; remove it");
    if (is_tag(tag, "!") || is_tag(tag, TAG("str")) || is_tag(tag, TAG("timestamp"))) {
        node->kind = YAML_STRING;
        node->text = text;
        return 0;
    }
    if (is_tag(tag, TAG("null")))
        want = YAML_NULL;
    else if (is_tag(tag, TAG("bool")))
        want = YAML_BOOL;
    else if (is_tag(tag, TAG("int")) || is_tag(tag, TAG("float")))
        want = YAML_NUMBER;
    else if (is_tag(tag, TAG("binary")))
        return fail_here(r, ERROR_SYNTAX,
                         "!!binary has no form in JSON; write the base64 text without the tag");
    else
        return fail_here(r, ERROR_SYNTAX, "unknown tag %s; remove it", shown(r, tag));
    node->kind = yaml_resolve(r->arena, text, &node->text);
    if (node->kind == YAML_UNREAL && want == YAML_NUMBER)
        return 0; /* rejected below, in its own words */
    if ((node->kind == YAML_REAL ? YAML_NUMBER : node->kind) != want ||
        (is_tag(tag, TAG("int")) && node->kind == YAML_REAL))
        return fail_here(r, ERROR_SYNTAX, "\"%s\" is not what its tag %s says", shown(r, text.at),
                         shown(r, tag));
    return 0;
}

/* libyaml takes the '?' of [a?b] for a letter; goyaml, and so kubectl, for the sign of a key. */
static bool has_key_sign(const struct reader *r, struct str plain)
{
    return r->depth && r->open[r->depth - 1]->flow && str_find_char(plain, '?', 0) >= 0;
}

static int on_scalar(struct reader *r)
{
    const yaml_char_t *tag = r->event.data.scalar.tag;
    struct yaml_node *node = new_node(r, YAML_STRING);
    struct str text;

    if (!node)
        return -1;
    text = str_dup(r->arena,
                   str_make((const char *)r->event.data.scalar.value, r->event.data.scalar.length));
    if (memchr(text.at, '\0', text.len))
        return fail_here(r, ERROR_SYNTAX, "a string must not hold a NUL");
    if (text.len > LIMIT_JSON_STRING)
        return fail_here(r, ERROR_TOO_LARGE, "a string of more than %d bytes", LIMIT_JSON_STRING);
    node->text = text;
    if (tag) {
        if (apply_tag(r, tag, text, node) < 0)
            return -1;
    } else if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (has_key_sign(r, text))
            return fail_here(r, ERROR_SYNTAX, "a '?' in plain words within [] or {}; quote \"%s\"",
                             shown(r, text.at));
        node->kind = yaml_resolve(r->arena, text, &node->text);
    }
    if (node->kind == YAML_UNREAL)
        return fail_here(r, ERROR_SYNTAX, "%s is a number that JSON cannot write; quote it",
                         shown(r, text.at));
    if (name_anchor(r, r->event.data.scalar.anchor, node) < 0)
        return -1;
    place(r, node);
    return 0;
}

static int on_open(struct reader *r, enum yaml_node_kind kind, bool flow, const yaml_char_t *tag,
                   const yaml_char_t *anchor)
{
    const char *own_tag = kind == YAML_MAPPING ? TAG("map") : TAG("seq");
    struct yaml_node *node = new_node(r, kind);

    if (!node)
        return -1;
    if (tag && !is_tag(tag, own_tag) && !is_tag(tag, "!"))
        return fail_here(r, ERROR_SYNTAX, "unknown tag %s; remove it", shown(r, tag));
    if (r->depth == LIMIT_YAML_DEPTH)
        return fail_here(r, ERROR_TOO_LARGE, "more than %d levels of nesting", LIMIT_YAML_DEPTH);
    if (name_anchor(r, anchor, node) < 0)
        return -1;
    place(r, node);
    node->flow = flow;
    node->open = true;
    r->open[r->depth++] = node;
    return 0;
}

static int on_close(struct reader *r)
{
    struct yaml_node *node = r->open[--r->depth];

    node->open = false;
    if (node->kind == YAML_MAPPING)
        node->count /= 2;
    return 0;
}

static int on_alias(struct reader *r)
{
    struct str name = str_of((const char *)r->event.data.alias.anchor);
    struct yaml_node *node = new_node(r, YAML_ALIAS);

    if (!node)
        return -1;
    /* The latest anchor of a name is the one meant. */
    for (uint32_t i = r->anchor_count; i-- > 0 && !node->target;)
        if (str_eq(r->anchors[i].name, name))
            node->target = r->anchors[i].node;
    if (!node->target)
        return fail_here(r, ERROR_SYNTAX, "there is no anchor &%s above", shown(r, name.at));
    if (node->target->open)
        return fail_here(r, ERROR_SYNTAX, "*%s stands inside of what it means", shown(r, name.at));
    place(r, node);
    return 0;
}

static int on_document_end(struct reader *r)
{
    struct yaml_document document;

    if (yaml_emit(r->arena, r->root, &document, r->err) < 0)
        return -1;
    yaml_documents_push(&r->documents, document);
    r->anchor_count = 0;
    return 0;
}

static int on_event(struct reader *r)
{
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(r);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(r, YAML_SEQUENCE,
                       r->event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                       r->event.data.sequence_start.tag, r->event.data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return on_open(r, YAML_MAPPING,
                       r->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                       r->event.data.mapping_start.tag, r->event.data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_close(r);
    case YAML_ALIAS_EVENT:
        return on_alias(r);
    case YAML_DOCUMENT_END_EVENT:
        return on_document_end(r);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
        break;
    }
    return 0;
}

static void drop_event(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = false;
}

static void read_events(void *context)
{
    struct reader *r = context;
    bool done = false;

    while (r->result == 0 && !done) {
        drop_event(r);
        if (!yaml_parser_parse(&r->parser, &r->event)) {
            r->result = fail_parse(r);
            return;
        }
        r->has_event = true;
        done = r->event.type == YAML_STREAM_END_EVENT;
        r->result = on_event(r);
    }
}

/* ---- JSON as it is ---- */

/* Strict JSON needs no conversion; and libyaml knows no surrogate pairs. */
static bool read_as_json(struct arena *arena, struct str text, struct yaml_documents *documents)
{
    const struct json_limits limits = { LIMIT_YAML_TEXT, LIMIT_JSON_DEPTH, LIMIT_YAML_NODES,
                                        LIMIT_JSON_STRING };
    struct str begin = str_trim(text);
    struct yaml_document document;
    struct error ignored;

    if (begin.len == 0 || (begin.at[0] != '{' && begin.at[0] != '[') ||
        yaml_read_json(arena, text, &limits, &document, &ignored) < 0)
        return false;
    yaml_documents_push(documents, document);
    return true;
}

/* ---- all ---- */

int yaml_read(struct arena *arena, struct str text, struct yaml_documents *ret_documents,
              struct error *err)
{
    struct reader *r = arena_new(arena, struct reader);
    struct str as_it_came = text;

    /* A byte order mark. libyaml counts the first as a column and passes over others. */
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_slice(text, 3, text.len);

    ptrdiff_t inner_mark = str_find(text, STR("\n\xef\xbb\xbf"), 0);
    const char *nul = text.len ? memchr(text.at, '\0', text.len) : NULL;

    r->arena = arena;
    r->text = text;
    r->documents = yaml_documents_new(arena, 1);
    r->err = err;
    if (text.len > LIMIT_YAML_TEXT)
        return error_set(err, ERROR_TOO_LARGE,
                         "line 1, column 1: the text has %zu bytes, more than %d", text.len,
                         LIMIT_YAML_TEXT);
    if (nul)
        return fail_at_offset(r, (size_t)(nul - text.at), "a NUL byte");
    if (inner_mark >= 0)
        return fail_at_offset(r, (size_t)inner_mark + 1,
                              "a byte order mark that does not begin the text; remove it");
    if (!read_as_json(arena, as_it_came, &r->documents)) {
        if (!yaml_parser_initialize(&r->parser))
            mem_exhausted("YAML parser");
        yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&r->parser, (const unsigned char *)(text.at ? text.at : ""),
                                     text.len);
        if (arena_run(arena, read_events, r) < 0)
            r->result =
                error_set(err, ERROR_BUDGET, "the YAML text needs more memory than allowed");
        drop_event(r);
        yaml_parser_delete(&r->parser);
        if (r->result < 0)
            return -1;
    }
    *ret_documents = r->documents;
    return 0;
}
