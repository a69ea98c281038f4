/* tables_test.c: every table is sound: unique names, help that is a sentence, defaults within
 * bounds, and documented. The fields of a Stack have a test of their own (stack/fields_test.c).
 *
 * docs/flags.md, docs/metrics.md, docs/limits.md and docs/reasons.md are made here: HERD_GOLDEN=write. */
#include "support/rows.h"

#include "support/files.h"
#include "support/tables.h"

#include "base/limits.h"
#include "stack/reasons.h"
#include "stack/validate.h"

#include <ctype.h>
#include <inttypes.h>

static bool is_sentence(const char *text)
{
    size_t len = strlen(text);

    return len > 5 && text[len - 1] == '.' && strchr("\"'`", text[0]) == NULL && text[0] != ' ' &&
           !strstr(text, "  ");
}

/* Lower case words joined by `joint`. */
static bool is_joined(const char *name, char joint)
{
    for (size_t i = 0; name[i]; i++) {
        bool edge = i == 0 || name[i + 1] == '\0';

        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
            (name[i] != joint || edge))
            return false;
    }
    return name[0] != '\0';
}

/* --- flags --- */

static struct flag_values parse_one(struct arena *arena, const struct flag_table *table,
                                    const char *word)
{
    char *argv[] = { (char *)(uintptr_t)"herd", (char *)(uintptr_t)word };
    struct flag_values values;
    struct error err;

    if (flags_parse(table->rows, table->count, word ? 2 : 1, argv, NULL, arena, &values, &err) < 0)
        fail_msg("%s: %s", table->program, err.text);
    return values;
}

static void check_flag(const struct flag_table *table, uint32_t at)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct flag_row *row = &table->rows[at];

    rows_expect(row->name, is_joined(row->name, '-'), "its name is kebab-case");
    rows_expect(row->name, is_sentence(row->help), "its help is a sentence");
    rows_expect(row->name, row->min <= row->max, "its bounds are in order");
    rows_expect(row->name, (row->type == FLAG_CHOICE) == (row->choices != NULL),
                "choices go with CHOICE");
    rows_expect(row->name, row->type != FLAG_STRING || row->unit[0], "a text says what it is");
    for (uint32_t i = 0; i < at; i++) {
        const char *other = table->rows[i].environment;

        rows_expect(row->name, strcmp(row->name, table->rows[i].name) != 0, "its name is unique");
        rows_expect(row->name, !row->letter || row->letter != table->rows[i].letter,
                    "its letter is unique");
        rows_expect(row->name, !row->environment || !other || strcmp(row->environment, other) != 0,
                    "its variable is unique");
    }

    /* As a default and as if the user had said it: the second looks at the bounds. */
    struct flag_values defaults = parse_one(arena, table, NULL);
    struct flag_values said =
        parse_one(arena, table, str_fmt(arena, "--%s=%s", row->name, row->default_text).at);

    rows_expect_int(row->name, said.values[at].number, defaults.values[at].number);
    rows_expect_str(row->name, said.values[at].text, defaults.values[at].text);
}

static void flags_are_sound(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < flag_table_count; t++)
        for (uint32_t i = 0; i < flag_tables[t].count; i++)
            check_flag(&flag_tables[t], i);
}

/* A cell of a Markdown table. */
static void put_cell(struct strbuf *out, struct str text)
{
    strbuf_char(out, ' ');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '|')
            strbuf_char(out, '\\');
        strbuf_char(out, text.at[i]);
    }
    strbuf_lit(out, " |");
}

static struct str shown_values(struct arena *arena, const struct flag_row *row)
{
    if (row->choices)
        return str_of(row->choices);
    if (row->min == row->max)
        return str_of(row->unit);
    if (row->max == INT64_MAX)
        return str_fmt(arena, "from %" PRId64, row->min);
    return str_fmt(arena, "%" PRId64 " to %" PRId64 "%s", row->min, row->max,
                   row->type == FLAG_DURATION ? " ms" : "");
}

static void put_flag(struct strbuf *out, const struct flag_row *row)
{
    struct arena *arena = out->arena;

    strbuf_char(out, '|');
    put_cell(out, row->letter ? str_fmt(arena, "`-%c`, `--%s`", row->letter, row->name)
                              : str_fmt(arena, "`--%s`", row->name));
    put_cell(out, row->default_text[0] ? str_fmt(arena, "`%s`", row->default_text) : STR(""));
    put_cell(out, shown_values(arena, row));
    put_cell(out, row->environment ? str_fmt(arena, "`%s`", row->environment) : STR(""));
    put_cell(out, str_of(row->help));
    strbuf_char(out, '\n');
}

