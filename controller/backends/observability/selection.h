/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h: whether a Prometheus selects what Herd adds, and which labels it takes. Pure.
 *
 * Of rules, ServiceMonitors and PodMonitors each, a Prometheus has a selector of objects and one
 * of namespaces. One that is absent selects no object, and only its own namespace; an empty one
 * selects all (docs/protocols/observability.md 5.3). */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SELECTION_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SELECTION_H

#include "base/str.h"
#include "text/json.h"

struct selection {
    struct str objects; /* LabelSelector as JSON; "" = absent */
    struct str namespaces;
};

/* spec.PREFIXSelector and spec.PREFIXNamespaceSelector. The texts are of `spec`. */
struct selection selection_of(struct arena *arena, struct json spec, const char *prefix);
struct selection selection_dup(struct arena *arena, const struct selection *selection);

struct selection_fit {
    struct json labels; /* the object's own, and those that it is selected by as far as possible */
    struct str trouble; /* why they do not suffice, and what to do; "" = they do */
};
/* For an object with the labels `own`, a JSON object. Everything is in the arena. */
struct selection_fit selection_fit(struct arena *arena, const struct selection *selection,
                                   const char *prefix, struct json own);

/* Whether labels of namespaces decide. */
bool selection_asks_namespaces(const struct selection *selection);
/* Why objects in that namespace are not selected, and what to do; "" = they are, or its labels are
 * absent: not known. `home`: it is that of the Prometheus. */
struct str selection_namespace_trouble(struct arena *arena, const struct selection *selection,
                                       const char *prefix, struct str namespace_, bool home,
                                       struct json labels);

#endif
