/* SPDX-License-Identifier: Apache-2.0 */
/* multimap.c: a table of small arrays. Sets here have a few members, so they are searched. */
#include "base/multimap.h"

#include "base/map.h"
#include "base/memory.h"

struct members {
    struct str *items; /* each a copy of its own */
    uint32_t count;
    uint32_t capacity;
};

struct multimap {
    struct dict *sets;
};

struct multimap *multimap_create(void)
{
    struct multimap *map = mem_new(struct multimap);

    map->sets = dict_create();
    return map;
}

static void item_free(struct str item)
{
    mem_free((char *)(uintptr_t)item.at);
}

static void members_free(struct members *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        item_free(set->items[i]);
    mem_free(set->items);
    mem_free(set);
}

void multimap_free(struct multimap *map)
{
    struct str key;
    void *set;

    if (!map)
        return;
    for (size_t cursor = 0; dict_next(map->sets, &cursor, &key, &set);)
        members_free(set);
    dict_free(map->sets);
    mem_free(map);
}

bool multimap_add(struct multimap *map, struct str key, struct str value)
{
    struct members *set = dict_get(map->sets, key);

    if (!set) {
        set = mem_new(struct members);
        dict_set(map->sets, key, set);
    }
    for (uint32_t i = 0; i < set->count; i++)
        if (str_eq(set->items[i], value))
            return false;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 2;
        set->items = mem_resize(set->items, sizeof(*set->items) * set->capacity);
    }
    set->items[set->count++] = str_make(mem_copy(value.at, value.len), value.len);
    return true;
}

void multimap_remove(struct multimap *map, struct str key, struct str value)
{
    struct members *set = dict_get(map->sets, key);

    for (uint32_t i = 0; set && i < set->count; i++)
        if (str_eq(set->items[i], value)) {
            item_free(set->items[i]);
            set->items[i] = set->items[--set->count];
            if (set->count == 0)
                multimap_remove_all(map, key);
            return;
        }
}

void multimap_remove_all(struct multimap *map, struct str key)
{
    struct members *set = dict_remove(map->sets, key);

    if (set)
        members_free(set);
}

size_t multimap_count(const struct multimap *map)
{
    return dict_count(map->sets);
}

bool multimap_at(const struct multimap *map, struct str key, uint32_t index, struct str *ret_value)
{
    const struct members *set = dict_get(map->sets, key);

    if (!set || index >= set->count)
        return false;
    *ret_value = set->items[index];
    return true;
}
