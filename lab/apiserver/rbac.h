/* SPDX-License-Identifier: Apache-2.0 */
/* rbac.h: roles and bindings as a question: may this user do that, and what may they do at all?
 *
 * Pure: a policy is built from the stored objects of rbac.authorization.k8s.io/v1 and asked. It
 * lives in an arena and borrows nothing. Rights only add up; nothing forbids. Source:
 * k8s.io/kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go, pkg/registry/rbac/validation (rules
 * and escalation), plugin/pkg/auth/authorizer/rbac. */
#ifndef HERD_LAB_APISERVER_RBAC_H
#define HERD_LAB_APISERVER_RBAC_H

#include "base/list.h"
#include "text/json.h"

struct rbac_rule {
    struct str_list verbs, groups, resources, names; /* on resources; no names: all objects */
    struct str_list paths;                           /* or on paths that are no resources */
};

LIST_DEFINE(rbac_rules, struct rbac_rule)

/* A verb on a resource, or on a path when there is no resource. */
struct access {
    struct str verb, group, version, resource, sub_resource, name, namespace_, path;
};

struct rbac_user {
    struct str name;
    struct str_list groups;
};

struct rbac_policy;

struct rbac_policy *rbac_policy_new(struct arena *arena);
/* Take in a Role, ClusterRole, RoleBinding or ClusterRoleBinding, as JSON;
 * others are passed over. */
void rbac_policy_add(struct rbac_policy *policy, struct json object);

/* `rules` of a role's JSON. */
struct rbac_rules rbac_rules_read(struct arena *arena, struct json rules);
bool rbac_rule_allows(const struct rbac_rule *rule, const struct access *access);

/* ret_why: which binding allows it; or, where it is not allowed, which roles of the user's
 * bindings there are not, "" if none. */
bool rbac_allows(const struct rbac_policy *policy, struct arena *arena,
                 const struct rbac_user *user, const struct access *access, struct str *ret_why);
/* All rules that hold for the user in a namespace ("": only what holds in the whole cluster). */
struct rbac_rules rbac_rules_of(const struct rbac_policy *policy, struct arena *arena,
                                const struct rbac_user *user, struct str namespace_);
/* A role's rules; namespace "" for a ClusterRole. False: there is no such role. */
bool rbac_role(const struct rbac_policy *policy, struct str namespace_, struct str name,
               struct rbac_rules *ret_rules);

/* Which of `wanted` do the rules in `held` not give? In the API server's form, a line each,
 * sorted. */
struct str_list rbac_missing(struct arena *arena, const struct rbac_rules *held,
                             const struct rbac_rules *wanted);

#endif
