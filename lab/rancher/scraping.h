/* SPDX-License-Identifier: Apache-2.0 */
/* scraping.h: the targets that ServiceMonitors and PodMonitors of a cluster make of a pod, as far
 * as Herd's monitors need it: named ports, namespaceSelector.matchNames, and the relabelings `keep`
 * and `replace` by a constant. */
#ifndef HERD_LAB_RANCHER_SCRAPING_H
#define HERD_LAB_RANCHER_SCRAPING_H

#include "lab/rancher/promql.h"
#include "text/json.h"

struct simulation;
struct scraping;

/* Of the monitors that a Prometheus with this spec selects; in the arena. */
struct scraping *scraping_read(struct simulation *simulation, struct arena *arena,
                               struct str cluster, struct json spec);
/* `found` once for each target, with the labels that a monitor stamps on it. */
void scraping_targets(const struct scraping *scraping, struct json pod,
                      void (*found)(void *context, const struct prom_labels *labels),
                      void *context);

#endif
