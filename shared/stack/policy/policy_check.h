/* SPDX-License-Identifier: Apache-2.0 */
/* policy_check.h: one rule of a policy, ready to be put to objects. Internal to stack/. */
#ifndef HERD_STACK_POLICY_CHECK_H
#define HERD_STACK_POLICY_CHECK_H

#include "stack/model/finding.h"
#include "stack/model/policy.h"
#include "stack/policy/policy_amount.h"
#include "stack/policy/policy_path.h"
#include "stack/policy/policy_text.h"
#include "text/regex.h"

enum policy_asks {
    POLICY_ASKS_CHARTS = 1 << 0, /* of some charts only */
    POLICY_ASKS_PRESENCE = 1 << 1,
    POLICY_ASKS_PATTERN = 1 << 2,
    POLICY_ASKS_LISTS = 1 << 3,
    POLICY_ASKS_WORDS = 1 << 4, /* a list has ${words} */
    POLICY_ASKS_BOUNDS = 1 << 5,
};

/* Lives in an arena; the patterns go with it. */
struct policy_check {
    const struct policy_rule *rule;
    unsigned asks; /* so that what is not asked for costs nothing */
    /* By kind (policy_kind.h); NULL: it is not about that, or requiredChart or
     * requiredDependency. */
    const struct policy_path *paths[POLICY_KIND_COUNT];
    struct regex *pattern;
    struct regex *not_pattern;
    struct policy_amount minimum; /* NONE: not asked for */
    struct policy_amount maximum;
};
LIST_DEFINE(policy_checks, struct policy_check)

/* A rule about objects of `kinds`, as bits. What is wrong with it (at `at`) goes to `findings`;
 * then the check is not to be used. */
struct policy_check policy_check_compile(struct arena *arena, const struct policy_rule *rule,
                                         unsigned kinds, const struct path *at,
                                         struct findings *findings);

/* A value that rules are put to, one after the other. What the first of them had to find out about
 * it, the others need not. */
struct policy_subject {
    struct arena *arena;
    const struct policy_value *value;
    const struct policy_words *words;                         /* those of the object */
    struct policy_amount amounts[POLICY_AMOUNT_DURATION + 1]; /* by the kind that is wanted */
    bool is_known[POLICY_AMOUNT_DURATION + 1];
};

/* What is wrong with a value, as a sentence without its end. Where the rule has a message, that is
 * for the caller. */
struct policy_fault {
    struct str message;
    struct str sum;   /* as in struct problem */
    struct str where; /* told behind the policy's own message, too; "" = nothing */
    enum problem_cause cause;
};
bool policy_check_breaks(const struct policy_check *check, struct policy_subject *subject,
                         struct policy_fault *ret_fault);

/* As policy_decode, and its checks. */
const struct policy *policy_read(struct arena *arena, struct json object, struct problems *problems,
                                 struct policy_checks *ret_checks);

#endif
