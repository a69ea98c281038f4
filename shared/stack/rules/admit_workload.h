/* SPDX-License-Identifier: Apache-2.0 */
/* admit_workload.h: is this workload one that can run? For the webhook and the offline review.
 *
 * What its kind's own reader denies is denied whatever the configuration says: herd-controller
 * makes nothing of such an object. */
#ifndef HERD_STACK_ADMIT_WORKLOAD_H
#define HERD_STACK_ADMIT_WORKLOAD_H

#include "stack/model/facts.h"
#include "stack/model/rules.h"
#include "stack/model/verdict.h"
#include "workload/workload_object.h"

/* The whole validation on an admission, as stack_admit: `old_object` is the stored one on an
 * update, else absent, and what was wrong with it already only warns. The verdict has no Stack. */
struct verdict workload_admit(struct arena *arena, const struct workload_kind *kind,
                              struct json object, struct json old_object, const struct facts *facts,
                              const struct rule_severities *severities);

#endif
