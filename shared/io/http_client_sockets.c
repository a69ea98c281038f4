/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_sockets.c: libcurl's multi interface on a loop: libcurl tells which sockets and which
 * timer it wants, the loop tells libcurl when they are ready. */
#include "io/http_client_internal.h"

#include "base/memory.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Sent and not acknowledged by the peer's kernel for so long: it is gone. */
enum { UNACKNOWLEDGED_MS = 20000 };

/* A watch tells its context only, so each socket has one that knows its descriptor. */
struct socket_watch {
    struct http_client *client;
    struct socket_watch *next, *previous;
    struct loop_watch *watch;
    int fd;
    int own_port; /* 0 = not asked for yet */
};
LINKED_DEFINE(socket_watch, struct socket_watch)

static void watch_ready(void *context, int events)
{
    const struct socket_watch *socket = context;

    http_client_enter_curl(socket->client, socket->fd,
                           ((events & LOOP_READ) ? CURL_CSELECT_IN : 0) |
                               ((events & LOOP_WRITE) ? CURL_CSELECT_OUT : 0));
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *client_context,
                     void *socket_context)
{
    struct http_client *client = client_context;
    struct socket_watch *socket = socket_context;
    int events = (what == CURL_POLL_IN || what == CURL_POLL_INOUT ? LOOP_READ : 0) |
                 (what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? LOOP_WRITE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket) {
            socket_watch_unlink(&client->sockets, socket);
            loop_watch_free(socket->watch);
            mem_free(socket);
        }
        curl_multi_assign(client->multi, fd, NULL);
        return 0;
    }
    if (socket) {
        loop_watch_change(socket->watch, events);
        return 0;
    }
    socket = mem_new(struct socket_watch);
    socket->client = client;
    socket->fd = fd;
    socket->watch = loop_watch_create(client->loop, fd, events, watch_ready, socket);
    socket_watch_link(&client->sockets, socket);
    curl_multi_assign(client->multi, fd, socket);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
    struct http_client *client = context;

    (void)multi;
    if (timeout_ms < 0)
        loop_timer_clear(client->timer);
    else
        loop_timer_set(client->timer, timeout_ms);
    return 0;
}

static void timer_fired(void *context)
{
    http_client_enter_curl(context, CURL_SOCKET_TIMEOUT, 0);
}

static int own_port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    uint16_t port = 0;

    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    if (address.ss_family == AF_INET)
        port = ((const struct sockaddr_in *)&address)->sin_port;
    else if (address.ss_family == AF_INET6)
        port = ((const struct sockaddr_in6 *)&address)->sin6_port;
    return ntohs(port);
}

curl_socket_t http_client_socket_of(struct http_client *client, int own_port)
{
    for (struct socket_watch *socket = client->sockets; socket; socket = socket->next) {
        if (!socket->own_port)
            socket->own_port = own_port_of(socket->fd);
        if (socket->own_port == own_port)
            return socket->fd;
    }
    return CURL_SOCKET_BAD;
}

curl_socket_t http_client_on_open(void *context, curlsocktype purpose,
                                  struct curl_sockaddr *address)
{
    struct http_client *client = context;
    unsigned unacknowledged_ms = UNACKNOWLEDGED_MS;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    if (fd < 0)
        return CURL_SOCKET_BAD;
    client->opened++;
    /* Without it, a peer that vanished is noticed only after the kernel's quarter of an hour. */
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof(unacknowledged_ms));
    return fd;
}

void http_client_follow_sockets(struct http_client *client)
{
    client->timer = loop_timer_create(client->loop, timer_fired, client);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
}
