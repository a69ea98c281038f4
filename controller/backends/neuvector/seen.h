/* SPDX-License-Identifier: Apache-2.0 */
/* seen.h: what the looks at a cluster's NeuVector have found so far: where the last one could not
 * read something, what the one before read stands. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_SEEN_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_SEEN_H

#include "base/map.h"
#include "controller/backends/neuvector/look.h"

/* What was seen last. */
struct seen {
    struct arena *arena;
    struct map *scans; /* namespace/name -> struct seen_release */
    struct str reason, message;
    struct str checks_reason, checks_message; /* the same of compliance checks alone, */
    struct rules_trouble rules[RULES_KINDS];  /* and of rules */
    bool looked;                              /* once, whatever came of it */
    bool answers;
    struct str text; /* all of it, to be compared */
};

struct seen_release {
    uint32_t revision;
    struct observed_scans scans;
};

/* After a look; in an arena of its own, which is the caller's. `before` is all zero after none. */
struct seen seen_of(const struct seen *before, const struct wanted_scan_list *wanted,
                    const struct look_result *result);
struct observed_scans seen_copy_scans(struct arena *arena, const struct observed_scans *scans);
/* Whether the message of this reason has the words of others. */
bool seen_is_told_by_others(struct str reason);

#endif
