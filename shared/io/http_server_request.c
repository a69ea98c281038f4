/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_request.c: from a request's headers to its handler.
 *
 * libmicrohttpd calls once when the headers are there, then for each piece of the body, then
 * once more. Whatever can be rejected is rejected at the first call, before a byte of the body is
 * read. */
#include "io/http_server_internal.h"

#include "base/memory.h"
#include "io/limits.h"

#include <stdio.h>
#include <strings.h>

enum {
    /* Arenas for bodies up to this size are kept for the next request. */
    POOLED_BODY_MAX = 64 * 1024,
    /* What a handler with a thread of its own is taken to use while it runs; then it is counted. */
    THREAD_ARENA_GUESS = 256 * 1024,
    /* An oversized body without a length is read and dropped so far, to be answered 413. */
    DROPPED_MAX = 1024 * 1024,
};

/* What the headers of one request come to. */
struct head {
    size_t bytes;
    unsigned lengths;
    unsigned hosts;
    unsigned encodings;
    bool is_chunked;
    bool bad_name;
    uint64_t length;
    bool bad_length;
};

static bool is_name(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)at[i] <= ' ' || (unsigned char)at[i] >= 0x7f)
            return false;
    return len > 0;
}

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_len, const char *value, size_t value_len)
{
    struct head *head = context;

    (void)kind;
    head->bytes += name_len + value_len + 4;
    head->bad_name = head->bad_name || !is_name(name, name_len);
    if (name_len == 4 && strncasecmp(name, "Host", 4) == 0) {
        head->hosts++;
    } else if (name_len == 14 && strncasecmp(name, "Content-Length", 14) == 0) {
        head->lengths++;
        head->bad_length = !str_to_u64(str_make(value, value_len), &head->length);
    } else if (name_len == 17 && strncasecmp(name, "Transfer-Encoding", 17) == 0) {
        head->encodings++;
        head->is_chunked = value_len == 7 && strncasecmp(value, "chunked", 7) == 0;
    }
    return MHD_YES;
}

/* Two servers that read such a request differently can be played against each other (RFC 9112
 * section 6.3 and 11.2). NULL if it is sound. */
static const char *fault_of_head(const struct head *head)
{
    if (head->bad_name)
        return "a header's name is malformed\n";
    if (head->hosts > 1)
        return "more than one Host header\n";
    if (head->lengths > 1)
        return "more than one Content-Length header\n";
    if (head->encodings > 1)
        return "more than one Transfer-Encoding header\n";
    if (head->lengths && head->encodings)
        return "both Content-Length and Transfer-Encoding\n";
    if (head->encodings && !head->is_chunked)
        return "a Transfer-Encoding other than chunked\n";
    if (head->bad_length)
        return "a Content-Length that is not a number\n";
    return NULL;
}

size_t http_server_keep_raw(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context, (void)mhd;
    return strlen(text);
}

/* Decoded, and then without "." and "..": whoever compares prefixes must not be led astray. */
static bool take_path(struct http_exchange *exchange, const char *url)
{
    size_t len = strlen(url);

    exchange->path = mem_copy(url, len);

    bool sound = url[0] == '/' && http_server_decode(exchange->path, &len);
    struct str rest = str_make(exchange->path, len);
    struct str part;

    exchange->view.path = rest;
    while (sound && str_split(&rest, '/', &part))
        sound = !str_eq(part, STR(".")) && !str_eq(part, STR(".."));
    return sound;
}

static bool path_fits(const struct http_route *route, struct str path)
{
    struct str pattern = str_of(route->path);

    if (str_ends(pattern, STR("/*")))
        return str_starts(path, str_slice(pattern, 0, pattern.len - 1));
    return str_eq(pattern, path);
}

static bool method_fits(const struct http_route *route, struct str method)
{
    return route->method[0] == '\0' || str_eq(method, str_of(route->method)) ||
           (str_eq(method, STR("HEAD")) && strcmp(route->method, "GET") == 0);
}

