/* shut.h: where nothing of a Stack may begin, because of who applied it.
 *
 * What admission asked about a user was true of the clusters of that moment. Before the first
 * release of a Stack goes to a cluster, the controller asks again, for the user and the groups of
 * the receipt: a selector may match more since, and the right may be gone. Where something of the
 * Stack is already, it goes on. Of a Stack that has no receipt and is not held for it, nobody is
 * known who could be asked about: it goes on as before there were receipts. */
#ifndef HERD_CONTROLLER_RECONCILE_SHUT_H
#define HERD_CONTROLLER_RECONCILE_SHUT_H

#include "controller/reconcile/accesses.h"
#include "stack/observed.h"

struct shutting {
    struct arena *arena;
    struct accesses *accesses;
    const struct admitted *admitted;
    const struct stack *stack;
    struct str key;              /* of the Stack */
    const struct str_list *held; /* ids of clusters where something of it is, or may be; sorted */
};

/* Fills in shut_reason and shut_message. When to look again, by the loop's clock; -1 = the Stack is
 * woken when an answer comes. */
int64_t shut_clusters(const struct shutting *shutting, struct observed_clusters *clusters);

#endif
