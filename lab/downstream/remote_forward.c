/* SPDX-License-Identifier: Apache-2.0 */
/* remote_forward.c: one request, handed on. The exchange's thread waits; the loop carries.
 *
 * A relay belongs to both: the thread gives its part up by message, so that the loop frees it. */
#include "lab/downstream/remote_parts.h"

#include "base/memory.h"
#include "io/wait.h"
#include "lab/rancher/inside.h"

#include <time.h>

enum {
    WAIT_MS = 500, /* the peer's absence is noticed between two waits */
    ANSWER_BYTES_MAX = 64 * 1024 * 1024,
    BEHIND_BYTES_MAX = 32 * 1024 * 1024, /* a reader that is so far behind loses its watch */
};

struct relay {
    struct remote *remote;
    struct http_call *call;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool streams, began, ended;
    int status;
    struct arena *arena; /* of what is asked and of a whole answer */
    struct str content_type;
    struct str answer;
    struct error error;
    struct http_request request;
    char *bytes; /* of a stream, not yet handed out: from `at` to `len` */
    size_t at, len, capacity;
};

/* ---- the loop's side ------------------------------------------------------------------------- */

static void on_begin(void *context, int status, struct str content_type)
{
    struct relay *relay = context;

    pthread_mutex_lock(&relay->lock);
    relay->began = true;
    relay->status = status;
    relay->content_type = str_dup(relay->arena, content_type);
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

static bool on_data(void *context, struct str piece)
{
    struct relay *relay = context;
    bool fits;

    pthread_mutex_lock(&relay->lock);
    if (relay->at == relay->len)
        relay->at = relay->len = 0;
    fits = relay->len - relay->at + piece.len <= BEHIND_BYTES_MAX;
    if (fits && relay->len + piece.len > relay->capacity) {
        relay->capacity = (relay->len + piece.len) * 2;
        relay->bytes = mem_resize(relay->bytes, relay->capacity);
    }
    if (fits) {
        memcpy(relay->bytes + relay->len, piece.at, piece.len);
        relay->len += piece.len;
    }
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
    return fits;
}

static void on_done(void *context, const struct http_response *response)
{
    struct relay *relay = context;

    pthread_mutex_lock(&relay->lock);
    relay->call = NULL;
    relay->ended = true;
    if (!relay->began) {
        relay->status = response->status;
        relay->answer = str_dup(relay->arena, response->body);
        relay->content_type = str_dup(relay->arena, response->content_type);
        relay->error = response->error;
    }
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

static void begin(void *context)
{
    struct relay *relay = context;

    relay->call = http_send(relay->remote->http, &relay->request);
}

static void drop(void *context)
{
    struct relay *relay = context;

    if (relay->call)
        http_call_cancel(relay->call);
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->lock);
    mem_free(relay->bytes);
    arena_free(relay->arena);
    mem_free(relay);
}

/* ---- the exchange's side --------------------------------------------------------------------- */

static bool wait_a_while(struct relay *relay)
{
    struct timespec until = wait_until(WAIT_MS);

    return pthread_cond_timedwait(&relay->changed, &relay->lock, &until) == 0;
}

static ptrdiff_t next(void *context, char *into, size_t room)
{
    struct relay *relay = context;
    ptrdiff_t given = 0;

    pthread_mutex_lock(&relay->lock);
    if (relay->at == relay->len && !relay->ended)
        wait_a_while(relay);
    if (relay->at < relay->len) {
        size_t left = relay->len - relay->at;

        given = (ptrdiff_t)(left < room ? left : room);
        memcpy(into, relay->bytes + relay->at, (size_t)given);
        relay->at += (size_t)given;
    } else if (relay->ended) {
        given = -1;
    }
    pthread_mutex_unlock(&relay->lock);
    return given;
}

static void end(void *context)
{
    struct relay *relay = context;

    loop_post(relay->remote->options.loop, drop, relay);
}

/* Segment by segment: the path came percent-decoded. */
static struct str url_of(struct arena *arena, const struct remote *remote, struct str path,
                         struct str query)
{
    struct strbuf out = strbuf_new(arena, 256 + path.len + query.len);
    struct str part;
    bool first = true;

    strbuf_put(&out, remote->config.server);
    while (str_split(&path, '/', &part)) {
        if (!first)
            strbuf_char(&out, '/');
        first = false;
        kube_percent_encode(&out, part);
    }
    if (query.len)
        strbuf_fmt(&out, "?%.*s", STR_ARG(query));
    return strbuf_str(&out);
}

static bool wants_stream(const struct http_exchange *exchange)
{
    struct str value;

    return (http_query(exchange, STR("watch"), &value) &&
            (str_eq(value, STR("1")) || str_eq(value, STR("true")))) ||
           (http_query(exchange, STR("follow"), &value) && str_eq(value, STR("true")));
}

LIST_DEFINE(header_list, struct http_header)

static struct header_list headers_of(struct arena *arena, const struct http_exchange *exchange,
                                     const struct api_caller *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct header_list list = header_list_new(arena, 8);
    struct str accept = http_header(exchange, "Accept");

    if (accept.len)
        header_list_push(&list, (struct http_header){ STR_INIT("Accept"), str_dup(arena, accept) });
    if (view->content_type.len)
        header_list_push(&list, (struct http_header){ STR_INIT("Content-Type"),
                                                      str_dup(arena, view->content_type) });
    header_list_push(
        &list, (struct http_header){ STR_INIT("Impersonate-User"), str_dup(arena, caller->user) });
    for (uint32_t i = 0; i < caller->groups.count; i++)
        header_list_push(&list, (struct http_header){ STR_INIT("Impersonate-Group"),
                                                      str_dup(arena, caller->groups.items[i]) });
    return list;
}

static struct relay *relay_new(struct remote *remote, const struct http_exchange *exchange,
                               struct str path, const struct api_caller *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct relay *relay = mem_new(struct relay);

    relay->remote = remote;
    relay->arena = arena_create(0);
    relay->streams = wants_stream(exchange);
    wait_init(&relay->lock, &relay->changed);

    struct header_list headers = headers_of(relay->arena, exchange, caller);

    relay->request = (struct http_request){
        .method = str_z(relay->arena, view->method),
        .url = url_of(relay->arena, remote, path, view->query),
        .headers = headers.items,
        .header_count = headers.count,
        .body = str_dup(relay->arena, view->body),
        .timeout_ms = relay->streams ? -1 : 0,
        .answer_bytes_max = ANSWER_BYTES_MAX,
        .on_begin = relay->streams ? on_begin : NULL,
        .on_data = relay->streams ? on_data : NULL,
        .on_done = on_done,
        .context = relay,
    };
    return relay;
}

void remote_forward(struct remote *remote, struct http_exchange *exchange, struct str path,
                    const struct api_caller *caller)
{
    struct arena *arena = http_view(exchange)->arena;
    struct relay *relay = relay_new(remote, exchange, path, caller);

    loop_post(remote->options.loop, begin, relay);
    pthread_mutex_lock(&relay->lock);
    while (!relay->began && !relay->ended)
        wait_a_while(relay);
    pthread_mutex_unlock(&relay->lock);

    const char *type = str_z(arena, relay->content_type);

    if (relay->began) {
        http_answer_stream(exchange, type, next, end, relay);
        return;
    }
    if (relay->status)
        http_answer(exchange, relay->status, *type ? type : NULL, str_dup(arena, relay->answer));
    else
        reply_text(exchange, 500, str_dup(arena, str_of(relay->error.text)));
    end(relay);
}
