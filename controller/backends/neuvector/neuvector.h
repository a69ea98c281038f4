/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.h: what NeuVector's scans found in the images that releases run (observer.h).
 *
 * Each cluster's NeuVector is looked at by itself, at intervals, while a Stack with security
 * enabled has releases there; sooner while scans run, and when what is wanted changes. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_NEUVECTOR_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_NEUVECTOR_H

#include "controller/backends/observer.h"
#include "io/log.h"

struct neuvector;

/* All is borrowed. */
struct neuvector_options {
    const char *folder; /* of credentials (credentials.h); "" = none */
    int64_t interval_ms;
    uint64_t seed;
    struct log *log; /* a line when a cluster's trouble begins, changes and ends */
};

struct neuvector *neuvector_create(const struct neuvector_options *options);
/* After the connections. */
void neuvector_free(struct neuvector *neuvector);
AUTO_DEFINE(neuvector_free, struct neuvector *)
/* Lives as long. */
const struct observer *neuvector_observer(const struct neuvector *neuvector);

#endif
