/* SPDX-License-Identifier: Apache-2.0 */
/* request_queue.c: one list, in the order in which requests came; what waits has no call yet. */
#include "controller/clusters/request_queue.h"

#include "base/memory.h"

struct queued {
    struct request_queue *queue;
    struct queued *next, *previous;
    struct kube_call *call; /* NULL: it waits */
    struct arena *arena;    /* of what waits; else NULL */
    struct kube_raw raw;    /* the same */
    kube_done *done;
    bool (*on_piece)(void *context, struct str piece);
    void *context;
};

struct request_queue {
    struct request_queue_options options;
    struct queued *first, *last;
    uint32_t under_way;
};

struct request_queue *request_queue_create(const struct request_queue_options *options)
{
    struct request_queue *queue = mem_new(struct request_queue);

    queue->options = *options;
    return queue;
}

static void queued_free(struct queued *queued)
{
    struct request_queue *queue = queued->queue;

    *(queued->previous ? &queued->previous->next : &queue->first) = queued->next;
    *(queued->next ? &queued->next->previous : &queue->last) = queued->previous;
    arena_free(queued->arena);
    mem_free(queued);
}

void request_queue_free(struct request_queue *queue)
{
    if (!queue)
        return;
    while (queue->first) {
        kube_call_cancel(queue->first->call);
        queued_free(queue->first);
    }
    mem_free(queue);
}

static void send_next(struct request_queue *queue);

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct queued *queued = context;
    struct request_queue *queue = queued->queue;

    queued->done(queued->context, answer);
    queue->under_way--;
    queued_free(queued);
    send_next(queue);
    if (!queue->first)
        queue->options.idle(queue->options.context);
}

static bool pass_piece(void *context, struct str piece)
{
    const struct queued *queued = context;

    return queued->on_piece(queued->context, piece);
}

static void start(struct queued *queued, const struct kube_raw *raw)
{
    struct request_queue *queue = queued->queue;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_raw below = *raw;

    below.path = str_fmt(arena, "%.*s%.*s", STR_ARG(queue->options.prefix), STR_ARG(raw->path));
    below.on_piece = queued->on_piece ? pass_piece : NULL;
    queue->under_way++;
    queued->call = kube_client_send(queue->options.client, &below, on_answer, queued);
}

static void send_next(struct request_queue *queue)
{
    for (struct queued *one = queue->first; one && queue->under_way < queue->options.under_way_max;
         one = one->next) {
        if (one->call)
            continue;
        start(one, &one->raw);
        arena_free(one->arena);
        one->arena = NULL;
    }
}

/* A body may hold values of Secrets. */
static void keep_for_later(struct queued *queued, const struct kube_raw *raw)
{
    struct arena *arena = arena_create(0);
    struct http_header *headers = arena_array(arena, struct http_header, raw->header_count);

    arena_keep_secret(arena);
    for (uint32_t i = 0; i < raw->header_count; i++)
        headers[i] = (struct http_header){ str_dup(arena, raw->headers[i].name),
                                           str_dup(arena, raw->headers[i].value) };
    queued->arena = arena;
    queued->raw = *raw;
    queued->raw.path = str_dup(arena, raw->path);
    queued->raw.body = str_dup(arena, raw->body);
    queued->raw.headers = headers;
}

void request_queue_send(struct request_queue *queue, const struct kube_raw *raw, kube_done *done,
                        void *context)
{
    struct queued *queued = mem_new(struct queued);

    queued->queue = queue;
    queued->done = done;
    queued->on_piece = raw->on_piece;
    queued->context = context;
    queued->previous = queue->last;
    *(queue->last ? &queue->last->next : &queue->first) = queued;
    queue->last = queued;
    if (queue->under_way < queue->options.under_way_max)
        start(queued, raw);
    else
        keep_for_later(queued, raw);
}

bool request_queue_is_busy(const struct request_queue *queue)
{
    return queue->first != NULL;
}
