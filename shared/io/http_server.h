/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.h: incoming HTTP and HTTPS, by libmicrohttpd.
 *
 * A server is a table of routes. A handler gets one complete request with an arena of its own and
 * answers it once: from memory, or as a stream. Bounds are absolute: the time from first byte to
 * last, the handshake, the size of headers, of one body and of all bodies together.
 * Repeated Content-Length, Host and Transfer-Encoding are rejected. */
#ifndef HERD_IO_HTTP_SERVER_H
#define HERD_IO_HTTP_SERVER_H

#include "base/error.h"
#include "base/metric.h"
#include "base/str.h"
#include "io/tls.h"

struct http_server;
struct http_exchange;

/* What a handler may read. Borrowed for the handler's time; streams keep what they need in the
 * exchange's arena, which lives until the stream ends. */
struct http_exchange_view {
    struct str method;
    struct str path;  /* as sent, percent-decoded once; no NUL, no dot segments */
    struct str query; /* raw, without '?' */
    struct str body;
    struct str content_type;
    struct str peer;          /* numeric address */
    struct str client_name;   /* CN of a verified client certificate; "" if none */
    struct str client_groups; /* its O values, '\n' between them */
    struct arena *arena;
    const struct http_route *route;
};

struct http_route {
    const char *method; /* "" = any; "GET" takes HEAD too */
    const char *path;   /* exact, or a prefix if it ends in "/" + "*" */
    size_t body_max;    /* 0: a body is rejected */
    void (*handle)(struct http_exchange *exchange, void *context);
    const char *label; /* for metrics and logs */
};

struct http_server_options {
    const char *address; /* numeric, "" = all */
    uint16_t port;       /* 0 = any free one; see http_server_port */
    /* NULL = plain HTTP. With client CAs in it, clients without a certificate of one of them are
     * rejected (403), or, with client_certificate_optional, nameless. */
    struct tls_source *tls;
    bool client_certificate_optional;
    const struct http_route *routes; /* first match counts */
    uint32_t route_count;
    void *context; /* handed to handlers */
    /* 0: each connection has a thread, and handlers may block and stream. N: N event threads share
     * the connections, and handlers must answer from memory. */
    uint32_t event_threads;
    uint32_t connections_max;             /* 0 = LIMIT_CONNECTIONS */
    uint32_t connections_per_address_max; /* 0 = LIMIT_CONNECTIONS_PER_ADDRESS */
    /* Over TLS: in a second, of one client address (see io/handshake_rate.h). What is over it is
     * closed before it costs cryptography. 0 = LIMIT_HANDSHAKES_PER_ADDRESS. */
    uint32_t handshakes_per_address_max;
    int64_t handshake_ms; /* 0 = LIMIT_HANDSHAKE_TIME */
    /* From a request's first byte to the last of its answer: 0 = LIMIT_REQUEST_TIME. -1: none
     * for the answer (handlers that wait), and LIMIT_ANSWER_TIME for the request. Streams are
     * exempt once they began. */
    int64_t request_ms;
    int64_t idle_ms;     /* 0 = LIMIT_IDLE_TIME */
    size_t bodies_max;   /* 0 = LIMIT_REVIEW_BODIES_ALL */
    size_t arena_budget; /* of one request, beside 4 x its body; 0 = LIMIT_REVIEW_ARENA */
    /* Called when an exchange ended, from its thread; for metrics and access logs. May be NULL.
     * The view has no arena or body any more, and no route if no handler was asked. */
    void (*on_end)(void *context, const struct http_exchange_view *view, int status,
                   int64_t duration_us);
};

/* Listens when it returns. NULL and an error that names address, port and what to do. */
struct http_server *http_server_create(const struct http_server_options *options,
                                       struct error *err);
/* Stop listening, answer what is in flight for at most drain_ms, then close. Idempotent. */
void http_server_drain(struct http_server *server, int64_t drain_ms);
void http_server_free(struct http_server *server);
AUTO_DEFINE(http_server_free, struct http_server *)
uint16_t http_server_port(const struct http_server *server);
uint32_t http_server_connections(const struct http_server *server);
uint32_t http_server_in_flight(const struct http_server *server);

/* What became of TLS handshakes since the start. */
struct http_handshakes {
    uint64_t completed;
    uint64_t failed;       /* begun: the client gave up, was too slow, or offers nothing of ours */
    uint64_t limited;      /* closed before they began: over handshakes_per_address_max */
    char limited_peer[48]; /* numeric address of the last of those; "" if there was none */
};

void http_server_handshakes(struct http_server *server, struct http_handshakes *ret_handshakes);
/* From now on answers carry "Connection: close", so that peers move to another replica. */
void http_server_lame_duck(struct http_server *server);

const struct http_exchange_view *http_view(const struct http_exchange *exchange);
/* A request header, "" if absent. */
struct str http_header(const struct http_exchange *exchange, const char *name);
/* All of them in turn, the same name as often as it was sent. */
void http_headers(const struct http_exchange *exchange,
                  void (*each)(void *context, struct str name, struct str value), void *context);
/* A query parameter, percent-decoded; false if absent. The first one counts. */
bool http_query(const struct http_exchange *exchange, struct str name, struct str *ret_value);
/* The parameters of a query one after the other, percent-decoded in the arena; `*rest` begins as
 * the whole query. What is malformed is passed over. False at the end. */
bool http_query_next(struct arena *arena, struct str *rest, struct str *ret_name,
                     struct str *ret_value);

/* Answer. Each exchange exactly once; a handler that returns without answering is a 500. Bytes are
 * borrowed until the handler returned, and copied then: put them into its arena, which goes with
 * the request's body to the next request at once, however long a client takes to read. */
void http_answer(struct http_exchange *exchange, int status, const char *content_type,
                 struct str body);
void http_answer_header(struct http_exchange *exchange, const char *name, struct str value);
/* Answer 200 with what `next` gives, chunk after chunk. `next` may block (only with a thread for
 * each connection): > 0 bytes written to `into`, 0 nothing yet (it is called again), -1 the end.
 * `end` is called once, also if the peer went away; until then body and arena stay. */
void http_answer_stream(struct http_exchange *exchange, const char *content_type,
                        ptrdiff_t (*next)(void *context, char *into, size_t room),
                        void (*end)(void *context), void *context);
/* End a stream whose peer does not keep up: its connection is shut, and `end` follows. From any
 * thread, under a lock that `end` takes too: afterwards the exchange is gone. */
void http_abandon(const struct http_exchange *exchange);
/* Instead of an answer: close the connection without a byte, as if the answer were lost on its way.
 * on_end is told status 0. */
void http_drop(struct http_exchange *exchange);

#endif
