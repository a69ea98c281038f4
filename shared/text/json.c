/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: views of what json_scan.c has indexed. */
#include "text/json.h"

#include "text/json_index.h"
#include "text/number.h"

static const struct json absent = { NULL, 0 };

enum json_kind json_kind(struct json value)
{
    return value.index ? (enum json_kind)json_node_of(value)->kind : JSON_ABSENT;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_ABSENT] = "nothing", [JSON_NULL] = "null",     [JSON_BOOL] = "boolean",
        [JSON_NUMBER] = "number",  [JSON_STRING] = "string", [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };

    return names[kind];
}

struct json json_get(struct json object, struct str key)
{
    if (!json_is(object, JSON_OBJECT))
        return absent;

    const struct json_node *nodes = object.index->nodes;
    uint32_t signature = key_signature(key);
    uint32_t end = nodes[object.node].next;

    for (uint32_t i = object.node + 1; i < end; i = nodes[i + 1].next)
        if (nodes[i].next == signature && str_eq(json_key_text(object.index, i), key))
            return (struct json){ object.index, i + 1 };
    return absent;
}

struct json json_walk(struct json value, ...)
{
    va_list keys;
    const char *key;

    va_start(keys, value);
    while ((key = va_arg(keys, const char *)))
        value = json_get(value, str_of(key));
    va_end(keys);
    return value;
}

bool json_may_hold(struct json value, struct str key)
{
    uint32_t signature = key_signature(key);

    if (!value.index)
        return false;
    for (uint32_t i = value.node + 1; i < json_node_of(value)->next; i++)
        if (value.index->nodes[i].flags & JSON_FLAG_KEY && value.index->nodes[i].next == signature)
            return true;
    return false;
}

uint32_t json_count(struct json value)
{
    enum json_kind kind = json_kind(value);

    return kind == JSON_ARRAY || kind == JSON_OBJECT ? json_node_of(value)->count : 0;
}

struct json_iter json_iter(struct json value)
{
    enum json_kind kind = json_kind(value);
    struct json_iter iter = { .position = UINT32_MAX, .of_ = value };

    if (kind == JSON_ARRAY || kind == JSON_OBJECT) {
        iter.next_ = value.node + 1;
        iter.end_ = json_node_of(value)->next;
        iter.arena_ = value.index->arena;
    }
    return iter;
}

bool json_next(struct json_iter *iter)
{
    if (iter->next_ >= iter->end_)
        return false;

    const struct json_index *index = iter->of_.index;

    iter->key = STR("");
    if (json_is(iter->of_, JSON_OBJECT))
        iter->key = json_key_text(index, iter->next_++);
    iter->value = (struct json){ index, iter->next_ };
    iter->next_ = index->nodes[iter->next_].next;
    iter->position++;
    return true;
}

struct str json_raw(struct json value)
{
    if (!value.index)
        return STR("");

    const struct json_node *node = json_node_of(value);

    return str_make(value.index->bytes.at + node->start, node->end - node->start);
}

struct str json_str(struct json value)
{
    if (!json_is(value, JSON_STRING))
        return STR("");

    struct str raw = json_raw(value);
    struct str body = str_make(raw.at + 1, raw.len - 2);

    return json_node_of(value)->flags & JSON_FLAG_ESCAPED ? json_unescape(value.index->arena, body)
                                                          : body;
}

bool json_bool(struct json value)
{
    return json_is(value, JSON_BOOL) && json_node_of(value)->flags & JSON_FLAG_TRUE;
}

bool json_int64(struct json value, int64_t *ret_number)
{
    return json_is(value, JSON_NUMBER) && !(json_node_of(value)->flags & JSON_FLAG_FRACTION) &&
           number_int64(json_raw(value), ret_number);
}

double json_double(struct json value)
{
    return json_is(value, JSON_NUMBER) ? number_double(json_raw(value)) : 0;
}

size_t json_offset(struct json value)
{
    return value.index ? json_node_of(value)->start : 0;
}

static bool equal_arrays(struct json a, struct json b)
{
    struct json_iter x = json_iter(a);
    struct json_iter y = json_iter(b);

    while (json_next(&x) && json_next(&y))
        if (!json_equal(x.value, y.value))
            return false;
    return true;
}

/* Most pairs of objects have the same order; the others are compared in sorted order, so that a
 * hundred thousand shuffled members cost n log n. */
static bool equal_objects(struct json a, struct json b)
{
    const struct json_node *x = a.index->nodes;
    const struct json_node *y = b.index->nodes;
    uint32_t count = x[a.node].count;
    bool same_order = true;

    for (uint32_t i = a.node + 1, k = b.node + 1, n = 0; n < count && same_order; n++) {
        same_order = str_eq(json_key_text(a.index, i), json_key_text(b.index, k));
        i = x[i + 1].next;
        k = y[k + 1].next;
    }

    uint32_t *left = same_order ? NULL : json_keys_sorted(a.index, a.node);
    uint32_t *right = same_order ? NULL : json_keys_sorted(b.index, b.node);

    for (uint32_t n = 0, i = a.node + 1, k = b.node + 1; n < count; n++) {
        if (!same_order) {
            i = left[n];
            k = right[n];
            if (!str_eq(json_key_text(a.index, i), json_key_text(b.index, k)))
                return false;
        }
        if (!json_equal((struct json){ a.index, i + 1 }, (struct json){ b.index, k + 1 }))
            return false;
        i = x[i + 1].next;
        k = y[k + 1].next;
    }
    return true;
}

bool json_equal(struct json a, struct json b)
{
    enum json_kind kind = json_kind(a);

    if (kind != json_kind(b) || json_count(a) != json_count(b))
        return false;
    switch (kind) {
    case JSON_ABSENT:
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return json_bool(a) == json_bool(b);
    case JSON_NUMBER:
        return number_equal(json_raw(a), json_raw(b));
    case JSON_STRING:
        return str_eq(json_str(a), json_str(b));
    case JSON_ARRAY:
        return equal_arrays(a, b);
    case JSON_OBJECT:
        return equal_objects(a, b);
    }
    return false;
}
