/* SPDX-License-Identifier: Apache-2.0 */
/* lookups_test.c: one question for all who have it, and answers that end when they must. */
#include "support/rows.h"

#include "controller/backends/rancher_apps/lookups.h"
#include "controller/limits.h"

static void told(void *context, struct str waiter)
{
    strbuf_fmt(context, "%.*s ", STR_ARG(waiter));
}

static void questions_are_asked_once(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
    struct str question = lookup_version(arena, STR("https://c"), STR("nginx"), STR("1.2.3"));
    struct strbuf heard = strbuf_new(arena, 64);

    (void)state;
    rows_expect("the first asks", lookups_begin(lookups, question, STR("a")), "does not");
    rows_expect("the second waits", !lookups_begin(lookups, question, STR("b")), "asks");
    rows_expect("so does the first", !lookups_begin(lookups, question, STR("a")), "asks");
    lookups_end(lookups, question, told, &heard);
    rows_expect_str("each is told once", strbuf_str(&heard), STR("a b "));
    rows_expect("then it may be asked again", lookups_begin(lookups, question, STR("a")), "may not");
}

static void failures_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
    struct str question = lookup_repo(arena, STR("https://c"));
    struct lookup_answer answer;

    (void)state;
    rows_expect_int("nothing is known", lookups_get(lookups, question, 0).state, VERSION_NOT_SYNCED);
    lookups_put(lookups, question, VERSION_FAILED, STR("no"), -1, 1000);
    answer = lookups_get(lookups, question, 1000);
    rows_expect_int("it failed", answer.state, VERSION_FAILED);
    rows_expect_str("why", answer.text, STR("no"));
    rows_expect("for a while", answer.ends_ms > 1000 && answer.ends_ms <= 6000, "too long");
    rows_expect_int("then it is unknown", lookups_get(lookups, question, answer.ends_ms).state,
                    VERSION_NOT_SYNCED);
    lookups_put(lookups, question, VERSION_FAILED, STR("no"), 60000, 1000);
    answer = lookups_get(lookups, question, 1000);
    rows_expect("what the peer asks for is honoured", answer.ends_ms >= 61000, "too early");
    rows_expect_int("failures are counted", answer.failures, 2);
    lookups_put(lookups, question, VERSION_FOUND, STR(""), -1, 1000);
    rows_expect_int("until one works", lookups_get(lookups, question, 0).failures, 0);
}

static void versions_end_with_their_index(void **state)
{
    static const struct {
        const char *name;
        const char *version;
        enum version_state state;
        const char *text;
        bool index_changed;
        bool kept;
    } rows[] = {
        { "an exact version stays", "1.2.3", VERSION_FOUND, "1.2.3", true, true },
        { "a range ends with the index", "^1.2", VERSION_FOUND, "1.2.3", true, false },
        { "a range whose text ends like its answer ends, too", ">=1.2.3", VERSION_FOUND, "1.2.3",
          true, false },
        { "a range stays when just downloaded again", "^1.2", VERSION_FOUND, "1.2.3", false, true },
        { "what was missing is asked for after any download", "9.9.9", VERSION_MISSING, "no", false,
          false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
        struct str question =
            lookup_version(arena, STR("https://c"), STR("nginx"), str_of(rows[i].version));
        struct str other =
            lookup_version(arena, STR("https://c/b"), STR("nginx"), str_of(rows[i].version));

        lookups_put(lookups, question, rows[i].state, str_of(rows[i].text), -1, 0);
        lookups_put(lookups, other, rows[i].state, str_of(rows[i].text), -1, 0);
        lookups_forget_repo(lookups, STR("https://c"), rows[i].index_changed);
        rows_expect_int(rows[i].name, lookups_get(lookups, question, 0).state != VERSION_NOT_SYNCED,
                        rows[i].kept);
        rows_expect_int("another repository's stay",
                        lookups_get(lookups, other, 0).state != VERSION_NOT_SYNCED, true);
    }
}

static void the_least_recently_used_answer_makes_room(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
    struct str first = lookup_log(arena, STR("n"), STR("first"));
    struct str second = lookup_log(arena, STR("n"), STR("second"));

    (void)state;
    lookups_put(lookups, first, VERSION_FOUND, STR("a"), -1, 0);
    lookups_put(lookups, second, VERSION_FOUND, STR("b"), -1, 0);
    for (int i = 2; i < LIMIT_LOOKUPS; i++)
        lookups_put(lookups, lookup_log(arena, STR("n"), str_fmt(arena, "%d", i)), VERSION_FOUND,
                    STR("c"), -1, 0);
    rows_expect_int("as many as there is room for stay", (int64_t)lookups_count(lookups),
                    LIMIT_LOOKUPS);
    rows_expect_str("the first is read", lookups_get(lookups, first, 0).text, STR("a"));
    lookups_put(lookups, lookup_log(arena, STR("n"), STR("one more")), VERSION_FOUND, STR("d"), -1,
                0);
    rows_expect_int("one goes for one", (int64_t)lookups_count(lookups), LIMIT_LOOKUPS);
    rows_expect_int("not the one that was read", lookups_get(lookups, first, 0).state,
                    VERSION_FOUND);
    rows_expect_int("but the one that was used least lately",
                    lookups_get(lookups, second, 0).state, VERSION_NOT_SYNCED);
}

static void an_answer_that_waiters_were_told_of_survives_a_flood(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
    struct str question = lookup_repo(arena, STR("https://c"));

    (void)state;
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < LIMIT_LOOKUPS; i++)
            lookups_put(lookups, lookup_log(arena, STR("n"), str_fmt(arena, "%d", i)),
                        VERSION_FOUND, STR("c"), -1, 0);
        lookups_put(lookups, question, VERSION_FAILED, STR("no"), -1, 0);
        rows_expect_int("it is there", lookups_get(lookups, question, 0).state, VERSION_FAILED);
    }
    lookups_forget_repo(lookups, STR("https://c"), true);
    rows_expect_int("what is left is counted", (int64_t)lookups_count(lookups), LIMIT_LOOKUPS);
}

