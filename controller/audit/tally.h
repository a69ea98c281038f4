/* tally.h: how many results of which kind each policy has, over all stored Stacks, as figures. */
#ifndef HERD_CONTROLLER_AUDIT_TALLY_H
#define HERD_CONTROLLER_AUDIT_TALLY_H

#include "base/metric.h"
#include "controller/audit/report.h"

struct tally;

/* `metrics` is borrowed. */
struct tally *tally_create(struct metrics *metrics);
void tally_free(struct tally *tally);

/* These are the policies now. Their figures are there from now on; those of policies that are gone
 * go with the last Stack that was judged by them. */
void tally_use(struct tally *tally, struct policy_set *set);
/* What the Stack came to, in place of what it came to before. */
void tally_put(struct tally *tally, struct str key, struct policy_set *set,
               const struct policy_results *results);
void tally_forget(struct tally *tally, struct str key);

#endif
