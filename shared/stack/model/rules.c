/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c: the rows of rules.def. */
#include "stack/model/rules.h"

static const struct rule rules[RULE_COUNT] = {
#define RULE(id, name, area, severity, field, sentence, remedy)                                    \
    [RULE_##id] = { name, area, SEVERITY_##severity, field, sentence, remedy },
#include "stack/model/rules.def"
#undef RULE
};

const struct rule *rule_of(enum rule_id id)
{
    return &rules[id];
}

/* What the API server rejects by the definition, whatever a webhook says. */
static bool is_in_definition(enum rule_id id)
{
    static const enum rule_id ids[] = {
#define CRD_RULE(table, rule, message, field_path, rule_id) RULE_##rule_id,
#include "stack/model/crd_rules.def"
#undef CRD_RULE
    };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (ids[i] == id)
            return true;
    return false;
}

const char *rule_fixed_why(enum rule_id id)
{
    if (strcmp(rules[id].area, "policy") == 0)
        return "a StackPolicy that is not in order cannot be put to Stacks";
    if (id == RULE_WORKLOAD_NAME || id == RULE_WORKLOAD_INVALID || id == RULE_WORKLOAD_FORM)
        return "herd-controller makes nothing of an object that has it";
    if (id == RULE_SHAPE_UNDECODABLE)
        return "nothing is known of what cannot be decoded";
    if (id == RULE_SHAPE_WORK)
        return "the other rules were not all asked";
    if (id == RULE_SHAPE_KIND)
        return "every other rule reads the object as a v1 Stack";
    if (id == RULE_SHAPE_METADATA)
        return "the API server rejects the same, whatever a webhook says";
    if (is_in_definition(id))
        return "the definition of Stacks rejects the same, whatever a webhook says";
    return NULL;
}

bool rule_from(struct str name, enum rule_id *ret_id)
{
    for (int i = 0; i < RULE_COUNT; i++) {
        if (str_eq(name, str_of(rules[i].name))) {
            *ret_id = (enum rule_id)i;
            return true;
        }
    }
    return false;
}

struct rule_severities rule_severities_default(void)
{
    struct rule_severities severities;

    for (int i = 0; i < RULE_COUNT; i++)
        severities.of[i] = rules[i].severity;
    return severities;
}

struct rule_severities rule_severities_at_most_default(const struct rule_severities *configured)
{
    struct rule_severities severities = rule_severities_default();

    for (int i = 0; i < RULE_COUNT; i++)
        if (configured->of[i] < severities.of[i])
            severities.of[i] = configured->of[i];
    return severities;
}
