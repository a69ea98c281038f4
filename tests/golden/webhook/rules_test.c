/* SPDX-License-Identifier: Apache-2.0 */
/* rules_test.c: examples/rules/RULE.yaml shows each rule, and docs/rules.md says what it answers.
 *
 * The first object of a file is the example; others are what is there already. It must show its
 * rule and no other. What a file alone cannot show stands in `elsewhere`. */
#include "support/rows.h"

#include "support/files.h"
#include "webhook/offline/clusters.h"
#include "webhook/offline/validate.h"

#define FOLDER "examples/rules"

/* Rules that ask who applies a Stack, or what else a cluster has, or whose example is too long to read. */
static const enum rule_id elsewhere[] = {
    RULE_WHO_ACCESS, RULE_WHO_ACCESS_UNKNOWN, RULE_WHO_REFERENCES,
    RULE_GRAPH_UNKNOWN_STACK, RULE_OVERLAP_TODAY, RULE_SHAPE_UNDECODABLE, RULE_SHAPE_WORK,
};

/* Rules that ask what is known of clusters: those of INVENTORY are. */
#define INVENTORY "examples/inventory/clusters.yaml"
static const enum rule_id of_clusters[] = {
    RULE_TARGETS_NO_MATCH, RULE_TARGETS_UNKNOWN_CLUSTER, RULE_TARGETS_LABEL_USED, RULE_TARGETS_ABANDONED,
    RULE_GPU_FIT, RULE_GPU_BUSY, RULE_GPU_UNKNOWN, RULE_GPU_NOT_OFFERED,
};

static bool is_of(enum rule_id id, const enum rule_id *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}
#define IS_OF(id, list) is_of((id), (list), sizeof(list) / sizeof((list)[0]))

static void add_file(struct arena *arena, struct input_files *files, const char *path)
{
    *files = input_files_new(arena, 1);
    input_files_push(files, (struct input_file){ .name = str_of(path), .bytes = test_file(arena, path) });
}

static void add_clusters(struct arena *arena, struct offline_config *config)
{
    struct input_files files;
    struct str_list wrong;

    add_file(arena, &files, INVENTORY);
    if (clusters_load(arena, &files, &config->clusters, &wrong) < 0)
        fail_msg("%.*s", STR_ARG(wrong.items[0]));
    config->clusters_known = true;
}

/* As Kubernetes writes it, once: "Invalid value: ..." of the cause. */
static void expect_field_error(const char *path, const struct problem *problem)
{
    struct str kind = str_of(problem_cause_text(problem->cause));
    struct str rest = str_slice(problem->message, kind.len + 2, problem->message.len);

    rows_expect(path, str_starts(problem->message, kind), "the message begins with what its cause is");
    for (int cause = CAUSE_VALUE_INVALID; cause <= CAUSE_FORBIDDEN; cause++)
        rows_expect(path, !str_starts(rest, str_of(problem_cause_text((enum problem_cause)cause))),
                    "and says that once");
}

/* The first finding, which is of the example. */
static const struct problem *find(struct arena *arena, enum rule_id id)
{
    const struct rule *rule = rule_of(id);
    const char *path = str_fmt(arena, FOLDER "/%s.yaml", rule->name).at;
    struct offline_config config = { .namespace_ = STR("default"),
                                     .configuration = configuration_default() };
    struct input_files *files = arena_new(arena, struct input_files);
    struct report *report = arena_new(arena, struct report);

    if (!test_file_exists(path))
        fail_msg("%s has no example: write %s", rule->name, path);
    add_file(arena, files, path);
    if (IS_OF(id, of_clusters))
        add_clusters(arena, &config);
    *report = offline_review(arena, files, &config);
    rows_expect(path, report->findings.count > 0, "something is found");
    for (uint32_t i = 0; i < report->findings.count; i++) {
        rows_expect_str(path, report->findings.items[i].problem.rule, str_of(rule->name));
        expect_field_error(path, &report->findings.items[i].problem);
    }
    rows_expect_int(path, report->findings.items[0].object, 0);
    rows_expect(path, report->findings.items[0].problem.severity == rule->severity,
                "it has the rule's severity");
    return &report->findings.items[0].problem;
}

/* Fit for a cell: what would end it is escaped. */
static void put_cell(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '|')
            strbuf_char(out, '\\');
        strbuf_char(out, text.at[i]);
    }
    strbuf_lit(out, " | ");
}

static void put_rule(struct strbuf *out, enum rule_id id)
{
    const struct rule *rule = rule_of(id);
    const struct problem *found = IS_OF(id, elsewhere) ? NULL : find(out->arena, id);

    strbuf_fmt(out, "| <a id=\"%s\"></a>`%s` | %s%s | `%s` | ", rule->name, rule->name,
               severity_name(rule->severity), rule_fixed_why(id) ? " always" : "", rule->field);
    put_cell(out, str_of(rule->sentence));
    if (found)
        put_cell(out, str_fmt(out->arena, "[`%.*s`](../" FOLDER "/%s.yaml): %.*s",
                              STR_ARG(found->field), rule->name, STR_ARG(found->message)));
    else
        strbuf_lit(out, "| ");
    put_cell(out, found ? found->remedy : str_of(rule->remedy));
    out->len--;
    strbuf_char(out, '\n');
}

static void every_rule_is_shown(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 32768);

    (void)state;
    strbuf_lit(&out, "# Rules of admission\n\n"
                     "Look up here what a rule named in a rejection or a warning demands, and how to fix the finding.\n"
                     "`make crds` generates this page from `shared/stack/model/rules.def` and `examples/rules/`; a test "
                     "compares them.\n\n"
                     "`deny` rejects the object, `warn` accepts it with a warning. The [configuration](configuration.md) can "
                     "change the severity, also\nto `audit` (only counted) or `off`, except for rules that deny `always`. On an "
                     "update, a fault that was there before and\nthat the update does not change only warns.\n\n"
                     "`herd-webhook review --inventory " INVENTORY " examples/rules/graph.cycle.yaml` shows "
                     "the finding of\nan example. Rules without one depend on the user, on the bytes of the request, or on other "
                     "objects in the cluster.\n\n"
                     "| rule | severity | field | what it finds | example and its message | how to fix it |\n"
                     "|---|---|---|---|---|---|\n");
    for (int i = 0; i < RULE_COUNT; i++)
        put_rule(&out, (enum rule_id)i);
    test_golden(arena, "docs/rules.md", strbuf_str(&out));
}

/* One that no rule has any more would mislead. */
static void every_example_is_of_a_rule(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, FOLDER, ".yaml");
    enum rule_id id;

    (void)state;
    for (uint32_t i = 0; i < names.count; i++) {
        struct str name = str_slice(names.items[i], 0, names.items[i].len - strlen(".yaml"));

        rows_expect(names.items[i].at, rule_from(name, &id) && !IS_OF(id, elsewhere), "it names a rule");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_shown),
        cmocka_unit_test(every_example_is_of_a_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
