/* SPDX-License-Identifier: Apache-2.0 */
/* options_test.c: what `herd-webhook review` takes, the line for each thing that it does not, and the
 * exit code of a report. */
#include "support/rows.h"

#include "webhook/offline/command.h"

enum { WORDS_MAX = 8 };

/* As offline_run does it. "" or the error's text. */
static struct str read_words(struct arena *arena, const char *const *words,
                             struct offline_options *ret_options)
{
    char *argv[WORDS_MAX + 2] = { (char *)(uintptr_t)"review" };
    struct flag_values flags;
    struct error err;
    int argc = 1;

    for (; argc <= WORDS_MAX && words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    if (flags_parse(offline_program.flags, offline_program.flag_count, argc, argv, NULL, arena, &flags,
                    &err) < 0 ||
        offline_options_read(&flags, ret_options, &err) < 0)
        return str_dup(arena, str_of(err.text));
    return STR("");
}

static void what_cannot_be_used_is_told(void **state)
{
    static const struct {
        const char *row;
        const char *words[WORDS_MAX];
        const char *want;
    } rows[] = {
        { "nothing", { NULL }, "say what to review: files, folders, globs, or - for standard input" },
        { "a form that is none", { "-o", "xml", "f" }, "--output: 'xml' is not one of text|json|sarif|junit" },
        { "a namespace that is none", { "-n", "", "f" }, "--namespace: '' is no namespace: it must not be empty" },
        { "a rule with a slip", { "--rule-severity=graph.cicle=warn", "f" },
          "--rule-severity: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)" },
        { "a severity that fails always", { "--fail-on=audit", "f" }, "--fail-on: 'audit' is not one of deny|warn" },
        { "tests of words", { "--test", "t", "f" },
          "--test says what is tested: there is no place for 'f'; leave out one of both" },
        { "tests for code scanning", { "--test", "t", "-osarif" },
          "--output: tests have no form 'sarif'; take text, json or junit" },
        { "two that exclude one another", { "-q", "-v", "f" },
          "--quiet and --verbose say opposite things; give one of both" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct offline_options options = { .fail_on = SEVERITY_OFF };

        rows_expect_str(rows[i].row, read_words(arena, rows[i].words, &options), str_of(rows[i].want));
        rows_expect_int(rows[i].row, options.fail_on, SEVERITY_OFF);
    }
}

static void all_is_taken_over(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *const few[] = { "f", NULL };
    const char *const many[] = { "-ojson", "--fail-on=warn", "-nteam", "--allow-plain-http-repos", "-cc", "a", "-", NULL };
    struct offline_options options;

    (void)state;
    rows_expect_str("no flag is needed", read_words(arena, few, &options), STR(""));
    rows_expect_str("form", str_of(options.output->name), STR("text"));
    rows_expect_str("namespace", options.namespace_, STR("default"));
    rows_expect_int("fail on", options.fail_on, SEVERITY_DENY);
    rows_expect_int("nothing is configured", configuration_layer_count(&options.configuration), 0);
    rows_expect_str("nor is there a file", options.config_file, STR(""));
    rows_expect_str("taken", read_words(arena, many, &options), STR(""));
    rows_expect_str("form", str_of(options.output->name), STR("json"));
    rows_expect_str("namespace", options.namespace_, STR("team"));
    rows_expect_int("fail on", options.fail_on, SEVERITY_WARN);
    rows_expect("plain http", options.configuration.plain_http_given && options.configuration.plain_http_allowed, "on");
    rows_expect_str("the file", options.config_file, STR("c"));
    rows_expect_int("words", options.words.count, 2);
    rows_expect_str("the last", options.words.items[1], STR("-"));
}

static void exit_codes_follow_the_worst(void **state)
{
    static const struct {
        const char *row;
        struct report report;
        enum severity fail_on;
        enum offline_exit want;
    } rows[] = {
        { "nothing", { .denied = 0 }, SEVERITY_WARN, OFFLINE_CLEAN },
        { "warnings alone", { .warned = 3 }, SEVERITY_DENY, OFFLINE_CLEAN },
        { "warnings that count", { .warned = 3 }, SEVERITY_WARN, OFFLINE_FINDINGS },
        { "notes never count", { .audited = 3 }, SEVERITY_WARN, OFFLINE_CLEAN },
        { "an error", { .denied = 1 }, SEVERITY_DENY, OFFLINE_FINDINGS },
        { "what could not be read is worse", { .denied = 1, .unreadable = 1 }, SEVERITY_DENY, OFFLINE_UNREADABLE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_int(rows[i].row, offline_exit_of(&rows[i].report, rows[i].fail_on), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_used_is_told),
        cmocka_unit_test(all_is_taken_over),
        cmocka_unit_test(exit_codes_follow_the_worst),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
