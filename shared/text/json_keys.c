/* SPDX-License-Identifier: Apache-2.0 */
/* json_keys.c: the keys of one object in an order of their own. */
#include "text/json_index.h"

int json_keys_compare(const struct json_index *index, uint32_t a, uint32_t b)
{
    if (index->nodes[a].next != index->nodes[b].next)
        return index->nodes[a].next < index->nodes[b].next ? -1 : 1;
    return str_cmp(json_key_text(index, a), json_key_text(index, b));
}

uint32_t *json_keys_sorted(const struct json_index *index, uint32_t object)
{
    uint32_t count = index->nodes[object].count;
    uint32_t *from = arena_array(index->arena, uint32_t, count);
    uint32_t *to = arena_array(index->arena, uint32_t, count);

    for (uint32_t i = 0, key = object + 1; i < count; i++, key = index->nodes[key + 1].next)
        from[i] = key;

    /* Merge sort from the bottom: stable, no recursion, no bad input. */
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = low + width < count ? low + width : count;
            uint32_t high = low + 2 * width < count ? low + 2 * width : count;
            uint32_t a = low;
            uint32_t b = middle;

            for (uint32_t k = low; k < high; k++) {
                bool left =
                    a < middle && (b >= high || json_keys_compare(index, from[a], from[b]) <= 0);

                to[k] = left ? from[a++] : from[b++];
            }
        }

        uint32_t *held = from;

        from = to;
        to = held;
    }
    return from;
}
