/* SPDX-License-Identifier: Apache-2.0 */
/* event.h: core/v1 Events about an object, made and aggregated.
 *
 * Equal events (object, type, reason, message) become one with a count. Each object has one budget
 * for each type (Normal, Warning) and each kind below: LIMIT_EVENTS_PER_OBJECT at once and then one
 * every 5 minutes, as in client-go's spam filter. No budget is spent on Events of another. */
#ifndef HERD_KUBE_EVENT_H
#define HERD_KUBE_EVENT_H

#include "base/list.h"
#include "kube/meta.h"
#include "kube/resource.h"

enum kube_event_kind {
    EVENT_OUTCOME,   /* something happened */
    EVENT_PROGRESS,  /* something has begun, or is being waited for */
    EVENT_MILESTONE, /* the object as a whole reached another state */
};

struct kube_event {
    struct kube_resource resource; /* of the object it is about */
    struct str namespace_;
    struct str name;
    struct str uid;
    struct str resource_version;
    bool warning; /* type Warning, else Normal */
    struct str reason;
    struct str message;
    struct str annotation_key, annotation; /* "" = it has none */
    enum kube_event_kind kind;
};
LIST_DEFINE(kube_events, struct kube_event)

struct kube_event_log; /* remembers what was sent, to count repetitions; an object on the heap */

struct kube_event_log *kube_event_log_create(struct str component, struct str instance);
void kube_event_log_free(struct kube_event_log *log);

enum kube_event_effect { EVENT_DROP, EVENT_CREATE, EVENT_PATCH };

/* What to send: a whole Event to create, or a merge patch {count, lastTimestamp, message} and
 * the annotation for the Event `ret_name`. */
enum kube_event_effect kube_event_step(struct kube_event_log *log, const struct kube_event *event,
                                       int64_t now_wall_ms, struct arena *arena,
                                       struct str *ret_name, struct str *ret_body);
/* How many Events were dropped so far. */
uint64_t kube_event_dropped(const struct kube_event_log *log);
/* The Event that was sent under `name` is not there any more (a server drops Events after an hour):
 * its next repetition is created anew. */
void kube_event_forget(struct kube_event_log *log, struct str name);

#endif
