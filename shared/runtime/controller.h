/* SPDX-License-Identifier: Apache-2.0 */
/* controller.h: keys in, reconciles out: a work queue on the loop.
 *
 * `reconcile` begins the work on one key and later, now or from any callback, calls
 * kube_controller_done once. Never two at a time for one key; at most `workers` at once. */
#ifndef HERD_RUNTIME_CONTROLLER_H
#define HERD_RUNTIME_CONTROLLER_H

#include "io/loop.h"
#include "kube/queue.h"

struct kube_controller;

enum reconcile_result {
    RECONCILE_DONE,  /* failures are forgotten; look again after `after_ms` if that is >= 0 */
    RECONCILE_LATER, /* nothing was done: failures stand; look again after `after_ms` if >= 0 */
    RECONCILE_RETRY, /* with backoff, not before `after_ms` if that is >= 0 */
};

struct kube_controller_options {
    struct loop *loop;
    struct kube_queue_options queue;
    uint32_t workers; /* 0 = 64: reconciles wait for requests, not for a core */
    uint64_t seed;
    void (*reconcile)(void *context, struct str key);
    void *context;
};

struct kube_controller *kube_controller_create(const struct kube_controller_options *options);
void kube_controller_free(struct kube_controller *controller);
AUTO_DEFINE(kube_controller_free, struct kube_controller *)
void kube_controller_add(struct kube_controller *controller, struct str key);
void kube_controller_add_after(struct kube_controller *controller, struct str key,
                               int64_t delay_ms);
void kube_controller_done(struct kube_controller *controller, struct str key,
                          enum reconcile_result result, int64_t after_ms);
/* A large object changes in a thousand places within a second, and each look at it costs the same:
 * one takes a tenth of the time at most. What a reconcile took within its call counts by itself;
 * this is for work that went on afterwards, before kube_controller_done. */
void kube_controller_spent(struct kube_controller *controller, struct str key, int64_t took_ms);
/* Whether the last reconcile of the key was to be retried. */
bool kube_controller_has_failed(const struct kube_controller *controller, struct str key);
/* While paused, keys gather and none is handed out (not leader, shutting down). Starts paused. */
void kube_controller_pause(struct kube_controller *controller, bool paused);
size_t kube_controller_depth(const struct kube_controller *controller);
/* Keys handed out and not yet done. */
uint32_t kube_controller_busy(const struct kube_controller *controller);

#endif
