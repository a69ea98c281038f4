/* SPDX-License-Identifier: Apache-2.0 */
/* claim_index.c: chains of numbered entries, so that a hash which many share costs one entry each
 * and no search on adding. Buckets double with the entries; entries that were removed are used
 * again. */
#include "webhook/claim_index.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST = 64, END = 0 };

struct entry {
    struct kube_object *object;
    uint32_t hash;
    uint32_t next; /* number of another one in its bucket, or free; END: none */
};

struct claim_index {
    struct entry *entries; /* number 0 is none */
    uint32_t used;         /* numbers below it were given out once */
    uint32_t free;
    uint32_t capacity; /* of both, a power of two */
    uint32_t *buckets;
};

struct claim_index *claim_index_create(void)
{
    struct claim_index *index = mem_new(struct claim_index);

    index->used = 1;
    index->capacity = FIRST;
    index->entries = mem_alloc(sizeof(*index->entries) * FIRST);
    index->buckets = mem_alloc(sizeof(*index->buckets) * FIRST);
    return index;
}

void claim_index_free(struct claim_index *index)
{
    if (!index)
        return;
    mem_free(index->entries);
    mem_free(index->buckets);
    mem_free(index);
}

static uint32_t *bucket(const struct claim_index *index, uint32_t hash)
{
    return &index->buckets[hash & (index->capacity - 1)];
}

static void file(struct claim_index *index, uint32_t number)
{
    struct entry *entry = &index->entries[number];
    uint32_t *head = bucket(index, entry->hash);

    entry->next = *head;
    *head = number;
}

static void grow(struct claim_index *index)
{
    struct entry *old = index->entries;

    mem_free(index->buckets);
    index->capacity *= 2;
    index->entries = mem_alloc(sizeof(*index->entries) * index->capacity);
    index->buckets = mem_alloc(sizeof(*index->buckets) * index->capacity);
    memcpy(index->entries, old, sizeof(*old) * index->used);
    mem_free(old);
    /* Only when none is free: all of them are in use. */
    for (uint32_t i = 1; i < index->used; i++)
        file(index, i);
}

void claim_index_add(struct claim_index *index, uint32_t hash, struct kube_object *object)
{
    uint32_t number = index->free;

    if (number != END) {
        index->free = index->entries[number].next;
    } else {
        if (index->used == index->capacity)
            grow(index);
        number = index->used++;
    }
    index->entries[number] = (struct entry){ .object = object, .hash = hash };
    file(index, number);
}

void claim_index_remove(struct claim_index *index, uint32_t hash, struct kube_object *object)
{
    for (uint32_t *at = bucket(index, hash); *at != END; at = &index->entries[*at].next) {
        struct entry *entry = &index->entries[*at];
        uint32_t number = *at;

        if (entry->hash != hash || entry->object != object)
            continue;
        *at = entry->next;
        *entry = (struct entry){ .next = index->free };
        index->free = number;
        return;
    }
}

uint32_t claim_index_collect(const struct claim_index *index, uint32_t hash,
                             struct kube_object **objects, uint32_t count, uint32_t room)
{
    for (uint32_t i = *bucket(index, hash); i != END; i = index->entries[i].next) {
        if (index->entries[i].hash != hash)
            continue;
        if (count < room)
            objects[count] = index->entries[i].object;
        count++;
    }
    return count;
}

size_t claim_index_bytes(const struct claim_index *index)
{
    return sizeof(*index) +
           (size_t)index->capacity * (sizeof(*index->entries) + sizeof(*index->buckets));
}
