/* SPDX-License-Identifier: Apache-2.0 */
/* access.c: a batch of questions goes to the loop's thread; whoever waits and the loop share it,
 * and the last of them frees it.
 *
 * Under arena_run a review may be abandoned wherever it allocates, so all that it needs of its
 * arena is there before the batch is made, and what is shared is on the heap. */
#include "webhook/access.h"

#include "base/linked.h"
#include "base/map.h"
#include "base/memory.h"
#include "io/wait.h"
#include "runtime/client.h"
#include "stack/access/access.h"
#include "stack/model/limits.h"
#include "text/digest.h"
#include "webhook/limits.h"
#include "webhook/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { WHY_BYTES = 256 };

struct remembered {
    enum access_answer answer;
    int64_t until_ms;
};

struct batch;

struct access_source {
    struct metrics *metrics;
    struct loop *loop;
    struct kube_client *client;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* of all below, and of the batches */
    pthread_cond_t answered;
    struct dict *remembered; /* user and question -> struct remembered */
    struct batch *batches;   /* that the loop holds */
    uint32_t under_way;
    int64_t heard_ms;        /* when the API server answered last */
    int64_t silent_until_ms; /* nobody is asked until then */
};

struct question {
    struct batch *batch;
    char *key;
    char *body;
    size_t body_len;
    enum access_answer answer;
};

struct batch {
    struct access_source *source;
    struct batch *next, *previous; /* of those that the loop holds */
    uint32_t holders;              /* who waits, and the loop */
    uint32_t count;
    uint32_t open; /* not answered */
    char why[WHY_BYTES];
    struct question questions[];
};
LINKED_DEFINE(batch, struct batch)

static int64_t now_ms(void)
{
    return clock_monotonic_ms(system_clock());
}

/* --- batches; under the lock --- */

static struct batch *batch_create(struct access_source *source, const struct str *keys,
                                  const struct str *bodies, uint32_t count)
{
    struct batch *batch = mem_alloc(sizeof(*batch) + count * sizeof(batch->questions[0]));

    batch->source = source;
    batch->holders = 2;
    batch->count = count;
    batch->open = count;
    for (uint32_t i = 0; i < count; i++)
        batch->questions[i] = (struct question){
            .batch = batch,
            .key = mem_copy(keys[i].at, keys[i].len),
            .body = mem_copy(bodies[i].at, bodies[i].len),
            .body_len = bodies[i].len,
        };
    batch_link(&source->batches, batch);
    return batch;
}

static void batch_drop(struct batch *batch)
{
    if (--batch->holders > 0)
        return;
    for (uint32_t i = 0; i < batch->count; i++) {
        mem_free(batch->questions[i].key);
        mem_free(batch->questions[i].body);
    }
    mem_free(batch);
}

/* The loop is done with it. */
static void batch_let_go(struct batch *batch)
{
    batch_unlink(&batch->source->batches, batch);
    batch_drop(batch);
}

/* --- what is remembered; under the lock --- */

/* What is over, and of the rest so much that half of the room is free. */
static void forget_old(struct access_source *source, int64_t now)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    while (dict_next(source->remembered, &cursor, &key, &value)) {
        struct remembered *entry = value;

        if (entry->until_ms <= now || dict_count(source->remembered) > LIMIT_ACCESS_REMEMBERED / 2)
            mem_free(dict_remove(source->remembered, key));
    }
}

static void remember(struct access_source *source, const char *key, enum access_answer answer)
{
    int64_t now = now_ms();
    struct remembered *entry;

    if (dict_count(source->remembered) >= LIMIT_ACCESS_REMEMBERED)
        forget_old(source, now);
    entry = mem_new(struct remembered);
    entry->answer = answer;
    entry->until_ms = now + (answer == ACCESS_YES ? LIMIT_ACCESS_YES_TIME : LIMIT_ACCESS_NO_TIME);
    mem_free(dict_set(source->remembered, str_of(key), entry));
}

static enum access_answer recall(struct access_source *source, struct str key, int64_t now)
{
    const struct remembered *entry = dict_get(source->remembered, key);

    return entry && entry->until_ms > now ? entry->answer : ACCESS_UNKNOWN;
}

/* --- the loop's thread --- */

