/* SPDX-License-Identifier: Apache-2.0 */
/* list.h: typed growing arrays in an arena.
 *
 * LIST_DEFINE(u32_list, uint32_t) makes struct u32_list { items, count, capacity, arena } with
 * u32_list_new and u32_list_push. `items` may move on a push: keep indexes, not pointers. */
#ifndef HERD_BASE_LIST_H
#define HERD_BASE_LIST_H

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>
#include <string.h>

#define LIST_DEFINE(name, type)                                                                    \
    struct name {                                                                                  \
        type *items;                                                                               \
        uint32_t count;                                                                            \
        uint32_t capacity;                                                                         \
        struct arena *arena;                                                                       \
    };                                                                                             \
                                                                                                   \
    __attribute__((unused)) static inline struct name name##_new(struct arena *arena,              \
                                                                 uint32_t capacity)                \
    {                                                                                              \
        return (struct name){ capacity ? arena_array(arena, type, capacity) : NULL, 0, capacity,   \
                              arena };                                                             \
    }                                                                                              \
                                                                                                   \
    __attribute__((unused)) static inline type *name##_push(struct name *list, type item)          \
    {                                                                                              \
        if (list->count == list->capacity) {                                                       \
            uint32_t capacity = list->capacity ? list->capacity * 2 : 8;                           \
            type *items = arena_array(list->arena, type, capacity);                                \
                                                                                                   \
            if (list->count)                                                                       \
                memcpy(items, list->items, sizeof(type) * list->count);                            \
            list->items = items;                                                                   \
            list->capacity = capacity;                                                             \
        }                                                                                          \
        list->items[list->count] = item;                                                           \
        return &list->items[list->count++];                                                        \
    }

LIST_DEFINE(u32_list, uint32_t)
LIST_DEFINE(str_list, struct str)

static inline bool str_list_has(const struct str_list *list, struct str s)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i], s))
            return true;
    return false;
}

#endif
