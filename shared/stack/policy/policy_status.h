/* SPDX-License-Identifier: Apache-2.0 */
/* policy_status.h: what a StackPolicy's status says: whether it is valid, and how many Stacks it
 * applies to. Pure. */
#ifndef HERD_STACK_POLICY_STATUS_H
#define HERD_STACK_POLICY_STATUS_H

#include "base/problem.h"
#include "stack/model/fields.h"

extern const struct field_table fields_of_policy_status;

enum policy_state {
    POLICY_VALID,
    POLICY_WITHOUT_EFFECT, /* one of its rules; the others are applied */
    POLICY_INVALID,
    POLICY_TOO_MANY,
};
/* Whether it is applied to Stacks. */
bool policy_is_applied(enum policy_state state);

struct policy_status {
    enum policy_state state;
    struct str message;
    int64_t generation; /* of the policy */
    int64_t matching;   /* stored Stacks that it applies to; -1 = nobody counts */
    int64_t violating;  /* of these, those that violate a rule */
};

/* Of a policy that was taken up by policy_set_add, or was not, with what that found. Nobody has
 * counted Stacks yet. In the arena. */
struct policy_status policy_status_of(struct arena *arena, bool taken,
                                      const struct problems *problems);

/* The status as JSON; "" if `before`, the stored one or absent, says the same already. */
struct str policy_status_write(struct arena *arena, const struct policy_status *status,
                               struct json before, int64_t now_ms);

#endif
