/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h: how many results of which kind each policy has, over all stored Stacks, as figures. */
#ifndef HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_TALLY_H
#define HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_TALLY_H

#include "base/metric.h"
#include "controller/reconcilers/policy_report/report.h"

struct tally;

/* How many Stacks a policy applies to, and how many of them violate a rule of it. */
struct tally_stacks {
    int64_t matching;
    int64_t violating;
};

/* `metrics` is borrowed. `changed` hears of each policy of which these figures changed. */
struct tally *tally_create(struct metrics *metrics,
                           void (*changed)(void *context, struct str policy), void *context);
void tally_free(struct tally *tally);

/* These are the policies now. Their figures are there from now on; those of policies that are gone
 * go with the last Stack that was validated by them. */
void tally_use(struct tally *tally, struct policy_set *set);
/* What the Stack came to, in place of what it came to before. */
void tally_put(struct tally *tally, struct str key, struct policy_set *set,
               const struct policy_results *results);
void tally_forget(struct tally *tally, struct str key);
struct tally_stacks tally_stacks_of(const struct tally *tally, struct str policy);
/* How many Stacks were validated by the policies that there are now. */
size_t tally_validated(const struct tally *tally);

#endif
