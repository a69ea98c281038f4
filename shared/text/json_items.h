/* SPDX-License-Identifier: Apache-2.0 */
/* json_items.h: the elements of one array in a document that comes in pieces and is too large to be
 * held.
 *
 * Each array that is in no other array is left out of what is kept: its elements are read one at a
 * time (json.h), and those of the array that is asked for are handed out. What remains of the
 * document, with these arrays empty, is read at the end. So all of it is checked as strictly as
 * json_read does it, memory is bounded by the largest element, and time is linear in the bytes. */
#ifndef HERD_TEXT_JSON_ITEMS_H
#define HERD_TEXT_JSON_ITEMS_H

#include "text/json.h"

struct json_items;

struct json_items_options {
    /* Keys that lead to the array, from the outermost object; borrowed. */
    const struct str *path;
    uint32_t path_count;   /* 1 to JSON_ITEMS_DEPTH_MAX */
    size_t bytes_max;      /* of the whole document */
    size_t item_bytes_max; /* of one element of any array */
    size_t rest_bytes_max; /* of all but the elements */
    /* An element of that array, borrowed for the call. What was handed out counts only once
     * json_items_end says that the document is whole. */
    void (*item)(void *context, struct json item);
    void *context;
};

/* Objects within objects, outside of arrays. */
enum { JSON_ITEMS_DEPTH_MAX = 16 };

struct json_items *json_items_create(const struct json_items_options *options);
void json_items_free(struct json_items *items);
AUTO_DEFINE(json_items_free, struct json_items *)

/* -1: it is not JSON, or too large; every later call says the same. */
int json_items_put(struct json_items *items, struct str piece, struct error *err);
/* Behind the last piece. -1: the document is not whole, or has no such array. */
int json_items_end(struct json_items *items, struct error *err);

#endif
