/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_emit.c: a tree of YAML nodes to JSON bytes and a table of positions.
 *
 * Aliases are expanded here, so here is where a small text can become a large one: nodes, bytes and
 * depth are counted as they are written, and members as merges visit them. */
#include "text/json_write.h"
#include "text/limits.h"
#include "text/yaml_node.h"

#include <stdlib.h>

LIST_DEFINE(position_list, struct yaml_position)

struct emitter {
    struct arena *arena;
    struct strbuf out;
    struct position_list positions;
    uint32_t nodes; /* written, or visited by merges */
    uint32_t depth;
    struct error *err;
};

/* A member of the mapping at hand, its own or merged into it. */
struct member {
    const struct yaml_node *key;
    const struct yaml_node *value;
    uint32_t rank;  /* 0: its own; else in the order in which merges offer it */
    uint32_t order; /* in which it is written */
};

LIST_DEFINE(member_list, struct member)

static int emit(struct emitter *e, const struct yaml_node *node);

static int fail(struct emitter *e, enum error_code code, const struct yaml_node *node,
                const char *what)
{
    return yaml_fail(e->err, code, node->line, node->column, "%s", what);
}

static int count_node(struct emitter *e, const struct yaml_node *node)
{
    if (++e->nodes > LIMIT_YAML_NODES)
        return fail(e, ERROR_TOO_LARGE, node, "aliases and merges make too many nodes of it");
    if (e->out.len > LIMIT_REVIEW_BODY)
        return fail(e, ERROR_TOO_LARGE, node, "aliases make too many bytes of it");
    return 0;
}

static const struct yaml_node *real(const struct yaml_node *node)
{
    while (node->kind == YAML_ALIAS)
        node = node->target;
    return node;
}

static void mark(struct emitter *e, const struct yaml_node *node)
{
    position_list_push(&e->positions,
                       (struct yaml_position){ e->out.len, node->line, node->column });
}

/* ---- mappings ---- */

static int check_key(struct emitter *e, const struct yaml_node *key)
{
    switch (real(key)->kind) {
    case YAML_BOOL:
    case YAML_NUMBER:
    case YAML_STRING:
    case YAML_MERGE:
        return 0;
    case YAML_NULL:
        return fail(e, ERROR_SYNTAX, key, "a key is missing or null; quote it if it is meant");
    case YAML_REAL:
        return fail(e, ERROR_SYNTAX, key,
                    "a key that is a number with a fraction, an exponent or more than 64 bits has "
                    "no one form; quote it");
    case YAML_UNREAL:
    case YAML_SEQUENCE:
    case YAML_MAPPING:
    case YAML_ALIAS:
        break;
    }
    return fail(e, ERROR_SYNTAX, key, "a key must be a scalar");
}

static int gather(struct emitter *e, const struct yaml_node *mapping, bool own,
                  struct member_list *members, uint32_t depth);

/* What "<<" names: a mapping, or a sequence of mappings of which earlier ones win; an alias of such
 * a sequence is none to goyaml. */
static int gather_merge(struct emitter *e, const struct yaml_node *value,
                        struct member_list *members, uint32_t depth)
{
    const struct yaml_node *source = real(value);

    if (depth > LIMIT_YAML_DEPTH)
        return fail(e, ERROR_TOO_LARGE, value, "merges inside of merges nest too deep");
    if (source->kind == YAML_MAPPING)
        return gather(e, source, false, members, depth + 1);
    if (source->kind != YAML_SEQUENCE || source != value)
        return fail(e, ERROR_SYNTAX, value, "\"<<\" merges a mapping or a sequence of mappings");
    for (const struct yaml_node *n = source->first; n; n = n->next) {
        if (real(n)->kind != YAML_MAPPING)
            return fail(e, ERROR_SYNTAX, n, "\"<<\" merges a mapping or a sequence of mappings");
        if (gather(e, real(n), false, members, depth + 1) < 0)
            return -1;
    }
    return 0;
}

