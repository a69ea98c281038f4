/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: what clusters and Prometheus are asked, and what their answers say. Pure
 * (docs/protocols/observability.md).
 *
 * One query asks for `up` and for the GPUs of all wanted namespaces of a cluster: its answer is a
 * list of samples, each of a pod. Which release a pod belongs to, its name says: pods are named
 * after their workload, and of each release the workloads are known. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WIRE_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WIRE_H

#include "base/map.h"
#include "controller/backends/observability/selection.h"
#include "stack/model/observed.h"
#include "stack/observability/monitoring_objects.h"

/* The agent of SUSE Observability. */
struct wire_agent {
    bool runs;
    struct str cluster_name; /* what its server calls the cluster; "" = it does not say */
};
/* From a DeploymentList of what has its label. */
int wire_agent_read(struct arena *arena, struct str body, struct wire_agent *ret,
                    struct error *err);
extern const struct str wire_agent_path;

/* A Prometheus object. */
struct wire_prometheus {
    struct str namespace_;
    struct str name; /* "" = none is Available */
    struct selection rules;
    struct selection monitors[MONITOR_KINDS];
};
/* From a PrometheusList: that of rancher-monitoring first, else the first by namespace and name. */
int wire_prometheus_read(struct arena *arena, struct str body, struct wire_prometheus *ret,
                         struct error *err);
extern const struct str wire_prometheus_path;
/* Where the sidecar of the Grafana beside it looks for dashboards. */
struct str wire_dashboards_namespace(const struct wire_prometheus *prometheus);

struct sample {
    struct str namespace_;
    struct str pod;
    struct str gpu; /* which one; "" = it is about whether the pod could be scraped */
    bool herds;     /* a monitor of Herd's made the target */
    double value;   /* of a GPU percent, else 1 or 0 */
};
LIST_DEFINE(samples, struct sample)

/* Samples by the names that the workload of their pod may have. */
struct sample_index {
    struct arena *arena;
    struct map *lists;  /* namespace/name -> struct sample_refs */
    struct str nothing; /* what is said of a release that has none */
};
struct sample_index sample_index_new(struct arena *arena, const struct samples *samples);

/* "/api/v1/query?..." for the pods of these namespaces. */
struct str wire_samples_path(struct arena *arena, const struct str_list *namespaces);
/* Of a GPU, from its labels: whose it is, or "" where nobody holds it, and which one. */
struct sample wire_gpu_sample(struct arena *arena, struct json metric, double value);
/* From the answer to that. Samples without a number or a pod are left out. */
int wire_samples_read(struct arena *arena, struct str body, struct samples *ret, struct error *err);

/* The alert rules that Prometheus has loaded, and no error with. */
struct wire_rules {
    struct str_list stacks;   /* namespace/name of whose each is */
    struct str_list releases; /* "namespace/name release" of those, each once */
};
extern const struct str wire_rules_path;
struct wire_rules wire_rules_new(struct arena *arena);
struct str wire_rules_release(struct arena *arena, struct str stack, struct str release);
int wire_rules_read(struct arena *arena, struct str body, struct wire_rules *ret,
                    struct error *err);

/* Whether `pod` is named as those of that workload are; `kind` as in workloads. */
bool wire_pod_is_of(struct str pod, struct str kind, struct str name);

/* What the samples say of a release with those workloads (observed_release.workloads): ACTIVE,
 * INACTIVE, or PENDING if there is no target at all. Its message is in the arena. */
struct observed_metrics wire_metrics_of(struct arena *arena, const struct sample_index *index,
                                        struct str namespace_, struct str workloads);
/* Whether one of its pods is a target that no monitor of Herd's made. */
bool wire_is_scraped(struct arena *arena, const struct sample_index *index, struct str namespace_,
                     struct str workloads);

#endif
