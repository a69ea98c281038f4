/* SPDX-License-Identifier: Apache-2.0 */
/* map.h: from strings to pointers.
 *
 * `struct map` lives in an arena and only grows: for the length of one piece of work.
 * `struct dict` is an object on the heap, with copies of its keys and with removal: for what lasts.
 * Neither owns its values. Iteration order is that of insertion for map, unspecified for dict. */
#ifndef HERD_BASE_MAP_H
#define HERD_BASE_MAP_H

#include "base/str.h"

struct map;

/* Room for `expected` keys at once; it grows beyond. Keys are borrowed. */
struct map *map_new(struct arena *arena, uint32_t expected);
void *map_get(const struct map *map, struct str key);
/* True if the key was new; if not, the value is replaced. */
bool map_put(struct map *map, struct str key, void *value);
uint32_t map_count(const struct map *map);
/* The `index`th key put, 0 <= index < map_count. */
struct str map_key(const struct map *map, uint32_t index);
void *map_value(const struct map *map, uint32_t index);

struct dict;

struct dict *dict_create(void);
/* Frees the table and its keys, not the values. */
void dict_free(struct dict *dict);
AUTO_DEFINE(dict_free, struct dict *)
void *dict_get(const struct dict *dict, struct str key);
/* The value that stood there before, or NULL. `value` is not NULL. */
void *dict_set(struct dict *dict, struct str key, void *value);
/* The value that stood there, or NULL. */
void *dict_remove(struct dict *dict, struct str key);
size_t dict_count(const struct dict *dict);
/* Walk: start with *cursor 0; false at the end. Removing the entry just given is allowed; setting
 * a new key meanwhile is not. */
bool dict_next(const struct dict *dict, size_t *cursor, struct str *ret_key, void **ret_value);

#endif