static int gather(struct emitter *e, const struct yaml_node *mapping, bool own,
                  struct member_list *members, uint32_t depth)
{
    /* A mapping's own members win over those that it merges, wherever "<<" stands. */
    for (int merges = 0; merges < 2; merges++) {
        for (const struct yaml_node *key = mapping->first; key; key = key->next->next) {
            bool is_merge = key->kind == YAML_MERGE;

            if (is_merge != (merges == 1))
                continue;
            if (count_node(e, key) < 0 || check_key(e, key) < 0)
                return -1;
            if (is_merge) {
                if (gather_merge(e, key->next, members, depth) < 0)
                    return -1;
                continue;
            }
            member_list_push(members, (struct member){ key, key->next, own ? 0 : members->count + 1,
                                                       members->count });
        }
    }
    return 0;
}

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    int order = str_cmp(real(a->key)->text, real(b->key)->text);

    if (order == 0)
        order = a->rank < b->rank ? -1 : a->rank > b->rank;
    if (order == 0)
        order = a->order < b->order ? -1 : a->order > b->order;
    return order;
}

static int compare_order(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;

    return a->order < b->order ? -1 : a->order > b->order;
}

/* One member for each key: of two that a mapping has itself, the second is a mistake; of others
 * the first in rank wins. Sorting finds them whatever the keys are. */
static int settle(struct emitter *e, struct member_list *members)
{
    uint32_t kept = 0;

    if (members->count < 2)
        return 0;
    qsort(members->items, members->count, sizeof(struct member), compare_members);
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *m = &members->items[i];
        struct str text = real(m->key)->text;

        if (kept && str_eq(real(members->items[kept - 1].key)->text, text)) {
            if (m->rank == 0)
                return yaml_fail(e->err, ERROR_SYNTAX, m->key->line, m->key->column,
                                 "duplicate key \"%s\"", str_shown(e->arena, text, 128).at);
            continue;
        }
        members->items[kept++] = *m;
    }
    members->count = kept;
    qsort(members->items, members->count, sizeof(struct member), compare_order);
    return 0;
}

static int emit_mapping(struct emitter *e, const struct yaml_node *mapping)
{
    struct member_list members = member_list_new(e->arena, mapping->count);

    if (gather(e, mapping, true, &members, 0) < 0 || settle(e, &members) < 0)
        return -1;
    strbuf_char(&e->out, '{');
    for (uint32_t i = 0; i < members.count; i++) {
        if (i)
            strbuf_char(&e->out, ',');
        mark(e, members.items[i].key);
        json_quote(&e->out, real(members.items[i].key)->text);
        strbuf_char(&e->out, ':');
        if (emit(e, members.items[i].value) < 0)
            return -1;
    }
    strbuf_char(&e->out, '}');
    return 0;
}

/* ---- all ---- */

static int emit_sequence(struct emitter *e, const struct yaml_node *sequence)
{
    strbuf_char(&e->out, '[');
    for (const struct yaml_node *n = sequence->first; n; n = n->next) {
        if (n != sequence->first)
            strbuf_char(&e->out, ',');
        if (emit(e, n) < 0)
            return -1;
    }
    strbuf_char(&e->out, ']');
    return 0;
}

static int emit_collection(struct emitter *e, const struct yaml_node *place,
                           const struct yaml_node *node)
{
    int result;

    if (e->depth == LIMIT_YAML_DEPTH)
        return fail(e, ERROR_TOO_LARGE, place, "aliases nest too deep");
    e->depth++;
    result = node->kind == YAML_MAPPING ? emit_mapping(e, node) : emit_sequence(e, node);
    e->depth--;
    return result;
}

static int emit(struct emitter *e, const struct yaml_node *place)
{
    const struct yaml_node *node = real(place);

    if (count_node(e, place) < 0)
        return -1;
    mark(e, place);
    switch (node->kind) {
    case YAML_SEQUENCE:
    case YAML_MAPPING:
        return emit_collection(e, place, node);
    case YAML_STRING:
    case YAML_MERGE: /* as a value it is a word like others */
        json_quote(&e->out, node->text);
        return 0;
    case YAML_NULL:
    case YAML_BOOL:
    case YAML_NUMBER:
    case YAML_REAL:
    case YAML_UNREAL:
    case YAML_ALIAS:
        break;
    }
    strbuf_put(&e->out, node->text);
    return 0;
}

int yaml_emit(struct arena *arena, const struct yaml_node *root, struct yaml_document *ret_document,
              struct error *err)
{
    struct emitter e = { .arena = arena,
                         .out = strbuf_new(arena, 256),
                         .positions = position_list_new(arena, 0),
                         .err = err };

    if (emit(&e, root) < 0)
        return -1;
    *ret_document =
        (struct yaml_document){ strbuf_str(&e.out), e.positions.items, e.positions.count };
    return 0;
}
