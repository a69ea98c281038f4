/* SPDX-License-Identifier: Apache-2.0 */
/* map.c: open addressing with linear probing; power-of-two tables, at most half full. */
#include "base/map.h"

#include "base/memory.h"

struct map_entry {
    struct str key;
    void *value;
    uint64_t hash;
};

struct map {
    struct arena *arena;
    struct map_entry *entries; /* in order of insertion */
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* index of an entry plus one; 0 is free */
    uint32_t slot_mask;
};

static uint32_t slots_for(uint32_t entries)
{
    uint32_t slots = 16;

    while (slots < entries * 2)
        slots *= 2;
    return slots;
}

struct map *map_new(struct arena *arena, uint32_t expected)
{
    struct map *map = arena_new(arena, struct map);

    map->arena = arena;
    map->capacity = expected < 8 ? 8 : expected;
    map->entries = arena_array(arena, struct map_entry, map->capacity);
    map->slot_mask = slots_for(map->capacity) - 1;
    map->slots = arena_array(arena, uint32_t, (size_t)map->slot_mask + 1);
    return map;
}

static uint32_t *find_slot(const struct map *map, struct str key, uint64_t hash)
{
    uint32_t first = (uint32_t)hash & map->slot_mask;

    for (uint32_t i = first;; i = (i + 1) & map->slot_mask) {
        uint32_t held = map->slots[i];

        if (held == 0 ||
            (map->entries[held - 1].hash == hash && str_eq(map->entries[held - 1].key, key)))
            return &map->slots[i];
    }
}

static void grow_map(struct map *map)
{
    uint32_t capacity = map->capacity * 2;
    struct map_entry *entries = arena_array(map->arena, struct map_entry, capacity);

    memcpy(entries, map->entries, sizeof(*entries) * map->count);
    map->entries = entries;
    map->capacity = capacity;
    map->slot_mask = slots_for(capacity) - 1;
    map->slots = arena_array(map->arena, uint32_t, (size_t)map->slot_mask + 1);
    for (uint32_t i = 0; i < map->count; i++)
        *find_slot(map, entries[i].key, entries[i].hash) = i + 1;
}

void *map_get(const struct map *map, struct str key)
{
    uint32_t held = *find_slot(map, key, str_hash(key));

    return held ? map->entries[held - 1].value : NULL;
}

bool map_put(struct map *map, struct str key, void *value)
{
    uint64_t hash = str_hash(key);
    uint32_t *slot = find_slot(map, key, hash);

    if (*slot) {
        map->entries[*slot - 1].value = value;
        return false;
    }
    if (map->count == map->capacity) {
        grow_map(map);
        slot = find_slot(map, key, hash);
    }
    map->entries[map->count] = (struct map_entry){ key, value, hash };
    *slot = ++map->count;
    return true;
}

uint32_t map_count(const struct map *map)
{
    return map->count;
}

struct str map_key(const struct map *map, uint32_t index)
{
    return map->entries[index].key;
}

void *map_value(const struct map *map, uint32_t index)
{
    return map->entries[index].value;
}

struct dict_entry {
    char *key; /* NULL: free */
    size_t key_len;
    void *value; /* NULL behind a key: removed, kept so that probing goes on */
    uint64_t hash;
};

struct dict {
    struct dict_entry *entries;
    size_t mask;
    size_t used; /* keys, removed ones too */
    size_t live;
};

enum { FIRST_MASK = 3 };

/* Most stay empty, so none has entries before its first key: this one is found, and not written. */
static struct dict_entry nothing;

struct dict *dict_create(void)
{
    struct dict *dict = mem_new(struct dict);

    dict->entries = &nothing;
    return dict;
}

static void entries_free(struct dict_entry *entries)
{
    if (entries != &nothing)
        mem_free(entries);
}

void dict_free(struct dict *dict)
{
    if (!dict)
        return;
    for (size_t i = 0; i <= dict->mask; i++)
        mem_free(dict->entries[i].key);
    entries_free(dict->entries);
    mem_free(dict);
}

static struct dict_entry *find_entry(const struct dict *dict, struct str key, uint64_t hash)
{
    for (size_t i = hash & dict->mask;; i = (i + 1) & dict->mask) {
        struct dict_entry *entry = &dict->entries[i];

        if (!entry->key ||
            (entry->hash == hash && str_eq(str_make(entry->key, entry->key_len), key)))
            return entry;
    }
}

static void rebuild(struct dict *dict)
{
    struct dict_entry *old = dict->entries;
    size_t old_mask = dict->mask;

    if (dict->mask < FIRST_MASK)
        dict->mask = FIRST_MASK;
    while (dict->live * 4 > dict->mask)
        dict->mask = dict->mask * 2 + 1;
    dict->entries = mem_alloc(sizeof(*dict->entries) * (dict->mask + 1));
    dict->used = dict->live;
    for (size_t i = 0; i <= old_mask; i++) {
        if (!old[i].value) {
            mem_free(old[i].key);
            continue;
        }
        *find_entry(dict, str_make(old[i].key, old[i].key_len), old[i].hash) = old[i];
    }
    entries_free(old);
}

void *dict_get(const struct dict *dict, struct str key)
{
    return find_entry(dict, key, str_hash(key))->value;
}

void *dict_set(struct dict *dict, struct str key, void *value)
{
    uint64_t hash = str_hash(key);
    struct dict_entry *entry = find_entry(dict, key, hash);

    if (!entry->key) {
        if ((dict->used + 1) * 2 > dict->mask) {
            rebuild(dict);
            entry = find_entry(dict, key, hash);
        }
        *entry = (struct dict_entry){ mem_copy(key.at, key.len), key.len, NULL, hash };
        dict->used++;
    }

    void *before = entry->value;

    if (!before)
        dict->live++;
    entry->value = value;
    return before;
}

void *dict_remove(struct dict *dict, struct str key)
{
    struct dict_entry *entry = find_entry(dict, key, str_hash(key));
    void *before = entry->value;

    if (before) {
        entry->value = NULL;
        dict->live--;
    }
    return before;
}

size_t dict_count(const struct dict *dict)
{
    return dict->live;
}

bool dict_next(const struct dict *dict, size_t *cursor, struct str *ret_key, void **ret_value)
{
    for (; *cursor <= dict->mask; (*cursor)++) {
        const struct dict_entry *entry = &dict->entries[*cursor];

        if (!entry->value)
            continue;
        *ret_key = str_make(entry->key, entry->key_len);
        *ret_value = entry->value;
        (*cursor)++;
        return true;
    }
    return false;
}
