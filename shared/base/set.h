/* SPDX-License-Identifier: Apache-2.0 */
/* set.h: which strings are there. In an arena; it only grows. Strings are borrowed. A set is passed
 * by value: it refers to what it holds. */
#ifndef HERD_BASE_SET_H
#define HERD_BASE_SET_H

#include "base/list.h"
#include "base/map.h"

struct set {
    struct map *strings; /* their values mean nothing */
};

/* Room for `expected` strings at once. */
static inline struct set set_new(struct arena *arena, uint32_t expected)
{
    return (struct set){ map_new(arena, expected) };
}

/* True if it was not there yet. */
static inline bool set_add(struct set set, struct str s)
{
    return map_put(set.strings, s, set.strings);
}

static inline bool set_has(struct set set, struct str s)
{
    return map_get(set.strings, s) != NULL;
}

static inline void set_add_all(struct set set, const struct str_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        set_add(set, list->items[i]);
}

/* What the list has, or nothing if that is NULL. */
static inline struct set set_of(struct arena *arena, const struct str_list *list)
{
    struct set set = set_new(arena, list ? list->count : 0);

    if (list)
        set_add_all(set, list);
    return set;
}

#endif
