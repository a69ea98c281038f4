/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c: applying patches. A clone of the document is edited, so a failure leaves nothing behind.
 *
 * Small patches can ask for much: `copy` doubles, long arrays are walked, large subtrees compared.
 * So all members visited are counted as steps, and all that is copied as nodes and bytes. */
#include "text/patch.h"

#include "text/limits.h"
#include "text/lookup.h"
#include "text/pointer.h"

#include <stdio.h>

struct patch {
    struct arena *arena;
    struct value *root;
    uint32_t number; /* of the operation, from 0 */
    struct str op;
    struct str path;
    uint64_t steps;
    uint64_t nodes; /* copied */
    uint64_t bytes; /* copied */
    struct error *err;
};

__attribute__((format(printf, 3, 4))) static int reject(struct patch *p, enum error_code code,
                                                        const char *format, ...)
{
    va_list args;
    struct str what;

    va_start(args, format);
    what = str_vfmt(p->arena, format, args);
    va_end(args);
    error_set(p->err, code, "operation %u (%.*s %.*s): %s", p->number,
              STR_ARG(str_shown(p->arena, p->op, 16)), STR_ARG(str_shown(p->arena, p->path, 256)),
              what.at);
    snprintf(p->err->field, sizeof(p->err->field), "[%u]", p->number);
    return -1;
}

static int step(struct patch *p, uint64_t steps)
{
    p->steps += steps;
    if (p->steps > LIMIT_PATCH_STEPS)
        return reject(p, ERROR_TOO_LARGE,
                      "the patch asks for too much work on large objects; split it");
    return 0;
}

/* ---- places ---- */

/* Where an operation acts: a token in a container. */
struct place {
    struct value *container; /* NULL: the document itself */
    struct str token;
    uint32_t index;       /* in an array; its count for "-" */
    struct value *member; /* what stands there, or NULL */
    uint32_t depth;       /* containers above */
};

static const char *shown(struct patch *p, struct str text)
{
    return str_shown(p->arena, text, 128).at;
}

static int find_member(struct patch *p, struct place *place)
{
    uint32_t visited = 0;
    struct value *m = value_first(place->container);

    for (; m && !str_eq(value_key(m), place->token); m = value_next(m))
        visited++;
    place->member = m;
    return step(p, visited);
}

static int find_element(struct patch *p, struct place *place)
{
    uint64_t index = UINT64_MAX;
    uint32_t visited = 0;
    struct value *e = value_first(place->container);

    if (!str_eq(place->token, STR("-")) && !str_to_u64(place->token, &index))
        return reject(p, ERROR_INVALID, "\"%s\" is not an index of an array",
                      shown(p, place->token));
    for (; e && visited < index; e = value_next(e))
        visited++;
    if (!e && index != UINT64_MAX && index > visited)
        return reject(p, ERROR_INVALID, "index %s is beyond the array's %u elements",
                      shown(p, place->token), visited);
    place->index = visited;
    place->member = e;
    return step(p, visited);
}

static int find_token(struct patch *p, struct place *place)
{
    switch (value_kind(place->container)) {
    case JSON_OBJECT:
        return find_member(p, place);
    case JSON_ARRAY:
        return find_element(p, place);
    case JSON_ABSENT:
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
    case JSON_STRING:
        break;
    }
    return reject(p, ERROR_INVALID, "\"%s\" would stand in a %s, which has no members",
                  shown(p, place->token), json_kind_name(value_kind(place->container)));
}

static int find_place(struct patch *p, struct str pointer, struct place *ret_place)
{
    struct place place = { .member = p->root };
    struct str_list tokens;

    if (pointer_parse(p->arena, pointer, &tokens, p->err) < 0) {
        struct str what = str_of(str_z(p->arena, str_of(p->err->text)));

        return reject(p, ERROR_SYNTAX, "%s", what.at);
    }
    for (uint32_t i = 0; i < tokens.count; i++) {
        if (!place.member)
            return reject(p, ERROR_INVALID, "there is no \"%s\" to go into", shown(p, place.token));
        place.container = place.member;
        place.token = tokens.items[i];
        place.depth = i + 1;
        if (find_token(p, &place) < 0)
            return -1;
    }
    *ret_place = place;
    return 0;
}

