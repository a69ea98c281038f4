/* SPDX-License-Identifier: Apache-2.0 */
/* validate_selector.c: can a label selector be one that was meant? */
#include "stack/model/checks.h"

#include "kube/names.h"
#include "stack/model/fields.h"

static void check_label(struct str key, struct str value, const struct path *at,
                        struct findings *findings)
{
    const char *wrong = kube_not_label_key(key);

    if (wrong) {
        finding_add(findings, RULE_TARGETS_LABEL, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": the label key %s", STR_ARG(finding_shown(findings, key)), wrong);
        return;
    }
    wrong = kube_not_label_value(value);
    if (wrong)
        finding_add(findings, RULE_TARGETS_LABEL, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": the label value %s", STR_ARG(finding_shown(findings, value)), wrong);
}

static void check_labels(struct json labels, const struct path *selector, struct findings *findings)
{
    struct path map = path_field(selector, STR("matchLabels"));
    struct json_iter it = json_iter(labels);

    while (json_next(&it)) {
        struct path at = path_key(&map, it.key);

        check_label(it.key, json_str(it.value), &at, findings);
    }
}

static void check_operator(const struct match_expression *expression, const struct path *at,
                           struct findings *findings)
{
    struct path op_at = path_field(at, STR("operator"));
    struct path values_at = path_field(at, STR("values"));
    enum selector_operator op;

    if (expression->op.len == 0)
        return; /* reported by decode */
    if (!selector_operator_from(expression->op, &op)) {
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_VALUE_NOT_SUPPORTED, &op_at, STR(""),
                    "\"%.*s\": " SELECTOR_OPERATORS_SUPPORTED,
                    STR_ARG(finding_shown(findings, expression->op)));
        return;
    }

    bool wants_values = op == SELECTOR_IN || op == SELECTOR_NOT_IN;

    if (wants_values && expression->values.count == 0)
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_VALUE_REQUIRED, &values_at,
                    STR("add at least one value"), "must be specified when operator is %.*s",
                    STR_ARG(expression->op));
    else if (!wants_values && expression->values.count)
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_FORBIDDEN, &values_at,
                    STR("remove the values, or use In or NotIn"),
                    "may not be specified when operator is %.*s", STR_ARG(expression->op));
}

static void check_expressions(const struct match_expressions *expressions,
                              const struct path *selector, struct findings *findings)
{
    struct path list = path_field(selector, STR("matchExpressions"));

    for (uint32_t i = 0; i < expressions->count; i++) {
        const struct match_expression *expression = &expressions->items[i];
        struct path at = path_index(&list, i);
        struct path key_at = path_field(&at, STR("key"));
        struct path values_at = path_field(&at, STR("values"));

        if (expression->given & FIELD_BROKEN)
            continue;
        if (expression->key.len)
            check_label(expression->key, STR(""), &key_at, findings);
        for (uint32_t k = 0; k < expression->values.count; k++) {
            struct path value_at = path_index(&values_at, k);

            check_label(STR("key"), expression->values.items[k], &value_at, findings);
        }
        check_operator(expression, &at, findings);
    }
}

/* A selector with faults of its own is not validated as a whole. */
static void check_contradiction(const struct label_selector *selector, const struct path *at,
                                struct findings *findings)
{
    /* Labels alone cannot exclude one another; and what is too large is not looked into. */
    if (selector->match_expressions.count == 0 || findings->of[RULE_SHAPE_WORK])
        return;

    struct selector compiled = label_selector_compile(findings->arena, selector);

    if (!selector_intersects(findings->arena, &compiled, &compiled))
        finding_add(findings, RULE_TARGETS_CONTRADICTION, CAUSE_VALUE_INVALID, at, STR(""),
                    "nothing can match: the requirements exclude one another");
}

bool validate_selector(const struct label_selector *selector, const struct path *at,
                       struct findings *findings)
{
    uint32_t before = findings->of[RULE_TARGETS_LABEL] + findings->of[RULE_TARGETS_EXPRESSION];

    check_labels(selector->match_labels, at, findings);
    check_expressions(&selector->match_expressions, at, findings);
    if (findings->of[RULE_TARGETS_LABEL] + findings->of[RULE_TARGETS_EXPRESSION] != before)
        return false;
    check_contradiction(selector, at, findings);
    return true;
}
