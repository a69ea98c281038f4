/* SPDX-License-Identifier: Apache-2.0 */
/* policy_places.h: on which clusters which charts of a Stack are deployed, as policies see it.
 * Internal to stack/.
 *
 * Clusters on which overrides skip the same charts are one place. Clusters that a Stack names count
 * whether or not they are known; of those that are not, only the id is. A selector that no known
 * cluster matches gives one place without clusters: there a chart is skipped if overrides skip it
 * wherever the Stack may go. Pure. */
#ifndef HERD_STACK_POLICY_PLACES_H
#define HERD_STACK_POLICY_PLACES_H

#include "stack/targets/resolved_targets.h"

struct policy_place {
    bool *skips; /* by chart */
    struct str_list clusters;
};
LIST_DEFINE(policy_places, struct policy_place)

/* At least one, and at most LIMIT_POLICY_PLACES: clusters beyond share the last one, which skips
 * whatever is skipped on any of them. */
struct policy_places policy_places_of(struct arena *arena, const struct stack *stack,
                                      const struct resolved_targets *chosen);

#endif
