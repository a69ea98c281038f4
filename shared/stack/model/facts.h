/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h: what validation may know of the world beside the Stack itself. A value; unknown is
 * absent, and nothing is ever concluded from absence. */
#ifndef HERD_STACK_FACTS_H
#define HERD_STACK_FACTS_H

#include "base/list.h"
#include "text/json.h"

struct inventory;

/* Rancher's name for the cluster that it runs on itself. */
#define LOCAL_CLUSTER STR("local")

struct fact_cluster {
    struct str id;
    struct str display_name;
    struct json labels;
    bool ready;
    bool internal;                     /* Rancher's own: no selector picks it */
    const struct inventory *inventory; /* what it has; NULL = nobody knows */
};
LIST_DEFINE(fact_clusters, struct fact_cluster)

/* A Stack and all that it claims, as claims_pack (claims.h) wrote it. */
struct fact_claimant {
    struct str namespace_, name;
    struct str packed;
};
LIST_DEFINE(fact_claimants, struct fact_claimant)

/* Another Stack, as far as it is known. */
struct fact_stack {
    bool known;                 /* false: it is taken to exist, and the rest is empty */
    struct str_list depends_on; /* names that may be invalid */
    uint32_t provides;          /* vendors of GPUs, as bits (gpu_provided_by in gpu_demand.h) */
};

/* What is known of the Stacks that there are. Asked for by name and by release: few Stacks name
 * others or claim what others do. Answers live as long as the arena. */
struct fact_stacks {
    /* True if the Stack exists. NULL: nothing may be said of Stacks. */
    bool (*get)(void *context, struct arena *arena, struct str namespace_, struct str name,
                struct fact_stack *ret_stack);
    /* The Stacks that may claim "namespace/releaseName": those that choose clusters by a selector,
     * and those that name one of `cluster_ids`; in any order, one perhaps twice, one perhaps in
     * vain. False: there are more than LIMIT_CLAIMANTS, and these are some of them. NULL: nothing
     * may be said. */
    bool (*claimants)(void *context, struct arena *arena, struct str release,
                      const struct str_list *cluster_ids, struct fact_claimants *ret_claimants);
    void *context;
};

/* What a user may do (access.h). */
enum access_verb {
    ACCESS_DEPLOY,         /* to `cluster` ("" = every one), or to `namespace_` of it ("" = all) */
    ACCESS_GET_CONFIG_MAP, /* `name` ("" = every one) of `namespace_` */
    ACCESS_GET_SECRET,
};
struct access_question {
    struct str cluster;
    struct str namespace_;
    struct str name;
    enum access_verb verb;
};
LIST_DEFINE(access_questions, struct access_question)

enum access_answer { ACCESS_UNKNOWN, ACCESS_NO, ACCESS_YES };
struct access_user;

/* The one question that is not answered from memory. */
struct fact_access {
    /* Answer all, by the deadline that whoever gives this has set for the whole validation; of what
     * is UNKNOWN then, `ret_why` says why. NULL: nobody can be asked, and nobody is rejected. */
    void (*ask)(void *context, struct arena *arena, const struct access_user *user,
                const struct access_questions *questions, enum access_answer *ret_answers,
                struct str *ret_why);
    void *context;
};

struct policy_set;
struct repo_hosts;

struct facts {
    /* Of a stored Stack: it does not become invalid because of the clusters that there are by now.
     * They are for the policies alone, as long as comparing them is not too much work. */
    bool stored;
    bool clusters_known; /* false: nothing may be said of clusters */
    struct fact_clusters clusters;
    bool inventories_kept; /* somebody writes inventories: that one lacks means something */
    struct fact_stacks stacks;
    const struct policy_set *policies; /* put to Stacks; NULL = none */
    bool policies_pending; /* there may be some that were not read yet: nobody may be let pass */
    struct fact_access access;
    bool names_all_stacks;   /* whoever is told may read the Stacks of every namespace */
    bool plain_http_allowed; /* chart repositories over http:// (configuration) */
    const struct repo_hosts *repo_hosts_allowed; /* although reserved (likewise); NULL = none */
};

/* The id that was perhaps meant: by id, or by the name that people see in Rancher and write by
 * mistake; "" if none is near. */
struct str facts_nearest_cluster(const struct facts *facts, struct str id);

/* Whether a finding about a Stack in `own_namespace` may name one in `namespace_`. Reviews are
 * asked for by anybody who may write a Stack, a dry run suffices, and the right to that tells
 * nothing of the right to read other namespaces: what is there they must not learn from us. */
bool facts_may_name(const struct facts *facts, struct str own_namespace, struct str namespace_);

#endif
