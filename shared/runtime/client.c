/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: requests under one identity, and what their answers mean.
 *
 * A call lives from kube_client_call until its `done` returns, or until it is cancelled. While a
 * watch's lines are handed out, a cancelled call's memory stays until the hand-out returns. */
#include "runtime/client.h"

#include "base/linked.h"
#include "base/memory.h"
#include "io/follow.h"
#include "kube/apistatus.h"
#include "kube/limits.h"
#include "kube/server_time.h"
#include "kube/watch.h"

enum {
    TOKEN_BYTES = 64 * 1024,
    SHOWN_PATH_BYTES = 160,
    /* A server ends a watch by itself; if it does not, so long after that we do. */
    WATCH_GRACE_MS = 30000,
};

struct kube_client {
    struct kube_client_options options;
    struct arena *arena; /* of what the configuration says */
    struct kube_config config;
    struct http_client *http;
    struct file_cache *token;
    struct kube_call *calls;
    struct kube_return *returns;
    bool is_away; /* the last request could not connect */
    struct server_time time;
};
LINKED_DEFINE(kube_return, struct kube_return)

struct kube_call {
    struct kube_client *client;
    struct kube_call *next, *previous;
    struct http_call *http;
    struct loop_timer *rejection; /* set for what was kept back, because of `error` */
    kube_done *done;
    bool (*line)(void *context, struct str line);
    bool (*piece)(void *context, struct str piece);
    void (*begun)(void *context); /* may be NULL */
    void *context;
    struct watch_lines *lines;
    struct error *error; /* why we end it ourselves; else NULL */
    const char *verb;
    const char *method;
    char *path;
    char *plural;
    int64_t started_ms;
    bool in_line, cancelled;
};
LINKED_DEFINE(kube_call, struct kube_call)

struct str kube_client_token(struct kube_client *client)
{
    if (!client->token)
        return client->config.token;
    return str_trim(
        file_cache_get(client->token, clock_monotonic_ms(loop_clock(client->options.loop))));
}

static struct str bearer(void *context)
{
    return kube_client_token(context);
}

static void copy_config(struct kube_client *client, const struct kube_config *from)
{
    client->config = (struct kube_config){
        .server = str_dup(client->arena, from->server),
        .ca_pem = str_dup(client->arena, from->ca_pem),
        .certificate_pem = str_dup(client->arena, from->certificate_pem),
        .key_pem = str_dup(client->arena, from->key_pem),
        .token = str_dup(client->arena, from->token),
        .token_file = str_dup(client->arena, from->token_file),
        .tls_server_name = str_dup(client->arena, from->tls_server_name),
        .namespace_ = str_dup(client->arena, from->namespace_),
        .insecure = from->insecure,
    };
}

struct kube_client *kube_client_create(const struct kube_client_options *options, struct error *err)
{
    AUTO(kube_client_free) struct kube_client *client = mem_new(struct kube_client);

    client->options = *options;
    client->options.config = NULL;
    client->options.user_agent = NULL;
    if (!client->options.read_error)
        client->options.read_error = kube_error_from_answer;
    client->arena = arena_create(0);
    copy_config(client, options->config);
    if (client->config.token_file.len)
        client->token = file_cache_create(client->config.token_file.at, TOKEN_BYTES, 0);

    struct http_client_options http = {
        .ca_pem = client->config.ca_pem,
        .certificate_pem = client->config.certificate_pem,
        .key_pem = client->config.key_pem,
        .user_agent = options->user_agent,
        .insecure = client->config.insecure,
        .plain_allowed = str_starts(client->config.server, STR("http://")),
        .tls_server_name = client->config.tls_server_name,
        .connections_max = options->connections_max,
        .requests_max = options->requests_max,
        .http1 = options->http1,
        .bearer = bearer,
        .bearer_context = client,
    };

    client->http = http_client_create(options->loop, &http, err);
    if (!client->http) {
        error_wrap(err, "API server %.*s",
                   STR_ARG(str_shown(client->arena, client->config.server, 200)));
        return NULL;
    }
    return TAKE(client);
}

void kube_client_free(struct kube_client *client)
{
    if (!client)
        return;
    while (client->calls)
        kube_call_cancel(client->calls);
    http_client_free(client->http);
    file_cache_free(client->token);
    arena_free(client->arena);
    mem_free(client);
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->options.loop;
}

int64_t kube_client_wall_ms(struct kube_client *client)
{
    const struct clock *clock = loop_clock(client->options.loop);

    return server_time_wall_ms(&client->time, clock_wall_ms(clock), clock_monotonic_ms(clock));
}

static void free_call(struct kube_call *call)
{
    loop_timer_free(call->rejection);
    watch_lines_free(call->lines);
    mem_free(call->error);
    mem_free(call->path);
    mem_free(call->plural);
    mem_free(call);
}

