/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h: the Stacks and workloads of one input, as kubectl would send them, and what each Stack
 * knows of the others.
 *
 * What is not in the input may stand in the cluster all the same, so nothing is said of it.
 * Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_STACKS_H
#define HERD_WEBHOOK_OFFLINE_STACKS_H

#include "stack/model/facts.h"
#include "webhook/offline/input.h"
#include "webhook/offline/objects.h"

struct offline_stacks;

/* In the arena; the rest is borrowed. `namespace_`: of those that name none. They keep the
 * numbers that they have among all `objects`. */
struct offline_stacks *offline_stacks_new(struct arena *arena, const struct object_list *objects,
                                          const struct input_files *files, struct str namespace_);
/* A Stack or workload, with a namespace. */
struct json offline_stack_json(const struct offline_stacks *stacks, uint32_t number);
/* "" of what is neither. */
struct str offline_stack_namespace(const struct offline_stacks *stacks, uint32_t number);
/* What that object may know of the Stacks: until the next call. */
struct fact_stacks offline_stacks_facts(struct offline_stacks *stacks, uint32_t number);

#endif
