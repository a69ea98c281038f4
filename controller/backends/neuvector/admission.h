/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h: rules of NeuVector's admission control: those that Stacks want against those that
 * are there. Pure.
 *
 * NeuVector's objects have no labels, so a rule of Herd's is told by its comment, "herd:" and the
 * uid of the Stack; no other rule is ever changed. A threshold is a rule of its own, because the
 * criteria of one rule all have to match. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_ADMISSION_H

#include "base/set.h"
#include "stack/model/stack.h"

/* What a Stack wants on one cluster. */
struct admission_wish {
    struct str uid;
    enum admission_mode mode;
    struct str namespaces;  /* "a,b", sorted; "" = none, and so no rule */
    int64_t critical, high; /* most that an image may have; -1 = no limit, and so no rule */
};
LIST_DEFINE(admission_wishes, struct admission_wish)

bool admission_wants_rules(const struct admission_wish *wish);

/* Of the answer to GET /v1/admission/state: whether rules have any effect. */
int admission_state_read(struct json state, bool *ret_enabled, struct error *err);

struct admission_change {
    const char *method;
    struct str path, body;
};
LIST_DEFINE(admission_changes, struct admission_change)

/* What makes the answer to GET /v1/admission/rules what these Stacks want. `marked` gets the uids
 * of those that have rules, or will have them after the changes. -1: that is no list of rules. */
int admission_compare(struct arena *arena, struct json rules, const struct admission_wishes *wishes,
                      struct admission_changes *ret_changes, struct set marked, struct error *err);

#endif
