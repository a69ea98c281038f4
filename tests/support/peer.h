/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h: an HTTP peer by script: a thread that answers one request after the other with given
 * bytes, and a client to meet it. */
#ifndef HERD_TESTS_SUPPORT_PEER_H
#define HERD_TESTS_SUPPORT_PEER_H

#include "support/loopback.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the peer does after an answer. */
enum after { KEEP, CLOSE, HANG };

struct step {
    const char *answer; /* NULL: none */
    enum after after;
};

enum { SEEN_MAX = 8192 };

struct peer {
    int listener;
    uint16_t port;
    const struct step *steps;
    struct str raw; /* sent behind each step's answer: bytes that hold NULs */
    atomic_int step; /* requests that came */
    atomic_bool end;
    char seen[SEEN_MAX]; /* all that came, for the end of the test */
    size_t seen_len;
    pthread_t thread;
};

struct meeting {
    struct arena *arena;
    struct loop *loop;
    struct http_client *client;
    struct peer *peer;
    const char *url;
};

/* A plain socket that listens on a free port of 127.0.0.1. */
int peer_listen(uint16_t *ret_port);
/* `steps` are borrowed: one for each request. The client may use plain http. */
struct meeting meeting_begin_with(const struct step *steps, struct http_client_options options);
struct meeting meeting_begin(const struct step *steps);
void meeting_end(struct meeting *meeting);
/* End the peer's thread; `seen` may be read then. */
void peer_stop(struct peer *peer);
/* Send and wait; to the peer's own address if the request has none. */
struct reply meeting_ask(struct meeting *meeting, struct http_request request);

#define ANSWER(headers, body) "HTTP/1.1 " headers "\r\n\r\n" body
#define OK_3 "200 OK\r\nContent-Length: 3"

#endif
