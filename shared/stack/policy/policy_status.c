/* SPDX-License-Identifier: Apache-2.0 */
/* policy_status.c: one condition and two figures. */
#include "stack/policy/policy_status.h"

#include "kube/condition.h"
#include "stack/model/fields_canonical.h"
#include "stack/model/status_rows.h"

/* As it stands in JSON. */
struct stored {
    int64_t matching; /* -1: absent */
    int64_t violating;
    struct kube_conditions conditions;
};
#include "stack/model/policy_status_fields.def"

enum { MESSAGE_BYTES_MAX = 1024 };

static const struct {
    struct str reason;
    struct str message; /* where nothing was found */
} states[] = {
    [POLICY_VALID] = { STR_INIT("Valid"), STR_INIT("the policy is applied") },
    [POLICY_WITHOUT_EFFECT] = { STR_INIT("RuleWithoutEffect"), STR_INIT("") },
    [POLICY_INVALID] = { STR_INIT("Invalid"), STR_INIT("") },
    [POLICY_TOO_MANY] = { STR_INIT("TooManyPolicies"),
                          STR_INIT("there are too many StackPolicies, so this one is not "
                                   "applied") },
};

bool policy_is_applied(enum policy_state state)
{
    return state == POLICY_VALID || state == POLICY_WITHOUT_EFFECT;
}

struct policy_status policy_status_of(struct arena *arena, bool taken,
                                      const struct problems *problems)
{
    const struct problem *first = problems->list.count ? &problems->list.items[0] : NULL;
    enum policy_state state = taken ? (first ? POLICY_WITHOUT_EFFECT : POLICY_VALID)
                                    : (first ? POLICY_INVALID : POLICY_TOO_MANY);
    struct policy_status status = {
        .state = state, .message = states[state].message, .matching = -1, .violating = -1
    };

    if (first)
        status.message = str_shown(arena,
                                   str_fmt(arena, "%.*s: %.*s; %.*s", STR_ARG(first->field),
                                           STR_ARG(first->message), STR_ARG(first->remedy)),
                                   MESSAGE_BYTES_MAX);
    return status;
}

struct str policy_status_write(struct arena *arena, const struct policy_status *status,
                               struct json before, int64_t now_ms)
{
    struct stored stored = {
        .matching = status->matching,
        .violating = status->matching < 0 ? -1 : status->violating,
        .conditions = kube_conditions_read(arena, json_get(before, STR("conditions"))),
    };
    struct kube_condition ready = {
        .type = STR("Ready"),
        .reason = states[status->state].reason,
        .message = status->message,
        .status = policy_is_applied(status->state) ? CONDITION_TRUE : CONDITION_FALSE,
        .observed_generation = status->generation,
    };
    struct strbuf out = strbuf_new(arena, 512);
    struct json written;
    struct error ignored;

    kube_condition_set(&stored.conditions, ready, now_ms);
    fields_canonical(&fields_of_policy_status, &stored, &out);
    if (json_read(arena, strbuf_str(&out), &json_limits_default, &written, &ignored) == 0 &&
        json_equal(written, before))
        return STR("");
    return strbuf_str(&out);
}
