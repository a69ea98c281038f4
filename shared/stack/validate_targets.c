/* validate_targets.c: which clusters are meant: by the Stack, by an override, by a wave. */
#include "stack/validate_areas.h"

#include "kube/names.h"
#include "stack/fields.h"

#include "base/map.h"

/* Looking for a near id walks all clusters, so only the first few slips get one. */
enum { NEAREST_MAX = 8 };

/* --- selectors --- */

static void check_label(struct str key, struct str value, const struct path *at,
                        struct findings *findings)
{
    const char *wrong = kube_not_label_key(key);

    if (wrong) {
        finding_add(findings, RULE_TARGETS_LABEL, CAUSE_VALUE_INVALID, at, STR(""),
                    "the label key '%.*s' %s", STR_ARG(finding_shown(findings, key)), wrong);
        return;
    }
    wrong = kube_not_label_value(value);
    if (wrong)
        finding_add(findings, RULE_TARGETS_LABEL, CAUSE_VALUE_INVALID, at, STR(""),
                    "the label value '%.*s' %s", STR_ARG(finding_shown(findings, value)), wrong);
}

static void check_labels(struct json labels, const struct path *selector,
                         struct findings *findings)
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
        return; /* told by decode */
    if (!selector_operator_from(expression->op, &op)) {
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_VALUE_NOT_SUPPORTED, &op_at,
                    STR("use In, NotIn, Exists or DoesNotExist"), "'%.*s' is no operator",
                    STR_ARG(finding_shown(findings, expression->op)));
        return;
    }

    bool wants_values = op == SELECTOR_IN || op == SELECTOR_NOT_IN;

    if (wants_values && expression->values.count == 0)
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_VALUE_REQUIRED, &values_at,
                    STR("add at least one value"), "%.*s needs values", STR_ARG(expression->op));
    else if (!wants_values && expression->values.count)
        finding_add(findings, RULE_TARGETS_EXPRESSION, CAUSE_FORBIDDEN, &values_at,
                    STR("remove the values, or use In or NotIn"), "%.*s takes no values",
                    STR_ARG(expression->op));
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

/* A selector with faults of its own is not judged as a whole. */
static void check_contradiction(const struct label_selector *selector, const struct path *at,
                                struct findings *findings)
{
    if (selector->match_expressions.count == 0)
        return; /* labels alone cannot exclude one another */

    struct selector compiled = label_selector_compile(findings->arena, selector);

    if (!selector_intersects(findings->arena, &compiled, &compiled))
        finding_add(findings, RULE_TARGETS_CONTRADICTION, CAUSE_VALUE_INVALID, at, STR(""),
                    "no cluster can ever match: the requirements exclude one another");
}

static bool check_selector(const struct label_selector *selector, const struct path *at,
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

/* --- ids --- */

static void check_id(struct str id, const struct path *at, struct findings *findings)
{
    const char *wrong = kube_not_dns1123_subdomain(id);

    if (wrong)
        finding_add(findings, RULE_TARGETS_CLUSTER_ID, CAUSE_VALUE_INVALID, at, STR(""),
                    "'%.*s' is no cluster id: it %s", STR_ARG(finding_shown(findings, id)), wrong);
    else if (str_eq(id, STR("local")))
        finding_add(findings, RULE_TARGETS_LOCAL, CAUSE_FORBIDDEN, at, STR(""),
                    "'local' is the cluster that Rancher itself runs on");
}

static void check_ids(const struct str_list *ids, const struct path *up, struct findings *findings)
{
    struct path list = path_field(up, STR("clusterIds"));
    struct map *seen = map_new(findings->arena, ids->count);

    for (uint32_t i = 0; i < ids->count; i++) {
        struct path at = path_index(&list, i);

        if (ids->items[i].len == 0)
            continue; /* told by decode */
        check_id(ids->items[i], &at, findings);
        if (!map_put(seen, ids->items[i], &ids->items[i]))
            finding_add(findings, RULE_TARGETS_REPEATED, CAUSE_VALUE_DUPLICATE, &at, STR(""),
                        "'%.*s' stands twice", STR_ARG(finding_shown(findings, ids->items[i])));
    }
}

/* --- exactly one of the two --- */

struct choice {
    const struct label_selector *selector;
    const struct str_list *ids;
    bool selector_given;
    bool ids_given;
};

/* Whether the selector may be asked about clusters. */
static bool check_choice(const struct choice *choice, const struct path *at,
                         struct findings *findings)
{
    struct path selector_at = path_field(at, STR("selector"));
    struct path ids_at = path_field(at, STR("clusterIds"));
    bool selector_good = false;

    if (choice->selector_given == choice->ids_given)
        finding_add(findings, RULE_TARGETS_ONE_OF,
                    choice->ids_given ? CAUSE_FORBIDDEN : CAUSE_VALUE_REQUIRED, at,
                    choice->ids_given ? STR("") : STR("set selector or clusterIds"),
                    choice->ids_given ? "has both selector and clusterIds"
                                      : "has neither selector nor clusterIds");
    if (choice->ids_given && choice->ids->count == 0)
        finding_add(findings, RULE_TARGETS_EMPTY, CAUSE_VALUE_REQUIRED, &ids_at,
                    STR("name at least one cluster"), "must not be empty");
    check_ids(choice->ids, at, findings);
    if (choice->selector_given && !(choice->selector->given & FIELD_BROKEN)) {
        selector_good = check_selector(choice->selector, &selector_at, findings);
        if (label_selector_is_empty(choice->selector)) {
            finding_add(findings, RULE_TARGETS_EMPTY, CAUSE_VALUE_REQUIRED, &selector_at,
                        STR("name at least one label"),
                        "must not be empty: it would mean every cluster");
            selector_good = false;
        }
    }
    return selector_good;
}

/* --- the clusters of today --- */

static void check_match(const struct label_selector *selector, const struct facts *facts,
                        const struct path *targets, struct findings *findings)
{
    struct path at = path_field(targets, STR("selector"));
    struct selector compiled = label_selector_compile(findings->arena, selector);

    uint32_t downstream = 0;

    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        if (facts->clusters.items[i].internal)
            continue;
        if (selector_matches(&compiled, facts->clusters.items[i].labels))
            return;
        downstream++;
    }
    finding_add(findings, RULE_TARGETS_NO_MATCH, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                "none of Rancher's %u downstream clusters matches today", downstream);
}

