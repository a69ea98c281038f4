/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.c: one table of answers, in the order of their last use, and who waits for which. */
#include "controller/backends/rancher_apps/lookups.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "base/multimap.h"
#include "kube/backoff.h"

enum {
    FAILED_FIRST_MS = 5000, /* doubled to LIMIT_RETRY_MAX */
    FRESH_MS = 300000,      /* an index as old as that is not refreshed again */
    REFRESH_MS = 60000,     /* Rancher gives up a download after 30 s */
};

struct answer {
    struct answer *older, *newer; /* by last use */
    char *question;
    size_t question_len;
    enum version_state state;
    char *text;
    size_t text_len;
    int64_t ends_ms;
    uint32_t failures;
    int64_t since_ms;
};

struct lookups {
    struct dict *answers;
    struct answer *oldest, *newest;
    struct multimap *waiters; /* of questions under way */
    struct rng rng;
};

struct lookups *lookups_create(uint64_t seed)
{
    struct lookups *lookups = mem_new(struct lookups);

    lookups->answers = dict_create();
    lookups->waiters = multimap_create();
    lookups->rng = rng_from_seed(seed);
    return lookups;
}

static void unlink_answer(struct lookups *lookups, struct answer *answer)
{
    *(answer->older ? &answer->older->newer : &lookups->oldest) = answer->newer;
    *(answer->newer ? &answer->newer->older : &lookups->newest) = answer->older;
}

static void link_newest(struct lookups *lookups, struct answer *answer)
{
    answer->older = lookups->newest;
    answer->newer = NULL;
    *(answer->older ? &answer->older->newer : &lookups->oldest) = answer;
    lookups->newest = answer;
}

static void forget(struct lookups *lookups, struct answer *answer)
{
    dict_remove(lookups->answers, str_make(answer->question, answer->question_len));
    unlink_answer(lookups, answer);
    mem_free(answer->question);
    mem_free(answer->text);
    mem_free(answer);
}

void lookups_free(struct lookups *lookups)
{
    if (!lookups)
        return;
    while (lookups->oldest)
        forget(lookups, lookups->oldest);
    dict_free(lookups->answers);
    multimap_free(lookups->waiters);
    mem_free(lookups);
}

/* No URL, chart name or version has a line end, so questions cannot be mistaken for one another. */
struct str lookup_version(struct arena *arena, struct str repo, struct str chart,
                          struct str version)
{
    return str_fmt(arena, "version\n%.*s\n%.*s\n%.*s", STR_ARG(repo), STR_ARG(chart),
                   STR_ARG(version));
}

struct str lookup_repo(struct arena *arena, struct str repo)
{
    return str_fmt(arena, "repo\n%.*s", STR_ARG(repo));
}

struct str lookup_refresh(struct arena *arena, struct str repo)
{
    return str_fmt(arena, "refresh\n%.*s", STR_ARG(repo));
}

struct str lookup_removal(struct arena *arena, struct str uid)
{
    return str_fmt(arena, "removal\n%.*s", STR_ARG(uid));
}

struct str lookup_log(struct arena *arena, struct str namespace_, struct str operation)
{
    return str_fmt(arena, "log\n%.*s/%.*s", STR_ARG(namespace_), STR_ARG(operation));
}

struct str lookup_mark(struct arena *arena, struct str namespace_, struct str release)
{
    return str_fmt(arena, "mark %.*s/%.*s", STR_ARG(namespace_), STR_ARG(release));
}

struct str lookup_health(struct arena *arena, struct str namespace_, struct str release,
                         struct str symptom)
{
    return str_fmt(arena, "health\n%.*s/%.*s\n%.*s", STR_ARG(namespace_), STR_ARG(release),
                   STR_ARG(symptom));
}

struct str lookup_pods(struct arena *arena, struct str namespace_, struct str operation,
                       bool failed)
{
    return str_fmt(arena, "pods %s\n%.*s/%.*s", failed ? "failed" : "running", STR_ARG(namespace_),
                   STR_ARG(operation));
}

bool lookups_begin(struct lookups *lookups, struct str question, struct str waiter)
{
    struct str first;
    bool under_way = multimap_at(lookups->waiters, question, 0, &first);

    multimap_add(lookups->waiters, question, waiter);
    return !under_way;
}

