/* accesses.c: one entry for each user and question. */
#include "controller/reconcile/accesses.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "text/digest.h"

enum { TROUBLE_BYTES = 256, TROUBLE_MS = 10000, BUSY_MS = 1000 };

struct entry {
    struct accesses *accesses;
    enum access_answer answer;
    int64_t until_ms;
    uint32_t refusals; /* in a row */
    char trouble[TROUBLE_BYTES];
    struct kube_call *call; /* NULL: nobody asks */
    struct dict *waiting;   /* Stacks; values are the entry itself */
};

struct accesses {
    struct accesses_options options;
    struct dict *entries; /* at most LIMIT_ACCESS_REMEMBERED */
    uint32_t under_way;
};

static int64_t now_ms(const struct accesses *accesses)
{
    return loop_now_ms(kube_client_loop(accesses->options.api));
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

static int64_t kept_ms(uint32_t refusals)
{
    int64_t ms = LIMIT_ACCESS_FIRST_TIME;

    while (refusals-- && ms < LIMIT_ACCESS_LAST_TIME)
        ms *= 2;
    return ms < LIMIT_ACCESS_LAST_TIME ? ms : LIMIT_ACCESS_LAST_TIME;
}

static void take(struct entry *entry, const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = answer->error;
    struct json review;
    int64_t now = now_ms(entry->accesses);

    entry->trouble[0] = '\0';
    if (err.code == ERROR_NONE)
        (void)json_read(arena, answer->body, &json_limits_default, &review, &err);
    if (err.code != ERROR_NONE) {
        memcpy(entry->trouble, err.text, strnlen(err.text, TROUBLE_BYTES - 1) + 1);
        entry->trouble[TROUBLE_BYTES - 1] = '\0';
        entry->answer = ACCESS_UNKNOWN;
        entry->until_ms = now + (answer->retry_after_ms > TROUBLE_MS ? answer->retry_after_ms
                                                                     : TROUBLE_MS);
        return;
    }
    entry->answer = access_review_allows(review) ? ACCESS_YES : ACCESS_NO;
    entry->until_ms = now + kept_ms(entry->refusals);
    entry->refusals = entry->answer == ACCESS_NO ? entry->refusals + 1 : 0;
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct entry *entry = context;
    struct accesses *accesses = entry->accesses;
    struct dict *woken = entry->waiting;
    size_t cursor = 0;
    struct str key;
    void *value;

    entry->call = NULL;
    accesses->under_way--;
    entry->waiting = dict_create();
    take(entry, answer);
    while (dict_next(woken, &cursor, &key, &value))
        accesses->options.again(accesses->options.context, key);
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

    entry->call = kube_client_call(entry->accesses->options.api, &request, on_answer, entry);
    entry->accesses->under_way++;
}

/* What nobody waits for and is over. */
static void forget_old(struct accesses *accesses)
{
    int64_t now = now_ms(accesses);
    size_t cursor = 0;
    struct str key;
    void *value;

    while (dict_next(accesses->entries, &cursor, &key, &value)) {
        struct entry *entry = value;

        if (!entry->call && entry->until_ms <= now)
            entry_free(dict_remove(accesses->entries, key));
    }
}

/* NULL: there is no room for another. */
static struct entry *entry_of(struct accesses *accesses, struct str id)
{
    struct entry *entry = dict_get(accesses->entries, id);

    if (entry)
        return entry;
    if (dict_count(accesses->entries) >= LIMIT_ACCESS_REMEMBERED)
        forget_old(accesses);
    if (dict_count(accesses->entries) >= LIMIT_ACCESS_REMEMBERED)
        return NULL;
    entry = mem_new(struct entry);
    entry->accesses = accesses;
    entry->waiting = dict_create();
    dict_set(accesses->entries, id, entry);
    return entry;
}

static struct access_found busy(const struct accesses *accesses)
{
    return (struct access_found){ ACCESS_UNKNOWN, STR("many such questions come first"),
                                  now_ms(accesses) + BUSY_MS };
}

/* A no that is asked about again still counts, a yes does not. */
static struct access_found ask_again(struct arena *arena, struct entry *entry,
                                     const struct access_user *user,
                                     const struct access_question *question, struct str key)
{
    if (!entry->call && entry->accesses->under_way >= LIMIT_ACCESS_IN_BACKGROUND)
        return busy(entry->accesses);
    if (!entry->call)
        ask(entry, arena, user, question);
    dict_set(entry->waiting, key, entry);
    return (struct access_found){ entry->answer == ACCESS_NO ? ACCESS_NO : ACCESS_UNKNOWN,
                                  str_dup(arena, str_of(entry->trouble)), -1 };
}

struct access_found accesses_get(struct accesses *accesses, struct arena *arena,
                                 const struct access_user *user,
                                 const struct access_question *question, struct str key)
{
    struct str id = str_fmt(arena, "%.*s %.*s %.*s",
                            STR_ARG(digest_sha256_hex(arena, user->members)),
                            STR_ARG(question->cluster), STR_ARG(question->namespace_));
    struct entry *entry = entry_of(accesses, id);

    if (!entry)
        return busy(accesses);
    if (now_ms(accesses) >= entry->until_ms)
        return ask_again(arena, entry, user, question, key);
    return (struct access_found){ entry->answer, str_dup(arena, str_of(entry->trouble)),
                                  entry->until_ms };
}

struct accesses *accesses_create(const struct accesses_options *options)
{
    struct accesses *accesses = mem_new(struct accesses);

    accesses->options = *options;
    accesses->entries = dict_create();
    return accesses;
}

void accesses_free(struct accesses *accesses)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (!accesses)
        return;
    while (dict_next(accesses->entries, &cursor, &key, &value))
        entry_free(value);
    dict_free(accesses->entries);
    mem_free(accesses);
}
