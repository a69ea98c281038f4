/* SPDX-License-Identifier: Apache-2.0 */
/* preview.h: what a change of a Stack will do, in a few lines for its author.
 *
 * kubectl shows them as warnings, and an ordinary change warns of nothing. So a real change is told
 * only what it removes: clusters that it leaves, charts that go or move, and that a large removal
 * waits to be confirmed. Whoever asks for a dry run asks what would happen, and is told all: each
 * change with its clusters, the order of charts, the waves, what it waits for, and what is not
 * known.
 *
 * It is compared with what the stored Stack's status says of the clusters (preview_parts.h), not
 * with the spec before. It is no run of the planner: plans say which release is upgraded, not what
 * about it is another, and one Stack on 1,000 clusters takes sixteen of them. What waves, graph and
 * maxRemovals mean is the planner's own (stack/plan/rollout.h, stack/targets/chart_graph.h).
 *
 * A preview that would take too long is cut to clusters (LIMIT_PREVIEW_STEPS): it is no reason for
 * rejecting a Stack. What another Stack claims, too, is not promised: it is installed where its
 * release is free.
 *
 * Pure; the lines are in the arena. Each is made to be read within admission_warn's 256 bytes:
 * lists are cut and the rest of them counted. */
#ifndef HERD_STACK_PREVIEW_H
#define HERD_STACK_PREVIEW_H

#include "stack/targets/resolved_targets.h"
#include "stack/model/stack.h"

/* `stack` is defaulted, and `chosen` where it goes; `old_object` is what is stored, with its
 * status, absent on a create. `full`: for a dry run. */
struct str_list stack_preview(struct arena *arena, const struct stack *stack,
                              const struct resolved_targets *chosen, struct json old_object,
                              const struct facts *facts, bool full);

#endif
