/* SPDX-License-Identifier: Apache-2.0 */
/* suse_monitors.h: the monitors that Herd adds to SUSE Observability for a release
 * (suse_monitors.def). Pure.
 *
 * What is Herd's, and whose of Herd's it is, the identifier says: it begins with a prefix that the
 * cluster and the Stack give. A server has many clusters, perhaps of many Herds, and no two of them
 * have one name there. */
#ifndef HERD_STACK_SUSE_MONITORS_H
#define HERD_STACK_SUSE_MONITORS_H

#include "stack/observability/monitoring_objects.h"

enum { SUSE_MONITORS_OF_RELEASE = 8 }; /* rows of the table */

struct suse_monitor {
    struct str identifier;
    struct str name;
    struct str description;
    struct str query;
    const struct suse_monitor_row *row;
};
LIST_DEFINE(suse_monitors, struct suse_monitor)

/* What all monitors of a Stack, "namespace/name", on a cluster begin with. */
struct str suse_monitors_prefix(struct arena *arena, struct str cluster, struct str stack);
/* Add those of a release; `cluster` is its name there, of which a query can be made. In the list's
 * arena. */
void suse_monitors_add(struct suse_monitors *monitors, struct str cluster,
                       const struct monitored_release *release);
/* The settings document that creates or replaces them: JSON, but for templates that the server
 * evaluates. */
struct str suse_monitors_document(struct arena *arena, const struct suse_monitor *monitors,
                                  uint32_t count);
/* Whether the server has it as it should be, as it lists monitors; what else it says of it may be
 * anything. */
bool suse_monitor_is_as_wanted(struct json stored, const struct suse_monitor *wanted);
/* Whether it is at work: enabled, and without an error. */
bool suse_monitor_works(struct json stored);

#endif
