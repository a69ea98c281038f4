/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_caller.c: batches of calls go to the loop's thread by message; the caller sleeps on a
 * condition of its own batch. Only the loop's thread touches clients. */
#include "lab/apiserver/webhook_caller.h"

#include "base/map.h"
#include "base/memory.h"
#include "io/http_client.h"

#include <pthread.h>

enum { CLIENTS_MAX = 64, ANSWER_BYTES_MAX = 8 * 1024 * 1024 };

struct webhook_caller {
    struct loop *loop;
    pthread_t thread;
    struct dict *clients; /* CA and server name -> struct http_client */
};

struct batch {
    struct webhook_caller *caller;
    struct arena *arena; /* of the answers: the waiting thread does not touch it meanwhile */
    struct webhook_call *calls;
    uint32_t count, open;
    pthread_mutex_t lock;
    pthread_cond_t done;
};

/* One call of a batch, as the context of its callback. */
struct slot {
    struct batch *batch;
    struct webhook_call *call;
};

static void *run(void *context)
{
    loop_run(context);
    return NULL;
}

struct webhook_caller *webhook_caller_create(void)
{
    struct webhook_caller *caller = mem_new(struct webhook_caller);

    caller->loop = loop_create();
    caller->clients = dict_create();
    pthread_create(&caller->thread, NULL, run, caller->loop);
    return caller;
}

static void free_clients(struct webhook_caller *caller, bool idle_only)
{
    size_t cursor = 0;
    struct str key;
    void *client;

    while (dict_next(caller->clients, &cursor, &key, &client)) {
        if (idle_only && http_client_in_flight(client))
            continue;
        dict_remove(caller->clients, key);
        http_client_free(client);
    }
}

void webhook_caller_free(struct webhook_caller *caller)
{
    if (!caller)
        return;
    loop_stop(caller->loop);
    pthread_join(caller->thread, NULL);
    free_clients(caller, false);
    dict_free(caller->clients);
    loop_free(caller->loop);
    mem_free(caller);
}

static struct http_client *client_for(struct webhook_caller *caller,
                                      const struct webhook_call *call, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key =
        str_fmt(arena, "%.*s\n%.*s", STR_ARG(call->server_name), STR_ARG(call->ca_pem));
    struct http_client *client = dict_get(caller->clients, key);
    struct http_client_options options = {
        .ca_pem = call->ca_pem,
        .user_agent = "kube-apiserver-admission",
        .tls_server_name = call->server_name,
    };

    if (client)
        return client;
    if (dict_count(caller->clients) >= CLIENTS_MAX)
        free_clients(caller, true);
    client = http_client_create(caller->loop, &options, err);
    if (client)
        dict_set(caller->clients, key, client);
    return client;
}

static void finish(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    if (--batch->open == 0)
        pthread_cond_signal(&batch->done);
    pthread_mutex_unlock(&batch->lock);
}

static void on_done(void *context, const struct http_response *response)
{
    struct slot *slot = context;

    slot->call->status = response->status;
    slot->call->answer = str_dup(slot->batch->arena, response->body);
    slot->call->content_type = str_dup(slot->batch->arena, response->content_type);
    slot->call->error = response->error;
    finish(slot->batch);
}

static void begin(void *context)
{
    struct batch *batch = context;
    static const struct http_header headers[] = {
        { STR_INIT("Content-Type"), STR_INIT("application/json") },
        { STR_INIT("Accept"), STR_INIT("application/json, */*") },
    };
    /* The last call may be over before this returns from its failure: count is read first. */
    uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; i++) {
        struct webhook_call *call = &batch->calls[i];
        struct slot *slot = arena_new(batch->arena, struct slot);
        struct http_client *client = client_for(batch->caller, call, &call->error);
        struct http_request request = {
            .method = "POST",
            .url = call->url,
            .headers = headers,
            .header_count = 2,
            .body = call->body,
            .timeout_ms = call->timeout_ms,
            .connect_ms = call->timeout_ms,
            .answer_bytes_max = ANSWER_BYTES_MAX,
            .on_done = on_done,
            .context = slot,
        };

        *slot = (struct slot){ batch, call };
        if (client)
            http_send(client, &request);
        else
            finish(batch);
    }
}

void webhook_call_all(struct webhook_caller *caller, struct arena *arena,
                      struct webhook_call *calls, uint32_t count)
{
    struct batch batch = { .caller = caller,
                           .arena = arena_beside(arena),
                           .calls = calls,
                           .count = count,
                           .open = count,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .done = PTHREAD_COND_INITIALIZER };

    if (count == 0)
        return;
    loop_post(caller->loop, begin, &batch);
    pthread_mutex_lock(&batch.lock);
    while (batch.open)
        pthread_cond_wait(&batch.done, &batch.lock);
    pthread_mutex_unlock(&batch.lock);
    pthread_mutex_destroy(&batch.lock);
    pthread_cond_destroy(&batch.done);
}