struct str facts_nearest_cluster(const struct facts *facts, struct str id)
{
    struct str_nearest nearest = { .name = id };

    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        if (str_eq(id, facts->clusters.items[i].display_name))
            return facts->clusters.items[i].id;
        str_nearest_try(&nearest, facts->clusters.items[i].id);
    }
    return nearest.found;
}

static void check_known(const struct str_list *ids, const struct facts *facts,
                        const struct path *targets, struct findings *findings)
{
    struct path list = path_field(targets, STR("clusterIds"));
    struct map *known = map_new(findings->arena, facts->clusters.count);

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        map_put(known, facts->clusters.items[i].id, &facts->clusters.items[i]);
    for (uint32_t i = 0; i < ids->count; i++) {
        struct path at = path_index(&list, i);
        struct str id = ids->items[i];
        struct str nearest = STR("");

        if (map_get(known, id) || kube_not_dns1123_subdomain(id))
            continue;
        if (findings->of[RULE_TARGETS_UNKNOWN_CLUSTER] < NEAREST_MAX)
            nearest = facts_nearest_cluster(facts, id);
        finding_add(findings, RULE_TARGETS_UNKNOWN_CLUSTER, CAUSE_VALUE_NOT_FOUND, &at,
                    finding_did_you_mean(findings, nearest),
                    "Rancher knows no cluster '%.*s' today", STR_ARG(finding_shown(findings, id)));
    }
}

static void check_targets(const struct stack_spec *spec, const struct facts *facts,
                          const struct path *at, struct findings *findings)
{
    const struct stack_targets *targets = &spec->targets;
    struct path targets_at = path_field(at, STR("targets"));

    if (!STACK_GIVEN(spec, ROW_stack_spec_targets) || targets->given & FIELD_BROKEN)
        return; /* told by decode */

    bool selector_good = check_choice(
        &(struct choice){ &targets->selector, &targets->cluster_ids,
                          STACK_GIVEN(targets, ROW_stack_targets_selector),
                          STACK_GIVEN(targets, ROW_stack_targets_cluster_ids) },
        &targets_at, findings);

    if (!facts->clusters_known)
        return;
    if (selector_good)
        check_match(&targets->selector, facts, &targets_at, findings);
    if (targets->cluster_ids.count)
        check_known(&targets->cluster_ids, facts, &targets_at, findings);
}

void validate_targets(const struct stack *stack, const struct facts *facts,
                      struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct path overrides = path_field(&at, STR("overrides"));
    struct path rollout = path_field(&at, STR("rollout"));
    struct path waves = path_field(&rollout, STR("waves"));

    check_targets(spec, facts, &at, findings);
    for (uint32_t i = 0; i < spec->overrides.count; i++) {
        const struct stack_override *one = &spec->overrides.items[i];
        struct path up = path_index(&overrides, i);

        if (!(one->given & FIELD_BROKEN))
            check_choice(&(struct choice){ &one->selector, &one->cluster_ids,
                                           STACK_GIVEN(one, ROW_stack_override_selector),
                                           STACK_GIVEN(one, ROW_stack_override_cluster_ids) },
                         &up, findings);
    }
    for (uint32_t i = 0; i < spec->rollout.waves.count; i++) {
        const struct wave *wave = &spec->rollout.waves.items[i];
        struct path up = path_index(&waves, i);
        struct str_list none = { 0 };

        if (!(wave->given & FIELD_BROKEN) && STACK_GIVEN(wave, ROW_wave_selector))
            check_choice(&(struct choice){ &wave->selector, &none, true, false }, &up, findings);
    }
}
