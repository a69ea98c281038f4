/* SPDX-License-Identifier: Apache-2.0 */
/* faults_test.c: fault rules as people write them, and how often they strike.
 *
 * docs/lab.md is made here: HERD_GOLDEN=write. */
#include "support/rows.h"

#include "lab/rancher/faults.h"
#include "support/files.h"

static const struct {
    const char *name;
    struct str text;
    enum fault_id id;
    const char *error; /* a part of it; "" = it is read */
} texts[] = {
    { "the shortest rule", STR_INIT("fault=slow"), FAULT_SLOW, "" },
    { "all words", STR_INIT("fault=rbac cluster=c-m-1 release=web chart=nginx repo=r times=2 "
                            "probability=0.5 ms=10"),
      FAULT_RBAC, "" },
    { "more spaces than needed", STR_INIT("  fault=slow   cluster=*  "), FAULT_SLOW, "" },
    { "an unknown fault gets the nearest", STR_INIT("fault=slwo"), FAULT_NONE,
      "did you mean \"slow\"" },
    { "one that is near none gets them all", STR_INIT("fault=nonsens"), FAULT_NONE,
      "there is no fault \"nonsens\"; use one of slow, server-error, " },
    { "nor is one near that shares two letters of five", STR_INIT("fault=bogus"), FAULT_NONE,
      "there is no fault \"bogus\"; use one of slow, server-error, " },
    { "and the last of them", STR_INIT("fault=nonsens"), FAULT_NONE, ", release-gone" },
    { "more than always", STR_INIT("fault=slow probability=50"), FAULT_NONE,
      "probability=50 is more than 1" },
    { "an unknown word", STR_INIT("fault=slow custer=a"), FAULT_NONE, "\"custer\" is not one of" },
    { "no number", STR_INIT("fault=slow times=many"), FAULT_NONE, "times=many is not a number" },
    { "two clusters, of which the last would win", STR_INIT("fault=slow cluster=a cluster=b"),
      FAULT_NONE, "cluster is given twice" },
    { "two rules in one", STR_INIT("fault=slow cluster=a\nfault=slow cluster=b\n"), FAULT_NONE,
      "a rule is one line" },
    { "no fault", STR_INIT("cluster=a"), FAULT_NONE, "names no fault" },
    { "no equals sign", STR_INIT("fault=slow often"), FAULT_NONE, "\"often\" is not word=value" },
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fault_rule rule = { 0 };
        struct error err = { 0 };
        int result = fault_rule_read(STR("key"), texts[i].text, &rule, &err);

        rows_expect_int(texts[i].name, result, *texts[i].error ? -1 : 0);
        rows_expect_int(texts[i].name, rule.id, texts[i].id);
        rows_expect(texts[i].name, strstr(err.text, texts[i].error) != NULL, err.text);
    }
}

static void test_times_and_places(void **state)
{
    struct arena *arena = arena_create(0);
    struct fault_rules rules = fault_rules_new(arena, 1);
    struct fault_rule rule;
    struct error err = { 0 };
    struct rng rng = rng_from_seed(1);
    const struct fault_place here = { .cluster = STR_INIT("c-m-1"), .release = STR_INIT("web") };
    const struct fault_place there = { .cluster = STR_INIT("c-m-2"), .release = STR_INIT("web") };

    (void)state;
    assert_int_equal(fault_rule_read(STR("k"), STR("fault=rbac cluster=c-m-1 times=2"), &rule,
                                     &err), 0);
    fault_rules_push(&rules, rule);
    assert_null(fault_meet_stage(&rules, FAULT_ON_TASK, &there, &rng));
    assert_null(fault_meet_stage(&rules, FAULT_ON_POST, &here, &rng));
    assert_true(fault_stands(&rules, FAULT_RBAC, STR("c-m-1")));
    assert_non_null(fault_meet_stage(&rules, FAULT_ON_TASK, &here, &rng));
    assert_non_null(fault_meet(&rules, FAULT_RBAC, &here, &rng));
    assert_null(fault_meet(&rules, FAULT_RBAC, &here, &rng));
    assert_false(fault_stands(&rules, FAULT_RBAC, STR("c-m-1")));
    assert_int_equal(rules.items[0].hits, 2);
    arena_free(arena);
}

