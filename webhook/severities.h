/* severities.h: the flag --rule-severity, which serve and review have in common. */
#ifndef HERD_WEBHOOK_SEVERITIES_H
#define HERD_WEBHOOK_SEVERITIES_H

#include "base/flag.h"
#include "stack/validate.h"

/* "rule=severity,rule=severity" over the defaults. -1: what is wrong with it, and whom to blame. */
int severities_read(const struct flag_value *flag, struct rule_severities *ret_severities,
                    struct error *err);

#endif
