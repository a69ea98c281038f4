/* SPDX-License-Identifier: Apache-2.0 */
/* status_pace.h: how often the status of one Stack is written.
 *
 * The status of a Stack on a thousand clusters changes in some word all the time: an agent comes
 * and goes, a pod starts. Each write costs the API server, etcd and all that watch Stacks as much
 * as the status is long. So a long one that says nothing new in general waits: LIMIT_STATUS_PACE
 * bytes a second, and LIMIT_STATUS_PAUSE_MAX at most. A short one never does. An object on the
 * heap; times are monotonic. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_STATUS_PACE_H
#define HERD_CONTROLLER_RECONCILERS_STACK_STATUS_PACE_H

#include "base/cleanup.h"
#include "base/str.h"

struct status_pace;

struct status_pace *status_pace_create(void);
void status_pace_free(struct status_pace *pace);
AUTO_DEFINE(status_pace_free, struct status_pace *)

/* How long the next write of the Stack's status waits; 0 = it does not. */
int64_t status_pace_left_ms(const struct status_pace *pace, struct str key, int64_t now_ms);
/* A status of so many bytes was written. */
void status_pace_written(struct status_pace *pace, struct str key, size_t bytes, int64_t now_ms);
/* The Stack is no more. */
void status_pace_forget(struct status_pace *pace, struct str key);

#endif
