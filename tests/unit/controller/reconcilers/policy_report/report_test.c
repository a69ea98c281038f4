/* SPDX-License-Identifier: Apache-2.0 */
/* report_test.c: policies and a stored Stack to the bytes of a PolicyReport.
 *
 * tests/golden/audit/NAME.in.yaml holds the Stack and then the policies; NAME.out.yaml the report. */
#include "support/rows.h"

#include "controller/limits.h"
#include "controller/reconcilers/policy_report/report.h"
#include "support/files.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

#define FOLDER "tests/golden/audit"

enum { NOW_S = 1700000000 };

struct fixture {
    struct arena *arena;
    struct policy_set *set;
    struct json stack;
    struct report_stack about;
    struct policy_results results;
};

static void validate(struct fixture *f)
{
    struct problems *problems = arena_new(f->arena, struct problems);

    *problems = problems_new(f->arena);

    const struct facts facts = { .clusters_known = false };
    const struct resolved_targets *chosen;
    const struct stack *stack = policy_set_look(f->arena, f->set, &facts, f->stack, problems, &chosen);

    f->about = (struct report_stack){ stack->meta.namespace_, stack->meta.name, stack->meta.uid };
    f->results = policy_results_of(f->arena, f->set, stack, chosen, problems);
}

/* The Stack of `text`, and all policies of it but the last `left_out`. */
static struct fixture read_case(struct str text, uint32_t left_out)
{
    struct fixture f = { .arena = arena_create(0) };
    struct policy_set_builder *builder = policy_set_begin();
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(f.arena, text, &documents, &err) != 0)
        fail_msg("%s", err.text);
    f.stack = test_json(f.arena, documents.items[0].json);
    for (uint32_t i = 1; i + left_out < documents.count; i++) {
        struct problems problems = problems_new(f.arena);

        if (!policy_set_add(builder, test_json(f.arena, documents.items[i].json), &problems))
            fail_msg("%.*s", STR_ARG(problems.list.items[0].message));
    }
    f.set = policy_set_finish(builder);
    validate(&f);
    return f;
}

static void end_case(struct fixture *f)
{
    policy_set_unref(f->set);
    arena_free(f->arena);
}

static struct str write_at(struct fixture *f, struct str kept, int64_t now_s)
{
    return report_write(f->arena, &f->about, f->set, &f->results, kept, now_s);
}

/* What the informer would remember of the report. */
static struct str keep(struct fixture *f, struct str report)
{
    struct strbuf kept = strbuf_new(f->arena, 256);

    assert_true(report_keep(NULL, test_json(f->arena, report), &kept));
    return strbuf_str(&kept);
}

static struct str_list cases(struct arena *arena)
{
    return test_files(arena, FOLDER, ".in.yaml");
}

static void reports_are_as_they_stand_in_the_files(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = cases(arena);

    (void)state;
    assert_true(names.count > 0);
    for (uint32_t i = 0; i < names.count; i++) {
        struct str stem = str_slice(names.items[i], 0, names.items[i].len - strlen(".in.yaml"));
        struct fixture f = read_case(test_file(arena, str_fmt(arena, FOLDER "/%.*s", STR_ARG(names.items[i])).at), 0);
        struct strbuf out = strbuf_new(arena, 4096);

        yaml_write(test_json(f.arena, write_at(&f, STR(""), NOW_S)), &out);
        test_golden(arena, str_fmt(arena, FOLDER "/%.*s.out.yaml", STR_ARG(stem)).at, strbuf_str(&out));
        end_case(&f);
    }
}

#define STACK(version)                                                                                                           \
    "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: {name: shop, namespace: team, uid: u1}, spec: {env: prod, targets: {" \
    "clusterIds: [c]}, charts: [{name: web, repo: 'https://x.example.com', version: " version "}]}}\n"
#define POLICY(name, action, rules)                                                                                             \
    "---\n{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: " name "}, spec: {action: " action ", rules: [" rules "]}}\n"
#define EXACT "{name: exact, field: 'spec.charts[*].version', pattern: '[0-9.]+'}"
#define ENV "{name: env, field: spec.env, allow: [prod]}"

static void nothing_is_written_when_nothing_changed(void **state)
{
    struct fixture f = read_case(STR(STACK("^1.0.0") POLICY("a", "Deny", EXACT "," ENV)), 0);
    struct str report = write_at(&f, STR(""), NOW_S);
    struct str kept = keep(&f, report);

    (void)state;
    rows_expect_int("the same again", (int)write_at(&f, kept, NOW_S + 60).len, 0);
    rows_expect_str("whose it is", report_stack_key(f.arena, kept), STR("team/shop"));
    f.about.uid = STR("u2");
    rows_expect("a namesake is another one", write_at(&f, kept, NOW_S + 60).len > 0, "a report");
    end_case(&f);
}

