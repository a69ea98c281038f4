/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h: the StackPolicies that there are, made ready to be put to Stacks, and the clusters
 * that they are put to. */
#ifndef HERD_CONTROLLER_POLICIES_H
#define HERD_CONTROLLER_POLICIES_H

#include "controller/clusters/clusters.h"
#include "io/log.h"
#include "runtime/client.h"
#include "stack/policy/policy_set.h"
#include "stack/policy/policy_status.h"

struct policies;

/* All borrowed. */
struct policies_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    uint64_t seed;
    void (*changed)(void *context); /* Stacks are to be validated anew */
    /* Something about one: it came, changed or went, or its status did. */
    void (*one_changed)(void *context, struct str policy);
    void *context;
};

/* Follows them from now on. */
struct policies *policies_create(const struct policies_options *options);
/* Before the client. */
void policies_free(struct policies *policies);
AUTO_DEFINE(policies_free, struct policies *)

/* Where Stacks go; borrowed. Before the first event. */
void policies_use_clusters(struct policies *policies, const struct clusters *clusters);
/* A cluster came, changed or went, or the clusters were listed for the first time. */
void policies_clusters_changed(struct policies *policies);

/* Policies that changed a moment ago count from now on; says `changed` if there are any. Before
 * anything is begun by them: their changes are otherwise gathered. */
void policies_settle(struct policies *policies);
/* Borrowed until the next `changed`; NULL: they were not read yet, or some depend on clusters and
 * these were not. Where the API server has no such kind there are none. */
struct policy_set *policies_set(const struct policies *policies);
/* The clusters, if a policy depends on them; else none is known. Borrowed likewise. */
const struct facts *policies_facts(struct policies *policies);

/* A policy as it was read, and its stored status (or absent). False: there is no such one, or it
 * was not read yet. Counts of Stacks are left alone. */
bool policies_status(const struct policies *policies, struct arena *arena, struct str policy,
                     struct policy_status *ret_status, struct json *ret_stored);

#endif