void lookups_end(struct lookups *lookups, struct str question,
                 void (*told)(void *context, struct str waiter), void *context)
{
    struct str waiter;

    for (uint32_t i = 0; multimap_at(lookups->waiters, question, i, &waiter); i++)
        told(context, waiter);
    multimap_remove_all(lookups->waiters, question);
}

void lookups_put(struct lookups *lookups, struct str question, enum version_state state,
                 struct str text, int64_t retry_after_ms, int64_t now_ms)
{
    struct answer *answer = dict_get(lookups->answers, question);

    if (answer) {
        unlink_answer(lookups, answer);
    } else {
        if (dict_count(lookups->answers) >= LIMIT_LOOKUPS)
            forget(lookups, lookups->oldest); /* it can be asked again */
        answer = mem_new(struct answer);
        answer->question = mem_copy(question.at, question.len);
        answer->question_len = question.len;
        dict_set(lookups->answers, question, answer);
    }
    link_newest(lookups, answer);
    mem_free(answer->text);
    answer->text = mem_copy(text.at, text.len);
    answer->text_len = text.len;
    answer->state = state;
    answer->failures = state == VERSION_FAILED ? answer->failures + 1 : 0;
    answer->ends_ms = 0;
    answer->since_ms = now_ms;
    if (state == VERSION_FAILED) {
        int64_t wait_ms =
            backoff_after(FAILED_FIRST_MS, LIMIT_RETRY_MAX, answer->failures, &lookups->rng);

        answer->ends_ms = now_ms + (wait_ms > retry_after_ms ? wait_ms : retry_after_ms);
    }
}

struct lookup_answer lookups_get(struct lookups *lookups, struct str question, int64_t now_ms)
{
    struct answer *answer = dict_get(lookups->answers, question);

    if (!answer)
        return (struct lookup_answer){ .state = VERSION_NOT_SYNCED };
    unlink_answer(lookups, answer);
    link_newest(lookups, answer);
    if (answer->state == VERSION_FAILED && now_ms >= answer->ends_ms)
        return (struct lookup_answer){ .state = VERSION_NOT_SYNCED,
                                       .text = str_make(answer->text, answer->text_len),
                                       .failures = answer->failures };
    return (struct lookup_answer){ answer->state, str_make(answer->text, answer->text_len),
                                   answer->ends_ms, answer->failures, answer->since_ms };
}

/* Whether the version asked for, which ends the question, is the one that was found. */
static bool asked_exactly(struct str question, const struct answer *answer)
{
    return question.len > answer->text_len &&
           question.at[question.len - answer->text_len - 1] == '\n' &&
           str_ends(question, str_make(answer->text, answer->text_len));
}

uint32_t lookups_forget_repo(struct lookups *lookups, struct str repo, bool index_changed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str prefix = str_fmt(arena, "version\n%.*s\n", STR_ARG(repo));
    uint32_t forgotten = 0;
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(lookups->answers, &cursor, &key, &value);) {
        const struct answer *answer = value;
        /* An exact version that was found stays: charts are published once. */
        bool exact = answer->state == VERSION_FOUND && asked_exactly(key, answer);

        if (!str_starts(key, prefix) ||
            (answer->state == VERSION_FOUND && (exact || !index_changed)))
            continue;
        forget(lookups, value);
        forgotten++;
    }
    return forgotten;
}

void lookups_downloaded(struct lookups *lookups, struct str repo, int64_t now_ms)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    lookups_put(lookups, lookup_refresh(arena, repo), VERSION_FOUND, STR(""), -1, now_ms);
}

enum version_state lookups_absence(struct lookups *lookups, struct str repo, struct str downloaded,
                                   const struct lookup_answer *missing, int64_t now_ms,
                                   int64_t *ret_ends_ms)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct lookup_answer refresh = lookups_get(lookups, lookup_refresh(arena, repo), now_ms);

    if (refresh.state == VERSION_NOT_SYNCED)
        return VERSION_STALE;
    if (refresh.state != VERSION_FOUND)
        return VERSION_MISSING;
    if (refresh.text.len && str_eq(refresh.text, downloaded) &&
        now_ms - refresh.since_ms < REFRESH_MS) {
        *ret_ends_ms = refresh.since_ms + REFRESH_MS;
        return VERSION_REFRESHING;
    }
    return missing->since_ms - refresh.since_ms < FRESH_MS || now_ms - refresh.since_ms < FRESH_MS
               ? VERSION_MISSING
               : VERSION_STALE;
}

size_t lookups_count(const struct lookups *lookups)
{
    return dict_count(lookups->answers);
}
