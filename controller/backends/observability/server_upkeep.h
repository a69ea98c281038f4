/* SPDX-License-Identifier: Apache-2.0 */
/* server_upkeep.h: keeps the monitors that Stacks want in SUSE Observability: lists all, imports
 * what is missing or another, and removes what nobody wants any more. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_UPKEEP_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_UPKEEP_H

#include "controller/backends/observability/server_monitors.h"
#include "controller/backends/secret_folder.h"
#include "runtime/client.h"

struct server_upkeep;

/* Both are borrowed; entry 0 of `secret` is the token. */
struct server_upkeep *server_upkeep_create(struct kube_client *client,
                                           struct secret_folder *secret);
/* After the client, which cancels what is under way. */
void server_upkeep_free(struct server_upkeep *upkeep);
AUTO_DEFINE(server_upkeep_free, struct server_upkeep *)

/* Nobody wants what begins so any more: it is removed, also if nothing else is wanted. */
void server_upkeep_drop(struct server_upkeep *upkeep, struct str prefix);
bool server_upkeep_has_dropped(const struct server_upkeep *upkeep);

/* A round: false if there is nothing to be done this time, else `done` is called once, from the
 * loop. `wanted` is borrowed until then. */
bool server_upkeep_begin(struct server_upkeep *upkeep, struct monitors_wanted *wanted,
                         void (*done)(void *context), void *context);

/* How many monitors with that prefix are there and work, as it was listed last; false: not known.
 */
bool server_upkeep_count(const struct server_upkeep *upkeep, struct str prefix,
                         uint32_t *ret_count);
/* Why the server has not what it should have; "" = it has, or it failed for the first time. */
struct str server_upkeep_trouble(const struct server_upkeep *upkeep);
/* Another number whenever one of these two may have changed. */
uint64_t server_upkeep_generation(const struct server_upkeep *upkeep);

#endif
