/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c: the waiting thread sleeps on a condition of its own; only the loop
 * touches the client. */
#include "lab/downstream/fetch.h"

#include <pthread.h>

struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
};

static void wait_begin(struct waiting *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->done = false;
}

/* The waiter may be gone as soon as the lock is free. */
static void wait_told(struct waiting *w)
{
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_end(struct waiting *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->done)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

struct errand {
    struct waiting waiting;
    struct http_client *client;
    struct arena *arena; /* the waiting thread does not touch it meanwhile */
    const struct fetch *request;
    struct fetched fetched;
};

static void on_done(void *context, const struct http_response *response)
{
    struct errand *errand = context;

    errand->fetched = (struct fetched){
        .status = response->status,
        .body = str_dup(errand->arena, response->body),
        .content_type = str_dup(errand->arena, response->content_type),
        .error = response->error,
    };
    wait_told(&errand->waiting);
}

static void begin(void *context)
{
    struct errand *errand = context;
    const struct fetch *request = errand->request;

    http_send(errand->client,
              &(struct http_request){
                  .method = request->method,
                  .url = request->url,
                  .headers = request->headers,
                  .header_count = request->header_count,
                  .body = request->body,
                  .timeout_ms = request->timeout_ms ? request->timeout_ms : FETCH_TIME_MS,
                  .answer_bytes_max = request->answer_bytes_max,
                  .on_done = on_done,
                  .context = errand,
              });
}

struct fetched fetch(struct loop *loop, struct http_client *client, struct arena *arena,
                     const struct fetch *request)
{
    struct errand errand = { .client = client, .arena = arena, .request = request };

    wait_begin(&errand.waiting);
    loop_post(loop, begin, &errand);
    wait_end(&errand.waiting);
    return errand.fetched;
}

struct run {
    struct waiting waiting;
    void (*work)(void *context);
    void *context;
};

static void run_and_tell(void *context)
{
    struct run *run = context;

    run->work(run->context);
    wait_told(&run->waiting);
}

void fetch_run(struct loop *loop, void (*work)(void *context), void *context)
{
    struct run run = { .work = work, .context = context };

    wait_begin(&run.waiting);
    loop_post(loop, run_and_tell, &run);
    wait_end(&run.waiting);
}
