/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h: files to a report: what the webhook would say of each object, by the same functions.
 * Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_VALIDATE_H
#define HERD_WEBHOOK_OFFLINE_VALIDATE_H

#include "stack/model/configuration.h"
#include "stack/policy/policy_set.h"
#include "webhook/offline/input.h"
#include "webhook/offline/report.h"
#include "webhook/offline/stacks.h"

struct offline_config {
    struct str namespace_; /* of objects that name none */
    struct configuration configuration;
    const struct policy_set *policies; /* put to the objects; NULL = none */
    bool clusters_known;               /* then these are all that there are */
    struct fact_clusters clusters;
};

/* What is known when object `number`, a Stack or workload, is validated. */
struct facts offline_facts(const struct offline_config *config, struct offline_stacks *stacks,
                           uint32_t number);

/* Read and validate all. The report borrows from `files`; all else of it is in the arena. */
struct report offline_review(struct arena *arena, const struct input_files *files,
                             const struct offline_config *config);

#endif