static void flags_are_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);

    (void)state;
    strbuf_lit(&out, "# Flags\n\n"
                     "Made from each program's `flags.def` by `tests/unit/tables_test.c`. "
                     "The command line goes before the environment, the environment before the "
                     "default.\n");
    for (uint32_t t = 0; t < flag_table_count; t++) {
        strbuf_fmt(&out,
                   "\n## %s\n\n"
                   "| flag | default | values | environment | |\n|---|---|---|---|---|\n",
                   flag_tables[t].program);
        for (uint32_t i = 0; i < flag_tables[t].count; i++)
            put_flag(&out, &flag_tables[t].rows[i]);
    }
    test_golden(arena, "docs/flags.md", strbuf_str(&out));
}

/* --- metrics --- */

static bool ends_with(const char *name, const char *end)
{
    return str_ends(str_of(name), str_of(end));
}

static void check_metric(const struct metric_table *table, uint32_t at)
{
    const struct metric_row *row = &table->rows[at].row;
    bool has_buckets = strcmp(table->rows[at].buckets, "NULL") != 0;

    rows_expect(row->name, is_joined(row->name, '_'), "its name is snake_case");
    rows_expect(row->name, str_starts(str_of(row->name), str_of(table->prefix)),
                "its name begins with its program's");
    rows_expect(row->name, is_sentence(row->help), "its help is a sentence");
    rows_expect(row->name, (row->kind == METRIC_COUNTER) == ends_with(row->name, "_total"),
                "counters, and only they, end in _total");
    rows_expect(row->name, !ends_with(row->name, "_failed") && !ends_with(row->name, "_dropped"),
                "what happens and is counted is a counter");
    rows_expect(row->name, row->kind != METRIC_HISTOGRAM || ends_with(row->name, "_seconds"),
                "histograms are in seconds");
    rows_expect(row->name, (row->kind == METRIC_HISTOGRAM) == has_buckets,
                "buckets go with histograms");
    for (int i = 0; i < METRIC_LABELS_MAX; i++)
        if (row->labels[i]) {
            rows_expect(row->name, is_joined(row->labels[i], '_'), "labels are snake_case");
            rows_expect(row->name, i == 0 || row->labels[i - 1], "labels have no gap");
            rows_expect(row->name, i == 0 || strcmp(row->labels[i], row->labels[i - 1]) != 0,
                        "labels are unique");
        }
    for (uint32_t i = 0; i < at; i++)
        rows_expect(row->name, strcmp(row->name, table->rows[i].row.name) != 0,
                    "its name is unique");
}

static void put_metric(struct strbuf *out, const struct metric_row *row)
{
    static const char *const kinds[] = { "counter", "gauge", "histogram" };
    struct strbuf labels = strbuf_new(out->arena, 64);

    for (int i = 0; i < METRIC_LABELS_MAX && row->labels[i]; i++)
        strbuf_fmt(&labels, "%s`%s`", i ? ", " : "", row->labels[i]);
    strbuf_char(out, '|');
    put_cell(out, str_fmt(out->arena, "`%s`", row->name));
    put_cell(out, str_of(kinds[row->kind]));
    put_cell(out, strbuf_str(&labels));
    put_cell(out, str_of(row->help));
    strbuf_char(out, '\n');
}

static void metrics_are_sound_and_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);

    (void)state;
    strbuf_lit(&out, "# Metrics\n\nMade from each program's `metrics.def` by "
                     "`tests/unit/tables_test.c`; in Prometheus' text format at `/metrics`.\n");
    for (uint32_t t = 0; t < metric_table_count; t++) {
        strbuf_fmt(&out, "\n## %s\n\n| metric | kind | labels | |\n|---|---|---|---|\n",
                   metric_tables[t].program);
        for (uint32_t i = 0; i < metric_tables[t].count; i++) {
            check_metric(&metric_tables[t], i);
            put_metric(&out, &metric_tables[t].rows[i].row);
        }
    }
    test_golden(arena, "docs/metrics.md", strbuf_str(&out));
}

static bool is_metric(struct str name)
{
    for (uint32_t t = 0; t < metric_table_count; t++)
        for (uint32_t i = 0; i < metric_tables[t].count; i++)
            if (str_eq(name, str_of(metric_tables[t].rows[i].row.name)))
                return true;
    return false;
}

