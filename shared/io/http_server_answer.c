/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_answer.c: what a handler sees and what it answers. */
#include "io/http_server_internal.h"

#include <assert.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { STREAM_BLOCK = 16 * 1024 };

const struct http_exchange_view *http_view(const struct http_exchange *exchange)
{
    return &exchange->view;
}

struct str http_header(const struct http_exchange *exchange, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(exchange->connection->mhd, MHD_HEADER_KIND, name);

    return value ? str_of(value) : STR("");
}

struct visit {
    void (*each)(void *context, struct str name, struct str value);
    void *context;
};

static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_len, const char *value, size_t value_len)
{
    const struct visit *visit = context;

    (void)kind;
    visit->each(visit->context, str_make(name, name_len), str_make(value, value_len));
    return MHD_YES;
}

void http_headers(const struct http_exchange *exchange,
                  void (*each)(void *context, struct str name, struct str value), void *context)
{
    struct visit visit = { each, context };

    MHD_get_connection_values_n(exchange->connection->mhd, MHD_HEADER_KIND, visit_header, &visit);
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool http_server_decode(char *text, size_t *len)
{
    size_t to = 0;

    for (size_t from = 0; from < *len; from++, to++) {
        text[to] = text[from];
        if (text[from] == '%') {
            int high = from + 2 < *len ? hex_of(text[from + 1]) : -1;
            int low = from + 2 < *len ? hex_of(text[from + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            text[to] = (char)(high * 16 + low);
            from += 2;
        }
        if (text[to] == '\0')
            return false;
    }
    text[to] = '\0';
    *len = to;
    return true;
}

/* As forms do it: '+' is a space. What is malformed counts as absent. */
static bool decode_argument(struct arena *arena, struct str raw, struct str *ret_value)
{
    struct str copy = str_dup(arena, raw);
    char *at = (char *)(uintptr_t)copy.at;

    for (size_t i = 0; i < copy.len; i++)
        if (at[i] == '+')
            at[i] = ' ';
    if (!http_server_decode(at, &copy.len))
        return false;
    *ret_value = copy;
    return true;
}

bool http_query_next(struct arena *arena, struct str *rest, struct str *ret_name,
                     struct str *ret_value)
{
    struct str argument;

    while (rest->len && str_split(rest, '&', &argument)) {
        ptrdiff_t equals = str_find_char(argument, '=', 0);
        size_t name_end = equals < 0 ? argument.len : (size_t)equals;
        struct str name, value;

        if (!argument.len || !decode_argument(arena, str_slice(argument, 0, name_end), &name) ||
            !decode_argument(arena, str_slice(argument, name_end + 1, argument.len), &value))
            continue;
        *ret_name = name;
        *ret_value = value;
        return true;
    }
    return false;
}

bool http_query(const struct http_exchange *exchange, struct str name, struct str *ret_value)
{
    struct str rest = exchange->view.query;
    struct str key, value;

    while (http_query_next(exchange->view.arena, &rest, &key, &value)) {
        if (!str_eq(key, name))
            continue;
        *ret_value = value;
        return true;
    }
    return false;
}

void http_answer(struct http_exchange *exchange, int status, const char *content_type,
                 struct str body)
{
    assert(!exchange->answered && status >= 200 && status <= 599);
    exchange->answered = true;
    exchange->status = status;
    exchange->content_type = content_type;
    exchange->answer = body;
}

void http_answer_header(struct http_exchange *exchange, const char *name, struct str value)
{
    struct arena *arena = exchange->view.arena;
    struct answer_header *header = arena_new(arena, struct answer_header);

    header->name = str_z(arena, str_of(name));
    header->value = str_z(arena, value);
    header->next = exchange->headers;
    exchange->headers = header;
}

void http_answer_stream(struct http_exchange *exchange, const char *content_type,
                        ptrdiff_t (*next)(void *context, char *into, size_t room),
                        void (*end)(void *context), void *context)
{
    assert(!exchange->answered);
    exchange->answered = true;
    exchange->status = 200;
    exchange->content_type = content_type;
    exchange->next = next;
    exchange->end = end;
    exchange->stream_context = context;
}

void http_abandon(const struct http_exchange *exchange)
{
    shutdown(exchange->connection->fd, SHUT_RDWR);
}

void http_drop(struct http_exchange *exchange)
{
    assert(!exchange->answered);
    exchange->answered = true;
    exchange->drops = true;
}

/* A peer that has closed its side waits for nothing more; libmicrohttpd would find out at the next
 * write only, which a quiet stream may not have for long. */
static bool peer_has_gone(const struct http_exchange *exchange)
{
    struct pollfd socket = { .fd = exchange->connection->fd, .events = POLLRDHUP };

    return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static ssize_t on_stream(void *context, uint64_t position, char *into, size_t room)
{
    struct http_exchange *exchange = context;

    (void)position;
    if (atomic_load(&exchange->connection->server->draining))
        return MHD_CONTENT_READER_END_OF_STREAM;

    ptrdiff_t bytes = exchange->next(exchange->stream_context, into, room);

    if (bytes < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (bytes == 0 && peer_has_gone(exchange))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return bytes;
}

static enum MHD_Result queue(struct http_exchange *exchange, struct MHD_Response *response,
                             bool closes)
{
    struct connection *connection = exchange->connection;
    struct http_server *server = connection->server;

    if (closes || atomic_load(&server->lame_duck) || atomic_load(&server->draining))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    atomic_store(&connection->phase, exchange->next ? PHASE_STREAMING : PHASE_ANSWERING);

    enum MHD_Result queued =
        MHD_queue_response(connection->mhd, (unsigned)exchange->status, response);

    MHD_destroy_response(response);
    return queued;
}

enum MHD_Result http_server_send(struct http_exchange *exchange)
{
    struct MHD_Response *response;

    if (exchange->next)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_stream,
                                                     exchange, NULL);
    else
        response = MHD_create_response_from_buffer(
            exchange->answer.len, (void *)(uintptr_t)exchange->answer.at, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    if (exchange->content_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, exchange->content_type);
    /* One that would break the line is left out by libmicrohttpd. */
    for (const struct answer_header *header = exchange->headers; header; header = header->next)
        MHD_add_response_header(response, header->name, header->value);
    return queue(exchange, response, false);
}

enum MHD_Result http_server_reject(struct http_exchange *exchange, int status, const char *text,
                                   const char *allow, const char *retry_after, bool closes)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

    if (!response)
        return MHD_NO;
    exchange->status = status;
    exchange->next = NULL;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    if (allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    if (retry_after)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, retry_after);
    return queue(exchange, response, closes);
}
