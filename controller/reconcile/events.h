/* events.h: what happened to a Stack between two statuses, as Events for people. Pure. */
#ifndef HERD_CONTROLLER_RECONCILE_EVENTS_H
#define HERD_CONTROLLER_RECONCILE_EVENTS_H

#include "kube/event.h"
#include "stack/status.h"

LIST_DEFINE(kube_events, struct kube_event)

/* One Event for the phase if it changed, and one for each chart and kind of change, which names the
 * clusters: twenty clusters that begin to install a chart are one Event. In order of charts. */
struct kube_events stack_events(struct arena *arena, const struct stack *stack,
                                struct str resource_version, const struct stack_status *before,
                                const struct stack_status *after);

#endif
