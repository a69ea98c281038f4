/* SPDX-License-Identifier: Apache-2.0 */
/* server.h: the webhook's TLS server: routes, metrics, log lines. */
#ifndef HERD_WEBHOOK_SERVER_H
#define HERD_WEBHOOK_SERVER_H

#include "base/metric.h"
#include "io/http_server.h"
#include "io/log.h"
#include "runtime/health.h"
#include "runtime/span_exporter.h"
#include "settings/configured.h"
#include "webhook/access.h"
#include "webhook/facts.h"

struct webhook_server;

/* All borrowed; they outlive the server. */
struct webhook_server_options {
    const char *address;
    uint16_t port;
    struct tls_source *tls;
    uint32_t event_threads;
    size_t arena_budget; /* of one review, beside 4 x its body; 0 = LIMIT_REVIEW_ARENA */
    struct fact_source *facts;
    struct access_source *access;  /* NULL: nobody is asked what users may do */
    struct configured *configured; /* NULL: the defaults */
    struct span_exporter *spans;   /* NULL: nothing is traced */
    struct metrics *metrics;
    struct health *health;
    struct log *log;
};

/* Listens when it returns. */
struct webhook_server *webhook_server_create(const struct webhook_server_options *options,
                                             struct error *err);
void webhook_server_free(struct webhook_server *server);
AUTO_DEFINE(webhook_server_free, struct webhook_server *)
struct http_server *webhook_server_http(struct webhook_server *server);

#endif
