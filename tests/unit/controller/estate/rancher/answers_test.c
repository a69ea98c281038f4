/* answers_test.c: what is kept of an answer. */
#include "support/rows.h"

#include "controller/estate/rancher/answers.h"

static struct rancher_outcome an_outcome(enum rancher_result result, const char *words)
{
    struct rancher_outcome outcome = { .result = result, .text = STR(""), .retry_after_ms = 7000 };

    if (result == RANCHER_DONE)
        outcome.text = str_of(words);
    else
        error_set(&outcome.error, ERROR_INTERNAL, "%s", words);
    return outcome;
}

static void keeps_versions(void **state)
{
    static const struct {
        const char *name, *asked;
        enum rancher_result result;
        const char *words;
        enum version_state want;
        const char *text;
        int64_t retry_after_ms;
    } rows[] = {
        { "the version that was asked for", "1.2.3", RANCHER_DONE, "1.2.3", VERSION_FOUND,
          "1.2.3", -1 },
        { "one within the range", "^1.2", RANCHER_DONE, "1.9.0", VERSION_FOUND, "1.9.0", -1 },
        { "another one is none", "1.2.3", RANCHER_DONE, "1.9.0", VERSION_MISSING,
          "has no version 1.2.3; the newest that Rancher would take instead is 1.9.0", -1 },
        { "Rancher knows none", "1.2.3", RANCHER_REFUSED, "no chart version found for x",
          VERSION_MISSING, "no chart version found", -1 },
        { "any other refusal is tried again, when Rancher says", "1.2.3", RANCHER_REFUSED, "busy",
          VERSION_FAILED, "busy", 7000 },
        { "and so is a lost answer", "1.2.3", RANCHER_UNKNOWN, "timed out", VERSION_FAILED,
          "timed out", 7000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rancher_outcome outcome = an_outcome(rows[i].result, rows[i].words);
        struct kept_answer kept = answer_version(arena, str_of(rows[i].asked), &outcome);

        rows_expect_int(rows[i].name, kept.state, rows[i].want);
        rows_expect_int(rows[i].name, kept.retry_after_ms, rows[i].retry_after_ms);
        rows_expect(rows[i].name, str_find(kept.text, str_of(rows[i].text), 0) >= 0, rows[i].text);
    }
}

static void keeps_logs(void **state)
{
    static const struct {
        const char *name;
        enum rancher_result result;
        const char *words;
        uint32_t failures;
        enum version_state want;
        const char *text;
    } rows[] = {
        { "the line that says why", RANCHER_DONE, "x\nError: no space\n", 0, VERSION_FOUND,
          "Error: no space" },
        { "a log that says nothing", RANCHER_DONE, "x\n", 0, VERSION_FOUND, "" },
        { "a log that cannot be read is tried again", RANCHER_REFUSED, "busy", 0, VERSION_FAILED,
          "busy" },
        { "and again", RANCHER_UNKNOWN, "busy", 1, VERSION_FAILED, "busy" },
        { "and then given up", RANCHER_REFUSED, "busy", 2, VERSION_MISSING, "busy" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rancher_outcome outcome = an_outcome(rows[i].result, rows[i].words);
        struct kept_answer kept = answer_log(arena, rows[i].failures, &outcome);

        rows_expect_int(rows[i].name, kept.state, rows[i].want);
        rows_expect_str(rows[i].name, kept.text, str_of(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_versions),
        cmocka_unit_test(keeps_logs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
