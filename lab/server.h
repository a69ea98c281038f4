/* SPDX-License-Identifier: Apache-2.0 */
/* server.h: the two ports of the lab: the Kubernetes API of the management cluster, and Rancher. */
#ifndef HERD_LAB_SERVER_H
#define HERD_LAB_SERVER_H

#include "io/log.h"
#include "lab/apiserver/api.h"
#include "lab/rancher/simulation.h"

struct server;

struct server_options {
    struct api *api;
    struct simulation *simulation;
    const struct clock *clock;
    struct log *log;
    struct tls_source *tls;
    const char *host, *rancher_host;
    uint16_t port, rancher_port;
    uint32_t connections_max;
};

/* Both listen when it returns. */
struct server *server_create(const struct server_options *options, struct error *err);
/* Readiness: /readyz answers 200 from now on, or 503 again. */
void server_set_ready(struct server *server, bool ready);
/* Stop listening, end watches, let what is in flight end. */
void server_drain(struct server *server, int64_t drain_ms);
void server_free(struct server *server);
AUTO_DEFINE(server_free, struct server *)
uint16_t server_port(const struct server *server);
uint16_t server_rancher_port(const struct server *server);

#endif
