/* SPDX-License-Identifier: Apache-2.0 */
/* policy_results_test.c: what policies came to for one Stack, kept ones too. */
#include "support/rows.h"

#include "stack/policy/policy_results.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

static const struct facts facts;

#define POLICY(name, spec) "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: " name "}, spec: {" spec "}}\n---\n"
#define ENV(allow) "{name: env, field: spec.env, allow: [" allow "]}"
#define VERSION(pattern) "{name: version, field: 'spec.charts[*].version', pattern: '" pattern "'}"

static const struct row {
    const char *says, *policies, *outcomes, *results;
} rows[] = {
    { "no policies", "", "", "" },
    { "one that is kept", POLICY("a", "rules: [" ENV("prod") "]"), "a pass", "a/env 0" },
    { "one that is broken twice", POLICY("a", "rules: [" VERSION("9") "]"), "a deny", "a/version 2" },
    { "each rule by itself", POLICY("a", "rules: [" ENV("prod") ", " VERSION("9") "]"), "a deny", "a/env 0, a/version 2" },
    { "one that warns, one that only reports", POLICY("b", "action: Audit, rules: [" ENV("x") "]") POLICY("a", "action: Warn, rules: [" ENV("x") "]"),
      "a warn, b audit", "a/env 1, b/env 1" },
    { "one about other Stacks is not there", POLICY("a", "match: {env: [dev]}, rules: [" ENV("x") "]") POLICY("b", "rules: [" ENV("prod") "]"),
      "b pass", "b/env 0" },
    { "names that begin alike are apart", POLICY("a", "rules: [" ENV("prod") "]") POLICY("a.b", "rules: [" ENV("x") "]") POLICY("ab", "rules: [" ENV("prod") "]"),
      "a pass, a.b deny, ab pass", "a/env 0, a.b/env 1, ab/env 0" },
};

static struct json prod_stack(struct arena *arena)
{
    return test_json(arena, STR("{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"spec\":{\"env\":\"prod\","
                                "\"targets\":{\"clusterIds\":[\"c\"]},\"charts\":[{\"name\":\"a\",\"repo\":\"https://x.example.com\",\"version\":\"1.0.0\"},"
                                "{\"name\":\"b\",\"repo\":\"https://x.example.com\",\"version\":\"2.0.0\"}]}}"));
}

static struct policy_set *read_policies(struct arena *arena, const char *text)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(arena, str_of(text), &documents, &err) != 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < documents.count; i++) {
        struct problems problems = problems_new(arena);
        struct json policy = test_json(arena, documents.items[i].json);

        if (json_is(policy, JSON_OBJECT) && !policy_set_add(builder, policy, &problems))
            fail_msg("%.*s", STR_ARG(problems.list.items[0].message));
    }
    return policy_set_finish(builder);
}

static struct str outcomes_text(struct arena *arena, const struct policy_outcomes *outcomes)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < outcomes->count; i++)
        strbuf_fmt(&out, "%s%.*s %s", i ? ", " : "", STR_ARG(outcomes->items[i].policy),
                   policy_outcome_name(outcomes->items[i].severity));
    return strbuf_str(&out);
}

static struct str results_text(struct arena *arena, const struct policy_set *set, const struct policy_results *results)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < results->count; i++) {
        const struct policy_result *one = &results->items[i];

        strbuf_fmt(&out, "%s%.*s/%.*s %u", i ? ", " : "", STR_ARG(policy_set_name(set, one->policy)),
                   STR_ARG(policy_set_rule_name(set, one->policy, one->rule)), one->findings);
        rows_expect("the first finding is there when there is one", (one->first != NULL) == (one->findings > 0), "it is");
    }
    return strbuf_str(&out);
}

static void tells_what_each_came_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(policy_set_unref) struct policy_set *set = read_policies(arena, rows[i].policies);
        struct problems problems = problems_new(arena);
        const struct resolved_targets *chosen;
        const struct stack *stack = policy_set_look(arena, set, &facts, prod_stack(arena), &problems, &chosen);
        struct policy_outcomes outcomes = policy_outcomes_of(arena, set, stack, chosen, &problems);
        struct policy_results results = policy_results_of(arena, set, stack, chosen, &problems);

        rows_expect_str(rows[i].says, outcomes_text(arena, &outcomes), str_of(rows[i].outcomes));
        rows_expect_str(rows[i].says, results_text(arena, set, &results), str_of(rows[i].results));
    }
}

static void what_is_not_of_these_policies_is_passed_over(void **state)
{
    static const char *const foreign[] = { "graph.cycle", "policy/none/env", "policy/a/none", "policy/a", "policy/", "" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set = read_policies(arena, POLICY("a", "rules: [" ENV("prod") "]"));
    struct problems problems = problems_new(arena);
    struct problems none = problems_new(arena);
    const struct resolved_targets *chosen;
    const struct stack *stack = policy_set_look(arena, set, &facts, prod_stack(arena), &none, &chosen);

    (void)state;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        problems_add(&problems, (struct problem){ .rule = str_of(foreign[i]), .severity = SEVERITY_AUDIT });

    struct policy_results results = policy_results_of(arena, set, stack, chosen, &problems);

    rows_expect_str("results", results_text(arena, set, &results), STR("a/env 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_each_came_to),
        cmocka_unit_test(what_is_not_of_these_policies_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
