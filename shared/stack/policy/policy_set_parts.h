/* SPDX-License-Identifier: Apache-2.0 */
/* policy_set_parts.h: what a set of policies is made of. Internal to policy_set.c and
 * policy_evaluate.c. */
#ifndef HERD_STACK_POLICY_SET_PARTS_H
#define HERD_STACK_POLICY_SET_PARTS_H

#include "stack/policy/policy_check.h"
#include "stack/policy/policy_set.h"

#include <stdatomic.h>

struct ready_policy {
    struct str name;
    const struct policy *policy;
    enum severity severity;
    struct policy_checks checks; /* one for each rule, in order */
    struct str_list rule_names;  /* "policy/NAME/RULE" */
    struct selector selector;    /* of match */
    struct selector clusters;    /* match.clusterSelector */
    uint32_t clusters_number;    /* policies that select the same clusters have the same */
};
LIST_DEFINE(ready_policies, struct ready_policy)

struct check_ref {
    uint32_t policy, rule;
    const struct policy_check *check;
};
LIST_DEFINE(check_refs, struct check_ref)

/* All rules that look at one field. */
struct path_group {
    struct str field;
    const struct policy_path *path;
    struct check_refs checks;
};
LIST_DEFINE(path_groups, struct path_group)

struct policy_set {
    atomic_uint references;
    struct arena *arena;
    struct ready_policies policies;               /* by name */
    uint32_t clusters_count;                      /* of different selectors of clusters */
    struct path_groups groups[POLICY_KIND_COUNT]; /* by kind */
    struct check_refs others;                     /* requiredChart, requiredDependency */
};

#endif
