/* SPDX-License-Identifier: Apache-2.0 */
/* console_internal.h: what the handlers of the console share. */
#ifndef HERD_CONTROLLER_CONSOLE_INTERNAL_H
#define HERD_CONTROLLER_CONSOLE_INTERNAL_H

#include "controller/console/access.h"
#include "controller/console/console.h"
#include "controller/console/filter.h"
#include "controller/console/mirror.h"
#include "io/http_server.h"

#include <pthread.h>

struct watcher;

struct console {
    struct console_kinds kinds;
    struct health *health;
    struct metrics *metrics;
    struct log *log;
    bool serves_anonymous;
    struct arena *arena; /* of the pages */
    struct str index, definitions, openapi;
    struct str namespace_; /* the one that is followed; "": all */
    struct mirror *mirror;
    struct caller_requests *requests;
    struct console_access *access;
    struct tls_source *tls; /* NULL: plain HTTP */
    struct http_server *server;
    pthread_mutex_t lock; /* of the watchers */
    struct watcher *watchers;
    uint32_t watcher_count;
    bool certificate_rejected;
};

/* For work that waits, holds a lock, or keeps what others allocated: without a budget, and gone
 * with the request. */
struct arena *console_arena(struct http_exchange *exchange);
/* Who calls; -1: it is answered already. */
int console_caller(const struct console *console, struct http_exchange *exchange,
                   struct str *ret_token);
/* What every answer has. */
void console_put_headers(struct http_exchange *exchange);
void console_answer_json(struct http_exchange *exchange, int status, struct str body);
/* A Status of `error`. */
void console_answer_error(struct http_exchange *exchange, const struct error *error);
/* 405, and what the path takes. */
void console_answer_method(struct http_exchange *exchange, const char *allow);
/* 1: the caller may `verb` the object that changed; 0: not; -1: it cannot be found out. */
int console_may_see(struct console *console, struct arena *arena, struct str token,
                    const char *verb, const struct change *change, struct error *err);
/* Whether the caller may begin to read what `filter` takes; what is forbidden for some namespaces
 * only is told by console_may_see. */
int console_may_begin(struct console *console, struct arena *arena, struct str token,
                      const char *verb, const struct console_filter *filter, struct error *err);

void console_handle_events(struct http_exchange *exchange, void *context);
void console_handle_watch(struct http_exchange *exchange, void *context);
void console_handle_object(struct http_exchange *exchange, void *context);
/* GET of an object or a collection. */
void console_read(struct console *console, struct http_exchange *exchange, struct str token,
                  const struct console_target *target);
/* POST, PUT, PATCH, DELETE. */
void console_write(struct console *console, struct http_exchange *exchange, struct str token,
                   const struct console_target *target);

/* Shut the connections of those who missed changes while they took none. */
void console_drop_slow(struct console *console);

#endif
