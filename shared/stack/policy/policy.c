/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c: JSON to a policy, and is it in order? */
#include "stack/model/policy.h"

#include "base/set.h"
#include "kube/names.h"
#include "stack/model/checks.h"
#include "stack/model/fields_decode.h"
#include "stack/policy/policy_check.h"
#include "stack/model/type_meta.h"
#include "text/json_write.h"

const struct kube_resource policy_resource =
    KUBE_RESOURCE_INIT(STACK_GROUP, STACK_VERSION, "stackpolicies", "StackPolicy", false);

static void check_match(const struct policy_match *match, const struct path *spec,
                        struct findings *findings)
{
    struct path match_at = path_field(spec, STR("match"));
    struct path selector_at = path_field(&match_at, STR("selector"));
    struct path clusters_at = path_field(&match_at, STR("clusterSelector"));

    validate_selector(&match->selector, &selector_at, findings);
    validate_selector(&match->cluster_selector, &clusters_at, findings);
    if (STACK_GIVEN(match, ROW_policy_match_cluster_selector) &&
        !(match->cluster_selector.given & FIELD_BROKEN) &&
        label_selector_is_empty(&match->cluster_selector))
        finding_add(findings, RULE_TARGETS_EMPTY, CAUSE_VALUE_REQUIRED, &clusters_at,
                    STR("name at least one label, or leave clusterSelector out"),
                    "must not be empty: it would select every cluster");
}

static unsigned kind_named(struct str name)
{
    unsigned kind = 0;

    while (kind < POLICY_KIND_COUNT && !str_eq(name, policy_kind_name(kind)))
        kind++;
    return kind;
}

static struct str kinds_supported(struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 128);

    for (unsigned kind = 0; kind < POLICY_KIND_COUNT; kind++)
        strbuf_fmt(&out, "%s\"%.*s\"", kind ? ", " : "", STR_ARG(policy_kind_name(kind)));
    return strbuf_str(&out);
}

/* As bits. A name that is none of ours keeps the policy from being used. */
static unsigned read_kinds(const struct policy_match *match, const struct path *spec,
                           struct findings *findings)
{
    struct path match_at = path_field(spec, STR("match"));
    struct path list = path_field(&match_at, STR("kinds"));
    struct path clusters_at = path_field(&match_at, STR("clusterSelector"));
    unsigned kinds = 0;

    for (uint32_t i = 0; i < match->kinds.count; i++) {
        unsigned kind = kind_named(match->kinds.items[i]);
        struct path at = path_index(&list, i);

        if (kind == POLICY_KIND_COUNT)
            finding_add(findings, RULE_POLICY_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at, STR(""),
                        "\"%.*s\": supported values: %.*s",
                        STR_ARG(finding_shown(findings, match->kinds.items[i])),
                        STR_ARG(kinds_supported(findings->arena)));
        else
            kinds |= 1U << kind;
    }
    if (kinds & ~(1U << POLICY_KIND_STACK) && STACK_GIVEN(match, ROW_policy_match_cluster_selector))
        finding_add(findings, RULE_POLICY_KIND, CAUSE_FORBIDDEN, &clusters_at, STR(""),
                    "only Stacks have target clusters; a workload runs on the cluster of its API "
                    "server");
    return kinds ? kinds : 1U << POLICY_KIND_STACK;
}

static void check_rule_names(const struct policy_spec *spec, const struct path *list,
                             struct findings *findings)
{
    struct set seen = set_new(findings->arena, spec->rules.count);

    for (uint32_t i = 0; i < spec->rules.count; i++) {
        const struct policy_rule *rule = &spec->rules.items[i];
        struct path up = path_index(list, i);
        struct path at = path_field(&up, STR("name"));

        if (rule->name.len && !set_add(seen, rule->name))
            finding_add(findings, RULE_POLICY_NAME, CAUSE_VALUE_DUPLICATE, &at, STR(""), "\"%.*s\"",
                        STR_ARG(finding_shown(findings, rule->name)));
    }
}

static struct policy_checks compile_rules(struct arena *arena, const struct policy *policy,
                                          const struct path *at, struct findings *findings)
{
    const struct policy_spec *spec = &policy->spec;
    struct policy_checks checks = policy_checks_new(arena, spec->rules.count);
    struct path list = path_field(at, STR("rules"));

    check_rule_names(spec, &list, findings);
    for (uint32_t i = 0; i < spec->rules.count; i++) {
        struct path rule_at = path_index(&list, i);

        policy_checks_push(&checks, policy_check_compile(arena, &spec->rules.items[i],
                                                         policy->kinds, &rule_at, findings));
    }
    return checks;
}

const struct policy *policy_read(struct arena *arena, struct json object, struct problems *problems,
                                 struct policy_checks *ret_checks)
{
    struct policy *policy = arena_new(arena, struct policy);
    struct findings findings = findings_new(problems);
    struct path at = path_field(NULL, STR("spec"));

    findings.arena = arena;
    policy->spec_json = json_get(object, STR("spec"));
    kube_meta_read(object, &policy->meta);
    type_meta_check(object, &policy_resource, &fields_of_policy_spec, &findings);
    validate_metadata(&policy->meta, &findings);
    fields_decode(&findings, &fields_of_policy_spec, policy->spec_json, &policy->spec, &at);
    if (!policy->spec.action)
        policy->spec.action = POLICY_ACTION_DENY;
    check_match(&policy->spec.match, &at, &findings);
    policy->kinds = read_kinds(&policy->spec.match, &at, &findings);
    *ret_checks = compile_rules(arena, policy, &at, &findings);
    return policy;
}

const struct policy *policy_decode(struct arena *arena, struct json object,
                                   struct problems *problems)
{
    struct policy_checks checks;

    return policy_read(arena, object, problems, &checks);
}

static void warn_of_what_stays(struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++)
        if (problems->list.items[i].severity == SEVERITY_DENY)
            problems->list.items[i].severity = SEVERITY_WARN;
    problems->denied = 0;
}

struct verdict policy_admit(struct arena *arena, struct json object, struct json old_object)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };
    const struct policy *policy = policy_decode(arena, object, &verdict.problems);

    if (json_is(old_object, JSON_OBJECT) &&
        json_equal(policy->spec_json, json_get(old_object, STR("spec"))))
        warn_of_what_stays(&verdict.problems);
    problems_sort(&verdict.problems);
    verdict_word(arena, &verdict);
    return verdict;
}

void policy_keep(struct json object, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct json spec = json_get(object, STR("spec"));

    json_open_object(&w);
    json_field_str(&w, "apiVersion", json_str(json_get(object, STR("apiVersion"))));
    json_field_str(&w, "kind", json_str(json_get(object, STR("kind"))));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", json_str(json_walk(object, "metadata", "name", NULL)));
    json_close_object(&w);
    if (!json_is(spec, JSON_ABSENT))
        json_field_raw(&w, "spec", json_raw(spec));
    json_close_object(&w);
}
