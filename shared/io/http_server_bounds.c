/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_bounds.c: the absolute times of a connection.
 *
 * libmicrohttpd's own timeout counts inactivity only, so one byte a second keeps a connection
 * for ever. One watchdog thread looks at every connection four times a second and shuts the
 * socket of one whose handshake, request or idleness is over its bound; libmicrohttpd then finds
 * it closed and cleans up.
 *
 * That a request has begun shows, before its headers are complete, only in the kernel's count of
 * received bytes: more than there were when the connection fell idle. A pipelined request's
 * first bytes may lie below that mark; then the request counts from its next byte, or as idle,
 * which ends too. */
#include "io/http_server_internal.h"

#include "base/memory.h"
#include "io/limits.h"

#include <errno.h>
#include <netinet/in.h>
/* The kernel's tcp_info: glibc's netinet/tcp.h stops before tcpi_bytes_received. */
#include <linux/tcp.h>
#include <sys/socket.h>
#include <time.h>

enum {
    LOOK_MS = 250,
    /* A peer that takes or acknowledges nothing for so long is gone: for streams, whose time has
     * no end. */
    UNACKNOWLEDGED_MS = 60000,
    KEEPALIVE_IDLE_S = 30,
};

int64_t http_server_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t http_server_now_ms(void)
{
    return http_server_now_us() / 1000;
}

void http_server_phase(struct connection *connection, enum phase phase)
{
    atomic_store(&connection->since_ms, http_server_now_ms());
    atomic_store(&connection->phase, phase);
}

void http_server_handshake_done(struct connection *connection)
{
    struct http_server *server = connection->server;

    pthread_mutex_lock(&server->lock);
    server->handshakes.completed++;
    pthread_mutex_unlock(&server->lock);
    http_server_phase(connection, PHASE_IDLE);
}

void http_server_handshakes(struct http_server *server, struct http_handshakes *ret_handshakes)
{
    pthread_mutex_lock(&server->lock);
    *ret_handshakes = server->handshakes;
    pthread_mutex_unlock(&server->lock);
}

static void write_address(const struct sockaddr *address, char into[INET6_ADDRSTRLEN])
{
    if (address && address->sa_family == AF_INET) {
        struct sockaddr_in four;

        memcpy(&four, address, sizeof(four));
        inet_ntop(AF_INET, &four.sin_addr, into, INET6_ADDRSTRLEN);
    } else if (address && address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;

        memcpy(&six, address, sizeof(six));
        if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
            inet_ntop(AF_INET, &six.sin6_addr.s6_addr[12], into, INET6_ADDRSTRLEN);
        else
            inet_ntop(AF_INET6, &six.sin6_addr, into, INET6_ADDRSTRLEN);
    }
}

enum MHD_Result http_server_on_accept(void *context, const struct sockaddr *address, socklen_t len)
{
    struct http_server *server = context;
    uint64_t key = handshake_rate_key(address);
    bool allows;

    (void)len;
    pthread_mutex_lock(&server->lock);
    allows = handshake_rate_allows(server->handshake_rate, key, http_server_now_ms());
    if (!allows) {
        server->handshakes.limited++;
        write_address(address, server->handshakes.limited_peer);
    }
    pthread_mutex_unlock(&server->lock);
    return allows ? MHD_YES : MHD_NO;
}

static void set_peer(struct connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    write_address(info ? info->client_addr : NULL, connection->peer);
}

