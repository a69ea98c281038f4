/* SPDX-License-Identifier: Apache-2.0 */
/* multimap.h: from a string to a set of strings, on the heap. For indexes that last. */
#ifndef HERD_BASE_MULTIMAP_H
#define HERD_BASE_MULTIMAP_H

#include "base/cleanup.h"
#include "base/str.h"

struct multimap;

struct multimap *multimap_create(void);
void multimap_free(struct multimap *map);
AUTO_DEFINE(multimap_free, struct multimap *)

/* True if it was not there. */
bool multimap_add(struct multimap *map, struct str key, struct str value);
void multimap_remove(struct multimap *map, struct str key, struct str value);
void multimap_remove_all(struct multimap *map, struct str key);
/* Keys with at least one value. */
size_t multimap_count(const struct multimap *map);
/* The `index`th value of `key`, in no order that means anything; false behind the last. Borrowed
 * until the map changes. */
bool multimap_at(const struct multimap *map, struct str key, uint32_t index, struct str *ret_value);

#endif
