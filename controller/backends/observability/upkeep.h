/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.h: which objects Stacks want in the monitoring of a cluster, and what is to be changed so
 * that they are there. Pure.
 *
 * What has Herd's label is Herd's. Whatever else has the name of a wanted object stays as it is,
 * and the cluster's refusal to create that object is told. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_UPKEEP_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_UPKEEP_H

#include "base/set.h"
#include "kube/request.h"
#include "stack/observability/monitoring_objects.h"

struct upkeep_object {
    struct str namespace_;
    struct str name;
    struct str body;  /* JSON */
    struct str stack; /* namespace/name of whose it is; "" of a dashboard, which many share */
};
LIST_DEFINE(upkeep_objects, struct upkeep_object)

/* A release that is to be monitored. */
struct upkeep_release {
    struct monitored_release of;
    int64_t interval_ms;
    bool ready;
};
LIST_DEFINE(upkeep_releases, struct upkeep_release)

/* A release whose pods may be traced. */
struct upkeep_trace {
    struct monitored_release of;
    struct str sampling_ratio; /* decimal text */
    bool paused;               /* what is there for it stays as it is */
};
LIST_DEFINE(upkeep_traces, struct upkeep_trace)

/* Everything is in the arena. */
struct upkeep {
    struct upkeep_releases releases;
    struct upkeep_objects rules;
    struct upkeep_objects monitors[MONITOR_KINDS];
    struct set undecided; /* namespace/name of releases whose monitors stay as they are */
    struct upkeep_objects dashboards;
    struct upkeep_traces traces;
    struct upkeep_objects instrumentations; /* of those, once it is known where traces go */
    struct set stacks; /* namespace/name of those that say here what they want: what is
                           * theirs and they do not want is removed */
    struct str_list
        dropped;          /* names of dashboards that somebody wanted, and perhaps wants no more */
    struct str_list kept; /* names of dashboards of paused Stacks: they stay as they are */
};
struct upkeep upkeep_new(struct arena *arena);

struct upkeep_change {
    struct kube_request request;
    struct str stack; /* as that of its object */
};
LIST_DEFINE(upkeep_changes, struct upkeep_change)

extern const struct kube_resource upkeep_rules_resource;
extern const struct kube_resource upkeep_monitors_resources[MONITOR_KINDS];
extern const struct kube_resource upkeep_dashboards_resource;
extern const struct kube_resource upkeep_instrumentations_resource;
/* What to list; dashboards are looked for in one namespace. */
struct str upkeep_rules_path(struct arena *arena);
struct str upkeep_dashboards_path(struct arena *arena, struct str namespace_);
struct str upkeep_instrumentations_path(struct arena *arena);

/* Compare with such a list: what is to be created, patched or deleted is added to `changes`, and
 * names of what is as wanted to `in_place`, which may be NULL. */
int upkeep_rules(struct arena *arena, const struct upkeep *upkeep, struct str body,
                 struct upkeep_changes *changes, struct error *err);
/* Of this one the list may have those of others, too. */
int upkeep_monitors(struct arena *arena, const struct upkeep *upkeep, enum monitor_kind kind,
                    struct str body, struct upkeep_changes *changes, struct error *err);
int upkeep_dashboards(struct arena *arena, const struct upkeep *upkeep, struct str body,
                      struct upkeep_changes *changes, struct str_list *in_place, struct error *err);

int upkeep_instrumentations(struct arena *arena, const struct upkeep *upkeep, struct str body,
                            struct upkeep_changes *changes, struct error *err);
/* The names in such a list. */
int upkeep_names(struct arena *arena, struct str body, struct str_list *ret_names,
                 struct error *err);

/* Whether it has Herd's label. */
bool upkeep_is_herds(struct json stored);
/* namespace/name of the release that a monitor of Herd's is of. */
struct str upkeep_release_of(struct arena *arena, struct str namespace_, struct str name);
/* A document that a cluster answered with. */
int upkeep_read_json(struct arena *arena, struct str body, struct json *ret_root,
                     struct error *err);

#endif
