/* SPDX-License-Identifier: Apache-2.0 */
/* targets_index.h: which Stacks may pick a cluster, or no longer, because its labels changed.
 *
 * With many Stacks and clusters that are labeled all the time, reading the targets of each Stack
 * for each change is most of what a controller does. So this finds the Stacks whose selector names
 * a label that changed. It gives too many rather than too few: whether the answer of a Stack is
 * another one, its targets say (kept_targets_pick). */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_TARGETS_INDEX_H
#define HERD_CONTROLLER_RECONCILERS_STACK_TARGETS_INDEX_H

#include "controller/clusters/clusters.h"

struct targets_index;

struct targets_index *targets_index_create(void);
void targets_index_free(struct targets_index *index);
AUTO_DEFINE(targets_index_free, struct targets_index *)

/* `targets` of the Stack `key`, as kept_stack_targets gives them; both are copied. What cannot be
 * read picks no cluster and is not indexed. */
void targets_index_add(struct targets_index *index, struct str key, struct str targets);
/* With the targets that were added. */
void targets_index_remove(struct targets_index *index, struct str key, struct str targets);

/* Each Stack once that may pick one of both and not the other; `before` or `after` is NULL if the
 * cluster came or went. `visit` does not change the index. */
void targets_index_visit(const struct targets_index *index, const struct listed_cluster *before,
                         const struct listed_cluster *after,
                         void (*visit)(void *context, struct str key), void *context);

#endif
