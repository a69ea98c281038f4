/* SPDX-License-Identifier: Apache-2.0 */
/* access_cache.c: one entry for each user and question. */
#include "controller/reconcilers/stack/access_cache.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "stack/model/limits.h"
#include "text/digest.h"

enum { TROUBLE_BYTES = 256, TROUBLE_MS = 10000, BUSY_MS = 1000 };

struct entry {
    struct access_cache *access_cache;
    enum access_answer answer;
    int64_t until_ms;
    uint32_t rejections; /* in a row */
    char trouble[TROUBLE_BYTES];
    struct kube_call *call; /* NULL: nobody asks */
    struct dict *waiting;   /* Stacks; values are the entry itself */
};

struct access_cache {
    struct access_cache_options options;
    struct dict *entries; /* at most LIMIT_ACCESS_REMEMBERED */
    uint32_t under_way;
};

static int64_t now_ms(const struct access_cache *access_cache)
{
    return loop_now_ms(kube_client_loop(access_cache->options.api));
}

static void entry_free(struct entry *entry)
{
    if (!entry)
        return;
    if (entry->call)
        kube_call_cancel(entry->call);
    dict_free(entry->waiting);
    mem_free(entry);
}

/* --- the answer --- */

static int64_t kept_ms(uint32_t rejections)
{
    int64_t ms = LIMIT_ACCESS_FIRST_TIME;

    while (rejections-- && ms < LIMIT_ACCESS_LAST_TIME)
        ms *= 2;
    return ms < LIMIT_ACCESS_LAST_TIME ? ms : LIMIT_ACCESS_LAST_TIME;
}

static void take(struct entry *entry, const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = answer->error;
    struct json review;
    int64_t now = now_ms(entry->access_cache);

    entry->trouble[0] = '\0';
    if (err.code == ERROR_NONE)
        (void)json_read(arena, answer->body, &json_limits_default, &review, &err);
    if (err.code != ERROR_NONE) {
        memcpy(entry->trouble, err.text, strnlen(err.text, TROUBLE_BYTES - 1) + 1);
        entry->trouble[TROUBLE_BYTES - 1] = '\0';
        entry->answer = ACCESS_UNKNOWN;
        entry->until_ms =
            now + (answer->retry_after_ms > TROUBLE_MS ? answer->retry_after_ms : TROUBLE_MS);
        return;
    }
    entry->answer = access_review_allows(review) ? ACCESS_YES : ACCESS_NO;
    entry->until_ms = now + kept_ms(entry->rejections);
    entry->rejections = entry->answer == ACCESS_NO ? entry->rejections + 1 : 0;
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct entry *entry = context;
    struct access_cache *access_cache = entry->access_cache;
    struct dict *woken = entry->waiting;
    size_t cursor = 0;
    struct str key;
    void *value;

    entry->call = NULL;
    access_cache->under_way--;
    entry->waiting = dict_create();
    take(entry, answer);
    while (dict_next(woken, &cursor, &key, &value))
        access_cache->options.again(access_cache->options.context, key);
    dict_free(woken);
}

/* --- the question --- */

static void ask(struct entry *entry, struct arena *arena, const struct access_user *user,
                const struct access_question *question)
{
    struct strbuf body = strbuf_new(arena, 512);

    access_review_write(user, question, &body);

    const struct kube_request request = {
        .verb = KUBE_CREATE,
        .resource = access_review_resource,
        .body = strbuf_str(&body),
    };

    entry->call = kube_client_call(entry->access_cache->options.api, &request, on_answer, entry);
    entry->access_cache->under_way++;
}

/* What nobody waits for and is over. */
static void forget_old(struct access_cache *access_cache)
{
    int64_t now = now_ms(access_cache);
    size_t cursor = 0;
    struct str key;
    void *value;

    while (dict_next(access_cache->entries, &cursor, &key, &value)) {
        struct entry *entry = value;

        if (!entry->call && entry->until_ms <= now)
            entry_free(dict_remove(access_cache->entries, key));
    }
}

/* NULL: there is no room for another. */
static struct entry *entry_of(struct access_cache *access_cache, struct str id)
{
    struct entry *entry = dict_get(access_cache->entries, id);

    if (entry)
        return entry;
    if (dict_count(access_cache->entries) >= LIMIT_ACCESS_REMEMBERED)
        forget_old(access_cache);
    if (dict_count(access_cache->entries) >= LIMIT_ACCESS_REMEMBERED)
        return NULL;
    entry = mem_new(struct entry);
    entry->access_cache = access_cache;
    entry->waiting = dict_create();
    dict_set(access_cache->entries, id, entry);
    return entry;
}

static struct access_found busy(const struct access_cache *access_cache)
{
    return (struct access_found){ .trouble = STR("many such questions come first"),
                                  .until_ms = now_ms(access_cache) + BUSY_MS };
}

/* A no that is asked about again still counts, a yes does not. */
static struct access_found ask_again(struct arena *arena, struct entry *entry,
                                     const struct access_user *user,
                                     const struct access_question *question, struct str key)
{
    if (!entry->call && entry->access_cache->under_way >= LIMIT_ACCESS_IN_BACKGROUND)
        return busy(entry->access_cache);
    if (!entry->call)
        ask(entry, arena, user, question);
    dict_set(entry->waiting, key, entry);
    return (struct access_found){
        .answer = entry->answer == ACCESS_NO ? ACCESS_NO : ACCESS_UNKNOWN,
        .awaited = entry->answer != ACCESS_NO && !entry->trouble[0],
        .trouble = str_dup(arena, str_of(entry->trouble)),
        .until_ms = -1,
    };
}

static struct str id_of(struct arena *arena, const struct access_user *user,
                        const struct access_question *question)
{
    return str_fmt(arena, "%.*s %.*s", STR_ARG(user->digest),
                   STR_ARG(access_question_key(arena, question)));
}

struct access_found access_cache_peek(const struct access_cache *access_cache, struct arena *arena,
                                      const struct access_user *user,
                                      const struct access_question *question)
{
    const struct entry *entry = dict_get(access_cache->entries, id_of(arena, user, question));
    bool old = !entry || now_ms(access_cache) >= entry->until_ms;

    return (struct access_found){
        .answer = !entry || (old && entry->answer == ACCESS_YES) ? ACCESS_UNKNOWN : entry->answer,
        .trouble = entry ? str_dup(arena, str_of(entry->trouble)) : STR(""),
        .until_ms = entry ? entry->until_ms : -1,
    };
}

struct access_found access_cache_get(struct access_cache *access_cache, struct arena *arena,
                                     const struct access_user *user,
                                     const struct access_question *question, struct str key)
{
    struct entry *entry = entry_of(access_cache, id_of(arena, user, question));

    if (!entry)
        return busy(access_cache);
    if (now_ms(access_cache) >= entry->until_ms)
        return ask_again(arena, entry, user, question, key);
    return (struct access_found){ .answer = entry->answer,
                                  .trouble = str_dup(arena, str_of(entry->trouble)),
                                  .until_ms = entry->until_ms };
}

struct access_cache *access_cache_create(const struct access_cache_options *options)
{
    struct access_cache *access_cache = mem_new(struct access_cache);

    access_cache->options = *options;
    access_cache->entries = dict_create();
    return access_cache;
}

void access_cache_free(struct access_cache *access_cache)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (!access_cache)
        return;
    while (dict_next(access_cache->entries, &cursor, &key, &value))
        entry_free(value);
    dict_free(access_cache->entries);
    mem_free(access_cache);
}
