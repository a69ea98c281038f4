/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_offer.h: what the clusters that a Stack goes to have to offer, as far as the facts tell. */
#ifndef HERD_STACK_GPU_OFFER_H
#define HERD_STACK_GPU_OFFER_H

#include "stack/gpu/gpu.h"
#include "stack/gpu/inventory.h"
#include "stack/model/facts.h"

/* NULL: not known. */
const struct inventory *gpu_inventory(const struct fact_cluster *cluster);
/* Vendors of which its nodes offer something. */
uint32_t gpu_offered(const struct inventory *inventory);

/* How many clusters, Stacks or figures a finding names (text/enumerate.h). */
enum { GPU_NAMED_MAX = 3 };

#endif