/* The first route that fits, or NULL with the methods that its path would take in `allow`. */
static const struct http_route *find_route(const struct http_server_options *options,
                                           const struct http_exchange_view *view, char *allow,
                                           size_t allow_bytes)
{
    size_t len = 0;

    allow[0] = '\0';
    for (uint32_t i = 0; i < options->route_count; i++) {
        const struct http_route *route = &options->routes[i];

        if (!path_fits(route, view->path))
            continue;
        if (method_fits(route, view->method))
            return route;
        if (len + strlen(route->method) + 2 < allow_bytes && !strstr(allow, route->method))
            len += (size_t)snprintf(allow + len, allow_bytes - len, "%s%s", len ? ", " : "",
                                    route->method);
    }
    return NULL;
}

static bool charge(atomic_size_t *sum, size_t bytes, size_t most)
{
    size_t before = atomic_fetch_add(sum, bytes);

    if (before + bytes <= most)
        return true;
    atomic_fetch_sub(sum, bytes);
    return false;
}

/* Room for `bytes` in all; false if all bodies together would be too much. */
static bool make_room(struct http_exchange *exchange, size_t bytes)
{
    struct http_server *server = exchange->connection->server;

    if (bytes <= exchange->body_capacity)
        return true;
    if (!charge(&server->body_bytes, bytes - exchange->body_capacity, server->options.bodies_max))
        return false;
    exchange->body_capacity = bytes;
    exchange->body = mem_resize(exchange->body, bytes + 1);
    return true;
}

static void begin(struct http_exchange *exchange, const char *method)
{
    struct connection *connection = exchange->connection;
    struct http_server *server = connection->server;

    *exchange = (struct http_exchange){ .connection = connection, .begun = true };
    exchange->started_us = http_server_now_us();
    exchange->view.method = str_of(method);
    exchange->view.peer = str_of(connection->peer);
    exchange->view.path = STR("");
    exchange->view.query = STR("");
    exchange->view.body = STR("");
    exchange->view.content_type = STR("");
    exchange->view.client_name = STR("");
    exchange->view.client_groups = STR("");
    atomic_fetch_add(&server->in_flight, 1);
    http_server_phase(connection, PHASE_READING);
}

/* True if the client is who it must be. */
static bool admit_client(struct http_exchange *exchange)
{
    struct connection *connection = exchange->connection;
    const struct http_server_options *options = &connection->server->options;

    if (!http_server_tls_asks(connection))
        return true;

    enum identity identity = http_server_tls_identity(connection);

    if (connection->client_name) {
        exchange->view.client_name = str_of(connection->client_name);
        exchange->view.client_groups = str_of(connection->client_groups);
    }
    return identity == IDENTITY_VERIFIED || options->client_certificate_optional;
}

static enum MHD_Result on_headers(struct http_exchange *exchange, const char *url)
{
    struct connection *connection = exchange->connection;
    const struct http_server_options *options = &connection->server->options;
    struct head head = { 0 };
    char allow[128];

    MHD_get_connection_values_n(connection->mhd, MHD_HEADER_KIND, count_header, &head);

    const char *fault = fault_of_head(&head);

    if (fault)
        return http_server_reject(exchange, 400, fault, NULL, NULL, true);
    if (head.bytes + strlen(url) > LIMIT_REQUEST_HEADERS)
        return http_server_reject(exchange, 431, "the request's headers are too large\n", NULL,
                                  NULL, true);
    if (!take_path(exchange, url))
        return http_server_reject(exchange, 400, "the path is malformed\n", NULL, NULL, true);
    if (!admit_client(exchange))
        return http_server_reject(exchange, 403,
                                  connection->identity == IDENTITY_REJECTED
                                      ? "the client certificate is not valid here: it must be for "
                                        "client authentication, in its dates, and of a CA in this "
                                        "server's --client-ca-file\n"
                                      : "client certificate required: present one that a CA in "
                                        "this server's --client-ca-file signed\n",
                                  NULL, NULL, true);

    const struct http_route *route = find_route(options, &exchange->view, allow, sizeof(allow));

    exchange->view.route = route;
    if (!route && allow[0])
        return http_server_reject(exchange, 405, "the method is not allowed here\n", allow, NULL,
                                  false);
    if (!route)
        return http_server_reject(exchange, 404, "there is nothing at this path\n", NULL, NULL,
                                  false);
    if (head.length > route->body_max || (head.is_chunked && route->body_max == 0))
        return http_server_reject(exchange, 413, "the request's body is too large\n", NULL, NULL,
                                  true);
    if (head.length && !make_room(exchange, (size_t)head.length))
        return http_server_reject(exchange, 503, "too many requests are being read\n", NULL, "1",
                                  true);
    return MHD_YES;
}

