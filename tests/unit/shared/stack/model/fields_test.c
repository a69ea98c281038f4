/* SPDX-License-Identifier: Apache-2.0 */
/* fields_test.c: the tables are sound: names, help, defaults within bounds, words. */
#include "support/rows.h"

#include "base/duration.h"
#include "stack/crd/crd.h"
#include "stack/model/fields.h"
#include "stack/rules/validate.h"

static void check_default(const struct field *row)
{
    int64_t ms = 0;

    if (!row->default_.len)
        return;
    if (row->kind == FIELD_DURATION)
        rows_expect(row->help, duration_parse(row->default_, &ms) && ms >= row->min && ms <= row->max,
                    "the default is a duration within bounds");
    if (row->kind == FIELD_WORD)
        rows_expect(row->help, field_word_value(row->words, row->default_) != 0,
                    "the default is one of the words");
    if (row->form)
        rows_expect(row->help, !row->form->wrong(row->default_), "the default has the form");
    rows_expect(row->help,
                row->kind != FIELD_STRUCT && row->kind != FIELD_STRUCTS &&
                    row->kind != FIELD_OBJECT && row->kind != FIELD_LABELS,
                "only scalars and lists of names have constants");
    rows_expect(row->help, !(row->flags & FIELD_REQUIRED), "what is required has no default");
}

static void check_table(const struct field_table *table)
{
    rows_expect(table->name, table->help[0] != '\0', "it has a help text");
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *row = &table->rows[i];
        size_t len = strlen(row->help);

        rows_expect(table->name, field_find(table, row->json) == row, "names are unique");
        rows_expect(row->help, len > 10 && row->help[len - 1] == '.', "help is a sentence");
        rows_expect(row->help, row->offset < table->size, "the member lies in the struct");
        rows_expect(row->help, (row->kind == FIELD_WORD) == (row->words != NULL), "words go with WORD");
        rows_expect(row->help,
                    (row->kind == FIELD_STRUCT || row->kind == FIELD_STRUCTS ||
                     row->kind == FIELD_CONDITIONS) == (row->of != NULL),
                    "a table goes with STRUCT, STRUCTS and CONDITIONS");
        rows_expect(row->help, table->status || row->kind != FIELD_STRING || row->max > 0,
                    "texts are bounded");
        rows_expect(row->help, table->status ||
                    (row->kind != FIELD_STRINGS && row->kind != FIELD_STRUCTS &&
                     row->kind != FIELD_LABELS) || row->max > 0,
                    "lists and maps are bounded");
        rows_expect(row->help, !row->form || row->kind == FIELD_STRING || row->kind == FIELD_AMOUNT ||
                    row->kind == FIELD_STRINGS || row->kind == FIELD_LABELS,
                    "forms go with texts");
        if (row->flags & FIELD_KEYED)
            rows_expect(row->help, str_eq(row->of->rows[0].json, STR("name")) &&
                        row->of->rows[0].flags & FIELD_REQUIRED,
                        "elements of a keyed list have a required name");
        check_default(row);
        if (row->of)
            check_table(row->of);
    }
}

static void tables_are_sound(void **state)
{
    (void)state;
    for (const struct crd *crd = crds; crd->kind; crd++) {
        if (crd->spec)
            check_table(crd->spec);
        if (crd->status)
            check_table(crd->status);
        if (crd->report)
            check_table(crd->report);
    }
}

static void words_are_found_both_ways(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect_int("enabled", field_word_value(&words_of_toggle, STR("enabled")), TOGGLE_ENABLED);
    rows_expect_int("case counts", field_word_value(&words_of_toggle, STR("Enabled")), 0);
    rows_expect_str("back", field_word_name(&words_of_drift_mode, DRIFT_CORRECT), STR("Correct"));
    rows_expect_str("unset", field_word_name(&words_of_drift_mode, DRIFT_UNSET), STR(""));
    rows_expect_str("shown", field_words_shown(arena, &words_of_policy_mode),
                    STR("Discover, Monitor or Protect"));
}

static void near_fields(void **state)
{
    const struct field *near = field_nearest(&fields_of_chart, STR("dependOn"));

    (void)state;
    rows_expect_str("a slip", near->json, STR("dependsOn"));
    near = field_nearest(&fields_of_stack_targets, STR("clusterIDs"));
    rows_expect_str("another case", near->json, STR("clusterIds"));
    rows_expect("nothing is near", !field_nearest(&fields_of_chart, STR("replicas")), "NULL");
}

static void rules_are_sound(void **state)
{
    (void)state;
    for (int i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = rule_of((enum rule_id)i);
        struct str name = str_of(rule->name);
        enum rule_id back;

        rows_expect(rule->name, rule_from(name, &back) && back == (enum rule_id)i,
                    "its name is unique and leads back");
        rows_expect(rule->name, str_starts(name, str_of(rule->area)) &&
                    name.at[strlen(rule->area)] == '.', "its name begins with its area");
        rows_expect(rule->name, rule->severity != SEVERITY_OFF, "it is on");
        rows_expect(rule->name, rule->remedy[0] && rule->sentence[strlen(rule->sentence) - 1] == '.',
                    "it says what and the remedy");
        rows_expect_int(rule->name, rule_severities_default().of[i], rule->severity);
    }
    rows_expect("no such rule", !rule_from(STR("graph.cycles"), &(enum rule_id){ 0 }), "false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(words_are_found_both_ways),
        cmocka_unit_test(near_fields),
        cmocka_unit_test(rules_are_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
