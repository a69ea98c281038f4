/* SPDX-License-Identifier: Apache-2.0 */
/* observability.h: what monitors a cluster, and what it says of the releases there.
 *
 * An observer (observer.h) of SUSE Observability's agent and of Prometheus. For each cluster that a
 * Stack with observability wants it asks in rounds, one after the other: whether the agent runs,
 * whether a Prometheus is Available (both seldom), for the samples of all wanted namespaces in one
 * query, and for the rules. Between rounds it waits for the shortest scrapeInterval of those
 * Stacks; after failures longer. A first failure changes nothing, a second one in a row makes
 * unknown what could not be read. Where the agent runs and no Prometheus does, its server says what
 * the pods deliver (server.h). */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_OBSERVABILITY_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_OBSERVABILITY_H

#include "controller/backends/observability/server.h"
#include "controller/backends/observer.h"

struct observability;

struct observability *observability_create(uint64_t seed);
/* The server of SUSE Observability, before anything is open; borrowed. */
void observability_use(struct observability *observability, struct suse_server *server);
/* After the connections. */
void observability_free(struct observability *observability);
AUTO_DEFINE(observability_free, struct observability *)
/* Lives as long. */
const struct observer *observability_observer(const struct observability *observability);

#endif
