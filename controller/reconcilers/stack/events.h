/* SPDX-License-Identifier: Apache-2.0 */
/* events.h: what happened to a Stack between two statuses, as Events for people. Pure. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_EVENTS_H
#define HERD_CONTROLLER_RECONCILERS_STACK_EVENTS_H

#include "kube/event.h"
#include "stack/plan/plan.h"

/* `before` as it was stored, `after` as `plan` made it; both borrowed, as is what they borrow.
 *
 * First the releases: changes that read the same are one Event, which names charts and clusters,
 * so twenty clusters that begin to install a chart are one; and of each reason there are few at a
 * time. Then clusters that were left with releases on them, what holds the Stack, and its phase. */
struct kube_events stack_events(struct arena *arena, const struct stack *stack,
                                struct str resource_version, const struct stack_status *before,
                                const struct stack_status *after, const struct plan *plan);

#endif
