/* SPDX-License-Identifier: Apache-2.0 */
/* policy_amount.c: quantities and durations by one scale each. */
#include "stack/policy/policy_amount.h"

#include "base/duration.h"
#include "text/quantity.h"

static bool number_of(struct str text, struct policy_amount *ret_amount)
{
    struct quantity quantity;
    struct error err = { 0 };

    if (quantity_parse(text, &quantity, &err) != 0)
        return false;
    *ret_amount = (struct policy_amount){ POLICY_AMOUNT_NUMBER, quantity.milli };
    return true;
}

static bool duration_of(struct str text, struct policy_amount *ret_amount)
{
    int64_t ms;

    if (!duration_parse(text, &ms))
        return false;
    *ret_amount = (struct policy_amount){ POLICY_AMOUNT_DURATION, ms };
    return true;
}

struct policy_amount policy_amount_of(struct str text, enum policy_amount_kind prefer)
{
    struct policy_amount amount = { POLICY_AMOUNT_NONE, 0 };

    if (prefer == POLICY_AMOUNT_DURATION)
        (void)(duration_of(text, &amount) || number_of(text, &amount));
    else
        (void)(number_of(text, &amount) || duration_of(text, &amount));
    return amount;
}
