/* SPDX-License-Identifier: Apache-2.0 */
/* answers_test.c: what is kept of an answer. */
#include "support/rows.h"

#include "controller/backends/rancher_apps/answers.h"

static struct request_outcome an_outcome(enum request_result result, const char *words)
{
    struct request_outcome outcome = { .result = result, .text = STR(""), .retry_after_ms = 7000 };

    if (result == REQUEST_DONE)
        outcome.text = str_of(words);
    else
        error_set(&outcome.error, ERROR_INTERNAL, "%s", words);
    return outcome;
}

static void keeps_versions(void **state)
{
    static const struct {
        const char *name, *asked;
        enum request_result result;
        const char *words;
        enum version_state want;
        const char *text;
        int64_t retry_after_ms;
    } rows[] = {
        { "the version that was asked for", "1.2.3", REQUEST_DONE, "1.2.3", VERSION_FOUND,
          "1.2.3", -1 },
        { "one within the range", "^1.2", REQUEST_DONE, "1.9.0", VERSION_FOUND, "1.9.0", -1 },
        { "another one is none", "1.2.3", REQUEST_DONE, "1.9.0", VERSION_MISSING,
          "has no version 1.2.3; the newest that Rancher would take instead is 1.9.0", -1 },
        { "Rancher knows none", "1.2.3", REQUEST_REJECTED, "no chart version found for x",
          VERSION_MISSING, "no chart version found", -1 },
        { "any other rejection is tried again, when Rancher says", "1.2.3", REQUEST_REJECTED, "busy",
          VERSION_FAILED, "busy", 7000 },
        { "and so is a lost answer", "1.2.3", REQUEST_UNKNOWN, "timed out", VERSION_FAILED,
          "timed out", 7000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct request_outcome outcome = an_outcome(rows[i].result, rows[i].words);
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
        enum request_result result;
        const char *words;
        uint32_t failures;
        enum version_state want;
        const char *text;
    } rows[] = {
        { "the line that says why", REQUEST_DONE, "x\nError: no space\n", 0, VERSION_FOUND,
          "Error: no space" },
        { "a log that says nothing", REQUEST_DONE, "x\n", 0, VERSION_FOUND, "" },
        { "a log that cannot be read is tried again", REQUEST_REJECTED, "busy", 0, VERSION_FAILED,
          "busy" },
        { "and again", REQUEST_UNKNOWN, "busy", 1, VERSION_FAILED, "busy" },
        { "and then given up", REQUEST_REJECTED, "busy", 2, VERSION_MISSING, "busy" },
        { "that of a pod that is gone at once", REQUEST_REJECTED, "not found", 0, VERSION_MISSING,
          "not found" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct request_outcome outcome = an_outcome(rows[i].result, rows[i].words);

        if (str_eq(str_of(rows[i].words), STR("not found")))
            outcome.error.code = ERROR_NOT_FOUND;

        struct kept_answer kept = answer_log(arena, rows[i].failures, &outcome);

        rows_expect_int(rows[i].name, kept.state, rows[i].want);
        rows_expect_str(rows[i].name, kept.text, str_of(rows[i].text));
    }
}

static void keeps_changes(void **state)
{
    static const struct {
        const char *name;
        enum request_result result;
        enum error_code code;
        uint32_t failures;
        enum version_state want;
        const char *text;
    } rows[] = {
        { "it was made", REQUEST_DONE, ERROR_NONE, 0, VERSION_FOUND, "t1" },
        { "who may not, may not", REQUEST_REJECTED, ERROR_FORBIDDEN, 0, VERSION_MISSING, "words" },
        { "somebody was faster", REQUEST_REJECTED, ERROR_CONFLICT, 0, VERSION_FAILED, "words" },
        { "a lost answer is asked for again", REQUEST_UNKNOWN, ERROR_LOST, 1, VERSION_FAILED,
          "words" },
        { "a few times", REQUEST_UNKNOWN, ERROR_LOST, 2, VERSION_MISSING, "words" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct request_outcome outcome = { .result = rows[i].result, .retry_after_ms = -1 };

        if (rows[i].code)
            error_set(&outcome.error, rows[i].code, "words");

        struct kept_answer kept = answer_change(STR("t1"), rows[i].failures, &outcome);

        rows_expect_int(rows[i].name, kept.state, rows[i].want);
        rows_expect_str(rows[i].name, kept.text, str_of(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_versions),
        cmocka_unit_test(keeps_changes),
        cmocka_unit_test(keeps_logs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