#define MINUTE 60000

static void an_absence_is_believed_of_a_fresh_index(void **state)
{
    static const struct {
        const char *name;
        enum version_state refresh; /* of the last refresh, at 100 min; NOT_SYNCED: there was none */
        const char *text;           /* the download before it; "": it was seen to be downloaded */
        int64_t asked_ms, now_ms;   /* the version, and now */
        enum version_state want;
        int64_t ends_ms;
    } rows[] = {
        { "nobody knows how old the index is", VERSION_NOT_SYNCED, "", 90 * MINUTE, 101 * MINUTE,
          VERSION_STALE, -1 },
        { "its refresh is waited for", VERSION_FOUND, "t1", 90 * MINUTE, 100 * MINUTE + 1,
          VERSION_REFRESHING, 101 * MINUTE },
        { "but not for ever", VERSION_FOUND, "t1", 90 * MINUTE, 101 * MINUTE, VERSION_MISSING, -1 },
        { "it was downloaded since", VERSION_FOUND, "t0", 100 * MINUTE + 5, 100 * MINUTE + 6,
          VERSION_MISSING, -1 },
        { "an index that was fresh when it was asked stays believed", VERSION_FOUND, "",
          104 * MINUTE, 900 * MINUTE, VERSION_MISSING, -1 },
        { "one that was not is refreshed", VERSION_FOUND, "", 106 * MINUTE, 107 * MINUTE,
          VERSION_STALE, -1 },
        { "a refresh that is rejected is done without", VERSION_MISSING, "no", 90 * MINUTE,
          101 * MINUTE, VERSION_MISSING, -1 },
        { "and so is one that is to be tried again later", VERSION_FAILED, "no", 90 * MINUTE,
          100 * MINUTE + 1, VERSION_MISSING, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(lookups_free) struct lookups *lookups = lookups_create(1);
        struct lookup_answer missing = { .state = VERSION_MISSING, .since_ms = rows[i].asked_ms };
        int64_t ends_ms = -1;

        if (rows[i].refresh != VERSION_NOT_SYNCED)
            lookups_put(lookups, lookup_refresh(arena, STR("https://c")), rows[i].refresh,
                        str_of(rows[i].text), -1, 100 * MINUTE);
        rows_expect_int(rows[i].name,
                        lookups_absence(lookups, STR("https://c"), STR("t1"), &missing,
                                        rows[i].now_ms, &ends_ms),
                        rows[i].want);
        rows_expect_int(rows[i].name, ends_ms, rows[i].ends_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_asked_once),
        cmocka_unit_test(failures_end),
        cmocka_unit_test(versions_end_with_their_index),
        cmocka_unit_test(the_least_recently_used_answer_makes_room),
        cmocka_unit_test(an_answer_that_waiters_were_told_of_survives_a_flood),
        cmocka_unit_test(an_absence_is_believed_of_a_fresh_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
