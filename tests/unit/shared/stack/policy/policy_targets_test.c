/* SPDX-License-Identifier: Apache-2.0 */
/* policy_targets_test.c: policies and where a Stack goes: charts that overrides skip, and policies for the
 * Stacks of some clusters. */
#include "support/rows.h"

#include "stack/policy/policy_results.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

static struct json yaml_json(struct arena *arena, struct str text)
{
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(arena, text, &documents, &err) != 0)
        fail_msg("%s\n%.*s", err.text, STR_ARG(text));
    return test_json(arena, documents.items[0].json);
}

static struct policy_set *set_of(struct arena *arena, const char *spec)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);
    struct json policy = yaml_json(arena, str_fmt(arena, "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: p}, "
                                                         "spec: {%s}}", spec));

    if (!policy_set_add(builder, policy, &problems))
        fail_msg("%s", findings_text(arena, &problems).at);
    return policy_set_finish(builder);
}

/* c-1 and c-3 are prod, c-2 is dev. */
static struct facts facts_of(struct arena *arena, bool known)
{
    static const char *const clusters[][2] = { { "c-1", "prod" }, { "c-2", "dev" }, { "c-3", "prod" } };
    struct facts facts = { .clusters_known = known, .clusters = fact_clusters_new(arena, 3) };

    for (size_t i = 0; known && i < 3; i++)
        fact_clusters_push(&facts.clusters,
                           (struct fact_cluster){ .id = str_of(clusters[i][0]),
                                                  .labels = test_json(arena, str_fmt(arena, "{\"env\":\"%s\"}", clusters[i][1])) });
    return facts;
}

#define IDS(ids) "targets: {clusterIds: [" ids "]}, "
#define LABEL(value) "targets: {selector: {matchLabels: {env: " value "}}}, "
#define A(name, more) "{name: " name ", repo: 'https://a.io', version: 1.0.0" more "}"
#define ON(name) ", dependsOn: [" name "]"
#define CHARTS "charts: [" A("nv", "") ", " A("db", ON("nv")) ", " A("app", ON("db")) "]"
#define TWO "charts: [" A("nv", "") ", " A("nv-2", "") ", " A("db", ON("nv, nv-2")) "]"
#define SKIP(where, names) ", overrides: [{" where ", charts: [" names "]}]"
#define NO(name) "{name: " name ", skip: true}"
#define C(ids) "clusterIds: [" ids "]"
#define ENV(value) "selector: {matchLabels: {env: " value "}}"

#define REQUIRED "rules: [{name: r, requiredChart: 'nv*'}]"
#define AWAITED "rules: [{name: r, requiredDependency: nv}]"
#define AWAITED_ANY "rules: [{name: r, requiredDependency: 'nv*'}]"
#define OVERRIDES "!policy/p/r spec.overrides"
#define DEPENDS(n) "!policy/p/r spec.charts[" n "].dependsOn"