static enum MHD_Result on_piece(struct http_exchange *exchange, const char *at, size_t *len)
{
    size_t bytes = *len;
    size_t most = exchange->view.route->body_max;

    *len = 0;
    if (!exchange->overrun && !exchange->no_memory) {
        size_t need = exchange->body_len + bytes;

        exchange->overrun = need > most;
        if (!exchange->overrun && need > exchange->body_capacity) {
            size_t capacity = need > 4096 ? need * 2 : 4096;

            exchange->no_memory = !make_room(exchange, capacity < most ? capacity : most);
        }
    }
    if (exchange->overrun || exchange->no_memory) {
        exchange->dropped += bytes;
        return exchange->dropped > DROPPED_MAX ? MHD_NO : MHD_YES;
    }
    memcpy(exchange->body + exchange->body_len, at, bytes);
    exchange->body_len += bytes;
    return MHD_YES;
}

static size_t pooled_budget(const struct http_server *server)
{
    return server->options.arena_budget + 4 * (size_t)POOLED_BODY_MAX;
}

static struct arena *take_arena(struct http_exchange *exchange)
{
    struct http_server *server = exchange->connection->server;
    struct arena *arena = NULL;

    exchange->arena_is_pooled = exchange->body_len <= POOLED_BODY_MAX;
    if (!exchange->arena_is_pooled)
        return arena_create(server->options.arena_budget + 4 * exchange->body_len);
    pthread_mutex_lock(&server->lock);
    if (server->spare_count)
        arena = server->spare[--server->spare_count];
    pthread_mutex_unlock(&server->lock);
    return arena ? arena : arena_create(pooled_budget(server));
}

static void give_arena(struct http_exchange *exchange)
{
    struct http_server *server = exchange->connection->server;
    struct arena *arena = TAKE(exchange->view.arena);

    /* One that grew past its share would hold its last block, up to 1 MiB, for nothing. */
    if (arena && exchange->arena_is_pooled && arena_used(arena) <= 4 * (size_t)POOLED_BODY_MAX) {
        arena_reset(arena);
        pthread_mutex_lock(&server->lock);
        if (server->spare_count < SPARE_ARENAS_MAX)
            server->spare[server->spare_count++] = TAKE(arena);
        pthread_mutex_unlock(&server->lock);
    }
    arena_free(arena);
}

/* What only the handler needed. */
static void give_back(struct http_exchange *exchange)
{
    struct http_server *server = exchange->connection->server;

    atomic_fetch_sub(&server->arena_bytes, exchange->arena_charged);
    atomic_fetch_sub(&server->body_bytes, exchange->body_capacity);
    exchange->arena_charged = 0;
    exchange->body_capacity = 0;
    exchange->view.body = STR("");
    give_arena(exchange);
    mem_free(TAKE(exchange->body));
}

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_len, const char *value, size_t value_len)
{
    struct strbuf *query = context;

    (void)kind;
    if (query->len)
        strbuf_char(query, '&');
    strbuf_put(query, str_make(name, name_len));
    if (value) {
        strbuf_char(query, '=');
        strbuf_put(query, str_make(value, value_len));
    }
    return MHD_YES;
}

/* libmicrohttpd has cut the query into arguments by now. As it decodes nothing
 * (http_server_keep_raw) but '+', which becomes a space, putting them together again gives what
 * was sent. */
static struct str take_query(struct http_exchange *exchange)
{
    struct strbuf query = strbuf_new(exchange->view.arena, 0);
    struct str whole;

    MHD_get_connection_values_n(exchange->connection->mhd, MHD_GET_ARGUMENT_KIND, add_argument,
                                &query);
    for (size_t i = 0; i < query.len; i++)
        if (query.at[i] == ' ')
            query.at[i] = '+';
    whole = strbuf_str(&query);
    exchange->query = mem_copy(whole.at, whole.len);
    return str_make(exchange->query, whole.len);
}

static void run_handler(void *context)
{
    struct http_exchange *exchange = context;

    if (MHD_get_connection_values(exchange->connection->mhd, MHD_GET_ARGUMENT_KIND, NULL, NULL))
        exchange->view.query = take_query(exchange);
    exchange->view.content_type = http_header(exchange, "Content-Type");
    exchange->view.route->handle(exchange, exchange->connection->server->options.context);
}