/* The time of the result of `rule`. */
static int64_t time_of(struct fixture *f, struct str report, const char *rule)
{
    struct json_iter it = json_iter(json_get(test_json(f->arena, report), STR("results")));
    int64_t seconds = -1;

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("rule"))), str_of(rule)))
            json_int64(json_walk(it.value, "timestamp", "seconds", NULL), &seconds);
    return seconds;
}

static void a_result_that_stays_keeps_its_time(void **state)
{
    struct fixture before = read_case(STR(STACK("^1.0.0") POLICY("a", "Deny", EXACT "," ENV)), 0);
    struct fixture after = read_case(STR(STACK("1.0.0") POLICY("a", "Deny", EXACT "," ENV)), 0);
    struct str kept = keep(&before, write_at(&before, STR(""), NOW_S));
    struct str report = write_at(&after, kept, NOW_S + 60);

    (void)state;
    rows_expect_int("one that changed has a new one", time_of(&after, report, "exact"), NOW_S + 60);
    rows_expect_int("the other has its own", time_of(&after, report, "env"), NOW_S);
    end_case(&before);
    end_case(&after);
}

static const struct {
    const char *says;
    enum policy_action action;
    uint32_t findings;
    const char *want;
} result_rows[] = {
    { "kept", POLICY_ACTION_DENY, 0, "pass" },
    { "kept, of one that only reports", POLICY_ACTION_AUDIT, 0, "pass" },
    { "broken, of one that denies", POLICY_ACTION_DENY, 1, "fail" },
    { "broken, of one that warns", POLICY_ACTION_WARN, 2, "warn" },
    { "broken, of one that only reports", POLICY_ACTION_AUDIT, 1, "fail" },
};

static void actions_become_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(result_rows) / sizeof(result_rows[0]); i++)
        rows_expect_str(result_rows[i].says,
                        str_of(report_result_name(report_result_of(result_rows[i].action, result_rows[i].findings))),
                        str_of(result_rows[i].want));
}

static void names_are_names_whatever_the_length(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char long_name[254];

    (void)state;
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[253] = '\0';
    rows_expect_str("short", report_name(arena, STR("shop")), STR("stack-shop"));

    struct str one = report_name(arena, str_make(long_name, 253));

    rows_expect_int("long", (int)one.len, 253);
    long_name[252] = 'b';
    rows_expect("and apart", !str_eq(one, report_name(arena, str_make(long_name, 253))), "two names");
    memset(long_name + 200, '.', 50);
    rows_expect("no dot before the digest", str_find(report_name(arena, str_make(long_name, 253)), STR(".-"), 0) < 0, "none");
}

static void what_is_broken_stands_before_what_has_no_room(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 1 << 20);
    struct fixture f;
    struct json results;

    (void)state;
    strbuf_lit(&text, STACK("^1.0.0"));
    for (int i = 0; i < 20; i++) {
        strbuf_fmt(&text, "---\n{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: p-%02d}, spec: {rules: [", i);
        for (int k = 0; k < 60; k++)
            strbuf_fmt(&text, "%s{name: r-%d, field: spec.env, allow: [prod]}", k ? "," : "", k);
        strbuf_lit(&text, "]}}\n");
    }
    strbuf_lit(&text, POLICY("z", "Deny", EXACT));
    f = read_case(strbuf_str(&text), 0);
    results = json_get(test_json(f.arena, write_at(&f, STR(""), NOW_S)), STR("results"));
    rows_expect_int("so many", (int)json_count(results), LIMIT_REPORT_RESULTS);

    struct json_iter it = json_iter(results);

    assert_true(json_next(&it));
    rows_expect_str("the first", json_str(json_get(it.value, STR("rule"))), STR("exact"));
    end_case(&f);
}

static void a_policy_that_goes_takes_its_results_away(void **state)
{
    struct str text = STR(STACK("^1.0.0") POLICY("a", "Deny", EXACT) POLICY("b", "Warn", ENV));
    struct fixture both = read_case(text, 0);
    struct fixture one = read_case(text, 1);
    struct fixture none = read_case(text, 2);
    struct str kept = keep(&both, write_at(&both, STR(""), NOW_S));
    struct json report = test_json(one.arena, write_at(&one, kept, NOW_S + 1));

    (void)state;
    rows_expect_int("of one", (int)json_count(json_get(report, STR("results"))), 1);
    rows_expect_int("of both", (int)none.results.count, 0);
    end_case(&both);
    end_case(&one);
    end_case(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_as_they_stand_in_the_files),
        cmocka_unit_test(nothing_is_written_when_nothing_changed),
        cmocka_unit_test(a_result_that_stays_keeps_its_time),
        cmocka_unit_test(actions_become_results),
        cmocka_unit_test(names_are_names_whatever_the_length),
        cmocka_unit_test(what_is_broken_stands_before_what_has_no_room),
        cmocka_unit_test(a_policy_that_goes_takes_its_results_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
