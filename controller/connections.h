/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h: the clients of herd-controller: of the management cluster's API and of Rancher.
 *
 * The client of the Lease is fenced by nothing; all others send no change unless the Lease is held.
 * Followers read, and do not act. */
#ifndef HERD_CONTROLLER_CONNECTIONS_H
#define HERD_CONTROLLER_CONNECTIONS_H

#include "controller/clusters/rancher_probe.h"
#include "controller/options.h"
#include "runtime/manager.h"

struct connections {
    struct loop *loop;
    struct metrics *metrics;
    struct manager *manager;
    struct kube_client *lease;
    struct kube_client *api;
    struct kube_client *rancher_login; /* of the probe */
    struct kube_client *rancher_requests;
    struct kube_client *rancher_watches;
    struct recorder *recorder;
    struct rancher_probe *rancher_probe; /* NULL until it is started; freed with the connections */
};

/* Open all clients into `connections`, whose first three members are set and borrowed. -1: what of
 * the addresses, tokens or CAs cannot be used; close it all the same. */
int connections_open(struct connections *connections, const struct options *options,
                     struct error *err);
/* For clients beside these: count a request to the API server. `context` is the connections. */
void connections_count_api_request(void *context, const char *verb, struct str plural, int status,
                                   int64_t duration_ms);
/* After all parts. */
void connections_close(struct connections *connections);

#endif
