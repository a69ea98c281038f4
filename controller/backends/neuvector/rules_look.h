/* SPDX-License-Identifier: Apache-2.0 */
/* rules_look.h: the part of a look (look.h) that is about Herd's rules: reads those of a cluster's
 * NeuVector, one kind after the other, and changes what is not as Stacks want it. Whether admission
 * control is enabled is told, and never changed. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_LOOK_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_LOOK_H

#include "controller/backends/neuvector/client.h"
#include "controller/backends/neuvector/rules.h"

struct rules_look;

/* Why rules are not in effect; reason "" = they are, or none is wanted. */
struct rules_trouble {
    struct str reason, message;
};

struct rules_result {
    struct rules_trouble troubles[RULES_KINDS]; /* of all Stacks that want such rules */
    struct map *own_troubles;       /* uid -> struct rules_trouble, of what that Stack wants */
    bool compared[RULES_KINDS];     /* the list was read, and so this has a meaning: */
    struct set marked[RULES_KINDS]; /* uids of Stacks that have rules there */
    bool changed;                   /* some rule was to be changed */
    bool unfinished;                /* and not all were */
};

struct rules_look_options {
    struct neuvector_client *client;
    struct str cluster_id; /* these two are borrowed until it ends */
    const struct rules_wishes *wishes;
    void (*done)(void *context); /* once, from the loop */
    void *context;
};

struct rules_look *rules_look_begin(const struct rules_look_options *options);
/* Once it is done; lives as long. */
const struct rules_result *rules_look_result(const struct rules_look *look);
/* Before it is done: after its client. */
void rules_look_free(struct rules_look *look);

#endif
