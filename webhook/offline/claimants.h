/* SPDX-License-Identifier: Apache-2.0 */
/* claimants.h: which Stacks of an input claim a release. Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_CLAIMANTS_H
#define HERD_WEBHOOK_OFFLINE_CLAIMANTS_H

#include "stack/targets/claims.h"

struct claimants;

struct claimants *claimants_new(struct arena *arena);
/* File a Stack under all that it claims. Nothing is borrowed. */
void claimants_add(struct claimants *claimants, const struct stack *stack,
                   const struct claims *claims);
/* As fact_stacks.claimants. */
bool claimants_find(const struct claimants *claimants, struct arena *arena, struct str release,
                    const struct str_list *cluster_ids, struct fact_claimants *ret_claimants);

#endif
