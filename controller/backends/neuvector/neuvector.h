/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.h: what NeuVector's scans found in the images that releases run (observer.h).
 *
 * Each cluster's NeuVector is looked at by itself, at intervals, while a Stack with security
 * enabled has releases there; sooner while scans run, and when what is wanted changes. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_NEUVECTOR_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_NEUVECTOR_H

#include "controller/backends/observer.h"

struct neuvector;

/* `folder` of credentials (credentials.h), "" = none; borrowed. */
struct neuvector *neuvector_create(const char *folder, int64_t interval_ms, uint64_t seed);
/* After the connections. */
void neuvector_free(struct neuvector *neuvector);
AUTO_DEFINE(neuvector_free, struct neuvector *)
/* Lives as long. */
const struct observer *neuvector_observer(const struct neuvector *neuvector);

#endif
