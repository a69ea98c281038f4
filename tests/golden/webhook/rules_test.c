/* rules_test.c: examples/rules/RULE.yaml shows each rule, and docs/rules.md says what it answers.
 *
 * The first object of a file is the example; others are what is there already. It must show its
 * rule and no other. What a file alone cannot show stands in `elsewhere`. */
#include "support/rows.h"

#include "support/files.h"
#include "webhook/offline/clusters.h"
#include "webhook/offline/judge.h"

#define FOLDER "examples/rules"

/* Rules that ask who applies a Stack, or what else a cluster has. */
static const enum rule_id elsewhere[] = {
    RULE_WHO_APPLIED, RULE_WHO_ACCESS, RULE_WHO_ACCESS_UNKNOWN, RULE_WHO_RECEIPT,
    RULE_WHO_UNJUDGED, RULE_GRAPH_UNKNOWN_STACK, RULE_OVERLAP_TODAY,
};

/* Rules that ask what is known of clusters: those of INVENTORY are. */
#define INVENTORY "examples/inventory/clusters.yaml"
static const enum rule_id of_clusters[] = {
    RULE_TARGETS_NO_MATCH, RULE_TARGETS_UNKNOWN_CLUSTER, RULE_GPU_FIT, RULE_GPU_BUSY,
    RULE_GPU_UNKNOWN,
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
    for (uint32_t i = 0; i < report->findings.count; i++)
        rows_expect_str(path, report->findings.items[i].problem.rule, str_of(rule->name));
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

    strbuf_fmt(out, "| `%s` | %s%s | `%s` | ", rule->name, severity_name(rule->severity),
               rule_fixed_why(id) ? " always" : "", rule->field);
    put_cell(out, str_of(rule->sentence));
    if (found)
        put_cell(out, str_fmt(out->arena, "[`%.*s`](../" FOLDER "/%s.yaml): %.*s",
                              STR_ARG(found->field), rule->name, STR_ARG(found->message)));
    else
        strbuf_lit(out, "| ");
    put_cell(out, found ? found->way_out : str_of(rule->way_out));
    out->len--;
    strbuf_char(out, '\n');
}

static void every_rule_is_shown(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 32768);

    (void)state;
    strbuf_lit(&out, "# Rules of admission\n\n"
                     "Made from `shared/stack/rules.def` and `examples/rules/` by `make crds`; a test "
                     "compares them.\n\n"
                     "`deny` refuses the object, `warn` lets it pass with a warning; the "
                     "[configuration](configuration.md) may change either,\nhave a rule only counted (`audit`), "
                     "or turn it `off`, but not of a rule that denies `always`. On an update, a fault "
                     "that the\nupdate does not touch only warns.\n"
                     "`herd-webhook review --inventory " INVENTORY " examples/rules/graph.cycle.yaml` shows "
                     "one;\nthose without an example depend on who asks, or on what else the cluster has.\n\n"
                     "| rule | severity | field | what it finds | example, and what is said of it | way out |\n"
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
