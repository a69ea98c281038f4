/* SPDX-License-Identifier: Apache-2.0 */
/* health.h: /healthz, /readyz and /metrics on a port of their own.
 *
 * A program names its checks once; each is set from the program's threads and read by the probes.
 * `?verbose` lists them as Kubernetes' own components do. */
#ifndef HERD_RUNTIME_HEALTH_H
#define HERD_RUNTIME_HEALTH_H

#include "base/error.h"
#include "base/metric.h"

struct health;

/* `address` numeric; `metrics` may be NULL. Checks named here start as not ready ("starting"). */
struct health *health_create(const char *address, uint16_t port, const char *const *check_names,
                             uint32_t check_count, struct metrics *metrics, struct error *err);
void health_free(struct health *health);
AUTO_DEFINE(health_free, struct health *)
uint16_t health_port(const struct health *health);
/* reason "" = fine. Any thread. */
void health_set(struct health *health, uint32_t check, struct str reason);
/* Fine, and yet somebody should know: `?verbose` shows it. "" = nothing. */
void health_note(struct health *health, uint32_t check, struct str note);
/* Liveness: /healthz fails from now on unless health_beat was called within `within_ms`. */
void health_beat(struct health *health, int64_t now_ms, int64_t within_ms);
/* Going down: /readyz fails, /healthz does not. */
void health_shutting_down(struct health *health);
/* Answer one of the three paths on another server, e.g. the webhook's own. False if it is none. */
struct http_exchange;
bool health_handle(struct health *health, struct http_exchange *exchange);

#endif
