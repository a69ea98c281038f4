/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h: everything that validation finds, by name: rows of rules.def. */
#ifndef HERD_STACK_RULES_H
#define HERD_STACK_RULES_H

#include "base/problem.h"

enum rule_id {
#define RULE(id, name, area, severity, field, sentence, remedy) RULE_##id,
#include "stack/model/rules.def"
#undef RULE
    RULE_COUNT
};

struct rule {
    const char *name; /* "graph.cycle" */
    const char *area; /* "graph" */
    enum severity severity;
    const char *field;    /* for the docs: "spec.charts[].dependsOn" */
    const char *sentence; /* what it rejects, for people */
    const char *remedy;
};

const struct rule *rule_of(enum rule_id id);
/* Why it can only deny, whatever is configured; NULL: it may do something else. */
const char *rule_fixed_why(enum rule_id id);
bool rule_from(struct str name, enum rule_id *ret_id);

/* Severity of each rule, e.g. changed by configuration. */
struct rule_severities {
    enum severity of[RULE_COUNT];
};
struct rule_severities rule_severities_default(void);
/* None severer than by default: for a second look at what was validated before. What the
 * configuration lets pass may pass there too; what it rejects beyond the default was for those who
 * applied it. */
struct rule_severities rule_severities_at_most_default(const struct rule_severities *configured);

#endif