static const struct row {
    const char *says, *policy, *stack;
    bool unknown; /* no cluster is known */
    const char *found, *message;
} skip_rows[] = {
    { "a chart that is deployed", REQUIRED, IDS("c-1") CHARTS, false, "", NULL },
    { "skipped on the only target", REQUIRED, IDS("c-1") CHARTS SKIP(C("c-1"), NO("nv")), false, OVERRIDES,
      "chart \"nv*\" on every cluster: an override skips it on c-1 (StackPolicy p)" },
    { "although nothing is known of it", REQUIRED, IDS("c-1") CHARTS SKIP(C("c-1"), NO("nv")), true, OVERRIDES, "skips it on c-1 (StackPolicy p)" },
    { "on some targets", REQUIRED, IDS("c-1, c-2, c-3") CHARTS SKIP(C("c-1, c-3"), NO("nv")), false, OVERRIDES, "skips it on c-1, c-3 (StackPolicy p)" },
    { "on one that Rancher does not know", REQUIRED, IDS("c-1, c-9") CHARTS SKIP(C("c-9"), NO("nv")), false, OVERRIDES, "skips it on c-9 (StackPolicy p)" },
    { "elsewhere", REQUIRED, IDS("c-1") CHARTS SKIP(C("c-2"), NO("nv")), false, "", NULL },
    { "by label", REQUIRED, IDS("c-1, c-2") CHARTS SKIP(ENV("dev"), NO("nv")), false, OVERRIDES, "on c-2 (StackPolicy p)" },
    { "by a label that nothing is known of", REQUIRED, IDS("c-1, c-2") CHARTS SKIP(ENV("dev"), NO("nv")), true, "", NULL },
    { "where a selector goes today", REQUIRED, LABEL("prod") CHARTS SKIP(C("c-3"), NO("nv")), false, OVERRIDES, "on c-3 (StackPolicy p)" },
    { "wherever a selector may go", REQUIRED, LABEL("prod") CHARTS SKIP(ENV("prod"), NO("nv")), true, OVERRIDES,
      "an override skips it wherever this Stack goes (StackPolicy p)" },
    { "where no cluster matches yet", REQUIRED, LABEL("test") CHARTS SKIP(ENV("test"), NO("nv")), false, OVERRIDES, "wherever this Stack goes" },
    { "on some clusters of a selector, whichever these are", REQUIRED, LABEL("prod") CHARTS SKIP(C("c-3"), NO("nv")), true, "", NULL },
    { "another chart that is meant, too", REQUIRED, IDS("c-1") TWO SKIP(C("c-1"), NO("nv")), false, "", NULL },
    { "both of them", REQUIRED, IDS("c-1") TWO SKIP(C("c-1"), NO("nv") ", " NO("nv-2")), false, OVERRIDES, "on c-1 (StackPolicy p)" },
    { "words of the policy's own, and where", "rules: [{name: r, requiredChart: nv, message: 'no NeuVector in ${name}'}]",
      IDS("c-1") CHARTS SKIP(C("c-1"), NO("nv")), false, OVERRIDES, "no NeuVector in s: an override skips it on c-1 (StackPolicy p)" },
    { "a dependency", AWAITED, IDS("c-1") CHARTS, false, "", NULL },
    { "that is skipped", AWAITED, IDS("c-1, c-2") CHARTS SKIP(C("c-1"), NO("nv")), false, DEPENDS("1") "; " DEPENDS("2"),
      "\"db\" must depend on \"nv\": an override skips that on c-1 (StackPolicy p)" },
    { "that is skipped with what waits for it", AWAITED, IDS("c-1") CHARTS SKIP(C("c-1"), NO("nv") ", " NO("db") ", " NO("app")), false, "", NULL },
    { "of a chart that is skipped everywhere", "rules: [{name: r, requiredDependency: app}]", IDS("c-1") CHARTS SKIP(C("c-1"), NO("nv") ", " NO("db")), false, "", NULL },
    { "that another one stands in for", AWAITED_ANY, IDS("c-1") TWO SKIP(C("c-1"), NO("nv")), false, "", NULL },
    { "that none stands in for", AWAITED_ANY, IDS("c-1") TWO SKIP(C("c-1"), NO("nv") ", " NO("nv-2")), false, DEPENDS("2"), NULL },
    { "that was never awaited", "rules: [{name: r, requiredDependency: app}]", IDS("c-1") CHARTS SKIP(C("c-1"), NO("app")), false,
      DEPENDS("0") "; " DEPENDS("1"), "\"nv\" must depend on \"app\" (StackPolicy p)" },
};

#define PROD "match: {clusterSelector: {matchLabels: {env: prod}}}, rules: [{name: r, field: metadata.name, deny: [s]}]"
#define FOUND "!policy/p/r metadata.name"
#define ASSUMED "(StackPolicy p, which applies because not all clusters of this Stack are known)"

