/* SPDX-License-Identifier: Apache-2.0 */
/* policy_amount.h: numbers that are compared though they are written differently: 2, "2", 500m,
 * 4Gi; and durations: 90s, 15m. Internal to stack/. */
#ifndef HERD_STACK_POLICY_AMOUNT_H
#define HERD_STACK_POLICY_AMOUNT_H

#include "base/str.h"

enum policy_amount_kind { POLICY_AMOUNT_NONE, POLICY_AMOUNT_NUMBER, POLICY_AMOUNT_DURATION };

/* Thousandths of a number, milliseconds of a duration. "5m" may be either: `prefer` says which. */
struct policy_amount {
    enum policy_amount_kind kind;
    int64_t value;
};

/* NONE for what is neither. */
struct policy_amount policy_amount_of(struct str text, enum policy_amount_kind prefer);

#endif
