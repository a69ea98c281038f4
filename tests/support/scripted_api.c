/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_api.c: io/http_server with a thread for each connection, and a script under a lock. */
#include "support/rows.h"

#include "support/loopback.h"
#include "support/scripted_api.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINES_MAX = 64, REQUESTS_MAX = 2000, POLL_MS = 5 };

struct line {
    const char *method; /* "WATCH" for watches */
    const char *piece;
    const char *body;
    int status; /* 0: hang */
    bool ends;
    bool used;
    const char *header, *value; /* or NULL */
};

struct seen {
    char *method;
    char *url; /* path?query, and behind a line end the body */
    char *headers; /* each behind a line end, and one at the end */
};

struct scripted_api {
    pthread_mutex_t lock;
    struct line lines[LINES_MAX];
    uint32_t line_count;
    struct seen seen[REQUESTS_MAX];
    uint32_t seen_count;
    bool closing;
    struct http_server *server;
    char url[32];
};

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
}

static bool is_closing(struct scripted_api *api)
{
    pthread_mutex_lock(&api->lock);

    bool closing = api->closing;

    pthread_mutex_unlock(&api->lock);
    return closing;
}

/* The first unused line for the request, else the last used one. Under the lock. */
static struct line *find_line(struct scripted_api *api, struct str method, struct str url)
{
    struct line *last = NULL;

    for (uint32_t i = 0; i < api->line_count; i++) {
        struct line *line = &api->lines[i];

        if (!str_eq(method, str_of(line->method)) || str_find(url, str_of(line->piece), 0) < 0)
            continue;
        last = line;
        if (!line->used)
            break;
    }
    if (last)
        last->used = true;
    return last;
}

struct stream {
    struct scripted_api *api;
    struct str left;
    bool ends;
};

static ptrdiff_t give(void *context, char *into, size_t room)
{
    struct stream *stream = context;
    size_t len = stream->left.len < room ? stream->left.len : room;

    if (len == 0) {
        if (stream->ends || is_closing(stream->api))
            return -1;
        nap();
        return 0;
    }
    memcpy(into, stream->left.at, len);
    stream->left = str_slice(stream->left, len, stream->left.len);
    return (ptrdiff_t)len;
}

static void give_end(void *context)
{
    (void)context;
}

static void add_header(void *context, struct str name, struct str value)
{
    strbuf_fmt(context, "\n%.*s: %.*s", STR_ARG(name), STR_ARG(value));
}

static struct str headers_of(struct http_exchange *exchange, struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 256);

    http_headers(exchange, add_header, &out);
    strbuf_char(&out, '\n');
    return strbuf_str(&out);
}

static void handle(struct http_exchange *exchange, void *context)
{
    struct scripted_api *api = context;
    const struct http_exchange_view *view = http_view(exchange);
    struct str url = str_fmt(view->arena, "%.*s?%.*s\n%.*s", STR_ARG(view->path),
                             STR_ARG(view->query), STR_ARG(view->body));
    bool watch = str_find(view->query, STR("watch=true"), 0) >= 0;
    struct str method = watch ? STR("WATCH") : view->method;
    struct str headers = headers_of(exchange, view->arena);
    struct line line = { .status = 404, .body = "nothing was said for this request" };

    pthread_mutex_lock(&api->lock);
    if (api->seen_count < REQUESTS_MAX)
        api->seen[api->seen_count++] =
            (struct seen){ mem_copy(method.at, method.len), mem_copy(url.at, url.len),
                           mem_copy(headers.at, headers.len) };

    struct line *found = find_line(api, method, url);

    if (found)
        line = *found;
    pthread_mutex_unlock(&api->lock);

    while (line.status == 0 && !is_closing(api))
        nap();
    if (watch && line.status == 200) {
        struct stream *stream = arena_new(view->arena, struct stream);

        *stream = (struct stream){ api, str_of(line.body), line.ends };
        http_answer_stream(exchange, "application/json", give, give_end, stream);
        return;
    }
    if (line.header)
        http_answer_header(exchange, line.header, str_of(line.value));
    http_answer(exchange, line.status ? line.status : 503, "application/json",
                str_of(line.body ? line.body : ""));
}

static void listen_at(struct scripted_api *api, uint16_t port)
{
    static const struct http_route routes[] = { { "", "/*", 1024 * 1024, handle, "api" } };
    struct http_server_options options = {
        .address = "127.0.0.1",
        .port = port,
        .routes = routes,
        .route_count = 1,
        .context = api,
        .request_ms = -1,
    };
    struct error err;

    api->server = http_server_create(&options, &err);
    if (!api->server)
        fail_msg("%s", err.text);
}

struct scripted_api *scripted_api_create(void)
{
    struct scripted_api *api = mem_new(struct scripted_api);

    pthread_mutex_init(&api->lock, NULL);
    listen_at(api, 0);
    snprintf(api->url, sizeof(api->url), "http://127.0.0.1:%u", http_server_port(api->server));
    return api;
}

