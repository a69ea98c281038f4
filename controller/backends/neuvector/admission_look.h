/* SPDX-License-Identifier: Apache-2.0 */
/* admission_look.h: the part of a look (look.h) that is about admission rules: reads those of a
 * cluster's NeuVector, and changes what is not as Stacks want it. Whether admission control is
 * enabled is told, and never changed. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_LOOK_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_LOOK_H

#include "controller/backends/neuvector/admission.h"
#include "controller/backends/neuvector/client.h"

struct admission_look;

struct admission_result {
    struct str reason; /* why rules are not in effect; "" = they are, or none is wanted */
    struct str message;
    bool compared;     /* the list of rules was read */
    bool changed;      /* some rule was to be changed */
    struct set marked; /* uids of Stacks that have rules there */
};

struct admission_look_options {
    struct neuvector_client *client;
    struct str cluster_id; /* these two are borrowed until it ends */
    const struct admission_wishes *wishes;
    void (*done)(void *context); /* once, from the loop */
    void *context;
};

struct admission_look *admission_look_begin(const struct admission_look_options *options);
/* Once it is done; lives as long. */
const struct admission_result *admission_look_result(const struct admission_look *look);
/* Before it is done: after its client. */
void admission_look_free(struct admission_look *look);

#endif
