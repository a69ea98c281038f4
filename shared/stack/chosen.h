/* chosen.h: where a Stack goes today: worked out once for a judgement, for all that ask.
 *
 * Pure; all in the arena. */
#ifndef HERD_STACK_CHOSEN_H
#define HERD_STACK_CHOSEN_H

#include "stack/claims.h"

struct chosen {
    struct claims claims;
    struct fact_clusters clusters; /* whatever is skipped there; sorted by id; none where clusters
                                    * are not known */
    bool *contested; /* by chart: another Stack claims its release on a cluster that both choose or
                      * name. Filled in by validate_overlap */
};

/* Of a defaulted Stack; one that does not say where it goes chooses nothing. */
struct chosen *chosen_of(struct arena *arena, const struct stack *stack, const struct facts *facts);
/* Whether it goes to a known cluster of that id. */
bool chosen_has(const struct chosen *chosen, struct str cluster_id);

#endif