static void set_closing(struct scripted_api *api, bool closing)
{
    pthread_mutex_lock(&api->lock);
    api->closing = closing;
    pthread_mutex_unlock(&api->lock);
}

void scripted_api_leave(struct scripted_api *api)
{
    set_closing(api, true);
    http_server_free(TAKE(api->server));
}

void scripted_api_return(struct scripted_api *api)
{
    set_closing(api, false);
    listen_at(api, (uint16_t)strtoul(strrchr(api->url, ':') + 1, NULL, 10));
}

void scripted_api_free(struct scripted_api *api)
{
    if (!api)
        return;
    set_closing(api, true);
    http_server_free(api->server);
    for (uint32_t i = 0; i < api->seen_count; i++) {
        mem_free(api->seen[i].method);
        mem_free(api->seen[i].url);
        mem_free(api->seen[i].headers);
    }
    pthread_mutex_destroy(&api->lock);
    mem_free(api);
}

struct kube_config scripted_api_config(const struct scripted_api *api)
{
    return (struct kube_config){ .server = str_of(api->url) };
}

struct kube_client *scripted_api_client(const struct scripted_api *api, struct kube_client_options options)
{
    const struct kube_config config = scripted_api_config(api);
    struct kube_client *client;
    struct error err;

    options.user_agent = "test";
    if (!options.config)
        options.config = &config;
    client = kube_client_create(&options, &err);
    if (!client)
        fail_msg("%s", err.text);
    return client;
}

static void add_line(struct scripted_api *api, struct line line)
{
    pthread_mutex_lock(&api->lock);
    if (api->line_count < LINES_MAX)
        api->lines[api->line_count++] = line;
    pthread_mutex_unlock(&api->lock);
}

void scripted_api_say(struct scripted_api *api, const char *method, const char *piece, int status,
                      const char *body)
{
    add_line(api, (struct line){ .method = method, .piece = piece, .body = body,
                                 .status = status });
}

void scripted_api_say_header(struct scripted_api *api, const char *method, const char *piece,
                             int status, const char *header, const char *value, const char *body)
{
    add_line(api, (struct line){ .method = method, .piece = piece, .body = body, .status = status,
                                 .header = header, .value = value });
}

void scripted_api_hang(struct scripted_api *api, const char *method, const char *piece)
{
    add_line(api, (struct line){ .method = method, .piece = piece, .body = "" });
}

void scripted_api_say_watch(struct scripted_api *api, const char *bytes, bool ends)
{
    add_line(api, (struct line){ .method = "WATCH", .piece = "", .body = bytes, .status = 200,
                                 .ends = ends });
}

uint32_t scripted_api_count(struct scripted_api *api, const char *method, const char *piece)
{
    uint32_t count = 0;

    pthread_mutex_lock(&api->lock);
    for (uint32_t i = 0; i < api->seen_count; i++)
        count += strcmp(api->seen[i].method, method) == 0 && strstr(api->seen[i].url, piece);
    pthread_mutex_unlock(&api->lock);
    return count;
}

struct str scripted_api_last(struct scripted_api *api, struct arena *arena, const char *method,
                             const char *piece)
{
    struct str last = STR("");

    pthread_mutex_lock(&api->lock);
    for (uint32_t i = 0; i < api->seen_count; i++)
        if (strcmp(api->seen[i].method, method) == 0 && strstr(api->seen[i].url, piece))
            last = str_dup(arena, str_of(api->seen[i].url));
    pthread_mutex_unlock(&api->lock);
    return last;
}

bool scripted_api_last_has(struct scripted_api *api, const char *method, const char *piece,
                           const char *line)
{
    bool has = false;

    pthread_mutex_lock(&api->lock);
    for (uint32_t i = 0; i < api->seen_count; i++)
        if (strcmp(api->seen[i].method, method) == 0 && strstr(api->seen[i].url, piece)) {
            const char *at = strstr(api->seen[i].headers, line);

            has = at && at[-1] == '\n' && at[strlen(line)] == '\n';
        }
    pthread_mutex_unlock(&api->lock);
    return has;
}

struct awaited {
    struct scripted_api *api;
    const char *method, *piece;
    uint32_t count;
    struct loop_timer *timer;
    bool came;
};

/* The script's server has threads of its own, so the loop looks what came. */
static void look(void *context)
{
    struct awaited *awaited = context;

    awaited->came = scripted_api_count(awaited->api, awaited->method, awaited->piece) >= awaited->count;
    loop_timer_set(awaited->timer, POLL_MS);
}

void scripted_api_run_until(struct scripted_api *api, struct loop *loop, const char *method, const char *piece,
                            uint32_t count)
{
    struct awaited awaited = { .api = api, .method = method, .piece = piece, .count = count };

    awaited.timer = loop_timer_create(loop, look, &awaited);
    loop_timer_set(awaited.timer, 0);
    loopback_run_until(loop, &awaited.came);
    loop_timer_free(awaited.timer);
}
