/* faults_test.c: fault rules as people write them, and how often they strike. */
#include "support/rows.h"

#include "lab/estate/rancher/faults.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_times_and_places),
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