static int find_existing(struct patch *p, struct str pointer, struct place *ret_place)
{
    struct place place = { 0 };

    if (find_place(p, pointer, &place) < 0)
        return -1;
    if (!place.member)
        return reject(p, ERROR_INVALID, "there is nothing at \"%s\"", shown(p, pointer));
    *ret_place = place;
    return 0;
}

/* ---- sizes ---- */

struct size {
    uint64_t nodes;
    uint64_t bytes;
    uint32_t depth; /* of containers, as json_read counts it */
};

static void measure(const struct value *value, uint32_t above, struct size *size)
{
    enum json_kind kind = value_kind(value);
    uint32_t depth = above + (kind == JSON_ARRAY || kind == JSON_OBJECT);

    size->nodes++;
    size->bytes += value_text(value).len + value_number_text(value).len + value_key(value).len;
    if (depth > size->depth)
        size->depth = depth;
    for (const struct value *m = value_first(value); m; m = value_next(m))
        measure(m, depth, size);
}

static int check_depth(struct patch *p, const struct place *to, const struct size *size)
{
    if (to->depth + size->depth > LIMIT_JSON_DEPTH)
        return reject(p, ERROR_TOO_LARGE, "the result would nest more than %d levels",
                      LIMIT_JSON_DEPTH);
    return 0;
}

/* ---- operations ---- */

static void put(struct patch *p, const struct place *place, struct value *value)
{
    if (!place->container)
        p->root = value;
    else if (value_kind(place->container) == JSON_ARRAY)
        value_insert(place->container, place->index, value);
    else if (place->member)
        value_set(p->arena, place->container, place->token, value);
    else
        value_add(p->arena, place->container, place->token, value);
}

static void take_out(const struct place *place)
{
    if (value_kind(place->container) == JSON_ARRAY)
        value_remove_at(place->container, place->index);
    else
        value_remove(place->container, place->token);
}

/* Steps were charged for finding; setting finds once more. */
static int put_checked(struct patch *p, const struct place *place, struct value *value)
{
    struct size size = { 0 };

    measure(value, 0, &size);
    if (step(p, size.nodes) < 0 || check_depth(p, place, &size) < 0)
        return -1;
    put(p, place, value);
    return 0;
}

static int add(struct patch *p, struct json value)
{
    struct place place = { 0 };

    if (find_place(p, p->path, &place) < 0)
        return -1;
    return put_checked(p, &place, value_of(p->arena, value));
}

static int replace(struct patch *p, struct json value)
{
    struct place place = { 0 };

    if (find_existing(p, p->path, &place) < 0)
        return -1;
    if (value_kind(place.container) == JSON_ARRAY)
        take_out(&place);
    return put_checked(p, &place, value_of(p->arena, value));
}

static int remove_place(struct patch *p)
{
    struct place place = { 0 };

    if (find_existing(p, p->path, &place) < 0)
        return -1;
    if (!place.container)
        return reject(p, ERROR_INVALID, "the whole document cannot be removed");
    take_out(&place);
    return 0;
}

static int test(struct patch *p, struct json value)
{
    struct place place = { 0 };
    struct size size = { 0 };

    if (find_existing(p, p->path, &place) < 0)
        return -1;
    measure(place.member, 0, &size);
    if (step(p, size.nodes) < 0)
        return -1;
    if (!value_equal(place.member, value_of(p->arena, value)))
        return reject(p, ERROR_INVALID, "the value there is another one");
    return 0;
}

static int copy(struct patch *p, struct str from)
{
    struct place source = { 0 };
    struct place target = { 0 };
    struct size size = { 0 };

    if (find_existing(p, from, &source) < 0 || find_place(p, p->path, &target) < 0)
        return -1;
    measure(source.member, 0, &size);
    p->nodes += size.nodes;
    p->bytes += size.bytes;
    if (p->nodes > LIMIT_JSON_NODES || p->bytes > LIMIT_REVIEW_BODY)
        return reject(p, ERROR_TOO_LARGE, "the patch copies more than %d values or %d bytes",
                      LIMIT_JSON_NODES, LIMIT_REVIEW_BODY);
    if (step(p, size.nodes) < 0 || check_depth(p, &target, &size) < 0)
        return -1;
    put(p, &target, value_clone(p->arena, source.member));
    return 0;
}

