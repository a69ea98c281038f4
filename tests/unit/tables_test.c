/* SPDX-License-Identifier: Apache-2.0 */
/* tables_test.c: every table is sound: unique names, help that is a sentence, defaults within
 * bounds, and documented. The fields of a Stack have a test of their own (stack/fields_test.c).
 *
 * docs/flags.md, docs/metrics.md, docs/limits.md and docs/reasons.md are made here: HERD_GOLDEN=write. */
#include "support/rows.h"

#include "support/files.h"
#include "support/tables.h"

#include "base/limits.h"
#include "controller/limits.h"
#include "io/limits.h"
#include "kube/limits.h"
#include "runtime/limits.h"
#include "stack/model/limits.h"
#include "stack/model/reasons.h"
#include "stack/model/status.h"
#include "stack/rules/validate.h"
#include "text/limits.h"
#include "webhook/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

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
                     "Look up here how to configure each program: its flags, their defaults, the values that they accept and\n"
                     "their environment variables. A flag overrides its environment variable, which overrides the default.\n\n"
                     "`tests/unit/tables_test.c` generates this page from each program's `flags.def`.\n");
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

static struct str label_name(const struct metric_row *row, int label)
{
    return str_make(row->labels[label], strcspn(row->labels[label], "="));
}

static void check_metric(struct arena *arena, const struct metric_table *table, uint32_t at)
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
    rows_expect(row->name, row->kind != METRIC_HISTOGRAM || ends_with(row->name, "_duration_seconds"),
                "histograms are durations in seconds");
    rows_expect(row->name, (row->kind == METRIC_HISTOGRAM) == has_buckets,
                "buckets go with histograms");
    for (int i = 0; i < METRIC_LABELS_MAX; i++)
        if (row->labels[i]) {
            rows_expect(row->name, is_joined(str_z(arena, label_name(row, i)), '_'), "labels are snake_case");
            rows_expect(row->name, i == 0 || row->labels[i - 1], "labels have no gap");
            rows_expect(row->name, i == 0 || !str_eq(label_name(row, i), label_name(row, i - 1)),
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
        strbuf_fmt(&labels, "%s`%.*s`", i ? ", " : "", STR_ARG(label_name(row, i)));
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
    strbuf_lit(&out, "# Metrics\n\n"
                     "Look up here what each metric counts, to write alerts and dashboards. Each program serves its metrics at\n"
                     "`/metrics` in Prometheus' text format; [runbooks.md](runbooks.md) says what to do when an alert fires.\n\n"
                     "`tests/unit/tables_test.c` generates this page from each program's `metrics.def`.\n");
    for (uint32_t t = 0; t < metric_table_count; t++) {
        strbuf_fmt(&out, "\n## %s\n\n| metric | kind | labels | |\n|---|---|---|---|\n",
                   metric_tables[t].program);
        for (uint32_t i = 0; i < metric_tables[t].count; i++) {
            check_metric(arena, &metric_tables[t], i);
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

/* The name of each alert is a heading of docs/runbooks.md, and the anchor of its runbook_url. */
static void alerts_have_runbooks(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *at = str_z(arena, test_file(arena, "manifests/monitoring/prometheusrule.yaml"));
    struct str runbooks = test_file(arena, "docs/runbooks.md");

    (void)state;
    while ((at = strstr(at, "- alert: "))) {
        struct str name = str_make(at + 9, strcspn(at + 9, "\n"));
        const char *next = strstr(at + 9, "- alert: ");
        struct str alert = next ? str_make(at, (size_t)(next - at)) : str_of(at);
        char anchor[64] = "";

        for (size_t i = 0; i < name.len && i < sizeof(anchor) - 1; i++)
            anchor[i] = (char)tolower((unsigned char)name.at[i]);

        rows_expect(str_z(arena, name), str_find(runbooks, str_fmt(arena, "\n## %.*s\n", STR_ARG(name)), 0) >= 0,
                    "docs/runbooks.md has a section on it");
        rows_expect(str_z(arena, name),
                    str_find(alert, str_fmt(arena, "runbook_url: https://herd.suse.com/docs/runbooks#%s\n", anchor), 0) >= 0,
                    "its runbook_url points there");
        at += 9;
    }
}

/* What can fail is tried again after LIMIT_RETRY_MAX at the latest, so one thing that fails for good
 * fails so often in the window of an increase(), and no more: a rule that waits for more never fires. */
static void alerts_fire_for_one_thing_that_fails_for_good(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rules = test_file(arena, "manifests/monitoring/prometheusrule.yaml");
    struct str of_chart = test_file(arena, "manifests/chart/templates/monitoring.yaml");
    ptrdiff_t first = str_find(rules, STR("- alert:"), 0);
    const char *at = str_z(arena, rules);
    uint32_t found = 0;

    (void)state;
    rows_expect("the chart has the same rules",
                str_find(of_chart, str_slice(rules, (size_t)first, rules.len), 0) >= 0,
                "copy them from manifests/monitoring");
    while ((at = strstr(at, "increase("))) {
        const char *line = str_z(arena, str_make(at, strcspn(at, "\n")));
        long minutes = strchr(line, '[') ? strtol(strchr(line, '[') + 1, NULL, 10) : 0;
        long above = strchr(line, '>') ? strtol(strchr(line, '>') + 1, NULL, 10) : 0;

        rows_expect(line, minutes > 0 && above > 0, "it is increase(NAME[Nm]) > N");
        rows_expect(line, above < minutes * 60 * 1000 / LIMIT_RETRY_MAX, "it can fire");
        at += strlen(line);
        found++;
    }
    rows_expect("there are some", found > 0, "else nothing was looked at");
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
                     "Look up here how large an object, a list or a queue may be, how often a request is retried, and where\n"
                     "each number comes from.\n\n"
                     "`tests/unit/tables_test.c` generates this page from `limits.def` of each folder.\n");
    for (uint32_t i = 0; i < limit_entry_count; i++) {
        const struct limit_entry *entry = &limit_entries[i];

        if (i == 0 || strcmp(entry->folder, entry[-1].folder) != 0)
            strbuf_fmt(&out, "\n## `%s`\n\n| limit | value | unit | where the number comes from |\n"
                             "|---|---|---|---|\n", entry->folder);
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

static void put_reason(struct strbuf *out, const char *name, const char *event, const char *where,
                       const char *sentence, const char *remedy)
{
    rows_expect(name, isupper((unsigned char)name[0]), "it is CamelCase");
    rows_expect(name, strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
                          strlen(name), "it is of letters");
    rows_expect(name, is_sentence(sentence), "it says what it means");
    rows_expect(name, !remedy[0] || is_sentence(remedy), "what to do is a sentence");
    strbuf_fmt(out, "| `%s` | %s |", name, where);
    put_cell(out, str_of(event));
    put_cell(out, str_of(sentence));
    put_cell(out, str_of(remedy));
    strbuf_char(out, '\n');
}

static bool is_phase(struct str name)
{
    return str_eq(name, str_of(stack_phase_name(stack_phase_from(name))));
}

static void put_reason_row(struct strbuf *out, const struct reason_row *row)
{
    static const char *const places[] = { "release", "Stack", "condition", "" };
    static const char *const types[] = { "", "Normal", "Normal", "Warning" };
    const char *place = places[row->where];
    bool phase = is_phase(row->name);

    rows_expect(row->name.at, reason_find(row->name) == row, "its name is unique");
    put_reason(out, row->name.at, types[row->news],
               str_fmt(out->arena, "%s%s%s", place, place[0] && phase ? ", " : "",
                       phase      ? "phase"
                       : place[0] ? ""
                                  : "Event only").at,
               row->sentence, row->remedy);
}

static void put_controller_reasons(struct strbuf *out)
{
    enum { POD, CERTIFICATE, INVENTORY };
    static const char *const about[] = { "Pod of herd-controller", "Herd's own CA",
                                         "ClusterInventory" };

    strbuf_lit(out, "\n## Of other objects\n\n"
                    "Events of herd-controller's own Pod and of the objects of Herd's own CA, and the "
                    "condition `Observed` of a ClusterInventory.\n\n"
                    "| reason | where | Event | what it means | what to do |\n|---|---|---|---|---|\n");
#define CONTROLLER_REASON(id, name, event, of, sentence, remedy)                                   \
    put_reason(out, name, strcmp(event, "none") == 0 ? "" : event, about[of], sentence, remedy);
#include "controller/reasons.def"
#undef CONTROLLER_REASON
}

static void put_child_reasons(struct strbuf *out)
{
    strbuf_lit(out, "\n## Of kinds that are made into other objects\n\n"
                    "The conditions of an object that the controller makes into other objects, such as "
                    "ConfigMaps or Deployments; of [workloads](workloads.md), also its phase, and the type of "
                    "the Event.\n\n"
                    "| reason | where | Event | what it means | what to do |\n|---|---|---|---|---|\n");
#define CHILD_REASON(id, name, condition, warning, sentence, remedy)                                        \
    put_reason(out, name, (warning) ? "Warning" : "Normal", condition, sentence, remedy);
#include "kube/child_reasons.def"
#undef CHILD_REASON
#define WORKLOAD_REASON(name, where, warning, sentence, remedy)                                    \
    put_reason(out, name, (warning) ? "Warning" : "Normal", where, sentence, remedy);
#include "workload/workload_reasons.def"
#undef WORKLOAD_REASON
#define SLA_REASON(id, name, active, limited, sentence)                                            \
    put_reason(out, name, !(active) || (limited) ? "Warning" : "Normal",                           \
               "ScalingActive, ScalingLimited", sentence ".", "");
#include "workload/sla_reasons.def"
#undef SLA_REASON
}

static void put_errors(struct strbuf *out)
{
    strbuf_lit(out, "\n## Of requests that failed\n\n"
                    "Where Rancher or the API server rejected what Herd asked for, the release has the "
                    "reason of the rejection, and its Event is a Warning; a rejected `kubectl apply` "
                    "has it as the reason of the Status.\n\n"
                    "| reason | HTTP status | what Herd does | what it means | what to do |\n"
                    "|---|---|---|---|---|\n");
    static const char *const courses[] = { "retries, and counts as no failure",
                                           "retries with backoff", "retries when something changes",
                                           "stops until charts, retry or onFailure change" };

#define ERROR_ROW(code, reason, http_status, course, sentence, remedy)                             \
    put_reason(out, reason, courses[COURSE_##course], #http_status, sentence, remedy);
#include "base/errors.def"
#undef ERROR_ROW
}

static struct str reasons_page(struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 8192);

    strbuf_lit(&out, "# Reasons\n\n"
                     "Look up here what a reason in `status.deployments[].reason`, in a condition or in an Event means, and what "
                     "to\ndo about it. [troubleshooting.md](troubleshooting.md) starts from symptoms instead.\n\n"
                     "`tests/unit/tables_test.c` generates this page from `shared/stack/model/reasons.def`, "
                     "`controller/reasons.def`,\n`shared/kube/child_reasons.def`, `shared/workload/workload_reasons.def`, "
                     "`shared/workload/sla_reasons.def` and `shared/base/errors.def`.\n\n"
                     "## Of Stacks\n\n"
                     "Where a reason appears: *release* is `status.deployments[].reason`, and the "
                     "conditions Ready and Reconciling when that release is the worst one; *Stack* is "
                     "the condition Ready when the cause concerns the whole Stack; *phase* is the Event "
                     "when the Stack reaches that phase. The third column is the type of the Event; a "
                     "reason without a type causes no Event by itself.\n\n"
                     "| reason | where | Event | what it means | what to do |\n|---|---|---|---|---|\n");
    for (int i = 0; i < REASON_COUNT; i++)
        put_reason_row(&out, &reason_rows[i]);
    put_controller_reasons(&out);
    put_child_reasons(&out);
    put_errors(&out);
    return strbuf_str(&out);
}

static void reasons_are_sound_and_documented(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    test_golden(arena, "docs/reasons.md", reasons_page(arena));
}

static void expect_reason(struct str page, struct str name)
{
    struct arena *arena = arena_create(0);

    rows_expect(str_z(arena, name),
                str_find(page, str_fmt(arena, "| `%.*s` |", STR_ARG(name)), 0) >= 0,
                "a reasons.def or errors.def has it");
    arena_free(arena);
}

/* Words that some file gives as a reason without a table: `reason = STR("Word")` and the like. */
static void expect_literals(struct arena *arena, const char *path, struct str page)
{
    static const char *const marks[] = { "reason = STR(\"", "reason = str_of(\"" };
    struct str text = test_file(arena, path);

    for (size_t m = 0; m < sizeof(marks) / sizeof(marks[0]); m++) {
        ptrdiff_t at = -1;

        while ((at = str_find(text, str_of(marks[m]), (size_t)(at + 1))) >= 0) {
            size_t from = (size_t)at + strlen(marks[m]);
            ptrdiff_t end = str_find(text, STR("\""), from);

            if (end > (ptrdiff_t)from)
                expect_reason(page, str_slice(text, from, (size_t)end));
        }
    }
}

/* Whatever can stand in a status or an Event is in docs/reasons.md. */
static void every_reason_is_in_a_table(void **state)
{
    static const char *const folders[] = { "shared", "controller", "webhook" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str page = reasons_page(arena);

    (void)state;
    for (enum stack_phase phase = PHASE_PENDING; phase <= PHASE_DELETING; phase++) {
        struct str name = str_of(stack_phase_name(phase));

        expect_reason(page, name);
        rows_expect(name.at, reason_find(name) != NULL, "an Event about a phase finds its row");
    }
    for (enum error_code code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        expect_reason(page, str_of(error_reason(code)));
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        struct str_list files = test_files_below(arena, folders[i], ".c");

        rows_expect(folders[i], files.count > 0, "it has files");
        for (uint32_t k = 0; k < files.count; k++)
            expect_literals(arena, files.items[k].at, page);
    }
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
        { "a cluster is not probed while its API server sends bookmarks", 75000, LIMIT_CLUSTER_PROBE_AFTER },
        { "a dead watch of a cluster is noticed with a fifth of its time to spare",
          LIMIT_CLUSTER_PROBE_AFTER * 7 / 6 + LIMIT_WATCH_PROBE_ANSWER, LIMIT_CLUSTER_DEAD_TIME * 4 / 5 + 1 },
        { "and within its time", LIMIT_CLUSTER_DEAD_TIME, LIMIT_WATCH_TIME_MIN },
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
        struct str row = str_fmt(arena, "| <a id=\"%s\"></a>`%s` | %s ", rule->name, rule->name,
                                 severity_name(rule->severity));
        enum rule_id found;

        rows_expect(rule->name, str_starts(str_of(rule->name), head), "its area is in its name");
        rows_expect(rule->name, is_joined(rule->name + head.len, '-'), "the rest is kebab-case");
        rows_expect(rule->name, rule_from(str_of(rule->name), &found) && found == id,
                    "it is found by its name");
        rows_expect(rule->name, rule->severity != SEVERITY_OFF, "it is on by default");
        rows_expect(rule->name, rule->field[0], "it has a field");
        rows_expect(rule->name, rule->remedy[0] && !ends_with(rule->remedy, "."),
                    "it has a remedy, which goes on in a sentence");
        rows_expect(rule->name, !strstr(rule->remedy, "let in"),
                    "its remedy foretells no verdict: other findings have a say in it");
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
        cmocka_unit_test(alerts_have_runbooks),
        cmocka_unit_test(alerts_fire_for_one_thing_that_fails_for_good),
        cmocka_unit_test(limits_are_sound_and_documented),
        cmocka_unit_test(reasons_are_sound_and_documented),
        cmocka_unit_test(every_reason_is_in_a_table),
        cmocka_unit_test(limits_go_together),
        cmocka_unit_test(names_are_unique_and_help_is_there),
        cmocka_unit_test(errors_are_sound),
        cmocka_unit_test(rules_are_sound_and_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