static const char *const answer_names[] = {
    [ACCESS_UNKNOWN] = "unknown", [ACCESS_NO] = "no", [ACCESS_YES] = "yes"
};

static enum access_answer read_answer(const struct kube_answer *answer, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json review;

    if (answer->error.code != ERROR_NONE) {
        *err = answer->error;
        return ACCESS_UNKNOWN;
    }
    if (json_read(arena, answer->body, &json_limits_default, &review, err) < 0)
        return ACCESS_UNKNOWN;
    return access_review_allows(review) ? ACCESS_YES : ACCESS_NO;
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct question *question = context;
    struct batch *batch = question->batch;
    struct access_source *source = batch->source;
    struct error err = { .code = ERROR_NONE };
    enum access_answer is = read_answer(answer, &err);

    metrics_add(source->metrics, WEBHOOK_ACCESS, (struct str[]){ str_of(answer_names[is]) }, 1);
    pthread_mutex_lock(&source->lock);
    question->answer = is;
    source->under_way--;
    if (answer->status)
        source->heard_ms = now_ms();
    if (is != ACCESS_UNKNOWN)
        remember(source, question->key, is);
    else if (!batch->why[0])
        memcpy(batch->why, err.text, strnlen(err.text, WHY_BYTES - 1));
    if (--batch->open == 0) {
        pthread_cond_broadcast(&source->answered);
        batch_let_go(batch);
    }
    pthread_mutex_unlock(&source->lock);
}

static void send_batch(void *context)
{
    struct batch *batch = context;

    for (uint32_t i = 0; i < batch->count; i++) {
        struct question *question = &batch->questions[i];
        const struct kube_request request = {
            .verb = KUBE_CREATE,
            .resource = access_review_resource,
            .body = str_make(question->body, question->body_len),
        };

        kube_client_call(batch->source->client, &request, on_answer, question);
    }
}

static void *access_thread(void *context)
{
    struct access_source *source = context;

    loop_run(source->loop);
    return NULL;
}

/* --- the review's thread --- */

struct asker {
    struct access_source *source;
    int64_t deadline_ms; /* 0: it did not ask yet */
};

/* What is prepared of one call before anything is shared. */
struct prepared {
    struct str *keys;
    struct str *bodies;
    uint32_t *numbers; /* of the questions, in the caller's list */
    uint32_t count;
    char *why;
};

static struct prepared prepare(struct arena *arena, const struct access_user *user,
                               const struct access_questions *questions)
{
    struct str who = digest_sha256_hex(arena, user->members);
    struct prepared prepared = {
        .keys = arena_array(arena, struct str, questions->count + 1),
        .bodies = arena_array(arena, struct str, questions->count + 1),
        .numbers = arena_array(arena, uint32_t, questions->count + 1),
        .why = arena_alloc(arena, WHY_BYTES),
    };

    for (uint32_t i = 0; i < questions->count; i++) {
        const struct access_question *question = &questions->items[i];
        struct strbuf body = strbuf_new(arena, 512 + user->members.len);

        access_review_write(user, question, &body);
        prepared.keys[i] = str_fmt(arena, "%.*s %.*s", STR_ARG(who),
                                   STR_ARG(access_question_key(arena, question)));
        prepared.bodies[i] = strbuf_str(&body);
    }
    return prepared;
}

/* Under the lock: answer from memory, and leave in `prepared` what must be asked. */
static void recall_all(struct access_source *source, struct prepared *prepared, uint32_t count,
                       enum access_answer *answers)
{
    int64_t now = now_ms();

    for (uint32_t i = 0; i < count; i++) {
        answers[i] = recall(source, prepared->keys[i], now);
        if (answers[i] != ACCESS_UNKNOWN)
            continue;
        prepared->keys[prepared->count] = prepared->keys[i];
        prepared->bodies[prepared->count] = prepared->bodies[i];
        prepared->numbers[prepared->count++] = i;
    }
}

static const char *why_not(const struct access_source *source, const struct prepared *prepared)
{
    if (now_ms() < source->silent_until_ms)
        return "the API server has not answered for a while";
    if (source->under_way + prepared->count > LIMIT_ACCESS_UNDER_WAY)
        return "too many questions to the API server are not answered yet";
    return NULL;
}

