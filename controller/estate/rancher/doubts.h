/* doubts.h: clusters that Rancher's list lacks: whether they are gone, asked of each by its name.
 *
 * A list can be well-formed and empty, or short, and be wrong: a restored database, a proxy's
 * cache, rights that were taken away. What it lacks is no proof, and a wrong "gone" leaves releases
 * behind for ever. So a cluster is gone only once a GET of it was answered with its own 404. One
 * request at a time; what fails is asked again with backoff. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_DOUBTS_H
#define HERD_CONTROLLER_ESTATE_RANCHER_DOUBTS_H

#include "runtime/client.h"

struct doubts;

struct doubts_options {
    struct kube_client *api; /* of the management cluster */
    uint64_t seed;
    /* What is known of a cluster changed. */
    void (*settled)(void *context, struct str id);
    void *context;
};

struct doubts *doubts_create(const struct doubts_options *options);
/* Before the client. */
void doubts_free(struct doubts *doubts);
AUTO_DEFINE(doubts_free, struct doubts *)

/* Somebody wants to know of a cluster that is not in the list. */
void doubts_add(struct doubts *doubts, struct str id);
/* It is in the list, or nobody wants to know any more. */
void doubts_drop(struct doubts *doubts, struct str id);

bool doubts_is_gone(const struct doubts *doubts, struct str id);
/* While it is not known to be gone: what is known instead. Borrowed until the next change. */
struct str doubts_message(const struct doubts *doubts, struct str id);

#endif