/* Event threads run one handler each, so each may count with its whole budget. With a thread for
 * each connection most wait or stream: what they use is counted once they have answered. */
static size_t arena_charge(const struct http_exchange *exchange)
{
    const struct http_server_options *options = &exchange->connection->server->options;

    return 4 * exchange->body_len +
           (options->event_threads ? options->arena_budget : THREAD_ARENA_GUESS);
}

/* An answer is copied, so what it was made of is free for others while a client takes its time. A
 * stream goes on with it. */
static enum MHD_Result send_and_give_back(struct http_exchange *exchange)
{
    enum MHD_Result sent = http_server_send(exchange);
    size_t copied = exchange->answer.len;

    if (exchange->next)
        return sent;
    give_back(exchange);
    exchange->arena_charged = copied;
    atomic_fetch_add(&exchange->connection->server->arena_bytes, copied);
    return sent;
}

static enum MHD_Result on_complete_request(struct http_exchange *exchange)
{
    struct http_server *server = exchange->connection->server;
    size_t bytes = arena_charge(exchange);

    if (exchange->overrun)
        return http_server_reject(exchange, 413, "the request's body is too large\n", NULL, NULL,
                                  true);
    if (exchange->no_memory || !charge(&server->arena_bytes, bytes, LIMIT_REVIEW_ARENAS_ALL))
        return http_server_reject(exchange, 503, "too many requests are being worked on\n", NULL,
                                  "1", false);
    if (exchange->body)
        exchange->body[exchange->body_len] = '\0';
    exchange->view.body = str_make(exchange->body ? exchange->body : "", exchange->body_len);
    exchange->view.arena = take_arena(exchange);
    atomic_store(&exchange->connection->phase, PHASE_WORKING);

    int failed = arena_run(exchange->view.arena, run_handler, exchange);

    exchange->arena_charged = arena_used(exchange->view.arena);
    atomic_fetch_add(&server->arena_bytes, exchange->arena_charged);
    atomic_fetch_sub(&server->arena_bytes, bytes);
    if (failed)
        return http_server_reject(exchange, 500,
                                  "the request needs more memory than one request may have\n", NULL,
                                  NULL, false);
    /* libmicrohttpd closes a connection whose handler says no. */
    if (exchange->drops)
        return MHD_NO;
    if (!exchange->answered)
        return http_server_reject(exchange, 500, "the request was not answered\n", NULL, NULL,
                                  false);
    return send_and_give_back(exchange);
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info->socket_context;
}

enum MHD_Result http_server_on_request(void *context, struct MHD_Connection *mhd, const char *url,
                                       const char *method, const char *version, const char *upload,
                                       size_t *upload_len, void **held)
{
    struct http_exchange *exchange = *held;

    (void)context, (void)version;
    if (!exchange) {
        exchange = &connection_of(mhd)->exchange;
        *held = exchange;
        begin(exchange, method);
        return on_headers(exchange, url);
    }
    if (*upload_len)
        return on_piece(exchange, upload, upload_len);
    /* After a rejection at the headers this is called again with nothing. */
    return exchange->status ? MHD_YES : on_complete_request(exchange);
}

void http_server_on_completed(void *context, struct MHD_Connection *mhd, void **held,
                              enum MHD_RequestTerminationCode code)
{
    struct http_server *server = context;
    struct http_exchange *exchange = TAKE(*held);

    (void)mhd, (void)code;
    if (!exchange)
        return;

    struct connection *connection = exchange->connection;

    if (exchange->end)
        exchange->end(exchange->stream_context);
    if (server->options.on_end)
        server->options.on_end(server->options.context, &exchange->view, exchange->status,
                               http_server_now_us() - exchange->started_us);
    give_back(exchange);
    mem_free(exchange->query);
    mem_free(exchange->path);
    *exchange = (struct http_exchange){ .connection = connection };
    atomic_fetch_add(&connection->round, 1);
    http_server_phase(connection, PHASE_IDLE);
    if (atomic_fetch_sub(&server->in_flight, 1) == 1 && atomic_load(&server->draining)) {
        pthread_mutex_lock(&server->lock);
        pthread_cond_broadcast(&server->changed);
        pthread_mutex_unlock(&server->lock);
    }
}
