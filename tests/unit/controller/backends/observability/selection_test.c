/* SPDX-License-Identifier: Apache-2.0 */
/* selection_test.c: the labels that a Prometheus selects by, and what it leaves out. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "controller/backends/observability/selection.h"

#define OWN "\"app.kubernetes.io/managed-by\":\"Herd\""

/* "labels: trouble" */
static void objects_get_the_labels_that_they_need(void **state)
{
    static const struct {
        const char *row, *spec, *want;
    } rows[] = {
        { "everything is selected", "{\"ruleSelector\":{}}", "{" OWN "}: " },
        { "nothing is", "{}", "{" OWN "}: its spec.ruleSelector is not set; set it to {} to select all" },
        { "null is not set", "{\"ruleSelector\":null}", "{" OWN "}: its spec.ruleSelector is not set; set it to {} to select all" },
        { "by a label", "{\"ruleSelector\":{\"matchLabels\":{\"release\":\"p\"}}}", "{" OWN ",\"release\":\"p\"}: " },
        { "by one of several values, and a key",
          "{\"ruleSelector\":{\"matchExpressions\":[{\"key\":\"team\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]},"
          "{\"key\":\"on\",\"operator\":\"Exists\"},{\"key\":\"off\",\"operator\":\"DoesNotExist\"}]}}",
          "{" OWN ",\"team\":\"a\",\"on\":\"true\"}: " },
        { "by what is Herd's own to say", "{\"ruleSelector\":{\"matchLabels\":{\"app.kubernetes.io/managed-by\":\"Helm\"}}}",
          "{" OWN "}: its spec.ruleSelector (app.kubernetes.io/managed-by=Helm) cannot be met: Herd tried the labels {" OWN "}" },
        { "a label that must not be there",
          "{\"ruleSelector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}}",
          "{" OWN ",\"a\":\"b\"}: its spec.ruleSelector (a=b,a!=b) cannot be met: Herd tried the labels {" OWN ",\"a\":\"b\"}" },
        { "by what is no selector", "{\"ruleSelector\":{\"matchLabels\":{\"a\":1}}}",
          "{" OWN "}: its spec.ruleSelector cannot be read: Invalid value: must be a string, not number; write it in quotes" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selection selection = selection_of(arena, test_json(arena, str_of(rows[i].spec)), "rule");
        struct selection_fit fit = selection_fit(arena, &selection, "rule", test_json(arena, STR("{" OWN "}")));

        rows_expect_str(rows[i].row, str_fmt(arena, "%.*s: %.*s", STR_ARG(json_raw(fit.labels)), STR_ARG(fit.trouble)),
                        str_of(rows[i].want));
    }
}

static void namespaces_are_selected_by_their_labels(void **state)
{
#define TEAM "{\"ruleNamespaceSelector\":{\"matchLabels\":{\"team\":\"ml\"}}}"
    static const struct {
        const char *row, *spec, *labels;
        bool home, asks;
        const char *want;
    } rows[] = {
        { "all", "{\"ruleNamespaceSelector\":{}}", "", false, false, "" },
        { "its own", "{}", "", true, false, "" },
        { "another than its own", "{}", "", false, false,
          "its spec.ruleNamespaceSelector is not set, so that it selects nothing in namespace shop; set it to {} to select in all" },
        { "by a label that it has", TEAM, "{\"team\":\"ml\"}", false, true, "" },
        { "by one that it lacks", TEAM, "{}", false, true,
          "its spec.ruleNamespaceSelector leaves namespace shop out; label that so that it meets team=ml" },
        { "whose labels are not known", TEAM, "", false, true, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct selection selection = selection_of(arena, test_json(arena, str_of(rows[i].spec)), "rule");
        struct json labels = rows[i].labels[0] ? test_json(arena, str_of(rows[i].labels)) : (struct json){ NULL, 0 };

        rows_expect_int(rows[i].row, selection_asks_namespaces(&selection), rows[i].asks);
        rows_expect_str(rows[i].row, selection_namespace_trouble(arena, &selection, "rule", STR("shop"), rows[i].home, labels),
                        str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_get_the_labels_that_they_need),
        cmocka_unit_test(namespaces_are_selected_by_their_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