static void alerts_ask_for_figures_that_there_are(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *at = str_z(arena, test_file(arena, "manifests/monitoring/prometheusrule.yaml"));
    uint32_t found = 0;

    (void)state;
    while ((at = strstr(at, "herd_"))) {
        struct str name = str_make(at, strspn(at, "abcdefghijklmnopqrstuvwxyz_"));

        rows_expect(str_z(arena, name), is_metric(name), "a metrics.def has it");
        at += name.len;
        found++;
    }
    rows_expect("there are some", found > 5, "else nothing was looked at");
}

/* --- limits --- */

static bool is_unit(const char *unit)
{
    static const char *const units[] = { "bytes", "ms", "count", "per_s" };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static void limits_are_sound_and_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);

    (void)state;
    strbuf_lit(&out, "# Limits\n\n"
                     "Made from `shared/base/limits.def` by `tests/unit/tables_test.c`: "
                     "the bound on every body, depth, list, queue and retry.\n\n"
                     "| limit | value | unit | where the number comes from |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < limit_entry_count; i++) {
        const struct limit_entry *entry = &limit_entries[i];

        rows_expect(entry->name, entry->value > 0, "it is positive");
        rows_expect(entry->name, entry->value <= INT32_MAX, "it fits an enumerator");
        rows_expect(entry->name, is_unit(entry->unit), "its unit is known");
        rows_expect(entry->name, strlen(entry->source) > 5, "it says where the number comes from");
        for (uint32_t k = 0; k < i; k++)
            rows_expect(entry->name, strcmp(entry->name, limit_entries[k].name) != 0,
                        "its name is unique");
        strbuf_fmt(&out, "| `%s` | %" PRId64 " | %s |", entry->name, entry->value, entry->unit);
        put_cell(&out, str_of(entry->source));
        strbuf_char(&out, '\n');
    }
    test_golden(arena, "docs/limits.md", strbuf_str(&out));
}

/* --- reasons --- */

static const char *const event_words[] = { "none", "Normal", "Warning" };

static void reasons_are_sound_and_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 8192);

    (void)state;
    strbuf_lit(&out, "# Reasons\n\n"
                     "Made from `shared/stack/reasons.def` by `tests/unit/tables_test.c`: the words "
                     "in `status.deployments[].reason`, in conditions and in Events. A request that "
                     "was refused has the reason that it was refused with.\n\n"
                     "| reason | Event | what it says |\n|---|---|---|\n");
    for (int i = 0; i < REASON_COUNT; i++) {
        const struct reason_row *row = &reason_rows[i];

        rows_expect(row->name.at, isupper((unsigned char)row->name.at[0]), "it is CamelCase");
        rows_expect(row->name.at, strspn(row->name.at, "abcdefghijklmnopqrstuvwxyz"
                                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
                                      row->name.len, "it is of letters");
        rows_expect(row->name.at, is_sentence(row->sentence), "it says what it means");
        rows_expect(row->name.at, reason_find(row->name) == row, "its name is unique");
        strbuf_fmt(&out, "| `%s` | %s |", row->name.at, event_words[row->event]);
        put_cell(&out, str_of(row->sentence));
        strbuf_char(&out, '\n');
    }
    test_golden(arena, "docs/reasons.md", strbuf_str(&out));
}

