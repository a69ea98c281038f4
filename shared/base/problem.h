/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h: findings about somebody's input.
 *
 * A finding is not a failure: whoever checks goes on and adds all it finds; the user sees them at
 * once, ordered by field. Everything lives in the arena. */
#ifndef HERD_BASE_PROBLEM_H
#define HERD_BASE_PROBLEM_H

#include "base/list.h"
#include "base/path.h"

/* Off is for configuration: a rule whose severity is off adds nothing. What is only audited is
 * counted and reported, and never part of an answer. */
enum severity { SEVERITY_OFF, SEVERITY_AUDIT, SEVERITY_WARN, SEVERITY_DENY };

/* Kubernetes' words for causes (metav1.CauseType). */
enum problem_cause {
    CAUSE_VALUE_INVALID,
    CAUSE_VALUE_REQUIRED,
    CAUSE_VALUE_DUPLICATE,
    CAUSE_VALUE_NOT_FOUND,
    CAUSE_VALUE_NOT_SUPPORTED,
    CAUSE_TYPE_INVALID,
    CAUSE_TOO_LONG,
    CAUSE_TOO_MANY,
    CAUSE_FORBIDDEN,
};

struct problem {
    struct str rule;    /* id of the rule, e.g. graph.cycle */
    struct str field;   /* rendered path */
    struct str message; /* what and why */
    struct str remedy;  /* what to do; may be empty */
    enum severity severity;
    enum problem_cause cause;
    struct str sum; /* of a finding about all that stands at the field (how many there are, what
                     * they come to, what none of them is): what it is; else "" */
    bool excused;   /* it warns only, because it was so before */
    uint32_t order; /* in which it was found */
};

LIST_DEFINE(problem_list, struct problem)

struct problems {
    struct arena *arena;
    struct problem_list list;
    uint32_t denied; /* how many are SEVERITY_DENY */
};

struct problems problems_new(struct arena *arena);
void problems_add(struct problems *problems, struct problem problem);

/* By field (numbers in brackets by value, so charts[10] follows charts[9]), then by rule, then in
 * the order found: equal input gives equal text. */
void problems_sort(struct problems *problems);

/* metav1.CauseType: "FieldValueInvalid", ... */
const char *problem_cause_name(enum problem_cause cause);
/* What a field error of Kubernetes begins with for it: "Invalid value", ... */
const char *problem_cause_text(enum problem_cause cause);
/* "deny", "warn", "audit", "off"; and back, false if it is none of them. */
const char *severity_name(enum severity severity);
bool severity_from(struct str name, enum severity *ret_severity);

#endif
