/* SPDX-License-Identifier: Apache-2.0 */
/* claims.h: which releases a Stack claims, and where: what no two Stacks can both have.
 *
 * A claim is a release, "namespace/releaseName", on the clusters that the Stack targets, less those
 * where an override skips the chart. It can be packed into a few bytes, so that the claims of many
 * Stacks are known at once. A Stack that does not say which clusters it means claims nothing. Pure;
 * all in the arena. */
#ifndef HERD_STACK_CLAIMS_H
#define HERD_STACK_CLAIMS_H

#include "stack/model/facts.h"
#include "stack/model/stack.h"

/* Some clusters: by id, by what they are like, or all of them. */
struct claim_place {
    bool everywhere;
    bool by_selector;
    struct selector selector;
    struct str_list ids; /* sorted, each once */
};

/* Where an override leaves charts out. */
struct claim_skip {
    struct claim_place where;
    struct u32_list releases; /* indexes into claims.releases, in order */
};
LIST_DEFINE(claim_skips, struct claim_skip)

struct claims {
    bool deleting; /* it still claims all until it is gone */
    struct claim_place targets;
    struct str_list releases; /* of spec.charts[i]: "namespace/releaseName" */
    struct claim_skips skips;
};

/* Of a defaulted Stack. */
struct claims claims_of(struct arena *arena, const struct stack *stack);

/* To bytes and back; the strings of what is read borrow from the bytes. What claims_pack did not
 * write is read as far as it goes. */
void claims_pack(const struct claims *claims, struct strbuf *out);
struct claims claims_read(struct arena *arena, struct str packed);

/* The index of a release, or -1. */
int64_t claims_find(const struct claims *claims, struct str release);

/* What is compared below is charged to the arena (arena_work); NULL: to nobody. */

/* Whether the Stack goes to a cluster that there is, whatever of its charts is skipped there, */
bool claims_choose(struct arena *arena, const struct claims *claims,
                   const struct fact_cluster *cluster);
/* and whether it claims the release there. */
bool claims_on(struct arena *arena, const struct claims *claims, uint32_t release,
               const struct fact_cluster *cluster);
/* And on one of which only the id is known: no selector chooses or skips it. */
bool claims_by_id(struct arena *arena, const struct claims *claims, uint32_t release,
                  struct str cluster_id);

/* Whether claims.skips[skip] applies on a cluster; `cluster` NULL: only its id is known. */
bool claims_skip_on(struct arena *arena, const struct claims *claims, uint32_t skip, struct str id,
                    const struct fact_cluster *cluster);
/* Whether the release may be on any cluster, known or not: false if overrides skip it wherever the
 * Stack goes. */
bool claims_anywhere(struct arena *arena, const struct claims *claims, uint32_t release);

/* Whether some cluster, of whatever labels, could be chosen by the selectors of both for one
 * release. False if either goes by ids: those are clusters that either are there or are not. */
bool claims_can_meet(struct arena *arena, const struct claims *a, uint32_t release_of_a,
                     const struct claims *b, uint32_t release_of_b);

#endif
