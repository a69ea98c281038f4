/* SPDX-License-Identifier: Apache-2.0 */
/* patch_diff.c: the patch that leads from one value to another.
 *
 * Objects are compared by key. Arrays are aligned by their longest common subsequence of equal
 * elements, where they are short enough for that, else by common head and tail; what stands between
 * two aligned elements is paired in order. A container whose parts would cost more bytes to fix
 * than to replace is replaced. Equal input gives equal bytes. */
#include "text/json_write.h"
#include "text/lookup.h"
#include "text/patch.h"
#include "text/pointer.h"

#include "base/list.h"

struct diff {
    struct arena *arena;
    struct strbuf ops;
    struct strbuf path; /* of the values at hand */
};

static void differ(struct diff *d, const struct value *before, const struct value *after);

/* ---- operations ---- */

static void put_operation(struct diff *d, const char *op, const struct value *value)
{
    struct json_writer w = json_writer(&d->ops);

    if (d->ops.len > 1)
        strbuf_char(&d->ops, ',');
    json_open_object(&w);
    json_field_str(&w, "op", str_of(op));
    json_field_str(&w, "path", str_make(d->path.at, d->path.len));
    if (value) {
        json_put_key(&w, STR("value"));
        value_write(value, false, &d->ops);
    }
    json_close_object(&w);
}

/* Bytes of a value's text, about; counting stops beyond `most`. */
static size_t text_size(const struct value *value, size_t most)
{
    size_t size = value_key(value).len + value_text(value).len + value_number_text(value).len + 5;

    for (const struct value *m = value_first(value); m && size <= most; m = value_next(m))
        size += text_size(m, most - size);
    return size;
}

static size_t push_key(struct diff *d, struct str key)
{
    size_t len = d->path.len;

    pointer_push(&d->path, key);
    return len;
}

static size_t push_index(struct diff *d, uint32_t index)
{
    size_t len = d->path.len;

    strbuf_char(&d->path, '/');
    strbuf_u64(&d->path, index);
    return len;
}

/* ---- objects ---- */

static void differ_objects(struct diff *d, const struct value *before, const struct value *after)
{
    struct lookup old = lookup_new(d->arena, before);
    struct lookup new = lookup_new(d->arena, after);

    for (const struct value *m = value_first(before); m; m = value_next(m)) {
        const struct value *other = lookup_get(&new, value_key(m));
        size_t len = push_key(d, value_key(m));

        if (other)
            differ(d, m, other);
        else
            put_operation(d, "remove", NULL);
        d->path.len = len;
    }
    for (const struct value *m = value_first(after); m; m = value_next(m)) {
        size_t len;

        if (lookup_get(&old, value_key(m)))
            continue;
        len = push_key(d, value_key(m));
        put_operation(d, "add", m);
        d->path.len = len;
    }
}

/* ---- arrays ---- */

struct row {
    const struct value **items;
    uint32_t count;
};

static struct row row_of(struct arena *arena, const struct value *array)
{
    struct row row = { NULL, value_count(array) };
    uint32_t i = 0;

    row.items = arena_array(arena, const struct value *, row.count);
    for (const struct value *e = value_first(array); e; e = value_next(e))
        row.items[i++] = e;
    return row;
}

/* Elements [a, a_end) become [b, b_end), the first at `index`: paired, the rest removed or
 * added. */
static void differ_run(struct diff *d, const struct row *x, uint32_t a, uint32_t a_end,
                       const struct row *y, uint32_t b, uint32_t b_end, uint32_t index)
{
    for (; a < a_end && b < b_end; a++, b++, index++) {
        size_t len = push_index(d, index);

        differ(d, x->items[a], y->items[b]);
        d->path.len = len;
    }
    /* From the last one down, so that the operations read as the indexes of `before`. */
    for (uint32_t left = a_end - a; left > 0; left--) {
        size_t len = push_index(d, index + left - 1);

        put_operation(d, "remove", NULL);
        d->path.len = len;
    }
    for (; b < b_end; b++, index++) {
        size_t len = push_index(d, index);

        put_operation(d, "add", y->items[b]);
        d->path.len = len;
    }
}

