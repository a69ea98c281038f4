/* SPDX-License-Identifier: Apache-2.0 */
/* security.h: what the scans of its images say of a Stack, and how many compliance checks fail, on
 * which no verdict depends. Pure.
 *
 * Only a scan that finished says something. Where nobody can tell, the verdict is Unknown and the
 * numbers of before stand: they never become smaller because somebody does not answer. */
#ifndef HERD_STACK_SECURITY_H
#define HERD_STACK_SECURITY_H

#include "base/map.h"
#include "stack/plan/plan.h"

struct security {
    struct security_status status;
    enum condition_status holds; /* of the condition SecurityScanned */
    struct str reason;
    struct str message;
    bool numbers_stand;  /* less is known now than before, or nothing yet */
    bool checks_pending; /* those of some image are not known, and will be asked for soon */
    struct map *checks; /* digest -> struct check_list: those known to fail, united over clusters */
    struct map *images; /* digest -> struct observed_image: what is known now, each image once */
};

/* For a Stack with security enabled. `releases` are the plan's; each gets its verdict. */
struct security security_of(struct arena *arena, const struct stack *stack,
                            const struct observed *observed, struct release_states *releases);

#endif
