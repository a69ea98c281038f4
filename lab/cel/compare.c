/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: size, equality and order of values, and how they are shown. Numbers of different kinds
 * are compared as numbers. Source: cel-spec doc/langdef.md "Equality" and "Ordering". */
#include "lab/cel/moment.h"
#include "lab/cel/value.h"

#include <math.h>

static bool is_numeric(const struct cel_value *value)
{
    return value->kind == CEL_INT || value->kind == CEL_UINT || value->kind == CEL_DOUBLE;
}

static int sign(bool less, bool more)
{
    return less ? -1 : more ? 1 : 0;
}

/* An int or uint against a double, without rounding the whole number. */
static int compare_real(const struct cel_value *whole, double real)
{
    __int128 number = whole->kind == CEL_INT ? whole->number : (__int128)whole->natural;
    double down = floor(real);

    if (isnan(real))
        return 3;
    if (real >= 1.8446744073709552e19)
        return -1;
    if (real < -9.223372036854775808e18)
        return 1;
    if (number != (__int128)down)
        return number < (__int128)down ? -1 : 1;
    return real > down ? -1 : 0;
}

static int compare_numbers(const struct cel_value *a, const struct cel_value *b)
{
    if (a->kind == CEL_DOUBLE && b->kind == CEL_DOUBLE)
        return isnan(a->real) || isnan(b->real) ? 3 : sign(a->real<b->real, a->real> b->real);
    if (b->kind == CEL_DOUBLE)
        return compare_real(a, b->real);
    if (a->kind == CEL_DOUBLE) {
        int reversed = compare_real(b, a->real);

        return reversed == 3 ? 3 : -reversed;
    }
    {
        __int128 x = a->kind == CEL_INT ? a->number : (__int128)a->natural;
        __int128 y = b->kind == CEL_INT ? b->number : (__int128)b->natural;

        return sign(x<y, x> y);
    }
}

static int compare_moments(struct cel_moment a, struct cel_moment b)
{
    if (a.seconds != b.seconds)
        return sign(a.seconds < b.seconds, true);
    return sign(a.nanos<b.nanos, a.nanos> b.nanos);
}

int cel_compare(const struct cel_value *a, const struct cel_value *b)
{
    int order;

    if (is_numeric(a) && is_numeric(b))
        return compare_numbers(a, b);
    if (a->kind != b->kind)
        return 2;
    switch (a->kind) {
    case CEL_BOOL:
        return sign(!a->truth && b->truth, a->truth && !b->truth);
    case CEL_STRING:
    case CEL_BYTES:
        order = str_cmp(a->text, b->text);
        return sign(order<0, order> 0);
    case CEL_DURATION:
        return sign(a->number<b->number, a->number> b->number);
    case CEL_TIMESTAMP:
        return compare_moments(a->moment, b->moment);
    default:
        return 2;
    }
}

static bool is_in(struct arena *arena, const struct cel_value *value, const struct cel_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (cel_equal(arena, value, &list->items[i]))
            return true;
    return false;
}

/* The element with the same keys; NULL = none. */
static const struct cel_value *peer(const struct cel_list *list, const struct str_list *keys,
                                    const struct cel_value *element)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct cel_value *other = &list->items[i];
        bool same = other->kind == CEL_STRUCT && element->kind == CEL_STRUCT;

        for (uint32_t k = 0; same && k < keys->count; k++)
            same = value_equal(value_get(element->map->json, keys->items[k]),
                               value_get(other->map->json, keys->items[k]));
        if (same)
            return other;
    }
    return NULL;
}

static bool equal_lists(struct arena *arena, const struct cel_list *a, const struct cel_list *b)
{
    enum cel_identity identity = a->type ? a->type->identity : CEL_ORDERED;

    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct cel_value *other = &b->items[i];

        if (identity == CEL_SET) {
            if (!is_in(arena, &a->items[i], b))
                return false;
            continue;
        }
        if (identity == CEL_KEYED)
            other = peer(b, &a->type->keys, &a->items[i]);
        if (!other || !cel_equal(arena, &a->items[i], other))
            return false;
    }
    return true;
}

static bool equal_maps(struct arena *arena, const struct cel_value *a, const struct cel_value *b)
{
    struct cel_values keys = cel_map_keys(arena, a);

    if (cel_map_count(a->map) != cel_map_count(b->map))
        return false;
    for (uint32_t i = 0; i < keys.count; i++) {
        struct cel_value x, y;
        bool has_x = cel_map_find(arena, a, &keys.items[i], &x);
        bool has_y = cel_map_find(arena, b, &keys.items[i], &y);

        if (has_x != has_y || (has_x && !cel_equal(arena, &x, &y)))
            return false;
    }
    return true;
}

static bool is_map(const struct cel_value *value)
{
    return value->kind == CEL_MAP || value->kind == CEL_STRUCT;
}

bool cel_equal(struct arena *arena, const struct cel_value *a, const struct cel_value *b)
{
    if (is_numeric(a) && is_numeric(b))
        return compare_numbers(a, b) == 0;
    if (is_map(a) && is_map(b))
        return equal_maps(arena, a, b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_NULL:
        return true;
    case CEL_LIST:
        return equal_lists(arena, a->list, b->list);
    case CEL_TYPE:
        return a->type->kind == b->type->kind &&
               str_eq(cel_type_name(a->type), cel_type_name(b->type));
    case CEL_OPTIONAL:
        return a->inside && b->inside ? cel_equal(arena, a->inside, b->inside)
                                      : a->inside == b->inside;
    case CEL_QUANTITY:
        return a->quantity->milli == b->quantity->milli;
    default:
        return cel_compare(a, b) == 0;
    }
}

int64_t cel_characters(struct str text)
{
    int64_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return count;
}

uint64_t cel_size(const struct cel_value *value)
{
    switch (value->kind) {
    case CEL_STRING:
        return (uint64_t)cel_characters(value->text);
    case CEL_BYTES:
        return value->text.len;
    case CEL_LIST:
        return value->list->count;
    case CEL_MAP:
    case CEL_STRUCT:
        return cel_map_count(value->map);
    case CEL_OPTIONAL:
        return value->inside ? cel_size(value->inside) : 1;
    default:
        return 1;
    }
}

const struct cel_type *cel_value_type(const struct cel_value *value)
{
    static const struct cel_type optional = { .kind = CEL_OPTIONAL };

    switch (value->kind) {
    case CEL_NULL:
        return &cel_type_null;
    case CEL_STRUCT:
        return value->map->type;
    case CEL_OPTIONAL:
        return &optional;
    case CEL_DYN:
    case CEL_ERROR:
    case CEL_PARAM:
    case CEL_KIND_COUNT:
        return &cel_type_error;
    case CEL_BOOL:
        return &cel_type_bool;
    case CEL_INT:
        return &cel_type_int;
    case CEL_UINT:
        return &cel_type_uint;
    case CEL_DOUBLE:
        return &cel_type_double;
    case CEL_STRING:
        return &cel_type_string;
    case CEL_BYTES:
        return &cel_type_bytes;
    case CEL_TIMESTAMP:
        return &cel_type_timestamp;
    case CEL_DURATION:
        return &cel_type_duration;
    case CEL_LIST:
        return &cel_type_list_dyn;
    case CEL_MAP:
        return &cel_type_map_dyn;
    case CEL_TYPE:
        return &cel_type_type;
    case CEL_QUANTITY:
        return &cel_type_quantity;
    }
    return &cel_type_error;
}
