/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_error.h: an answer of Rancher's that is not 2xx, in any of the six shapes that its parts
 * use: steve, norman, Kubernetes, login filter, cluster router, and plain text or nothing at all.
 * Pure. */
#ifndef HERD_CONTROLLER_CLUSTERS_RANCHER_ERROR_H
#define HERD_CONTROLLER_CLUSTERS_RANCHER_ERROR_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

void rancher_error_read(struct arena *arena, int http_status, struct str body,
                        struct error *ret_error);
/* Whether the answer proves that the request was not begun. Gateways that gave up waiting prove
 * nothing. */
bool rancher_error_is_rejection(int http_status, struct str body);
/* A collection of /v3, whatever is in it. -1: the body is none, so Rancher did not answer. */
int rancher_collection_read(struct str body, struct error *err);

#endif
