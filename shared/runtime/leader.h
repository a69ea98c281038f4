/* SPDX-License-Identifier: Apache-2.0 */
/* leader.h: leader election in motion: kube/lease.h on a loop. */
#ifndef HERD_RUNTIME_LEADER_H
#define HERD_RUNTIME_LEADER_H

#include "runtime/client.h"

struct leader;

struct leader_options {
    struct kube_client *client; /* without a fence: the lease itself is what fences */
    struct str namespace_;
    struct str name;
    struct str identity; /* unique: host name and a random part */
    uint64_t seed;
    int64_t duration_ms, renew_deadline_ms, retry_ms; /* 0 = limits.def */
    void (*began)(void *context);
    /* Leadership is gone and cannot be had back by this process: end it. */
    void (*lost)(void *context);
    void *context;
};

struct leader *leader_create(const struct leader_options *options);
void leader_free(struct leader *leader);
AUTO_DEFINE(leader_free, struct leader *)
/* Give the lease up, then call `released`; a successor may begin at once. */
void leader_release(struct leader *leader, void (*released)(void *context), void *context);
bool leader_is_leading(const struct leader *leader);
/* The fence for kube_client_options.may_write; `leader` as context. */
bool leader_may_write(void *leader);

#endif
