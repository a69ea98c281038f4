/* SPDX-License-Identifier: Apache-2.0 */
/* dependency_tracker.h: who wants to hear of what.
 *
 * A holder is a Stack's key; a tracked object is a thing that may change: a cluster, a release, a
 * ConfigMap. Each reconcile says anew what its Stack is interested in. A tracked object lives as
 * long as somebody holds it; its first holder opens it and its last one closes it, which is what
 * starts and ends informers. */
#ifndef HERD_CONTROLLER_DEPENDENCY_TRACKER_H
#define HERD_CONTROLLER_DEPENDENCY_TRACKER_H

#include "base/cleanup.h"
#include "base/list.h"

enum tracked_kind {
    TRACKED_CLUSTER,    /* id: everything about a cluster that is not one release's */
    TRACKED_RELEASE,    /* namespace/name, on any cluster */
    TRACKED_STACK,      /* namespace/name of a Stack that others wait for */
    TRACKED_CONFIG_MAP, /* namespace/name */
    TRACKED_SECRET,     /* namespace/name */
    TRACKED_KIND_COUNT
};

struct tracked {
    enum tracked_kind kind;
    struct str name;
};
LIST_DEFINE(tracked_objects, struct tracked)

struct dependency_tracker;

struct dependency_tracker_options {
    void (*opened)(void *context, enum tracked_kind kind, struct str name);
    void (*closed)(void *context, enum tracked_kind kind, struct str name);
    void *context;
};

struct dependency_tracker *
dependency_tracker_create(const struct dependency_tracker_options *options);
/* Nothing is closed by it: whoever frees the tracker frees what they opened, too. */
void dependency_tracker_free(struct dependency_tracker *tracker);
AUTO_DEFINE(dependency_tracker_free, struct dependency_tracker *)

/* From now on `holder` wants exactly `wanted`; repetitions do not count. What is new is opened
 * before what is left is closed. */
void dependency_tracker_set(struct dependency_tracker *tracker, struct str holder,
                            const struct tracked_objects *wanted);
/* `holder` is no more. */
void dependency_tracker_forget(struct dependency_tracker *tracker, struct str holder);

/* Call `told(context, holder)` for each holder. It may not change tracker. */
void dependency_tracker_visit(const struct dependency_tracker *tracker, enum tracked_kind kind,
                              struct str name, void (*told)(void *context, struct str holder),
                              void *context);

size_t dependency_tracker_holders(const struct dependency_tracker *tracker);
size_t dependency_tracker_count(const struct dependency_tracker *tracker);

#endif
