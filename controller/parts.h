/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h: what every part of herd-controller gets at its start, and what it tells the others. */
#ifndef HERD_CONTROLLER_PARTS_H
#define HERD_CONTROLLER_PARTS_H

#include "controller/connections.h"
#include "controller/policies.h"
#include "controller/reconcilers/stack/stack.h"
#include "runtime/manager.h"
#include "settings/configured.h"

/* The context of each part's `start`: main.c owns it, and it outlives all parts. */
struct controller {
    const struct options *options;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct manager *manager;
    struct connections connections;          /* to the API server and Rancher */
    const struct backend *backend;           /* delivers releases to clusters */
    const struct observer *const *observers; /* report how they fare; the last one is NULL */
    struct span_exporter *spans;             /* NULL: nothing is traced */
    struct configured *configured;
    struct configured_teller configured_teller;
    /* Parts that others use; each is set by its own start. */
    struct policies *policies;
    struct stack_reconciler *stacks;
    struct measurements *measurements; /* NULL: --prometheus-url is not set */
    struct console *console; /* NULL: there is none. Created before all parts, because its address
                                may be taken */
};

/* manager_event.kind: what a part may hear of. */
enum controller_event {
    EVENT_STACK_CHANGED,   /* `name` is namespace/name: it came, changed in what is kept, or went */
    EVENT_CLUSTER_CHANGED, /* `name` is its id in Rancher */
    EVENT_CLUSTERS_LISTED, /* the list of clusters was read whole for the first time */
    EVENT_POLICIES_CHANGED, /* Stacks are to be validated anew */
    EVENT_POLICY_CHANGED,   /* `name`: this policy, its status too, came, changed or went */
    EVENT_RANCHER_TROUBLE,  /* `name` is the reason why Rancher gets no request; "" = it does again
                             */
    EVENT_MEASURED,         /* the load of model servers was asked for, and may be known now */
    EVENT_CONFIGURED,       /* the file of --config-file was taken anew */
};

void controller_notify(const struct controller *controller, enum controller_event kind,
                       struct str name, struct str message);

/* Listen, if options say so; once the manager does, and before it runs. -1: the address or the
 * certificate cannot be used. */
int controller_open_console(struct controller *controller, uint64_t seed, struct error *err);

/* All of parts.def. */
extern const struct manager_part *const controller_parts[];
extern const uint32_t controller_part_count;

#define PART(name) extern const struct manager_part name##_part;
#include "controller/parts.def"
#undef PART

#endif