void kube_call_cancel(struct kube_call *call)
{
    if (!call || call->cancelled)
        return;
    call->cancelled = true;
    kube_call_unlink(&call->client->calls, call);
    if (call->http)
        http_call_cancel(TAKE(call->http));
    if (!call->in_line)
        free_call(call);
}

void kube_call_on_begin(struct kube_call *call, void (*begun)(void *context))
{
    call->begun = begun;
}

void kube_client_await_return(struct kube_client *client, struct kube_return *wish)
{
    kube_return_link(&client->returns, wish);
}

void kube_client_drop_return(struct kube_client *client, struct kube_return *wish)
{
    kube_return_unlink(&client->returns, wish);
}

static void hear(struct kube_client *client)
{
    bool was_away = client->is_away;

    client->is_away = false;
    for (struct kube_return *one = was_away ? client->returns : NULL; one; one = one->next)
        one->told(one->context);
}

static void finish(struct kube_call *call, const struct kube_answer *answer)
{
    struct kube_client *client = call->client;

    kube_call_unlink(&call->client->calls, call);
    call->http = NULL;
    call->cancelled = true;
    if (answer->error.code == ERROR_CONNECT)
        client->is_away = true;
    else if (answer->status)
        hear(client);
    if (client->options.on_request && answer->sent)
        client->options.on_request(
            client->options.on_request_context, call->verb, str_of(call->plural), answer->status,
            clock_monotonic_ms(loop_clock(client->options.loop)) - call->started_ms);
    if (call->done)
        call->done(call->context, answer);
    free_call(call);
}

static void say_where(const struct kube_call *call, struct error *error)
{
    error_wrap(error, "%s %s", call->method, call->path);
}

static void on_response(void *context, const struct http_response *response)
{
    struct kube_call *call = context;
    struct kube_answer answer = {
        .status = response->status,
        .body = response->body,
        .warnings = response->warnings,
        .retry_after_ms = response->retry_after_ms,
        .sent = response->sent,
    };

    if (response->date_ms >= 0)
        server_time_hear(&call->client->time, response->date_ms, response->date_at_ms);
    if (call->error) {
        answer.error = *call->error;
        say_where(call, &answer.error);
    } else if (response->error.code != ERROR_NONE) {
        answer.error = response->error;
        say_where(call, &answer.error);
    } else if (response->status < 200 || response->status > 299) {
        call->client->options.read_error(response->status, response->body, &answer.error);
        say_where(call, &answer.error);
    }
    finish(call, &answer);
}

static void blame_fence(struct error *error)
{
    error_set(error, ERROR_CANCELLED,
              "not sent: this process may not change anything now, because it does not hold the "
              "lease");
}

static bool fence_open(const struct kube_client *client)
{
    return !client->options.may_write ||
           client->options.may_write(client->options.may_write_context);
}

/* The call may have waited for a connection, or the whole process may have been stopped: ask again
 * when it is about to leave. */
static bool may_send(void *context)
{
    struct kube_call *call = context;

    struct error err;

    if (fence_open(call->client))
        return true;
    blame_fence(&err);
    error_keep(&call->error, &err);
    return false;
}

/* It is not sent: tell so from the loop, as every other end of a call. */
static void reject(void *context)
{
    struct kube_call *call = context;
    struct kube_answer answer = { .retry_after_ms = -1, .sent = false, .error = *call->error };

    say_where(call, &answer.error);
    finish(call, &answer);
}

/* A watch may say nothing for long. */
static void on_begin(void *context, int status, struct str content_type)
{
    const struct kube_call *call = context;

    (void)status, (void)content_type;
    hear(call->client);
    if (call->begun && !call->cancelled)
        call->begun(call->context);
}

static bool pass_piece(void *context, struct str piece)
{
    const struct kube_call *call = context;

    return call->piece(call->context, piece);
}

static bool on_watched(void *context, struct str piece)
{
    struct kube_call *call = context;
    struct error err = { .code = ERROR_NONE };
    struct str line;

    if (watch_lines_put(call->lines, piece, &err) < 0) {
        error_keep(&call->error, &err);
        return false;
    }
    call->in_line = true;
    while (!call->cancelled && watch_lines_next(call->lines, &line))
        if (!call->line(call->context, line)) {
            if (!call->cancelled)
                error_set(&err, ERROR_CANCELLED, "ended by its reader");
            break;
        }
    call->in_line = false;
    if (call->cancelled) {
        free_call(call);
        return false;
    }
    if (err.code == ERROR_NONE)
        return true;
    error_keep(&call->error, &err);
    return false;
}

static struct kube_call *new_call(struct kube_client *client, const char *verb, const char *method,
                                  struct str path, struct str plural, kube_done *done,
                                  void *context)
{
    struct kube_call *call = mem_new(struct kube_call);
    ptrdiff_t query = str_find_char(path, '?', 0);
    size_t shown = query >= 0 ? (size_t)query : path.len;

    call->client = client;
    call->done = done;
    call->context = context;
    call->verb = verb;
    call->method = method;
    call->path = mem_copy(path.at, shown < SHOWN_PATH_BYTES ? shown : SHOWN_PATH_BYTES);
    call->plural = mem_copy(plural.at, plural.len);
    call->started_ms = clock_monotonic_ms(loop_clock(client->options.loop));
    kube_call_link(&client->calls, call);
    return call;
}

