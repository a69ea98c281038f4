/* SPDX-License-Identifier: Apache-2.0 */
/* suse_observability.h: the simulated server of SUSE Observability (docs/protocols/observability.md
 * 2 to 4), on Rancher's port.
 *
 * It has an instance of its StackPack for each simulated cluster whose agent says its name: a
 * Deployment with the label app.kubernetes.io/name=suse-observability-agent and STS_CLUSTER_NAME.
 * What its pods deliver is what a Prometheus there would scrape, under the names that OpenTelemetry
 * gives. Its one service token is svctok-lab-secret. */
#ifndef HERD_LAB_SUSE_OBSERVABILITY_H
#define HERD_LAB_SUSE_OBSERVABILITY_H

#include "io/http_server.h"

struct simulation;

void suse_observability_handle(struct simulation *simulation, struct http_exchange *exchange);

#endif
