/* faults_test.c: fault rules as people write them, and how often they strike.
 *
 * docs/lab.md is made here: HERD_GOLDEN=write. */
#include "support/rows.h"

#include "lab/estate/rancher/faults.h"
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

/* What is told of the lab's faults before their table. */
static const struct str doc_head = STR_INIT(
    "# Faults of the lab\n\n"
    "The table is made from `lab/estate/rancher/faults.def` by "
    "`tests/unit/lab/estate/rancher/faults_test.c`.\n\n"
    "What a Stack does when something goes wrong can be tried on `make run`: the simulated Rancher "
    "and its clusters fail as the real ones do, where and as often as the ConfigMap "
    "`herd-lab-faults` in namespace `default` says. Each of its keys is a rule:\n\n"
    "```\n"
    "export KUBECONFIG=$PWD/build/run/kubeconfig\n"
    "kubectl create configmap herd-lab-faults \\\n"
    "  --from-literal=a='fault=readiness-timeout release=qdrant times=2' \\\n"
    "  --from-literal=b='fault=slow ms=2000 probability=0.3'\n"
    "kubectl delete configmap herd-lab-faults\n"
    "```\n\n"
    "A change holds at once, and a rule that cannot be read is refused with the words that there "
    "are. Rules may also stand in the file of `herd-lab --estate`, as a list `faults:` of such "
    "texts. The words of a rule:\n\n"
    "| word | meaning |\n|---|---|\n"
    "| `fault=` | one of those below; the only word that must be there |\n"
    "| `cluster=` | the cluster's id, as in `kubectl get clusters.management.cattle.io`; "
    "left out or `*`: any |\n"
    "| `release=` | the release's name, likewise |\n"
    "| `chart=` | the chart's name, likewise |\n"
    "| `repo=` | the name of the ClusterRepo, likewise |\n"
    "| `times=` | how often it strikes; left out: always |\n"
    "| `probability=` | of striking, 0 to 1; left out: 1 |\n"
    "| `ms=` | of `slow`: the delay in milliseconds |\n");

static void faults_are_documented(void **state)
{
    static const char *const places[] = {
        [FAULT_ON_REQUEST] = "On any request that reaches the cluster",
        [FAULT_ON_TUNNEL] = "On the road to the cluster",
        [FAULT_ON_REPO] = "When the index of a repository is downloaded",
        [FAULT_ON_POST] = "While Rancher takes an action",
        [FAULT_ON_TASK] = "In the Helm operation",
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);
    int written = 0;

    (void)state;
    strbuf_put(&out, doc_head);
    for (size_t stage = 0; stage < sizeof(places) / sizeof(places[0]); stage++) {
        strbuf_fmt(&out, "\n## %s\n\n| fault | what happens |\n|---|---|\n", places[stage]);
        for (int id = FAULT_NONE + 1; id < FAULT_ID_COUNT; id++) {
            const struct fault_row *row = fault_row((enum fault_id)id);

            if (row->stage != stage)
                continue;
            strbuf_fmt(&out, "| `%.*s` | %s |\n", STR_ARG(row->name), row->help);
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
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(faults_are_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
