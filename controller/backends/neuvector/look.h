/* SPDX-License-Identifier: Apache-2.0 */
/* look.h: one look at a cluster's NeuVector: what runs of the wanted releases, what scans found in
 * it, requests for what is missing, and which compliance checks fail. One question after the other,
 * each look within bounds. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_LOOK_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_LOOK_H

#include "controller/backends/neuvector/rules_look.h"
#include "controller/backends/neuvector/join.h"

struct look;

/* Borrowed for the call. */
struct look_result {
    struct str reason; /* why NeuVector cannot tell, or not all; "" = it can */
    struct str message;
    bool checks_asked; /* for compliance checks of some container; else what was told of these
                               * before stands: */
    struct str checks_reason; /* the same two of compliance checks alone */
    struct str checks_message;
    const struct rules_result *rules;   /* NULL: they were not looked at */
    bool complete;                      /* what follows was read, whatever the reason says */
    const struct observed_scans *scans; /* of each wanted release */
    bool waiting; /* some image is not scanned yet, or its report or checks not read */
};

struct look_options {
    struct neuvector_client *client;
    struct images *images;
    struct compliance *compliance;
    struct str cluster_id; /* these four are borrowed until the look ends */
    const struct wanted_scan_list *wanted;
    const struct rules_wishes *wishes; /* whose rules are compared */
    int64_t now_ms;
    int64_t interval_ms;  /* compliance checks of a container are asked for once in it */
    bool checks_troubled; /* when they were asked for last */
    /* Once, from the loop; the look is still to be freed, which may be done from within. */
    void (*done)(void *context, const struct look_result *result);
    void *context;
};

struct look *look_begin(const struct look_options *options);
/* Before it is done: after its client. */
void look_free(struct look *look);

#endif
