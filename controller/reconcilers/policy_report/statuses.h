/* SPDX-License-Identifier: Apache-2.0 */
/* statuses.h: writes the status of StackPolicies: one at a time, and only what changed. */
#ifndef HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_STATUSES_H
#define HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_STATUSES_H

#include "io/log.h"
#include "runtime/client.h"
#include "stack/policy/policy_status.h"

struct statuses;

/* What is there to write? */
enum statuses_answer {
    STATUSES_NONE,  /* there is no such policy */
    STATUSES_LATER, /* not known yet */
    STATUSES_KNOWN,
};

/* All borrowed. */
struct statuses_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    uint64_t seed;
    /* The status of a policy as it should be, and as it is stored (or absent). */
    enum statuses_answer (*get)(void *context, struct arena *arena, struct str policy,
                                struct policy_status *ret_status, struct json *ret_stored);
    void *context;
};

/* Paused at first. */
struct statuses *statuses_create(const struct statuses_options *options);
/* Before the client. */
void statuses_free(struct statuses *statuses);
AUTO_DEFINE(statuses_free, struct statuses *)

/* Something about the policy is new: it is looked at in a moment. */
void statuses_changed(struct statuses *statuses, struct str policy);
void statuses_pause(struct statuses *statuses, bool paused);

#endif
