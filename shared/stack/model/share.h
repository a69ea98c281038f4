/* SPDX-License-Identifier: Apache-2.0 */
/* share.h: "3", or "10%" of something: what Kubernetes calls an int-or-string. Pure. */
#ifndef HERD_STACK_SHARE_H
#define HERD_STACK_SHARE_H

#include "base/str.h"

/* Whether it is a whole number from 0 to 1,000,000, or one from 0 to 100 and a percent sign. */
bool share_is_valid(struct str share);

/* How many of `total` that is, rounded down; 0 for what is not valid. */
uint64_t share_of(struct str share, uint64_t total);

#endif
