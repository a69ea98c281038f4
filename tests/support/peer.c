/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c: an HTTP peer by script. */
#include "support/rows.h"

#include "support/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* One request's bytes; false if the client closed or the test ends. */
static bool take_request(struct peer *peer, int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char text[4096];
    size_t len = 0;

    while (!atomic_load(&peer->end)) {
        if (poll(&ready, 1, 10) == 0)
            continue;

        ssize_t got = recv(fd, text + len, sizeof(text) - 1 - len, 0);

        if (got <= 0)
            return false;
        len += (size_t)got;
        text[len] = '\0';

        const char *length = strcasestr(text, "content-length: ");
        const char *body = strstr(text, "\r\n\r\n");

        if (body && (!length ||
                     len - (size_t)(body + 4 - text) >= strtoul(length + 16, NULL, 10))) {
            if (peer->seen_len + len < SEEN_MAX) {
                memcpy(peer->seen + peer->seen_len, text, len);
                peer->seen_len += len;
            }
            return true;
        }
    }
    return false;
}

static void serve_connection(struct peer *peer, int fd)
{
    while (take_request(peer, fd)) {
        const struct step *step = &peer->steps[atomic_fetch_add(&peer->step, 1)];

        if (step->answer)
            loopback_write(fd, str_of(step->answer));
        loopback_write(fd, peer->raw);
        while (step->after == HANG && !atomic_load(&peer->end))
            usleep(1000);
        if (step->after != KEEP)
            return;
    }
}

static void *run_peer(void *context)
{
    struct peer *peer = context;
    struct pollfd ready = { .fd = peer->listener, .events = POLLIN };

    while (!atomic_load(&peer->end)) {
        if (poll(&ready, 1, 10) <= 0)
            continue;

        int fd = accept(peer->listener, NULL, NULL);

        serve_connection(peer, fd);
        close(fd);
    }
    return NULL;
}

int peer_listen(uint16_t *ret_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t len = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

struct meeting meeting_begin_with(const struct step *steps, struct http_client_options options)
{
    struct meeting meeting = { .arena = arena_create(0), .loop = loop_create() };
    struct error err;

    options.plain_allowed = true;
    meeting.client = http_client_create(meeting.loop, &options, &err);
    assert_non_null(meeting.client);
    meeting.peer = calloc(1, sizeof(*meeting.peer));
    meeting.peer->steps = steps;
    meeting.peer->listener = peer_listen(&meeting.peer->port);
    meeting.url = str_fmt(meeting.arena, "http://127.0.0.1:%u/x", meeting.peer->port).at;
    pthread_create(&meeting.peer->thread, NULL, run_peer, meeting.peer);
    return meeting;
}

struct meeting meeting_begin(const struct step *steps)
{
    return meeting_begin_with(steps, (struct http_client_options){ .user_agent = "herd-test/1" });
}

void peer_stop(struct peer *peer)
{
    if (atomic_exchange(&peer->end, true))
        return;
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

void meeting_end(struct meeting *meeting)
{
    http_client_free(meeting->client);
    peer_stop(meeting->peer);
    free(meeting->peer);
    loop_free(meeting->loop);
    arena_free(meeting->arena);
}

struct reply meeting_ask(struct meeting *meeting, struct http_request request)
{
    if (!request.url.len)
        request.url = str_of(meeting->url);
    return loopback_ask(meeting->loop, meeting->client, &request, meeting->arena);
}