static const struct row cluster_rows[] = {
    { "a cluster that it names", PROD, IDS("c-1") CHARTS, false, FOUND, "\"s\" is not allowed (StackPolicy p)" },
    { "one of them", PROD, IDS("c-2, c-3") CHARTS, false, FOUND, "(StackPolicy p)" },
    { "none of them", PROD, IDS("c-2") CHARTS, false, "", NULL },
    { "clusters that its selector matches", PROD, LABEL("prod") CHARTS, false, FOUND, "(StackPolicy p)" },
    { "whatever env says", "match: {env: [dev], clusterSelector: {matchLabels: {env: prod}}}, rules: [{name: r, field: metadata.name, deny: [s]}]",
      "env: dev, " LABEL("prod") CHARTS, false, FOUND, NULL },
    { "other clusters", PROD, LABEL("dev") CHARTS, false, "", NULL },
    { "while clusters are not known", PROD, IDS("c-2") CHARTS, true, FOUND, ASSUMED },
    { "so of a selector", PROD, "targets: {selector: {matchLabels: {site: a}}}, " CHARTS, true, FOUND, ASSUMED },
    { "but not of one that can never match the same cluster", PROD, LABEL("dev") CHARTS, true, "", NULL },
    { "a cluster that Rancher does not know", PROD, IDS("c-2, c-9") CHARTS, false, FOUND, ASSUMED },
    { "a selector that matches none today", PROD, "targets: {selector: {matchLabels: {site: a}}}, " CHARTS, false, FOUND, ASSUMED },
    { "expressions", "match: {clusterSelector: {matchExpressions: [{key: env, operator: NotIn, values: [prod]}]}}, rules: [{name: r, field: metadata.name, deny: [s]}]",
      IDS("c-1") CHARTS, false, "", NULL },
};

static void check(const struct row *row)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set = set_of(arena, row->policy);
    struct facts facts = facts_of(arena, !row->unknown);
    struct problems problems = problems_new(arena);
    const struct resolved_targets *chosen;

    policy_set_look(arena, set, &facts, yaml_json(arena, str_fmt(arena, "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: "
                    "{name: s, namespace: team-a}, spec: {%s}}", row->stack)), &problems, &chosen);
    rows_expect_str(row->says, findings_text(arena, &problems), str_of(row->found));
    if (row->message)
        rows_expect(row->says, str_find(problems.list.items[0].message, str_of(row->message), 0) >= 0,
                    str_z(arena, problems.list.items[0].message));
}

static void what_overrides_skip_is_not_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(skip_rows) / sizeof(skip_rows[0]); i++)
        check(&skip_rows[i]);
}

static void policies_choose_stacks_by_their_clusters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cluster_rows) / sizeof(cluster_rows[0]); i++)
        check(&cluster_rows[i]);
}

/* More ways to skip charts than are told apart: what any of them skips counts as skipped. */
static void many_ways_to_skip_are_one(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set = set_of(arena, REQUIRED);
    struct facts facts = facts_of(arena, false);
    struct strbuf ids = strbuf_new(arena, 1024), overrides = strbuf_new(arena, 8192);
    struct problems problems = problems_new(arena);
    const struct resolved_targets *chosen;

    (void)state;
    for (int i = 0; i < 100; i++) {
        strbuf_fmt(&ids, "%sc-%d", i ? ", " : "", i);
        strbuf_fmt(&overrides, "%s{clusterIds: [c-%d], charts: [{name: %s, skip: true}]}", i ? ", " : "", i, i == 99 ? "nv" : "app");
    }
    policy_set_look(arena, set, &facts,
                    yaml_json(arena, str_fmt(arena, "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: {name: s, namespace: a}, "
                                                    "spec: {targets: {clusterIds: [%.*s]}, " CHARTS ", overrides: [%.*s]}}",
                                             STR_ARG(strbuf_str(&ids)), STR_ARG(strbuf_str(&overrides)))),
                    &problems, &chosen);
    rows_expect_str("told", findings_text(arena, &problems), STR(OVERRIDES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_overrides_skip_is_not_there),
        cmocka_unit_test(policies_choose_stacks_by_their_clusters),
        cmocka_unit_test(many_ways_to_skip_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
