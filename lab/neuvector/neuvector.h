/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.h: the simulated NeuVector of a cluster: its controller's API, as the API server's
 * proxy shows it (docs/protocols/neuvector.md).
 *
 * A cluster has one if it has a pod with the label app=neuvector-controller-pod that is ready
 * (lab/neuvector/neuvector.yaml), and it is reached through the Service
 * neuvector-svc-controller-api if that is there. It knows the containers of all simulated pods;
 * each is scanned when that is asked for. Its one user is herd, with the password lab-password; the
 * API key is herd:lab-secret. */
#ifndef HERD_LAB_NEUVECTOR_NEUVECTOR_H
#define HERD_LAB_NEUVECTOR_NEUVECTOR_H

#include "io/http_server.h"

struct simulation;

/* False: `path`, behind the cluster's prefix, is not NeuVector's. */
bool neuvector_handle(struct simulation *simulation, struct http_exchange *exchange,
                      struct str cluster, struct str path);

#endif
