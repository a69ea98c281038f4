/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h: names, each with a number, in the order in which they are shown. */
#ifndef HERD_STACK_COUNTS_H
#define HERD_STACK_COUNTS_H

#include "base/list.h"

struct named_count {
    struct str name;
    int64_t count;
};
LIST_DEFINE(named_counts, struct named_count)

#endif
