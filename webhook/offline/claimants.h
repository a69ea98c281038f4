/* claimants.h: which Stacks of an input claim a release. Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_CLAIMANTS_H
#define HERD_WEBHOOK_OFFLINE_CLAIMANTS_H

#include "stack/facts.h"

struct claimants;

struct claimants *claimants_new(struct arena *arena);
/* File a Stack under all that it claims. `scratch` may be reset afterwards. */
void claimants_add(struct claimants *claimants, struct json stack, struct arena *scratch);
/* As fact_stacks.claimants. */
bool claimants_find(const struct claimants *claimants, struct arena *arena, struct str release,
                    const struct str_list *cluster_ids, struct fact_claimants *ret_claimants);

#endif