static void test_runs(void **state)
{
    static const struct {
        const char *name, *fault;
        enum fault_runs run;
        bool meets;
    } rows[] = {
        { "an uninstall renders nothing", "template-error", FAULT_RUN_UNINSTALL, false },
        { "nor checks a schema", "schema-error", FAULT_RUN_UNINSTALL, false },
        { "nor waits to be ready", "readiness-timeout", FAULT_RUN_UNINSTALL, false },
        { "an upgrade does", "template-error", FAULT_RUN_UPGRADE, true },
        { "so does a first one", "template-error", FAULT_RUN_FIRST_UPGRADE, true },
        { "any pod may find no image", "image-pull", FAULT_RUN_UNINSTALL, true },
        { "helm upgrade --install takes a name that is in use", "name-in-use", FAULT_RUN_UPGRADE,
          false },
        { "helm install does not", "name-in-use", FAULT_RUN_INSTALL, true },
        { "a first revision needs no deployed one", "no-deployed", FAULT_RUN_FIRST_UPGRADE, false },
        { "and finds no pending one", "pending-lock", FAULT_RUN_FIRST_UPGRADE, false },
        { "only an uninstall misses its release", "release-gone", FAULT_RUN_UPGRADE, false },
        { "and does", "release-gone", FAULT_RUN_UNINSTALL, true },
        { "a chart is downloaded for a revision", "tarball-down", FAULT_RUN_UPGRADE, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct fault_rules rules = fault_rules_new(arena, 1);
        struct rng rng = rng_from_seed(1);
        const struct fault_place place = { .cluster = STR("c"), .run = rows[i].run };
        enum fault_id id = fault_from(str_of(rows[i].fault));

        fault_rules_push(&rules, (struct fault_rule){ .id = id, .left = -1, .probability = 1 });
        rows_expect_int(rows[i].name,
                        fault_meet_stage(&rules, fault_row(id)->stage, &place, &rng) != NULL,
                        rows[i].meets);
        rows_expect_int("what is not met does not count", rules.items[0].hits, rows[i].meets);
    }
}

static void test_probability(void **state)
{
    struct arena *arena = arena_create(0);
    struct fault_rules rules = fault_rules_new(arena, 1);
    struct fault_rule rule;
    struct error err = { 0 };
    struct rng rng = rng_from_seed(7);
    const struct fault_place here = { .cluster = STR_INIT("c-m-1") };
    int hits = 0;

    (void)state;
    assert_int_equal(fault_rule_read(STR("k"), STR("fault=server-error probability=0.3"), &rule,
                                     &err), 0);
    fault_rules_push(&rules, rule);
    for (int i = 0; i < 10000; i++)
        hits += fault_meet(&rules, FAULT_SERVER_ERROR, &here, &rng) != NULL;
    assert_in_range(hits, 2800, 3200);
    arena_free(arena);
}

static void test_rows(void **state)
{
    struct arena *arena = arena_create(0);
    const struct str pairs[] = { STR_INIT("verb"), STR_INIT("UPGRADE FAILED: "),
                                 STR_INIT("release"), STR_INIT("web") };

    (void)state;
    for (int id = 1; id < FAULT_ID_COUNT; id++) {
        const struct fault_row *row = fault_row((enum fault_id)id);

        rows_expect_int(row->name.at, fault_from(row->name), id);
        rows_expect(row->name.at, *row->help != 0, "it has a help");
        rows_expect(row->name.at,
                    row->stage != FAULT_ON_TASK || row->end != FAULT_STALLED || row->text.len ||
                        row->exit_code == 0,
                    "a failure has a log line");
    }
    rows_expect_str("names are filled in",
                    fault_text(arena, fault_row(FAULT_NOT_DEPLOYED)->text, pairs, 4),
                    STR("Error: UPGRADE FAILED: \"web\" has no deployed releases"));
    arena_free(arena);
}

/* What the page says before the table of faults. */
static const struct str doc_head = STR_INIT(
    "# Faults of the lab\n\n"
    "After reading this page you can make the simulated Rancher and its clusters fail on `make run`, "
    "and watch how a Stack reacts. Each key of the ConfigMap `herd-lab-faults` in the namespace "
    "`default` is a rule:\n\n"
    "```\n"
    "export KUBECONFIG=$PWD/build/run/kubeconfig\n"
    "kubectl create configmap herd-lab-faults \\\n"
    "  --from-literal=a='fault=readiness-timeout release=qdrant times=2' \\\n"
    "  --from-literal=b='fault=slow ms=2000 probability=0.3'\n"
    "kubectl delete configmap herd-lab-faults\n"
    "```\n\n"
    "A change takes effect at once. An invalid rule is rejected, and the message lists the "
    "supported "
    "keys. The file of `herd-lab serve --simulation` can have the same rules in a list "
    "`faults:`.\n\n"
    "Pods of the management cluster need no rule: an image with the name or tag `missing` cannot "
    "be "
    "pulled, and a container\nwaits for the Secrets and ConfigMaps of its variables.\n\n"
    "`tests/unit/lab/rancher/faults_test.c` generates this page from `lab/rancher/faults.def`.\n\n"
    "The keys of a rule:\n\n"
    "| key | meaning |\n|---|---|\n"
    "| `fault=` | one of the faults below; required |\n"
    "| `cluster=` | the cluster's id, as in `kubectl get clusters.management.cattle.io`; "
    "default: any |\n"
    "| `release=` | the release's name; default: any |\n"
    "| `chart=` | the chart's name; default: any |\n"
    "| `repo=` | the name of the ClusterRepo; default: any |\n"
    "| `times=` | how often the fault happens; default: always |\n"
    "| `probability=` | the probability that it happens, 0 to 1; default: 1 |\n"
    "| `ms=` | the delay of `slow` in milliseconds |\n");

static const char *runs_name(enum fault_runs runs)
{
    switch (runs) {
    case FAULT_RUN_INSTALL:
        return " `helm install`";
    case FAULT_RUN_UPGRADE:
        return " an upgrade of an existing release";
    case FAULT_RUN_UNINSTALL:
        return " an uninstall";
    case FAULT_RENDERING:
        return " an install or upgrade";
    case FAULT_RUN_FIRST_UPGRADE:
    case FAULT_ALL:
        break;
    }
    return " any";
}

static void faults_are_documented(void **state)
{
    static const char *const places[] = {
        [FAULT_ON_REQUEST] = "On any request that reaches the cluster",
        [FAULT_ON_TUNNEL] = "On the way to the cluster",
        [FAULT_ON_REPO] = "When the index of a repository is downloaded",
        [FAULT_ON_POST] = "When Rancher receives an action",
        [FAULT_ON_TASK] = "In the Helm operation",
        [FAULT_ON_SUSE_OBSERVABILITY] =
            "In the server of SUSE Observability (`bash lab/suse_observability/agent.sh build/run/lab/env CLUSTER NAME`)",
        [FAULT_ON_NEUVECTOR] = "In the cluster's NeuVector, if it has one (`bash lab/neuvector/install.sh build/run/lab/env CLUSTER`)",
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);
    int written = 0;

    (void)state;
    strbuf_put(&out, doc_head);
    for (size_t stage = 0; stage < sizeof(places) / sizeof(places[0]); stage++) {
        bool of_runs = stage == FAULT_ON_POST || stage == FAULT_ON_TASK;

        strbuf_fmt(&out, "\n## %s\n\n| fault | %swhat happens |\n|---|%s---|\n", places[stage],
                   of_runs ? "of | " : "", of_runs ? "---|" : "");
        for (int id = FAULT_NONE + 1; id < FAULT_ID_COUNT; id++) {
            const struct fault_row *row = fault_row((enum fault_id)id);

            if (row->stage != stage)
                continue;
            strbuf_fmt(&out, "| `%.*s` |%s%s %s |\n", STR_ARG(row->name),
                       of_runs ? runs_name(row->runs) : "", of_runs ? " |" : "", row->help);
            written++;
        }
    }
    rows_expect_int("every fault has its place", written, FAULT_ID_COUNT - 1);
    test_golden(arena, "docs/lab.md", strbuf_str(&out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_times_and_places),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(faults_are_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
