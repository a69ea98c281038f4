/* SPDX-License-Identifier: Apache-2.0 */
/* path_test.c: places of fields, findings about them, and failures. */
#include "support/rows.h"

#include "base/path.h"
#include "base/problem.h"

static void paths_render_as_kubernetes_writes_them(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct path spec = path_field(NULL, STR("spec"));
    struct path charts = path_field(&spec, STR("charts"));
    struct path third = path_index(&charts, 2);
    struct path name = path_field(&third, STR("name"));
    struct path labels = path_field(&spec, STR("matchLabels"));
    struct path label = path_key(&labels, STR("a/b~c"));
    struct path member = path_member(&third, STR("plain"));
    struct path dotted = path_member(&third, STR("a.b/c"));
    struct path bracket = path_member(&third, STR("a[0]"));
    struct path evil = path_key(&labels, STR("a\nb"));

    rows_expect_str("field", path_render(&name, arena), STR("spec.charts[2].name"));
    rows_expect_str("key", path_render(&label, arena), STR("spec.matchLabels[a/b~c]"));
    rows_expect_str("member", path_render(&member, arena), STR("spec.charts[2].plain"));
    rows_expect_str("dotted member", path_render(&dotted, arena), STR("spec.charts[2][a.b/c]"));
    rows_expect_str("member like an index", path_render(&bracket, arena),
                    STR("spec.charts[2][a[0]]"));
    rows_expect_str("member's pointer", path_pointer(&dotted, arena), STR("/spec/charts/2/a.b~1c"));
    rows_expect_str("foreign key", path_render(&evil, arena), STR("spec.matchLabels[a\\x0ab]"));
    rows_expect_str("none", path_render(NULL, arena), STR(""));
    rows_expect_str("pointer", path_pointer(&name, arena), STR("/spec/charts/2/name"));
    rows_expect_str("escaped", path_pointer(&label, arena), STR("/spec/matchLabels/a~1b~0c"));
    (void)state;
}

static void problems_sort_by_field_then_rule_then_order(void **state)
{
    static const char *const found[][2] = {
        { "spec.charts[10].name", "b" }, { "spec.charts[9].name", "b" }, { "spec.charts[9].name", "a" },
        { "spec.charts[9]", "z" },       { "metadata.name", "x" },       { "spec.charts[09].name", "c" },
        { "", "w" },                     { "metadata.name", "x" },
    };
    static const char *const want = "/w metadata.name/x metadata.name/x spec.charts[9]/z "
                                    "spec.charts[9].name/a spec.charts[9].name/b "
                                    "spec.charts[09].name/c spec.charts[10].name/b ";
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct strbuf got = strbuf_new(arena, 0);

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        problems_add(&problems, (struct problem){ .field = str_of(found[i][0]),
                                                  .rule = str_of(found[i][1]),
                                                  .severity = i % 2 ? SEVERITY_WARN : SEVERITY_DENY });
    problems_add(&problems, (struct problem){ .severity = SEVERITY_OFF });
    assert_int_equal(problems.denied, 4);
    problems_sort(&problems);
    for (uint32_t i = 0; i < problems.list.count; i++)
        strbuf_fmt(&got, "%.*s/%.*s ", STR_ARG(problems.list.items[i].field),
                   STR_ARG(problems.list.items[i].rule));
    rows_expect_str("order", strbuf_str(&got), str_of(want));
    assert_true(problems.list.items[1].order < problems.list.items[2].order);
    (void)state;
}

static void names_go_there_and_back(void **state)
{
    enum severity severity = SEVERITY_DENY;

    assert_true(severity_from(STR("warn"), &severity));
    assert_int_equal(severity, SEVERITY_WARN);
    assert_false(severity_from(STR("Warn"), &severity));
    rows_expect_str("deny", str_of(severity_name(SEVERITY_DENY)), STR("deny"));
    rows_expect_str("cause", str_of(problem_cause_name(CAUSE_FORBIDDEN)), STR("FieldValueForbidden"));
    (void)state;
}

static void errors_name_field_and_context_and_are_cut(void **state)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct error err = { 0 };
    char longer[2000];

    assert_int_equal(error_at(&err, ERROR_INVALID, &spec, "no %s", "charts"), -1);
    rows_expect_str("field", str_of(err.field), STR("spec"));
    assert_int_equal(error_wrap(&err, "reading %s", "x.yaml"), -1);
    rows_expect_str("text", str_of(err.text), STR("reading x.yaml: no charts"));
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    error_set(&err, ERROR_INTERNAL, "%s", longer);
    rows_expect("cut", str_ends(str_of(err.text), STR("...")) && strlen(err.text) < sizeof(err.text),
                "ends with dots");
    assert_int_equal(error_http_status(ERROR_INVALID), 422);
    assert_int_equal(error_from_http_status(410), ERROR_EXPIRED);
    assert_int_equal(error_from_http_status(599), ERROR_INTERNAL);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_render_as_kubernetes_writes_them),
        cmocka_unit_test(problems_sort_by_field_then_rule_then_order),
        cmocka_unit_test(names_go_there_and_back),
        cmocka_unit_test(errors_name_field_and_context_and_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
