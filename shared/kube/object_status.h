/* SPDX-License-Identifier: Apache-2.0 */
/* object_status.h: how far an object is from what its spec asks for, as its own status says.
 *
 * The rules are those of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus/status, v0.37), which kubectl
 * plug-ins, Flux and others share: first what all kinds have in common (deletion, generation, the
 * conditions Reconciling and Stalled), then the rules of a kind, then a condition Ready. Pure. */
#ifndef HERD_KUBE_OBJECT_STATUS_H
#define HERD_KUBE_OBJECT_STATUS_H

#include "text/json.h"

enum object_state { OBJECT_CURRENT, OBJECT_IN_PROGRESS, OBJECT_FAILED, OBJECT_TERMINATING };

struct object_status {
    enum object_state state;
    struct str message; /* why it is not current, e.g. "1 of 3 replicas are available" */
};

/* "Current", "InProgress" ... as kstatus names them. */
const char *object_state_name(enum object_state state);

/* `object` is a whole object with apiVersion, kind and status; of a kind that has no rules here it
 * is current unless something that all kinds share says otherwise. The message is in the arena. */
struct object_status object_status_of(struct arena *arena, struct json object);

#endif
