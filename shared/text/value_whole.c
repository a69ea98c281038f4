/* SPDX-License-Identifier: Apache-2.0 */
/* value_whole.c: what is done with whole values: compare, write, merge. */
#include "text/json_write.h"
#include "text/lookup.h"
#include "text/number.h"

#include <stdlib.h>

static int compare_members(const void *left, const void *right)
{
    const struct value *const *a = left;
    const struct value *const *b = right;

    return str_cmp(value_key(*a), value_key(*b));
}

static const struct value **sorted_members(struct arena *arena, const struct value *object,
                                           uint32_t count)
{
    const struct value **members = arena_array(arena, const struct value *, count);
    uint32_t i = 0;

    for (const struct value *m = value_first(object); m; m = value_next(m))
        members[i++] = m;
    if (count > 1)
        qsort(members, count, sizeof(*members), compare_members);
    return members;
}

struct lookup lookup_new(struct arena *arena, const struct value *object)
{
    enum { FEW = 16 };
    struct lookup lookup = { .object = object, .count = value_count(object) };

    if (value_kind(object) == JSON_OBJECT && lookup.count > FEW)
        lookup.sorted = sorted_members(arena, object, lookup.count);
    return lookup;
}

const struct value *lookup_get(const struct lookup *lookup, struct str key)
{
    uint32_t low = 0;
    uint32_t high = lookup->count;

    if (!lookup->sorted)
        return value_get(lookup->object, key);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(value_key(lookup->sorted[middle]), key);

        if (order == 0)
            return lookup->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- compare ----
 *
 * json_equal (json.c) answers the same for views of bytes. Neither stands on the other: to view a
 * tree it would have to be written and scanned, and to make trees of views costs an allocation for
 * each node on the review path. What could differ in meaning is shared: both compare numbers with
 * number_equal, strings decoded, objects without order; a property holds them equal. */

static bool equal_members(const struct value *a, const struct value *b)
{
    AUTO(arena_free) struct arena *arena = NULL;
    struct lookup others = { 0 };
    const struct value *y = value_first(b);

    for (const struct value *x = value_first(a); x; x = value_next(x), y = value_next(y)) {
        const struct value *other = y;

        /* Nearly always both have one order; only then no search is needed. */
        if (!str_eq(value_key(x), value_key(y))) {
            if (!arena) {
                arena = arena_create(0);
                others = lookup_new(arena, b);
            }
            other = lookup_get(&others, value_key(x));
        }
        if (!value_equal(x, other))
            return false;
    }
    return true;
}

static bool equal_elements(const struct value *a, const struct value *b)
{
    const struct value *x = value_first(a);
    const struct value *y = value_first(b);

    for (; x; x = value_next(x), y = value_next(y))
        if (!value_equal(x, y))
            return false;
    return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
    enum json_kind kind = value_kind(a);

    if (a == b)
        return true;
    if (kind != value_kind(b))
        return false;
    switch (kind) {
    case JSON_ABSENT:
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return value_is_true(a) == value_is_true(b);
    case JSON_NUMBER:
        return number_equal(value_number_text(a), value_number_text(b));
    case JSON_STRING:
        return str_eq(value_text(a), value_text(b));
    case JSON_ARRAY:
        return value_count(a) == value_count(b) && equal_elements(a, b);
    case JSON_OBJECT:
        return value_count(a) == value_count(b) && equal_members(a, b);
    }
    return false;
}

/* ---- write ---- */

static void write_into(const struct value *value, bool sorted, struct json_writer *w);

static void write_object(const struct value *object, bool sorted, struct json_writer *w)
{
    uint32_t count = sorted ? value_count(object) : 0;
    const struct value **members = count > 1 ? sorted_members(w->out->arena, object, count) : NULL;
    uint32_t i = 0;

    json_open_object(w);
    for (const struct value *m = value_first(object); m; m = value_next(m)) {
        const struct value *member = members ? members[i++] : m;

        json_put_key(w, value_key(member));
        write_into(member, sorted, w);
    }
    json_close_object(w);
}

static void write_into(const struct value *value, bool sorted, struct json_writer *w)
{
    switch (value_kind(value)) {
    case JSON_ABSENT:
    case JSON_NULL:
        json_put_null(w);
        break;
    case JSON_BOOL:
        json_put_bool(w, value_is_true(value));
        break;
    case JSON_NUMBER:
        json_put_raw(w, value_number_text(value));
        break;
    case JSON_STRING:
        json_put_str(w, value_text(value));
        break;
    case JSON_ARRAY:
        json_open_array(w);
        for (const struct value *e = value_first(value); e; e = value_next(e))
            write_into(e, sorted, w);
        json_close_array(w);
        break;
    case JSON_OBJECT:
        write_object(value, sorted, w);
        break;
    }
}

void value_write(const struct value *value, bool sorted, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    write_into(value, sorted, &w);
}

struct str value_json(struct arena *arena, const struct value *value)
{
    struct strbuf out = strbuf_new(arena, 256);

    value_write(value, false, &out);
    return strbuf_str(&out);
}

/* ---- merge ---- */

struct value *value_merge(struct arena *arena, const struct value *base, const struct value *over)
{
    if (!over)
        return value_clone(arena, base);
    if (value_kind(over) != JSON_OBJECT)
        return value_clone(arena, over);

    struct value *merged = value_object(arena);
    bool onto_object = value_kind(base) == JSON_OBJECT;
    struct lookup below = lookup_new(arena, onto_object ? base : NULL);
    struct lookup above = lookup_new(arena, onto_object ? over : NULL);

    for (const struct value *m = value_first(below.object); m; m = value_next(m)) {
        const struct value *o = lookup_get(&above, value_key(m));

        if (value_kind(o) != JSON_NULL)
            value_add(arena, merged, value_key(m), value_merge(arena, m, o));
    }
    for (const struct value *o = value_first(over); o; o = value_next(o))
        if (value_kind(o) != JSON_NULL && !lookup_get(&below, value_key(o)))
            value_add(arena, merged, value_key(o), value_merge(arena, NULL, o));
    return merged;
}

/* ---- strings ---- */

struct value *value_map_strings(struct arena *arena, const struct value *value,
                                struct str (*change)(void *context, struct str text), void *context)
{
    enum json_kind kind = value_kind(value);
    struct value *copy;

    if (kind == JSON_STRING)
        return value_str(arena, change(context, value_text(value)));
    if (kind != JSON_OBJECT && kind != JSON_ARRAY)
        return value_clone(arena, value);
    copy = kind == JSON_OBJECT ? value_object(arena) : value_array(arena);
    for (const struct value *m = value_first(value); m; m = value_next(m)) {
        struct value *changed = value_map_strings(arena, m, change, context);

        if (kind == JSON_OBJECT)
            value_add(arena, copy, value_key(m), changed);
        else
            value_append(copy, changed);
    }
    return copy;
}
