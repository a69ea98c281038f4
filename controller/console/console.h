/* SPDX-License-Identifier: Apache-2.0 */
/* console.h: the HTTP API of herd-controller (docs/console.md).
 *
 * Reads come from memory, and only what the caller may read. Writes go to the API server with the
 * caller's token. Each connection has a thread of its own, so that handlers may wait for the API
 * server and /watch may wait for changes; they share with the loop what mirror.h and caller.h
 * guard. */
#ifndef HERD_CONTROLLER_CONSOLE_CONSOLE_H
#define HERD_CONTROLLER_CONSOLE_CONSOLE_H

#include "controller/console/kinds.h"
#include "io/log.h"
#include "runtime/client.h"
#include "runtime/health.h"
#include "base/metric.h"

struct console;

/* What flags say of it. */
struct console_settings {
    bool is_on;
    const char *host; /* numeric, "" = all */
    uint16_t port;
    const char *certificate_file, *key_file; /* "": plain HTTP */
    bool serves_anonymous;                   /* loopback without a token is the controller */
};

/* All borrowed but `kinds`. */
struct console_options {
    const struct console_settings *settings;
    const struct kube_config *api;
    struct kube_client *client; /* of the informers */
    struct health *health;
    struct metrics *metrics;
    struct log *log;
    const struct console_kinds *kinds;
    struct str namespace_; /* "": all */
    uint64_t seed;
    void (*on_request)(void *context, const char *verb, struct str plural, int status,
                       int64_t duration_ms); /* to the API server */
    void *on_request_context;
};

/* It listens when it returns. NULL: the address or the certificate cannot be used. */
struct console *console_create(const struct console_options *options, struct error *err);
void console_free(struct console *console);
AUTO_DEFINE(console_free, struct console *)
uint16_t console_port(const struct console *console);
/* The process ends soon: streams end now, new requests are told to go elsewhere. */
void console_stop(struct console *console);
/* Requests to the API server that somebody waits for. */
uint32_t console_busy(const struct console *console);
/* Once a second: drop clients that do not keep up, bring gauges and the certificate up to date. */
void console_tick(struct console *console);

#endif
