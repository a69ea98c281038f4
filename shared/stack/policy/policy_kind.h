/* SPDX-License-Identifier: Apache-2.0 */
/* policy_kind.h: the kinds of objects that policies apply to, by number: Stacks, then the kinds of
 * workloads in the order of workload_kinds.def. */
#ifndef HERD_STACK_POLICY_KIND_H
#define HERD_STACK_POLICY_KIND_H

#include "workload/workload_object.h"

enum { POLICY_KIND_STACK, POLICY_KIND_WORKLOADS };
enum { POLICY_KIND_COUNT = POLICY_KIND_WORKLOADS + WORKLOAD_KIND_COUNT };

static inline unsigned policy_kind_of_workload(const struct workload_kind *kind)
{
    unsigned number = 0;

    while (workload_kinds[number] != kind)
        number++;
    return POLICY_KIND_WORKLOADS + number;
}

static inline struct str policy_kind_name(unsigned number)
{
    return number == POLICY_KIND_STACK
               ? stack_resource.kind
               : workload_kinds[number - POLICY_KIND_WORKLOADS]->kind.resource.kind;
}

static inline const struct field_table *policy_kind_fields(unsigned number)
{
    return number == POLICY_KIND_STACK ? &fields_of_stack_spec
                                       : workload_kinds[number - POLICY_KIND_WORKLOADS]->spec;
}

#endif