static void limits_go_together(void **state)
{
    static const struct {
        const char *row;
        int64_t less;
        int64_t more;
    } rows[] = {
        { "all bodies hold one", LIMIT_REVIEW_BODY, LIMIT_REVIEW_BODIES_ALL },
        { "all arenas hold that of the largest review",
          LIMIT_REVIEW_ARENA + 4 * (int64_t)LIMIT_REVIEW_BODY, LIMIT_REVIEW_ARENAS_ALL },
        { "an address alone does not take all connections", LIMIT_CONNECTIONS_PER_ADDRESS,
          LIMIT_CONNECTIONS },
        { "a request outlasts the API server's 5 s", 5000, LIMIT_REQUEST_TIME },
        { "an idle connection outlasts Go's 90 s", 90000, LIMIT_IDLE_TIME },
        { "draining fits into a pod's 30 s of grace",
          LIMIT_DRAIN_ANSWER_TIME + LIMIT_DRAIN_WAIT_TIME, 30000 },
        { "connecting is part of answering", LIMIT_CONNECT_TIME, LIMIT_ANSWER_TIME },
        { "watches have a range", LIMIT_WATCH_TIME_MIN, LIMIT_WATCH_TIME_MAX },
        /* A watch that follows upon a silent one is probed a sixth later, at most. */
        { "a dead watch is noticed with a fifth of its time to spare",
          LIMIT_WATCH_PROBE_AFTER * 7 / 6 + LIMIT_WATCH_PROBE_ANSWER,
          LIMIT_WATCH_DEAD_TIME * 4 / 5 + 1 },
        { "a dead watch is noticed within its time", LIMIT_WATCH_DEAD_TIME, LIMIT_WATCH_TIME_MIN },
        { "retries grow", LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX },
        { "a lease is renewed several times", 3 * LIMIT_LEASE_RETRY, LIMIT_LEASE_RENEW_DEADLINE },
        { "and given up before it is lost", LIMIT_LEASE_RENEW_DEADLINE, LIMIT_LEASE_TIME },
        { "a status leaves room for its spec", LIMIT_STATUS_BYTES, LIMIT_OBJECT_BYTES },
        { "an object fits three times into a review", 3 * LIMIT_OBJECT_BYTES, LIMIT_REVIEW_BODY },
        { "Rancher's rights outlast an operation", LIMIT_OPERATION_TIMEOUT_MAX, 3600 * 1000 },
        { "an operation is no longer than a chart may say", LIMIT_OPERATION_TIMEOUT_MAX,
          LIMIT_CHART_TIMEOUT_MAX },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect(rows[i].row, rows[i].less < rows[i].more, "less than the other");
}

/* --- errors, rules, and all others --- */

static void names_are_unique_and_help_is_there(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < table_entry_count; i++) {
        const struct table_entry *entry = &table_entries[i];

        rows_expect(entry->table, entry->name[0], "every row has a name");
        rows_expect(entry->name, !entry->help || strlen(entry->help) > 5, "help is there");
        rows_expect(entry->name, !entry->sentence || is_sentence(entry->help),
                    "help is a sentence");
        for (uint32_t k = 0; k < i; k++)
            rows_expect(entry->name,
                        strcmp(entry->table, table_entries[k].table) != 0 ||
                            strcmp(entry->name, table_entries[k].name) != 0,
                        "the name is unique");
    }
}

static void errors_are_sound(void **state)
{
    (void)state;
    for (enum error_code code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++) {
        const char *reason = error_reason(code);
        int status = error_http_status(code);

        rows_expect(reason, isupper((unsigned char)reason[0]) && !strpbrk(reason, " -_."),
                    "a reason is CamelCase");
        rows_expect(reason, status >= 400 && status < 600, "a status of failure");
        rows_expect(reason, error_course(code) <= COURSE_TERMINAL, "a course");
        /* What a server says with that status is never taken for something milder. */
        rows_expect(reason, error_from_http_status(status) != ERROR_NONE, "a failure comes back");
    }
}

static void rules_are_sound_and_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str docs = test_file(arena, "docs/rules.md");

    (void)state;
    for (enum rule_id id = 0; id < RULE_COUNT; id++) {
        const struct rule *rule = rule_of(id);
        struct str head = str_fmt(arena, "%s.", rule->area);
        struct str row = str_fmt(arena, "| `%s` | %s ", rule->name,
                                 severity_name(rule->severity));
        enum rule_id found;

        rows_expect(rule->name, str_starts(str_of(rule->name), head), "its area is in its name");
        rows_expect(rule->name, is_joined(rule->name + head.len, '-'), "the rest is kebab-case");
        rows_expect(rule->name, rule_from(str_of(rule->name), &found) && found == id,
                    "it is found by its name");
        rows_expect(rule->name, rule->severity != SEVERITY_OFF, "it is on by default");
        rows_expect(rule->name, rule->field[0], "it has a field");
        rows_expect(rule->name, rule->way_out[0] && !ends_with(rule->way_out, "."),
                    "it has a way out, which goes on in a sentence");
        rows_expect(rule->name, !strstr(rule->way_out, "let in"),
                    "its way out foretells no verdict: other findings have a say in it");
        rows_expect(rule->name, str_find(docs, row, 0) >= 0, "docs/rules.md has it");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_sound),
        cmocka_unit_test(flags_are_documented),
        cmocka_unit_test(metrics_are_sound_and_documented),
        cmocka_unit_test(alerts_ask_for_figures_that_there_are),
        cmocka_unit_test(limits_are_sound_and_documented),
        cmocka_unit_test(reasons_are_sound_and_documented),
        cmocka_unit_test(limits_go_together),
        cmocka_unit_test(names_are_unique_and_help_is_there),
        cmocka_unit_test(errors_are_sound),
        cmocka_unit_test(rules_are_sound_and_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
