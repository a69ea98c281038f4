/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h: a StackPolicy (herd.suse.com/v1) as a value: what a platform team asks of Stacks
 * and of workloads.
 *
 * Cluster-scoped. Decoded by the table policy_fields.def; what is wrong with it goes to problems as
 * with a Stack, so a policy that could never work is rejected when it is applied. How policies are
 * put to Stacks: policy_set.h. */
#ifndef HERD_STACK_POLICY_H
#define HERD_STACK_POLICY_H

#include "base/problem.h"
#include "stack/model/verdict.h"

extern const struct kube_resource policy_resource;

enum policy_action {
    POLICY_ACTION_UNSET,
    POLICY_ACTION_DENY,
    POLICY_ACTION_WARN,
    POLICY_ACTION_AUDIT
};
enum policy_presence { POLICY_PRESENCE_UNSET, POLICY_PRESENCE_REQUIRED, POLICY_PRESENCE_FORBIDDEN };

struct policy_match {
    uint64_t given;
    struct str_list kinds;
    struct str_list env;
    struct str_list namespaces;
    struct str_list exclude_namespaces;
    struct label_selector selector;
    struct label_selector cluster_selector;
};

struct policy_rule {
    uint64_t given;
    struct str name;
    struct str field; /* policy_path.h */
    struct str_list charts;
    struct str pattern;
    struct str not_pattern;
    struct str_list allow;
    struct str_list deny;
    struct str minimum;
    struct str maximum;
    enum policy_presence presence;
    struct str required_chart;
    struct str required_dependency;
    struct str message;
    struct str remedy;
};
LIST_DEFINE(policy_rules, struct policy_rule)

struct policy_spec {
    uint64_t given;
    struct str description;
    enum policy_action action;
    struct policy_match match;
    struct policy_rules rules;
};

struct policy {
    struct kube_meta meta;
    struct policy_spec spec;
    struct json spec_json; /* as it came */
    unsigned kinds;        /* that it is about, as bits (policy_kind.h) */
};

/* Always gives a policy, in the arena; what is wrong with it (types, words, bounds; fields,
 * patterns and amounts that cannot be; rules that ask for nothing) goes to `problems`. One with a
 * problem that denies is never put to a Stack. */
const struct policy *policy_decode(struct arena *arena, struct json object,
                                   struct problems *problems);

/* What is kept of a stored one between validations: all but its metadata, and its name. */
void policy_keep(struct json object, struct strbuf *kept);

/* The validation on an admission of a policy. `old_object` is the stored one on an update, else
 * absent: an update that leaves the spec as it was is never rejected. */
struct verdict policy_admit(struct arena *arena, struct json object, struct json old_object);

#endif
