/* SPDX-License-Identifier: Apache-2.0 */
/* server_monitors.h: what is to be done so that the server of SUSE Observability has the monitors
 * that Stacks want. Pure.
 *
 * Whose a monitor is, the prefix of its identifier says (suse_monitors.h). Those of owners that say
 * what they want are Herd's to change and to remove, and no others. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_MONITORS_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_MONITORS_H

#include "base/map.h"
#include "stack/observability/suse_monitors.h"

extern const struct str server_monitors_path;
extern const struct str server_import_path;
struct str server_monitor_path(struct arena *arena, struct str identifier);

struct monitors_wanted {
    struct str_list owners; /* prefixes: what is theirs and not wanted goes */
    struct str_list kept;   /* prefixes: what is theirs stays as it is, and is counted */
    struct suse_monitors monitors;
};

struct monitors_plan {
    struct suse_monitors imports;
    struct str_list removals; /* identifiers */
    struct map *counts; /* each prefix -> uint32_t: those that are there as wanted, and work */
};
/* Compare with the list of all monitors. Everything is in the arena, or of `wanted`. */
int server_monitors_plan(struct arena *arena, struct str body, const struct monitors_wanted *wanted,
                         struct monitors_plan *ret_plan, struct error *err);

#endif
