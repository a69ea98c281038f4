/* SPDX-License-Identifier: Apache-2.0 */
/* validate_targets.c: which clusters are meant: by the Stack, by an override, by a wave. */
#include "stack/rules/validate_areas.h"

#include "base/set.h"
#include "kube/names.h"
#include "stack/model/fields.h"
#include "stack/model/limits.h"

#include <inttypes.h>

/* Looking for a near id walks all clusters, so only the first few slips get one. */
enum { NEAREST_MAX = 8 };

/* --- ids --- */

static void check_id(struct str id, const struct path *at, struct findings *findings)
{
    const char *wrong = kube_not_dns1123_subdomain(id);

    if (wrong)
        finding_add(findings, RULE_TARGETS_CLUSTER_ID, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": a cluster id %s", STR_ARG(finding_shown(findings, id)), wrong);
    else if (str_eq(id, LOCAL_CLUSTER))
        finding_add(findings, RULE_TARGETS_LOCAL, CAUSE_FORBIDDEN, at, STR(""),
                    "\"local\" is the cluster that runs Rancher");
}

static void check_ids(const struct str_list *ids, const struct path *up, struct findings *findings)
{
    struct path list = path_field(up, STR("clusterIds"));
    struct set seen = set_new(findings->arena, ids->count);

    for (uint32_t i = 0; i < ids->count; i++) {
        struct path at = path_index(&list, i);

        if (ids->items[i].len == 0)
            continue; /* reported by decode */
        check_id(ids->items[i], &at, findings);
        if (!set_add(seen, ids->items[i]))
            finding_add(findings, RULE_TARGETS_REPEATED, CAUSE_VALUE_DUPLICATE, &at, STR(""),
                        "\"%.*s\"", STR_ARG(finding_shown(findings, ids->items[i])));
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
                    choice->ids_given ? STR("") : STR("set one of the two"),
                    choice->ids_given ? "selector and clusterIds may not both be set"
                                      : "selector or clusterIds must be set");
    if (choice->ids_given && choice->ids->count == 0)
        finding_add(findings, RULE_TARGETS_EMPTY, CAUSE_VALUE_REQUIRED, &ids_at,
                    STR("name at least one cluster"), "must not be empty");
    check_ids(choice->ids, at, findings);
    if (choice->selector_given && !(choice->selector->given & FIELD_BROKEN)) {
        selector_good = validate_selector(choice->selector, &selector_at, findings);
        if (label_selector_is_empty(choice->selector)) {
            finding_add(findings, RULE_TARGETS_EMPTY, CAUSE_VALUE_REQUIRED, &selector_at,
                        STR("name at least one label"),
                        "must not be empty: it would select every cluster");
            selector_good = false;
        }
    }
    return selector_good;
}

/* --- the clusters of today --- */

static void tell_no_match(const struct facts *facts, const struct path *targets,
                          struct findings *findings)
{
    struct path at = path_field(targets, STR("selector"));
    uint32_t downstream = 0;

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        downstream += !facts->clusters.items[i].internal;
    finding_add(findings, RULE_TARGETS_NO_MATCH, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                "none of Rancher's %u downstream clusters matches today", downstream);
}

static void check_known(const struct str_list *ids, const struct facts *facts,
                        const struct path *targets, struct findings *findings)
{
    struct path list = path_field(targets, STR("clusterIds"));
    struct set known = set_new(findings->arena, facts->clusters.count);

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        set_add(known, facts->clusters.items[i].id);
    for (uint32_t i = 0; i < ids->count; i++) {
        struct path at = path_index(&list, i);
        struct str id = ids->items[i];
        struct str nearest = STR("");

        if (set_has(known, id) || kube_not_dns1123_subdomain(id))
            continue;
        if (findings->of[RULE_TARGETS_UNKNOWN_CLUSTER] < NEAREST_MAX)
            nearest = facts_nearest_cluster(facts, id);
        finding_add(findings, RULE_TARGETS_UNKNOWN_CLUSTER, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                    "\"%.*s\": Rancher has no cluster with that id today%.*s",
                    STR_ARG(finding_shown(findings, id)),
                    STR_ARG(finding_did_you_mean(findings, nearest)));
    }
}

static void check_targets(const struct stack_spec *spec, const struct facts *facts,
                          const struct resolved_targets *chosen, const struct path *at,
                          struct findings *findings)
{
    const struct stack_targets *targets = &spec->targets;
    struct path targets_at = path_field(at, STR("targets"));

    if (!STACK_GIVEN(spec, ROW_stack_spec_targets) || targets->given & FIELD_BROKEN)
        return; /* reported by decode */

    bool selector_good =
        check_choice(&(struct choice){ &targets->selector, &targets->cluster_ids,
                                       STACK_GIVEN(targets, ROW_stack_targets_selector),
                                       STACK_GIVEN(targets, ROW_stack_targets_cluster_ids) },
                     &targets_at, findings);

    if (!facts->clusters_known)
        return;
    if (selector_good && chosen->claims.targets.by_selector && !chosen->clusters.count)
        tell_no_match(facts, &targets_at, findings);
    if (targets->cluster_ids.count)
        check_known(&targets->cluster_ids, facts, &targets_at, findings);
}

/* --- how much there is to compare --- */

static uint64_t size_of(const struct label_selector *selector)
{
    uint64_t size = json_count(selector->match_labels);

    for (uint32_t i = 0; i < selector->match_expressions.count; i++)
        size += 1 + selector->match_expressions.items[i].values.count;
    return size;
}

/* False, with a finding: with this one there are too many. */
static bool add_size(uint64_t *total, const struct label_selector *selector, const struct path *up,
                     struct findings *findings)
{
    struct path at = path_field(up, STR("selector"));

    *total += size_of(selector);
    if (*total <= LIMIT_SELECTOR_VALUES)
        return true;
    finding_add(findings, RULE_SHAPE_WORK, CAUSE_TOO_MANY, &at, STR(""),
                "%" PRIu64
                ": the selectors of a Stack must have at most %d requirements and values",
                *total, LIMIT_SELECTOR_VALUES);
    return false;
}

bool validate_selector_sizes(const struct stack *stack, struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct path targets = path_field(&at, STR("targets"));
    struct path overrides = path_field(&at, STR("overrides"));
    struct path rollout = path_field(&at, STR("rollout"));
    struct path waves = path_field(&rollout, STR("waves"));
    uint64_t total = 0;
    bool fits = add_size(&total, &spec->targets.selector, &targets, findings);

    for (uint32_t i = 0; fits && i < spec->overrides.count; i++) {
        struct path up = path_index(&overrides, i);

        fits = add_size(&total, &spec->overrides.items[i].selector, &up, findings);
    }
    for (uint32_t i = 0; fits && i < spec->rollout.waves.count; i++) {
        struct path up = path_index(&waves, i);

        fits = add_size(&total, &spec->rollout.waves.items[i].selector, &up, findings);
    }
    return fits;
}

void validate_targets(const struct stack *stack, const struct facts *facts,
                      const struct resolved_targets *chosen, struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct path overrides = path_field(&at, STR("overrides"));
    struct path rollout = path_field(&at, STR("rollout"));
    struct path waves = path_field(&rollout, STR("waves"));

    check_targets(spec, facts, chosen, &at, findings);
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
