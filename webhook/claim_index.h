/* SPDX-License-Identifier: Apache-2.0 */
/* claim_index.h: from a hash to the objects that were filed under it: a few bytes each.
 *
 * Two things may share a hash: whoever finds an object looks whether it is the one. Not for several
 * threads at once. Objects are borrowed. */
#ifndef HERD_WEBHOOK_CLAIM_INDEX_H
#define HERD_WEBHOOK_CLAIM_INDEX_H

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct kube_object;
struct claim_index;

struct claim_index *claim_index_create(void);
void claim_index_free(struct claim_index *index);
AUTO_DEFINE(claim_index_free, struct claim_index *)

void claim_index_add(struct claim_index *index, uint32_t hash, struct kube_object *object);
/* Once for each time that it was added. */
void claim_index_remove(struct claim_index *index, uint32_t hash, struct kube_object *object);

/* Puts objects filed under the hash behind the `count` that stand in `objects` already, as far as
 * there is room, in any order. Gives how many there would be. */
uint32_t claim_index_collect(const struct claim_index *index, uint32_t hash,
                             struct kube_object **objects, uint32_t count, uint32_t room);

size_t claim_index_bytes(const struct claim_index *index);

#endif
