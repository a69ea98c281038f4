/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h: Events, sent. Fire and forget: an Event that cannot be written is counted, not
 * retried for ever (three tries). */
#ifndef HERD_RUNTIME_RECORDER_H
#define HERD_RUNTIME_RECORDER_H

#include "kube/event.h"
#include "runtime/client.h"

struct recorder;

struct recorder *recorder_create(struct kube_client *client, struct str component,
                                 struct str instance);
void recorder_free(struct recorder *recorder);
AUTO_DEFINE(recorder_free, struct recorder *)
void recorder_emit(struct recorder *recorder, const struct kube_event *event);
uint64_t recorder_failed(const struct recorder *recorder);
/* Not sent, because their objects had too many (kube/event.h). */
uint64_t recorder_dropped(const struct recorder *recorder);

#endif
