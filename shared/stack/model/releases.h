/* SPDX-License-Identifier: Apache-2.0 */
/* releases.h: what each chart of a Stack is to be on each cluster.
 *
 * A release follows from its chart, from what the overrides that apply say of the chart, and, where
 * placeholders or references by cluster are in use, from facts of the cluster. So the work is done
 * once for each way in which these differ: a thousand clusters without placeholders and overrides
 * cost one merge for each chart. Pure; all in the arena. */
#ifndef HERD_STACK_RELEASES_H
#define HERD_STACK_RELEASES_H

#include "stack/model/release.h"
#include "stack/model/values.h"

struct releases;

/* `observed`: what was read of the ConfigMaps and Secrets that the Stack names; NULL: nothing is
 * known of them, and they count as empty. Both are borrowed. */
struct releases *releases_new(struct arena *arena, const struct stack *stack,
                              const struct observed_references *observed);

/* Which overrides apply to a cluster: indexes into spec.overrides, in order. */
struct u32_list releases_overrides(const struct releases *releases,
                                   const struct template_facts *cluster);

struct wanted_release {
    bool skip;                             /* an override leaves it out there */
    const struct desired_release *desired; /* NULL: it is left out, or its values are not known: */
    struct str reason, message;            /* why not */
};
/* What `chart` is to be on a cluster to which `overrides` apply. */
struct wanted_release releases_wanted(struct releases *releases, uint32_t chart,
                                      const struct u32_list *overrides,
                                      const struct template_facts *cluster);

/* The values of a release as compact JSON, keys sorted; "{}" if it has none. Where a cluster has
 * values of its own these are made in `arena` now: a plan over a thousand clusters does not hold
 * them all at once. */
struct str releases_values(struct arena *arena, const struct desired_release *desired);

/* The ConfigMaps and Secrets that the releases on a cluster read; their state is NOT_SYNCED. */
struct observed_references releases_references(struct releases *releases,
                                               const struct u32_list *overrides,
                                               const struct template_facts *cluster);

/* A label that the values of `chart` use and the cluster lacks; "" if there is none. */
struct str releases_missing_label(struct releases *releases, uint32_t chart,
                                  const struct u32_list *overrides,
                                  const struct template_facts *cluster);
/* How many bytes of inline values were merged so far: what all this has cost. */
size_t releases_merged_bytes(const struct releases *releases);

#endif
