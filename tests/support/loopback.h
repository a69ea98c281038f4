/* SPDX-License-Identifier: Apache-2.0 */
/* loopback.h: servers, clients and certificates of one test process. */
#ifndef HERD_TESTS_SUPPORT_LOOPBACK_H
#define HERD_TESTS_SUPPORT_LOOPBACK_H

#include "io/http_client.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "io/tls.h"

/* What came of one request. Everything in the arena. */
struct reply {
    bool done;
    int status;
    struct str body;
    struct str content_type;
    int64_t retry_after_ms;
    int64_t date_ms;
    struct error error;
    bool sent;
};

/* When a test process that waits is called hung and ends: far above what a loaded machine takes. */
enum { LOOPBACK_PATIENCE_MS = 120000 };

/* Run the loop until *flag. */
void loopback_run_until(struct loop *loop, const bool *flag);
/* Send, run the loop until the answer is there. */
struct reply loopback_ask(struct loop *loop, struct http_client *client,
                          const struct http_request *request, struct arena *arena);
/* GET `path` of the server on 127.0.0.1:port. */
struct reply loopback_get(struct loop *loop, struct http_client *client, const char *scheme,
                          uint16_t port, const char *path, struct arena *arena);

/* Valid from an hour ago for a day, unless the request says otherwise. */
struct tls_pair loopback_ca(struct arena *arena, const char *name);
/* For `name` and 127.0.0.1. */
struct tls_pair loopback_leaf(struct arena *arena, const struct tls_pair *ca, const char *name);
struct tls_pair loopback_issue(struct arena *arena, struct tls_request request,
                               const struct tls_pair *ca);

/* Write both files and open them as a source. */
struct tls_source *loopback_source(struct arena *arena, const char *folder,
                                   const struct tls_pair *pair);

/* A raw TCP connection to 127.0.0.1:port. */
int loopback_connect(uint16_t port);
/* Write all; false once the peer has closed. */
bool loopback_write(int fd, struct str bytes);
/* What comes until the peer closes or, once something came, `wait_ms` pass without a byte. */
struct str loopback_read(struct arena *arena, int fd, int wait_ms);

#endif
