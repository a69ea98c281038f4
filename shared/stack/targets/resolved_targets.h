/* SPDX-License-Identifier: Apache-2.0 */
/* resolved_targets.h: where a Stack goes today: worked out once for a validation, for all that ask.
 *
 * Pure; all in the arena. */
#ifndef HERD_STACK_RESOLVED_TARGETS_H
#define HERD_STACK_RESOLVED_TARGETS_H

#include "stack/targets/claims.h"

struct resolved_targets {
    bool known; /* Rancher's clusters are */
    struct claims claims;
    struct fact_clusters clusters; /* whatever is skipped there; sorted by id; none where they
                                    * are not known */
    bool *contested; /* by chart: another Stack claims its release on a cluster that both choose or
                      * name. Filled in by validate_overlap */
};

/* Of a defaulted Stack; one that does not say where it goes chooses nothing. */
struct resolved_targets *resolved_targets_of(struct arena *arena, const struct stack *stack,
                                             const struct facts *facts);
/* Whether it goes to a known cluster of that id. */
bool resolved_targets_have(const struct resolved_targets *chosen, struct str cluster_id);

#endif
