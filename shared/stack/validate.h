/* validate.h: is this Stack one that can be carried out? Rules are rows of rules.def. */
#ifndef HERD_STACK_VALIDATE_H
#define HERD_STACK_VALIDATE_H

#include "base/problem.h"
#include "stack/facts.h"
#include "stack/verdict.h"

enum rule_id {
#define RULE(id, name, area, severity, field, sentence, way_out) RULE_##id,
#include "stack/rules.def"
#undef RULE
    RULE_COUNT
};

struct rule {
    const char *name;     /* "graph.cycle" */
    const char *area;     /* "graph" */
    enum severity severity;
    const char *field;    /* for the docs: "spec.charts[].dependsOn" */
    const char *sentence; /* what it refuses, for people */
    const char *way_out;
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
/* None severer than by default: for a second look at what was judged before. What the configuration
 * lets pass may pass there too; what it refuses beyond the default was for those who applied it. */
struct rule_severities rule_severities_at_most_default(const struct rule_severities *configured);

/* All findings of a *defaulted* Stack, sorted by field. `old` is the stored Stack on an update
 * (defaulted too), else NULL: a finding that `old` has as well, in an
 * unchanged field, only warns. */
void stack_validate(const struct stack *stack, const struct stack *old, const struct facts *facts,
                    const struct rule_severities *severities, struct problems *problems);

/* The whole judgement on an admission: decode, default, validate in turn. What the webhook, the
 * offline review and the controller's own second look all call. */
struct verdict stack_judge(struct arena *arena, struct json object, struct json old_object,
                           const struct facts *facts, const struct rule_severities *severities);

#endif