static void await(struct access_source *source, const struct batch *batch, int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms - now_ms();
    struct timespec until = wait_until(left_ms > 0 ? left_ms : 0);

    while (batch->open > 0)
        if (pthread_cond_timedwait(&source->answered, &source->lock, &until) != 0)
            return;
}

/* Under the lock. */
static void take_answers(struct access_source *source, struct batch *batch,
                         const struct prepared *prepared, int64_t began_ms,
                         enum access_answer *answers)
{
    for (uint32_t i = 0; i < prepared->count; i++)
        answers[prepared->numbers[i]] = batch->questions[i].answer;
    memcpy(prepared->why, batch->why, WHY_BYTES);
    if (batch->open > 0 && !prepared->why[0])
        snprintf(prepared->why, WHY_BYTES, "the API server did not answer within %d ms",
                 LIMIT_ACCESS_TIME);
    if (batch->open > 0 && source->heard_ms < began_ms)
        source->silent_until_ms = now_ms() + LIMIT_ACCESS_TIME;
}

/* Under the lock. */
static void put_questions(struct access_source *source, const struct prepared *prepared,
                          int64_t deadline_ms, enum access_answer *answers)
{
    const char *rejected = why_not(source, prepared);
    int64_t began_ms = now_ms();
    struct batch *batch;

    if (rejected) {
        snprintf(prepared->why, WHY_BYTES, "%s", rejected);
        return;
    }
    batch = batch_create(source, prepared->keys, prepared->bodies, prepared->count);
    source->under_way += prepared->count;
    loop_post(source->loop, send_batch, batch);
    await(source, batch, deadline_ms);
    take_answers(source, batch, prepared, began_ms, answers);
    batch_drop(batch);
}

static void ask(void *context, struct arena *arena, const struct access_user *user,
                const struct access_questions *questions, enum access_answer *ret_answers,
                struct str *ret_why)
{
    struct asker *asker = context;
    struct access_source *source = asker->source;
    struct prepared prepared = prepare(arena, user, questions);

    if (!asker->deadline_ms)
        asker->deadline_ms = now_ms() + LIMIT_ACCESS_TIME;
    pthread_mutex_lock(&source->lock);
    recall_all(source, &prepared, questions->count, ret_answers);
    if (prepared.count)
        put_questions(source, &prepared, asker->deadline_ms, ret_answers);
    pthread_mutex_unlock(&source->lock);
    *ret_why = str_of(prepared.why);
}

struct fact_access access_source_take(struct access_source *source, struct arena *arena)
{
    struct asker *asker;

    if (!source)
        return (struct fact_access){ NULL, NULL };
    asker = arena_new(arena, struct asker);
    asker->source = source;
    return (struct fact_access){ ask, asker };
}

/* --- life --- */

static void init_lock(struct access_source *source)
{

    wait_init(&source->lock, &source->answered);
}

struct access_source *access_source_create(const struct kube_config *config,
                                           struct metrics *metrics, struct error *err)
{
    AUTO(access_source_free) struct access_source *source = mem_new(struct access_source);

    init_lock(source);
    source->metrics = metrics;
    source->remembered = dict_create();
    source->loop = loop_create();
    source->client = kube_client_create(
        &(struct kube_client_options){
            .loop = source->loop, .config = config, .user_agent = "herd-webhook/" HERD_VERSION },
        err);
    if (!source->client) {
        error_wrap(err, "cannot ask what users may do");
        return NULL;
    }
    if (pthread_create(&source->thread, NULL, access_thread, source) != 0) {
        error_set(err, ERROR_INTERNAL, "cannot start the thread that asks what users may do");
        return NULL;
    }
    source->running = true;
    return TAKE(source);
}

static void free_remembered(struct access_source *source)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    while (dict_next(source->remembered, &cursor, &key, &value))
        mem_free(value);
    dict_free(source->remembered);
}

void access_source_free(struct access_source *source)
{
    if (!source)
        return;
    if (source->running) {
        loop_stop(source->loop);
        pthread_join(source->thread, NULL);
    }
    kube_client_free(source->client);
    while (source->batches)
        batch_let_go(source->batches);
    loop_free(source->loop);
    free_remembered(source);
    pthread_cond_destroy(&source->answered);
    pthread_mutex_destroy(&source->lock);
    mem_free(source);
}
