/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.c: a server's life: listen, serve, drain, end. */
#include "io/http_server_internal.h"

#include "base/memory.h"
#include "io/limits.h"
#include "io/wait.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* Who finds it full is heard a second later, when it knocks again: good clients too. The
     * kernel takes no more than net.core.somaxconn, 4096 unless it was changed. */
    BACKLOG = 4096,
    /* Of one connection: headers, what is kept of them, and a TLS record's worth of body. Up to
     * 32 KiB it is taken from the heap, and pages that are not touched cost nothing. */
    CONNECTION_BYTES = 32 * 1024,
    HOST_BYTES_MAX = 64,
};

/* Sanitizers make frames several times larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_BYTES = 2 * 1024 * 1024 };
#else
enum { STACK_BYTES = 256 * 1024 };
#endif

static int listen_failed(const struct http_server_options *options, int number, struct error *err)
{
    const char *address = options->address && options->address[0] ? options->address : "*";
    bool six = strchr(address, ':') != NULL;
    const char *reason = strerror(number);
    const char *remedy = "choose another --listen";

    if (number == EADDRINUSE) {
        reason = "address in use";
        remedy = "choose another --listen or stop what uses it";
    } else if (number == EACCES) {
        reason = "permission denied";
        remedy = "ports below 1024 need rights; choose a higher one";
    } else if (number == EADDRNOTAVAIL) {
        reason = "this machine has no such address";
    } else if (number == EINVAL) {
        reason = "not a numeric address";
    }
    return error_set(err, ERROR_CONNECT, "cannot listen on %s%.64s%s:%u: %s; %s", six ? "[" : "",
                     address, six ? "]" : "", options->port, reason, remedy);
}

/* -1 and errno. */
static int bind_to(const struct sockaddr *address, socklen_t len, bool both_families)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    int only_six = !both_families;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_six, sizeof(only_six));
    if (bind(fd, address, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;

    int saved = errno;

    close(fd);
    errno = saved;
    return -1;
}

static int open_listener(const struct http_server_options *options)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(options->port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(options->port) };
    const char *address = options->address ? options->address : "";

    if (!address[0]) {
        int fd = bind_to((struct sockaddr *)&six, sizeof(six), true);

        /* A kernel without IPv6. */
        if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
            fd = bind_to((struct sockaddr *)&four, sizeof(four), false);
        return fd;
    }
    if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
        return bind_to((struct sockaddr *)&four, sizeof(four), false);
    if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1)
        return bind_to((struct sockaddr *)&six, sizeof(six), false);
    errno = EINVAL;
    return -1;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t len = sizeof(address);
    struct sockaddr_in four;
    struct sockaddr_in6 six;

    getsockname(fd, (struct sockaddr *)&address, &len);
    memcpy(&four, &address, sizeof(four));
    memcpy(&six, &address, sizeof(six));
    return ntohs(address.ss_family == AF_INET6 ? six.sin6_port : four.sin_port);
}

static struct http_server_options with_defaults(const struct http_server_options *options)
{
    struct http_server_options all = *options;

    if (!all.connections_max)
        all.connections_max = LIMIT_CONNECTIONS;
    if (!all.connections_per_address_max)
        all.connections_per_address_max = LIMIT_CONNECTIONS_PER_ADDRESS;
    if (!all.handshakes_per_address_max)
        all.handshakes_per_address_max = LIMIT_HANDSHAKES_PER_ADDRESS;
    if (!all.handshake_ms)
        all.handshake_ms = LIMIT_HANDSHAKE_TIME;
    if (!all.request_ms)
        all.request_ms = LIMIT_REQUEST_TIME;
    if (!all.idle_ms)
        all.idle_ms = LIMIT_IDLE_TIME;
    if (!all.bodies_max)
        all.bodies_max = LIMIT_REVIEW_BODIES_ALL;
    if (!all.arena_budget)
        all.arena_budget = LIMIT_REVIEW_ARENA;
    return all;
}

/* libmicrohttpd would write to standard error; what happens to a connection is told by answers. */
static void keep_quiet(void *context, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
}

