/* SPDX-License-Identifier: Apache-2.0 */
/* pod_shortage.h: why a StatefulSet or a Job has fewer pods than it wants.
 *
 * The status of these kinds says that pods are missing, and not why, such as that a quota is
 * exceeded: their controllers tell that in Events, with reason FailedCreate. So the Events about
 * one that lacks pods are listed: LIMIT_SHORTAGE_GRACE after it began to lack them, because most
 * come within that, or at once if it did when it was first looked at, such as by a new leader; then
 * every LIMIT_SHORTAGE_PAUSE while pods are missing. Pure. */
#ifndef HERD_KUBE_POD_SHORTAGE_H
#define HERD_KUBE_POD_SHORTAGE_H

#include "kube/request.h"
#include "text/json.h"

/* A kind whose status does not say why pods are missing. */
bool kube_tells_in_events(const struct kube_resource *resource);
/* By its status: it is of such a kind, and has fewer pods than its spec wants. */
bool kube_lacks_pods(struct json object);

/* The list of the Events about one object. In the arena. */
struct kube_request kube_shortage_request(struct arena *arena, const struct kube_resource *resource,
                                          struct str namespace_, struct str name);
/* Why no pod could be made since the last one that was, by the body of that list; "" = it does not
 * say. Sanitized, at most 512 bytes. In the arena. */
struct str kube_shortage_cause(struct arena *arena, struct str body);

/* Owners, and whether their children lack pods; an object on the heap. */
struct pod_shortages;

struct pod_shortages *pod_shortages_create(void);
void pod_shortages_free(struct pod_shortages *shortages);
/* An owner was looked at, and a child of it lacks pods, or none does. True: list the Events now.
 * `ret_again_ms`: look at it again after that; -1: only if something changes. */
bool pod_shortages_step(struct pod_shortages *shortages, struct str owner, bool lacks,
                        int64_t now_ms, int64_t *ret_again_ms);
/* What the Events say; copied. */
void pod_shortages_set(struct pod_shortages *shortages, struct str owner, struct str cause);
/* The last of that while pods are missing; "" = nothing. Borrowed until the next step or set. */
struct str pod_shortages_cause(const struct pod_shortages *shortages, struct str owner);
void pod_shortages_forget(struct pod_shortages *shortages, struct str owner);

#endif