static void set_socket(const struct connection *connection)
{
    unsigned unacknowledged_ms = UNACKNOWLEDGED_MS;
    int idle_s = KEEPALIVE_IDLE_S;
    int on = 1;

    setsockopt(connection->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms,
               sizeof(unacknowledged_ms));
    setsockopt(connection->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(connection->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void add_connection(struct http_server *server, struct MHD_Connection *mhd, void **held)
{
    struct connection *connection = mem_new(struct connection);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

    connection->server = server;
    connection->mhd = mhd;
    connection->fd = info ? info->connect_fd : -1;
    connection->exchange.connection = connection;
    /* Before a plain connection's first request nothing was received. */
    connection->has_baseline = !server->options.tls;
    http_server_phase(connection, server->options.tls ? PHASE_HANDSHAKE : PHASE_IDLE);
    set_peer(connection);
    set_socket(connection);
    http_server_tls_connection(connection);
    *held = connection;
    atomic_fetch_add(&server->connection_count, 1);

    pthread_mutex_lock(&server->lock);
    connection_link(&server->connections, connection);
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static void remove_connection(struct http_server *server, struct connection *connection)
{
    pthread_mutex_lock(&server->lock);
    connection_unlink(&server->connections, connection);
    if (atomic_load(&connection->phase) == PHASE_HANDSHAKE)
        server->handshakes.failed++;
    pthread_mutex_unlock(&server->lock);
    atomic_fetch_sub(&server->connection_count, 1);
    http_server_tls_release(connection);
    mem_free(connection);
}

void http_server_on_connection(void *context, struct MHD_Connection *mhd, void **held,
                               enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        add_connection(context, mhd, held);
    else if (*held)
        remove_connection(context, TAKE(*held));
}

static uint64_t received(const struct connection *connection)
{
    struct tcp_info facts = { 0 };
    socklen_t len = sizeof(facts);

    if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &facts, &len) != 0)
        return 0;
    return facts.tcpi_bytes_received;
}

/* See whether a request has begun on an idle connection. */
static void look_for_request(struct connection *connection, int64_t now_ms)
{
    if (connection->begun_ms)
        return;

    uint64_t bytes = received(connection);

    if (!connection->has_baseline) {
        connection->has_baseline = true;
        connection->baseline = bytes;
    } else if (bytes > connection->baseline) {
        connection->begun_ms = now_ms;
    }
}

static bool is_over(struct connection *connection, int64_t now_ms)
{
    const struct http_server_options *options = &connection->server->options;
    int64_t request_ms = options->request_ms;
    /* The phase is written last, so it is read first: a newer `since` only gives more time. */
    enum phase phase = (enum phase)atomic_load(&connection->phase);
    int64_t since_ms = atomic_load(&connection->since_ms);
    unsigned round = atomic_load(&connection->round);

    if (round != connection->seen_round) {
        connection->seen_round = round;
        connection->has_baseline = false;
        connection->begun_ms = 0;
    }
    if (phase == PHASE_HANDSHAKE)
        return now_ms - since_ms >= options->handshake_ms;
    if (phase == PHASE_STREAMING)
        return false;
    if (phase == PHASE_IDLE)
        look_for_request(connection, now_ms);
    if (phase == PHASE_IDLE && !connection->begun_ms)
        return now_ms - since_ms >= options->idle_ms;

    int64_t begun_ms = connection->begun_ms ? connection->begun_ms : since_ms;

    /* Where answers may take for ever, requests may not. */
    if (request_ms < 0 && (phase == PHASE_IDLE || phase == PHASE_READING))
        request_ms = LIMIT_ANSWER_TIME;
    return request_ms >= 0 && now_ms - begun_ms >= request_ms;
}

/* Under the lock: a record on the list has a socket that is still its own. */
static void look_at_all(struct http_server *server)
{
    int64_t now_ms = http_server_now_ms();

    for (struct connection *connection = server->connections; connection;
         connection = connection->next) {
        if (connection->doomed || !is_over(connection, now_ms))
            continue;
        connection->doomed = true;
        shutdown(connection->fd, SHUT_RDWR);
    }
}

static void *watchdog(void *context)
{
    struct http_server *server = context;

    pthread_mutex_lock(&server->lock);
    while (!server->ending) {
        if (!server->connections) {
            pthread_cond_wait(&server->changed, &server->lock);
            continue;
        }

        struct timespec at = wait_until(LOOK_MS);

        while (!server->ending &&
               pthread_cond_timedwait(&server->changed, &server->lock, &at) != ETIMEDOUT)
            continue;
        look_at_all(server);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

void http_server_watch(struct http_server *server)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    if (pthread_create(&server->watchdog, &attributes, watchdog, server) != 0)
        mem_exhausted("a thread to watch connections");
    pthread_attr_destroy(&attributes);
    server->has_watchdog = true;
}

void http_server_unwatch(struct http_server *server)
{
    if (!server->has_watchdog)
        return;
    pthread_mutex_lock(&server->lock);
    server->ending = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->watchdog, NULL);
    server->has_watchdog = false;
}