static struct MHD_Daemon *start_daemon(struct http_server *server)
{
    const struct http_server_options *options = &server->options;
    /* Not epoll: with it libmicrohttpd 0.9.75 goes round and round while a TLS handshake waits for
     * its client (integration/hostile: clients that stop within a handshake). */
    unsigned flags = MHD_USE_ITC | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;
    struct MHD_OptionItem items[8];
    size_t count = 0;

    if (!options->event_threads)
        flags |= MHD_USE_THREAD_PER_CONNECTION;
    if (options->event_threads > 1)
        items[count++] = (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE,
                                                  (intptr_t)options->event_threads, NULL };
    if (options->tls) {
        flags |= MHD_USE_TLS;
        items[count++] = http_server_certificate_option();
        items[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
                                                  (void *)(uintptr_t)http_server_priorities() };
    }
    items[count] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    return MHD_start_daemon(
        flags, 0, options->tls ? http_server_on_accept : NULL, server, http_server_on_request,
        server, MHD_OPTION_EXTERNAL_LOGGER, keep_quiet, NULL, MHD_OPTION_LISTEN_SOCKET,
        server->listen_fd, MHD_OPTION_NOTIFY_CONNECTION, http_server_on_connection, server,
        MHD_OPTION_NOTIFY_COMPLETED, http_server_on_completed, server, MHD_OPTION_UNESCAPE_CALLBACK,
        http_server_keep_raw, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections_max,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)options->connections_per_address_max,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
        (size_t)STACK_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, items,
        MHD_OPTION_END);
}

static void init_locks(struct http_server *server)
{

    wait_init(&server->lock, &server->changed);
}

struct http_server *http_server_create(const struct http_server_options *options, struct error *err)
{
    AUTO(http_server_free) struct http_server *server = mem_new(struct http_server);

    server->options = with_defaults(options);
    server->listen_fd = -1;
    init_locks(server);
    if (options->tls)
        server->handshake_rate = handshake_rate_create(server->options.handshakes_per_address_max,
                                                       LIMIT_HANDSHAKE_ADDRESSES);
    if (http_server_tls_begin(server, err) != 0)
        return NULL;
    server->listen_fd = open_listener(options);
    if (server->listen_fd < 0) {
        listen_failed(options, errno, err);
        return NULL;
    }
    server->port = port_of(server->listen_fd);
    http_server_watch(server);
    server->daemon = start_daemon(server);
    if (!server->daemon) {
        error_set(err, ERROR_INTERNAL, "cannot start to serve on port %u: %s", server->port,
                  strerror(errno));
        return NULL;
    }
    return TAKE(server);
}

static void wait_until_idle(struct http_server *server, int64_t drain_ms)
{
    int64_t end_ms = http_server_now_ms() + drain_ms;
    struct timespec at = wait_until(drain_ms);

    pthread_mutex_lock(&server->lock);
    while (atomic_load(&server->in_flight) && http_server_now_ms() < end_ms)
        if (pthread_cond_timedwait(&server->changed, &server->lock, &at) == ETIMEDOUT)
            break;
    pthread_mutex_unlock(&server->lock);
}

void http_server_drain(struct http_server *server, int64_t drain_ms)
{
    if (!server->daemon)
        return;
    atomic_store(&server->draining, true);
    /* Shut, not closed: a thread of libmicrohttpd may be about to accept, and the number must
     * not become another file's meanwhile. */
    if (MHD_quiesce_daemon(server->daemon) >= 0)
        shutdown(server->listen_fd, SHUT_RDWR);
    wait_until_idle(server, drain_ms);
    MHD_stop_daemon(TAKE(server->daemon));
    close(server->listen_fd);
    server->listen_fd = -1;
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    http_server_drain(server, 0);
    http_server_unwatch(server);
    http_server_tls_end(server);
    if (server->listen_fd >= 0)
        close(server->listen_fd);
    while (server->spare_count)
        arena_free(server->spare[--server->spare_count]);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    handshake_rate_free(server->handshake_rate);
    mem_free(server);
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

uint32_t http_server_connections(const struct http_server *server)
{
    return atomic_load(&server->connection_count);
}

uint32_t http_server_in_flight(const struct http_server *server)
{
    return atomic_load(&server->in_flight);
}

void http_server_lame_duck(struct http_server *server)
{
    atomic_store(&server->lame_duck, true);
}
