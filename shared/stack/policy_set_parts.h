/* policy_set_parts.h: what a set of policies is made of. Internal to policy_set.c and
 * policy_judge.c. */
#ifndef HERD_STACK_POLICY_SET_PARTS_H
#define HERD_STACK_POLICY_SET_PARTS_H

#include "stack/policy_check.h"
#include "stack/policy_set.h"

#include <stdatomic.h>

struct ready_policy {
    struct str name;
    const struct policy *policy;
    enum severity severity;
    struct policy_checks checks;  /* one for each rule, in order */
    struct str_list rule_names;   /* "policy/NAME/RULE" */
    struct selector selector;     /* of match */
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
    struct ready_policies policies; /* by name */
    struct path_groups groups;
    struct check_refs others; /* requiredChart, requiredDependency */
    struct str digest;
};

#endif