struct wish {
    struct kube_raw raw; /* `method` is the call's */
    bool changes;
    struct str accept; /* "" = any JSON */
};

static bool is_kept_back(const struct kube_client *client, bool changes, struct error *ret_error)
{
    const struct kube_client_options *options = &client->options;

    if (changes && !fence_open(client)) {
        blame_fence(ret_error);
        return true;
    }
    return options->may_ask && !options->may_ask(options->may_ask_context, ret_error);
}

static struct kube_call *send_call(struct kube_call *call, const struct wish *wish,
                                   struct arena *arena)
{
    struct kube_client *client = call->client;
    const struct kube_raw *raw = &wish->raw;
    struct http_header *headers = arena_array(arena, struct http_header, raw->header_count + 2);
    struct strbuf url = strbuf_new(arena, client->config.server.len + raw->path.len);
    uint32_t count = 0;
    struct error err;

    if (is_kept_back(client, wish->changes, &err)) {
        error_keep(&call->error, &err);
        call->rejection = loop_timer_create(client->options.loop, reject, call);
        loop_timer_set(call->rejection, 0);
        return call;
    }
    strbuf_put(&url, client->config.server);
    strbuf_put(&url, raw->path);
    headers[count++] =
        (struct http_header){ STR("Accept"),
                              wish->accept.len ? wish->accept : STR("application/json") };
    if (raw->body.len && raw->content_type)
        headers[count++] = (struct http_header){ STR("Content-Type"), str_of(raw->content_type) };
    for (uint32_t i = 0; i < raw->header_count; i++)
        headers[count++] = raw->headers[i];

    struct http_request request = {
        .method = call->method,
        .url = strbuf_str(&url),
        .headers = headers,
        .header_count = count,
        .body = raw->body,
        .timeout_ms = raw->timeout_ms,
        .answer_bytes_max = raw->answer_bytes_max,
        .may_send = wish->changes ? may_send : NULL,
        .on_begin = on_begin,
        .on_data = call->line    ? on_watched
                   : call->piece ? pass_piece
                                 : NULL,
        .on_done = on_response,
        .context = call,
    };

    call->http = http_send(client->http, &request);
    return call;
}

static bool changes(const struct kube_request *request)
{
    return request->verb >= KUBE_CREATE && !request->dry_run;
}

struct kube_call *kube_client_call(struct kube_client *client, const struct kube_request *request,
                                   kube_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wish wish = {
        .raw = { .path = kube_request_path(arena, request),
                 .content_type = kube_request_content_type(request),
                 .body = request->body },
        .changes = changes(request),
        .accept = kube_request_accept(request),
    };

    return send_call(new_call(client, kube_verb_name(request->verb), kube_request_method(request),
                              wish.raw.path, request->resource.plural, done, context),
                     &wish, arena);
}

struct kube_call *kube_client_send(struct kube_client *client, const struct kube_raw *raw,
                                   kube_done *done, void *context)
{
    static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *method = raw->method;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    struct wish wish = { .raw = *raw, .changes = !reads };

    /* The call outlives what the caller passes; methods are few. */
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(method, known[i]) == 0)
            method = known[i];

    struct kube_call *call = new_call(client, kube_verb_name(kube_verb_of_method(method)), method,
                                      raw->path, STR("raw"), done, context);

    call->piece = raw->on_piece;
    return send_call(call, &wish, arena);
}

struct kube_call *kube_client_raw(struct kube_client *client, const char *method, struct str path,
                                  const char *content_type, struct str body, int64_t timeout_ms,
                                  kube_done *done, void *context)
{
    const struct kube_raw raw = { .method = method,
                                  .path = path,
                                  .content_type = content_type,
                                  .body = body,
                                  .timeout_ms = timeout_ms };

    return kube_client_send(client, &raw, done, context);
}

struct kube_call *kube_client_watch(struct kube_client *client, const struct kube_request *request,
                                    bool (*line)(void *context, struct str line), kube_done *done,
                                    void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wish wish = {
        .raw = { .path = kube_request_path(arena, request),
                 .timeout_ms =
                     request->timeout_s > 0 ? request->timeout_s * 1000 + WATCH_GRACE_MS : -1 },
        .accept = kube_request_accept(request),
    };
    struct kube_call *call = new_call(client, kube_verb_name(KUBE_WATCH), "GET", wish.raw.path,
                                      request->resource.plural, done, context);

    call->line = line;
    call->lines = watch_lines_create(LIMIT_WATCH_LINE);
    return send_call(call, &wish, arena);
}
