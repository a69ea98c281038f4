/* rules.c: the rows of rules.def. */
#include "stack/validate.h"

static const struct rule rules[RULE_COUNT] = {
#define RULE(id, name, area, severity, field, sentence, way_out)                                   \
    [RULE_##id] = { name, area, SEVERITY_##severity, field, sentence, way_out },
#include "stack/rules.def"
#undef RULE
};

const struct rule *rule_of(enum rule_id id)
{
    return &rules[id];
}

/* What the API server refuses by the definition, whatever a webhook says. */
static bool is_in_definition(enum rule_id id)
{
    static const enum rule_id ids[] = {
#define CRD_RULE(table, rule, message, field_path, rule_id) RULE_##rule_id,
#include "stack/crd_rules.def"
#undef CRD_RULE
    };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Every other rule reads the object as a v1 Stack, the controller takes what is recorded for true,
 * and a policy that is not in order cannot be put to Stacks. */
bool rule_is_fixed(enum rule_id id)
{
    return id == RULE_SHAPE_KIND || id == RULE_WHO_APPLIED || id == RULE_WHO_RECEIPT ||
           is_in_definition(id) ||
           strcmp(rules[id].area, "policy") == 0;
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
