/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h: stored Stacks, validated by the policies in the background.
 *
 * A policy that came after a Stack, or whose action is Audit, is told here: in figures, and, where
 * the API server has that kind, in one PolicyReport for each Stack that a policy is about
 * (report.h). Nothing else of a Stack is validated, and nothing is held up by it. */
#ifndef HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_AUDIT_H
#define HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_AUDIT_H

#include "base/metric.h"
#include "controller/policies.h"
#include "io/log.h"
#include "runtime/cache.h"
#include "runtime/client.h"

struct audit;

/* All borrowed. */
struct audit_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    struct metrics *metrics;
    struct policies *policies;
    const struct kube_cache *stacks;     /* as keep_stack keeps them */
    bool (*stacks_known)(void *context); /* these are all that there are */
    void *context;
    struct str namespace_; /* that the Stacks are followed of; "" = all */
    uint64_t seed;
};

/* Follows reports from now on; validates once it is resumed. */
struct audit *audit_create(const struct audit_options *options);
/* Before the client. */
void audit_free(struct audit *audit);
AUTO_DEFINE(audit_free, struct audit *)

/* The Stack came, changed or went. */
void audit_stack_changed(struct audit *audit, struct str key);
/* As the options of policies.h tell. */
void audit_policies_changed(struct audit *audit);
void audit_policy_changed(struct audit *audit, struct str policy);
void audit_pause(struct audit *audit, bool paused);

#endif
