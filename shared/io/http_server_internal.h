/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_internal.h: what the files of the HTTP server share. libmicrohttpd's and GnuTLS'
 * types stop here.
 *
 * A connection is a record of ours beside libmicrohttpd's, made and freed by its notifications.
 * Its thread (an event thread, or one of its own) writes the phase; the watchdog reads it and
 * shuts the socket of one that is over a bound. A connection has one exchange at a time, kept in
 * the record. */
#ifndef HERD_IO_HTTP_SERVER_INTERNAL_H
#define HERD_IO_HTTP_SERVER_INTERNAL_H

#include "base/linked.h"
#include "io/handshake_rate.h"
#include "io/http_server.h"
#include "io/wait.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum phase {
    PHASE_HANDSHAKE,
    PHASE_IDLE,    /* between requests, or in the middle of a request's headers */
    PHASE_READING, /* the headers are there */
    PHASE_WORKING, /* the handler has it */
    PHASE_ANSWERING,
    PHASE_STREAMING,
};

struct answer_header {
    const char *name;
    const char *value;
    struct answer_header *next;
};

struct http_exchange {
    struct connection *connection;
    struct http_exchange_view view;
    char *path;  /* what view.path shows */
    char *query; /* what view.query shows */
    char *body;
    size_t body_len;
    size_t body_capacity; /* counted in the server's body_bytes */
    size_t arena_charged; /* counted in the server's arena_bytes */
    bool arena_is_pooled;
    bool begun;
    bool overrun;   /* the body is larger than the route takes; the rest is dropped */
    bool no_memory; /* all bodies together are */
    size_t dropped;
    int64_t started_us;

    bool answered;
    bool drops; /* http_drop: the connection ends without an answer */
    int status;
    const char *content_type;
    struct str answer;
    struct answer_header *headers;
    ptrdiff_t (*next)(void *context, char *into, size_t room);
    void (*end)(void *context);
    void *stream_context;
};

enum identity {
    IDENTITY_UNREAD, /* no request yet */
    IDENTITY_NONE,   /* no certificate was shown */
    IDENTITY_REJECTED,
    IDENTITY_VERIFIED,
};

struct connection {
    struct http_server *server;
    struct MHD_Connection *mhd;
    struct connection *next;
    struct connection *previous;
    int fd; /* libmicrohttpd's; it closes it only after it took the record off the list */
    char peer[INET6_ADDRSTRLEN];
    struct served *served; /* the certificate that it is shown, and what it may show */
    char *client_name;
    char *client_groups;
    enum identity identity;

    atomic_int phase;
    atomic_int_fast64_t since_ms; /* of the phase; of PHASE_READING and later: of the request */
    atomic_uint round;            /* requests that ended */

    /* The watchdog's own. */
    unsigned seen_round;
    bool has_baseline;
    uint64_t baseline; /* bytes received before the next request */
    int64_t begun_ms;  /* when bytes of the next request were seen; 0 = none yet */
    bool doomed;

    struct http_exchange exchange;
};
LINKED_DEFINE(connection, struct connection)

enum { SPARE_ARENAS_MAX = 8 };

struct http_server {
    struct http_server_options options; /* defaults filled in */
    struct MHD_Daemon *daemon;
    int listen_fd;
    uint16_t port;
    atomic_bool lame_duck;
    atomic_bool draining;
    atomic_uint connection_count;
    atomic_uint in_flight;
    atomic_size_t body_bytes;
    atomic_size_t arena_bytes;

    pthread_mutex_t lock;   /* of the list, the spares and the handshakes */
    pthread_cond_t changed; /* a first connection, the last exchange, the end */
    struct connection *connections;
    struct handshake_rate *handshake_rate; /* NULL without TLS */
    struct http_handshakes handshakes;
    struct arena *spare[SPARE_ARENAS_MAX];
    uint32_t spare_count;
    pthread_t watchdog;
    bool has_watchdog;
    bool ending;

    pthread_mutex_t served_lock;
    struct served *served;
};

/* http_server_bounds.c: connections and their time. */
int64_t http_server_now_ms(void);
int64_t http_server_now_us(void);
/* Asked first of all about each connection, by whichever thread accepts it. */
enum MHD_Result http_server_on_accept(void *context, const struct sockaddr *address, socklen_t len);
void http_server_on_connection(void *context, struct MHD_Connection *mhd, void **held,
                               enum MHD_ConnectionNotificationCode code);
void http_server_phase(struct connection *connection, enum phase phase);
void http_server_handshake_done(struct connection *connection);
void http_server_watch(struct http_server *server);
void http_server_unwatch(struct http_server *server);

/* http_server_request.c: from headers to handler. */
enum MHD_Result http_server_on_request(void *context, struct MHD_Connection *mhd, const char *url,
                                       const char *method, const char *version, const char *upload,
                                       size_t *upload_len, void **held);
void http_server_on_completed(void *context, struct MHD_Connection *mhd, void **held,
                              enum MHD_RequestTerminationCode code);
/* URLs are decoded by us, strictly: libmicrohttpd shall leave them as they are. */
size_t http_server_keep_raw(void *context, struct MHD_Connection *mhd, char *text);

/* http_server_answer.c: hand over what the handler answered, or a line of ours. */
enum MHD_Result http_server_send(struct http_exchange *exchange);
/* `allow` and `retry_after` are headers, NULL if none; `closes`: what follows cannot be trusted. */
enum MHD_Result http_server_reject(struct http_exchange *exchange, int status, const char *text,
                                   const char *allow, const char *retry_after, bool closes);
/* Undo %XX in place. False: a bad escape or a NUL. */
bool http_server_decode(char *text, size_t *len);

/* http_server_tls.c: certificates shown and asked for. */
struct MHD_OptionItem http_server_certificate_option(void);
/* GnuTLS' priority string. */
const char *http_server_priorities(void);
int http_server_tls_begin(struct http_server *server, struct error *err);
void http_server_tls_end(struct http_server *server);
void http_server_tls_connection(struct connection *connection);
void http_server_tls_release(struct connection *connection);
/* Who the client is; found out once for each connection. */
enum identity http_server_tls_identity(struct connection *connection);
/* Whether clients were asked for certificates. */
bool http_server_tls_asks(const struct connection *connection);

#endif
