/* SPDX-License-Identifier: Apache-2.0 */
/* monitors.h: the monitors of the simulated SUSE Observability. They stand in the ConfigMap
 * herd-lab-monitors of the management cluster's namespace default, one in each key: its identifier
 * with dots for colons. */
#ifndef HERD_LAB_SUSE_OBSERVABILITY_MONITORS_H
#define HERD_LAB_SUSE_OBSERVABILITY_MONITORS_H

#include "io/http_server.h"

struct simulation;

void lab_monitors_list(struct simulation *simulation, struct http_exchange *exchange);
/* A settings document: JSON with templates, as Herd sends it. Monitors alone are understood. */
void lab_monitors_import(struct simulation *simulation, struct http_exchange *exchange);
void lab_monitors_delete(struct simulation *simulation, struct http_exchange *exchange,
                         struct str identifier);

#endif
