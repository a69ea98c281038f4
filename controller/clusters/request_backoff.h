/* SPDX-License-Identifier: Apache-2.0 */
/* request_backoff.h: after Rancher took no request for a cluster, it gets none for a while.
 *
 * Rancher or the cluster asked for fewer requests, cannot be reached, or rejects the token: none of
 * that is about the request, so all that concern the cluster wait, each time longer, and never
 * shorter than Rancher asked for. */
#ifndef HERD_CONTROLLER_CLUSTERS_REQUEST_BACKOFF_H
#define HERD_CONTROLLER_CLUSTERS_REQUEST_BACKOFF_H

#include "base/rng.h"
#include "controller/clusters/request_outcome.h"

struct request_backoff;

struct request_backoff *request_backoff_create(uint64_t seed);
void request_backoff_free(struct request_backoff *backoff);
AUTO_DEFINE(request_backoff_free, struct request_backoff *)

/* Why the outcome says nothing of the request itself, for people; "" = it does. Pure. */
struct str request_transient_reason(const struct request_outcome *outcome);

/* Every outcome of a request for the cluster; what is to wait for it, waits from now on. */
void request_backoff_note(struct request_backoff *backoff, const struct request_outcome *outcome,
                          int64_t now_ms);
/* When requests may be sent again (monotonic); -1: now. */
int64_t request_backoff_ends_ms(const struct request_backoff *backoff, int64_t now_ms);
/* Why they may not. Borrowed until the next change. */
struct str request_backoff_reason(const struct request_backoff *backoff);
struct str request_backoff_message(const struct request_backoff *backoff);
/* Whatever it was is over. */
void request_backoff_end(struct request_backoff *backoff);

#endif
