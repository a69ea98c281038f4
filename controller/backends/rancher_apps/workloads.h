/* SPDX-License-Identifier: Apache-2.0 */
/* workloads.h: whether what a release is made of runs: its Deployments, StatefulSets and
 * DaemonSets.
 *
 * An App says what the manifest of its release names (spec.resources), and Helm labels what it
 * makes, so workloads are followed by that label, and one that is missing is noticed. Pure. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_WORKLOADS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_WORKLOADS_H

#include "kube/object_status.h"
#include "kube/resource.h"
#include "stack/model/observed.h"

enum workload_kind { WORKLOAD_DEPLOYMENT, WORKLOAD_STATEFUL_SET, WORKLOAD_DAEMON_SET };
enum { WORKLOAD_KINDS = WORKLOAD_DAEMON_SET + 1 };

extern const struct kube_resource workload_resources[WORKLOAD_KINDS];
/* What Helm puts on all that it makes. */
#define WORKLOAD_SELECTOR "app.kubernetes.io/managed-by=Helm"

/* For informer_options.keep: how far it is, why, and whose it is; under 600 bytes. */
bool keep_workload(void *context, struct json workload, struct strbuf *kept);
struct kept_workload {
    struct str release; /* namespace/name of the release that Helm made it for; "" = of none */
    struct object_status status;
};
struct kept_workload kept_workload(struct str kept);

/* Of an App's spec.resources those that are workloads, as observed_release.workloads; at most
 * LIMIT_RELEASE_WORKLOADS. */
struct str workloads_of_app(struct arena *arena, struct json resources);

/* Whether such a text names a workload of that kind. */
bool workloads_have(struct str workloads, enum workload_kind kind);

/* As if kept of one that is as it should be. */
#define WORKLOAD_UNKNOWN STR("0")

/* The bytes that are kept of a workload, by one of workload_resources' kinds and namespace/name; ""
 * if there is none. */
typedef struct str find_workload(const void *context, struct str kind, struct str key);

/* Those of `workloads` that Helm says are of that release (namespace/name), as their own
 * annotations have it: an App's word alone would let whoever may edit it have others' workloads
 * looked at. Of a kind that is not listed yet: those of the release's own namespace. */
struct str workloads_owned(struct arena *arena, struct str workloads, struct str release,
                           find_workload *find, const void *context);

/* Of `workloads`, as workloads_of_app gives them: the first that is not as it should be, and how
 * many more. */
struct observed_health workloads_health(struct arena *arena, struct str workloads,
                                        find_workload *find, const void *context);

#endif
