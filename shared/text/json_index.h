/* SPDX-License-Identifier: Apache-2.0 */
/* json_index.h: what json_read leaves behind. Internal to text/.
 *
 * Nodes stand in the order of the text. A container's members follow it, so its subtree is the run
 * from itself to its `next`. An object's member is two nodes: key, then value. */
#ifndef HERD_TEXT_JSON_INDEX_H
#define HERD_TEXT_JSON_INDEX_H

#include "base/list.h"
#include "text/json.h"

enum json_flag {
    JSON_FLAG_ESCAPED = 1,  /* a string or key with backslashes */
    JSON_FLAG_FRACTION = 2, /* a number with '.', 'e' or 'E' */
    JSON_FLAG_TRUE = 4,
    JSON_FLAG_KEY = 8,
};

struct json_node {
    uint32_t start; /* offset of the first byte; of a key: behind its quote */
    uint32_t end;   /* offset behind the last byte; of a key: of its closing quote */
    uint32_t next;  /* of a value: the node behind its subtree; of a key: key_signature */
    uint32_t kind : 4;
    uint32_t flags : 4;
    uint32_t count : 24; /* members or elements; of an escaped key: its place in `decoded` */
};

enum { JSON_COUNT_MAX = (1 << 24) - 1 };

struct json_index {
    struct arena *arena;
    struct str bytes;
    struct json_node *nodes;
    struct str_list decoded; /* texts of keys with escapes */
};

static inline const struct json_node *json_node_of(struct json value)
{
    return &value.index->nodes[value.node];
}

static inline struct str json_key_text(const struct json_index *index, uint32_t node)
{
    const struct json_node *key = &index->nodes[node];

    if (key->flags & JSON_FLAG_ESCAPED)
        return index->decoded.items[key->count];
    return str_make(index->bytes.at + key->start, key->end - key->start);
}

/* 32 bits that tell most keys apart by their length and ends. Never the only test. */
static inline uint32_t key_signature(struct str key)
{
    uint64_t head = 0;
    uint64_t tail = 0;

    if (key.len >= 8) {
        memcpy(&head, key.at, 8);
        memcpy(&tail, key.at + key.len - 8, 8);
    } else if (key.len >= 4) {
        uint32_t part;

        memcpy(&part, key.at, 4);
        head = part;
        memcpy(&part, key.at + key.len - 4, 4);
        tail = part;
    } else if (key.len) {
        head = (unsigned char)key.at[0];
        tail =
            (uint64_t)(unsigned char)key.at[key.len / 2] << 8 | (unsigned char)key.at[key.len - 1];
    }

    uint64_t mixed = (head ^ key.len) * 0x9e3779b97f4a7c15ULL;

    mixed = (mixed ^ mixed >> 29 ^ tail) * 0xbf58476d1ce4e5b9ULL;
    return (uint32_t)(mixed >> 32);
}

/* By signature, then by text; 0 if equal. */
int json_keys_compare(const struct json_index *index, uint32_t a, uint32_t b);
/* Key nodes of an object, ordered by signature and then by text: n log n whatever the keys are,
 * which no table with a known hash can say. The array lives in the index' arena. */
uint32_t *json_keys_sorted(const struct json_index *index, uint32_t object);

/* The number of the four hexadecimal digits at `at`, or -1. */
int32_t json_hex_code(const char *at, const char *end);
/* Decode the escapes of a string body that the scan has found good. */
struct str json_unescape(struct arena *arena, struct str body);

#endif