/* lengths[i][k]: the longest common subsequence of x from i and y from k. */
static uint32_t *common_lengths(struct arena *arena, const struct row *x, uint32_t a,
                                uint32_t a_end, const struct row *y, uint32_t b, uint32_t b_end)
{
    uint32_t rows = a_end - a;
    uint32_t columns = b_end - b;
    uint32_t *lengths = arena_array(arena, uint32_t, (size_t)(rows + 1) * (columns + 1));

    for (uint32_t i = rows; i-- > 0;) {
        for (uint32_t k = columns; k-- > 0;) {
            uint32_t *here = &lengths[(size_t)i * (columns + 1) + k];
            uint32_t below = here[columns + 1];
            uint32_t right = here[1];

            if (value_equal(x->items[a + i], y->items[b + k]))
                *here = here[columns + 2] + 1;
            else
                *here = below > right ? below : right;
        }
    }
    return lengths;
}

static void differ_aligned(struct diff *d, const struct row *x, uint32_t a, uint32_t a_end,
                           const struct row *y, uint32_t b, uint32_t b_end, uint32_t index)
{
    const uint32_t *lengths = common_lengths(d->arena, x, a, a_end, y, b, b_end);
    uint32_t columns = b_end - b;
    uint32_t first_a = a;
    uint32_t first_b = b;
    uint32_t i = a;
    uint32_t k = b;

    while (i < a_end && k < b_end) {
        const uint32_t *here = &lengths[(size_t)(i - first_a) * (columns + 1) + (k - first_b)];

        if (value_equal(x->items[i], y->items[k]) && *here == here[columns + 2] + 1) {
            differ_run(d, x, a, i, y, b, k, index);
            index += k - b + 1;
            a = ++i;
            b = ++k;
        } else if (here[columns + 1] >= here[1]) {
            i++;
        } else {
            k++;
        }
    }
    differ_run(d, x, a, a_end, y, b, b_end, index);
}

static void differ_arrays(struct diff *d, const struct value *before, const struct value *after)
{
    enum { ALIGN_MAX = 4096 }; /* pairs compared: 64 by 64 */
    struct row x = row_of(d->arena, before);
    struct row y = row_of(d->arena, after);
    uint32_t head = 0;
    uint32_t a_end = x.count;
    uint32_t b_end = y.count;

    while (head < a_end && head < b_end && value_equal(x.items[head], y.items[head]))
        head++;
    while (a_end > head && b_end > head && value_equal(x.items[a_end - 1], y.items[b_end - 1])) {
        a_end--;
        b_end--;
    }
    if (x.count == y.count || (uint64_t)(a_end - head) * (b_end - head) > ALIGN_MAX)
        differ_run(d, &x, head, a_end, &y, head, b_end, head);
    else
        differ_aligned(d, &x, head, a_end, &y, head, b_end, head);
}

/* ---- both ---- */

static void differ(struct diff *d, const struct value *before, const struct value *after)
{
    enum json_kind kind = value_kind(before);
    size_t start = d->ops.len;

    if (kind != value_kind(after) || (kind != JSON_OBJECT && kind != JSON_ARRAY)) {
        if (!value_equal(before, after))
            put_operation(d, "replace", after);
        return;
    }
    if (kind == JSON_OBJECT)
        differ_objects(d, before, after);
    else
        differ_arrays(d, before, after);

    /* The document itself is never replaced: nobody could read such a patch. */
    size_t spent = d->ops.len - start;
    size_t frame = d->path.len + sizeof("{\"op\":\"replace\",\"path\":\"\",\"value\":}");

    if (d->path.len && spent > frame && text_size(after, spent - frame) < spent - frame) {
        d->ops.len = start;
        put_operation(d, "replace", after);
    }
}

struct str patch_diff(struct arena *arena, const struct value *before, const struct value *after)
{
    struct diff d = { arena, strbuf_new(arena, 256), strbuf_new(arena, 128) };

    strbuf_char(&d.ops, '[');
    differ(&d, before, after);
    strbuf_char(&d.ops, ']');
    return strbuf_str(&d.ops);
}

/* ---- merge patches ---- */

struct value *patch_merge_diff(struct arena *arena, const struct value *before,
                               const struct value *after)
{
    if (value_kind(before) != JSON_OBJECT || value_kind(after) != JSON_OBJECT)
        return value_clone(arena, after);

    struct value *merge = value_object(arena);
    struct lookup old = lookup_new(arena, before);
    struct lookup new = lookup_new(arena, after);

    for (const struct value *m = value_first(before); m; m = value_next(m))
        if (!lookup_get(&new, value_key(m)))
            value_add(arena, merge, value_key(m), value_null(arena));
    for (const struct value *m = value_first(after); m; m = value_next(m)) {
        const struct value *other = lookup_get(&old, value_key(m));

        if (!other || !value_equal(other, m))
            value_add(arena, merge, value_key(m), patch_merge_diff(arena, other, m));
    }
    return merge;
}
