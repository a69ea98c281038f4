/* SPDX-License-Identifier: Apache-2.0 */
/* json_items.c: quotes, backslashes and brackets decide where a byte belongs; whether the bytes are
 * JSON is up to json_read. */
#include "text/json_items.h"

#include "base/memory.h"

#include <assert.h>

enum { FIRST_BYTES = 1024 };

/* A part of `rest`, which moves while it grows. */
struct span {
    size_t from, to;
};

struct json_items {
    struct json_items_options options;
    struct arena *rest_arena, *item_arena;
    struct strbuf rest, item;
    struct span keys[JSON_ITEMS_DEPTH_MAX + 1]; /* the last string at each depth, without quotes */
    size_t bytes;                               /* so far */
    size_t string_from;                         /* of a string in `rest` */
    uint32_t depth;                             /* objects that are open, outside of arrays */
    uint32_t item_depth;                        /* brackets that are open in the element */
    uint32_t count;                             /* elements of the array so far */
    bool in_array, in_string, escaped;
    bool is_wanted; /* the array is the one that is asked for */
    bool found;
    struct error error;
};

static void begin_item(struct json_items *items)
{
    arena_reset(items->item_arena);
    items->item = strbuf_new(items->item_arena, FIRST_BYTES);
    items->item_depth = 0;
}

struct json_items *json_items_create(const struct json_items_options *options)
{
    struct json_items *items = mem_new(struct json_items);

    assert(options->path_count && options->path_count <= JSON_ITEMS_DEPTH_MAX);
    items->options = *options;
    items->rest_arena = arena_create(0);
    items->item_arena = arena_create(0);
    items->rest = strbuf_new(items->rest_arena, FIRST_BYTES);
    begin_item(items);
    return items;
}

void json_items_free(struct json_items *items)
{
    if (!items)
        return;
    arena_free(items->rest_arena);
    arena_free(items->item_arena);
    mem_free(items);
}

static bool is_wanted(const struct json_items *items)
{
    if (items->depth != items->options.path_count)
        return false;
    for (uint32_t i = 0; i < items->depth; i++) {
        const struct span *key = &items->keys[i + 1];

        if (!str_eq(str_make(items->rest.at + key->from, key->to - key->from),
                    items->options.path[i]))
            return false;
    }
    return true;
}

static int read_text(struct arena *arena, struct str text, struct json *ret_json, struct error *err)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = text.len;
    return json_read(arena, text, &limits, ret_json, err);
}

static int end_item(struct json_items *items, struct error *err)
{
    struct json item;

    if (read_text(items->item_arena, strbuf_str(&items->item), &item, err) < 0)
        return -1;
    items->count++;
    if (items->is_wanted)
        items->options.item(items->options.context, item);
    begin_item(items);
    return 0;
}

static int put_rest(struct json_items *items, char c, struct error *err)
{
    if (items->rest.len >= items->options.rest_bytes_max)
        return error_set(err, ERROR_TOO_LARGE, "the document has more than %zu bytes beside lists",
                         items->options.rest_bytes_max);
    strbuf_char(&items->rest, c);
    return 0;
}

static int put_item(struct json_items *items, char c, struct error *err)
{
    if (items->item.len >= items->options.item_bytes_max)
        return error_set(err, ERROR_TOO_LARGE, "an element of a list has more than %zu bytes",
                         items->options.item_bytes_max);
    strbuf_char(&items->item, c);
    return 0;
}

static void begin_array(struct json_items *items)
{
    items->in_array = true;
    items->count = 0;
    items->is_wanted = is_wanted(items);
    items->found = items->found || items->is_wanted;
}

static int open_object(struct json_items *items, struct error *err)
{
    if (items->depth == JSON_ITEMS_DEPTH_MAX)
        return error_set(err, ERROR_TOO_LARGE, "the document has more than %d objects in objects",
                         JSON_ITEMS_DEPTH_MAX);
    items->depth++;
    items->keys[items->depth] = (struct span){ 0, 0 };
    return 0;
}

static int take_outside(struct json_items *items, char c, struct error *err)
{
    if (put_rest(items, c, err) < 0)
        return -1;
    if (c == '"') {
        items->in_string = true;
        items->string_from = items->rest.len;
    } else if (c == '{') {
        return open_object(items, err);
    } else if (c == '}' && items->depth) {
        items->depth--;
    } else if (c == '[') {
        begin_array(items);
    }
    return 0;
}

static int end_array(struct json_items *items, struct error *err)
{
    bool is_empty = !items->count && !str_trim(strbuf_str(&items->item)).len;

    if (!is_empty && end_item(items, err) < 0)
        return -1;
    begin_item(items);
    items->in_array = false;
    return put_rest(items, ']', err);
}

static int take_inside(struct json_items *items, char c, struct error *err)
{
    if (!items->item_depth && c == ',')
        return end_item(items, err);
    if (!items->item_depth && c == ']')
        return end_array(items, err);
    if (c == '"')
        items->in_string = true;
    else if (c == '{' || c == '[')
        items->item_depth++;
    else if ((c == '}' || c == ']') && items->item_depth)
        items->item_depth--;
    return put_item(items, c, err);
}

static int take_in_string(struct json_items *items, char c, struct error *err)
{
    if ((items->in_array ? put_item(items, c, err) : put_rest(items, c, err)) < 0)
        return -1;
    if (items->escaped) {
        items->escaped = false;
    } else if (c == '\\') {
        items->escaped = true;
    } else if (c == '"') {
        items->in_string = false;
        if (!items->in_array)
            items->keys[items->depth] = (struct span){ items->string_from, items->rest.len - 1 };
    }
    return 0;
}

static int take_all(struct json_items *items, struct str piece, struct error *err)
{
    if (piece.len > items->options.bytes_max - items->bytes)
        return error_set(err, ERROR_TOO_LARGE, "the document is larger than %zu bytes",
                         items->options.bytes_max);
    items->bytes += piece.len;
    for (size_t i = 0; i < piece.len; i++) {
        char c = piece.at[i];

        if ((items->in_string  ? take_in_string(items, c, err)
             : items->in_array ? take_inside(items, c, err)
                               : take_outside(items, c, err)) < 0)
            return -1;
    }
    return 0;
}

static int fail(const struct json_items *items, struct error *err)
{
    *err = items->error;
    return -1;
}

int json_items_put(struct json_items *items, struct str piece, struct error *err)
{
    if (items->error.code != ERROR_NONE || take_all(items, piece, &items->error) < 0)
        return fail(items, err);
    return 0;
}

int json_items_end(struct json_items *items, struct error *err)
{
    struct json rest;

    if (items->error.code != ERROR_NONE)
        return fail(items, err);
    if (items->in_array)
        return error_set(err, ERROR_SYNTAX, "the document ends within a list");
    if (read_text(items->rest_arena, strbuf_str(&items->rest), &rest, err) < 0)
        return -1;
    if (!items->found)
        return error_set(err, ERROR_INVALID, "the document has no such list");
    return 0;
}