static int move(struct patch *p, struct str from)
{
    struct place source = { 0 };
    struct place target = { 0 };

    if (find_existing(p, from, &source) < 0)
        return -1;
    if (str_eq(from, p->path))
        return 0;
    if (str_starts(p->path, from) && p->path.at[from.len] == '/')
        return reject(p, ERROR_INVALID, "\"%s\" cannot be moved into itself", shown(p, from));
    take_out(&source);
    if (find_place(p, p->path, &target) < 0)
        return -1;
    return put_checked(p, &target, source.member);
}

/* ---- reading the patch ---- */

enum needs { NEEDS_NOTHING, NEEDS_VALUE, NEEDS_FROM };

static const struct operation_row {
    struct str op;
    enum needs needs;
} operation_rows[] = {
    { STR_INIT("add"), NEEDS_VALUE },     { STR_INIT("remove"), NEEDS_NOTHING },
    { STR_INIT("replace"), NEEDS_VALUE }, { STR_INIT("move"), NEEDS_FROM },
    { STR_INIT("copy"), NEEDS_FROM },     { STR_INIT("test"), NEEDS_VALUE },
};

static const struct operation_row *row_of(struct str op)
{
    for (size_t i = 0; i < sizeof(operation_rows) / sizeof(operation_rows[0]); i++)
        if (str_eq(operation_rows[i].op, op))
            return &operation_rows[i];
    return NULL;
}

static int perform(struct patch *p, struct json operation)
{
    struct json from = json_get(operation, STR("from"));
    struct json value = json_get(operation, STR("value"));
    struct json path = json_get(operation, STR("path"));
    const struct operation_row *row;

    p->op = json_str(json_get(operation, STR("op")));
    p->path = json_str(path);
    row = row_of(p->op);
    if (!json_is(operation, JSON_OBJECT))
        return reject(p, ERROR_SYNTAX, "an operation is an object, not a %s",
                      json_kind_name(json_kind(operation)));
    if (!row)
        return reject(p, ERROR_SYNTAX, "\"op\" must be add, remove, replace, move, copy or test");
    if (!json_is(path, JSON_STRING))
        return reject(p, ERROR_SYNTAX, "\"path\" must be a string");
    if (row->needs == NEEDS_FROM && !json_is(from, JSON_STRING))
        return reject(p, ERROR_SYNTAX, "\"from\" must be a string");
    if (row->needs == NEEDS_VALUE && json_is(value, JSON_ABSENT))
        return reject(p, ERROR_SYNTAX, "\"value\" is missing");
    switch (p->op.at[0]) {
    case 'a':
        return add(p, value);
    case 'm':
        return move(p, json_str(from));
    case 'c':
        return copy(p, json_str(from));
    case 't':
        return test(p, value);
    default:
        return str_eq(p->op, STR("remove")) ? remove_place(p) : replace(p, value);
    }
}

int patch_apply(struct arena *arena, const struct value *document, struct str patch,
                struct value **ret_result, struct error *err)
{
    struct patch p = { .arena = arena, .err = err };
    struct json operations;

    if (json_read(arena, patch, &json_limits_default, &operations, err) < 0)
        return error_wrap(err, "the patch");
    if (!json_is(operations, JSON_ARRAY))
        return error_set(err, ERROR_SYNTAX, "a JSON Patch is an array of operations, not a %s",
                         json_kind_name(json_kind(operations)));
    if (json_count(operations) > LIMIT_PATCH_OPERATIONS)
        return error_set(err, ERROR_TOO_LARGE, "the patch has %u operations, more than %d",
                         json_count(operations), LIMIT_PATCH_OPERATIONS);
    p.root = value_clone(arena, document);

    struct json_iter it = json_iter(operations);

    while (json_next(&it)) {
        p.number = it.position;
        if (perform(&p, it.value) < 0)
            return -1;
    }
    *ret_result = p.root;
    return 0;
}

struct value *patch_merge(struct arena *arena, const struct value *document,
                          const struct value *merge)
{
    return value_merge(arena, document, merge);
}
