/* SPDX-License-Identifier: Apache-2.0 */
/* request_queue.h: requests below one path of a server, so many at once; others wait their turn. */
#ifndef HERD_CONTROLLER_CLUSTERS_REQUEST_QUEUE_H
#define HERD_CONTROLLER_CLUSTERS_REQUEST_QUEUE_H

#include "runtime/client.h"

struct request_queue;

struct request_queue_options {
    struct kube_client *client; /* borrowed */
    struct str prefix;          /* of each path; borrowed */
    uint32_t under_way_max;
    /* The last request was answered. The queue may be freed from within. */
    void (*idle)(void *context);
    void *context;
};

struct request_queue *request_queue_create(const struct request_queue_options *options);
/* Before the client; requests are cancelled without calling back. */
void request_queue_free(struct request_queue *queue);
AUTO_DEFINE(request_queue_free, struct request_queue *)

/* What `raw` points to is copied, but for method and content_type, which are constants. `done` is
 * called once, from the loop, never from within. A request that is sent from within `done` comes
 * before the queue is idle. */
void request_queue_send(struct request_queue *queue, const struct kube_raw *raw, kube_done *done,
                        void *context);
bool request_queue_is_busy(const struct request_queue *queue);

#endif
