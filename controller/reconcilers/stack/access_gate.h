/* SPDX-License-Identifier: Apache-2.0 */
/* access_gate.h: where nothing of a Stack may begin, because of who applied it.
 *
 * What admission asked about a user was true of the clusters of that moment. Before a release is
 * installed or upgraded, the controller asks again, for its author (stack/author.h): a selector may
 * match more since, and the right may be gone, also that to read its values. On a cluster that has
 * nothing of the Stack it asks at once; on the others only when there is something to do
 * (plan.unasked), so that deployed Stacks cost no questions. What is on a cluster is never taken
 * away for want of a right. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_ACCESS_GATE_H
#define HERD_CONTROLLER_RECONCILERS_STACK_ACCESS_GATE_H

#include "controller/reconcilers/stack/access_cache.h"
#include "stack/model/observed.h"

struct access_gate {
    struct arena *arena;
    struct access_cache *access_cache;
    const struct stack *stack;
    struct str key;       /* of the Stack */
    int64_t now_ms;       /* by the loop's clock */
    bool asks_clusters;   /* whether the author may deploy (who.access denies), */
    bool asks_references; /* and read the values (who.references denies) */
};

/* Fills in access_reason, access_message and unasked_message. When to look again, by the loop's
 * clock; -1 = the Stack is woken when an answer comes. */
int64_t access_gate_check(const struct access_gate *gate, struct observed_clusters *clusters);
/* Ask about these. When to look again, as above. */
int64_t access_gate_ask(const struct access_gate *gate, const struct str_list *ids);

#endif
