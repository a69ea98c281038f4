/* SPDX-License-Identifier: Apache-2.0 */
/* monitoring_objects.h: what Herd adds to the monitoring of a cluster: the alert rules of a release
 * (alerts.yaml), monitors by which its pods are scraped, how they are traced, and dashboards
 * (dashboards/). Pure.
 *
 * The PrometheusRule and the monitors of a release are owned by the release's App: when that goes,
 * the cluster's garbage collector removes them, whatever becomes of Herd. A dashboard is there once
 * for all Stacks of a cluster that want it, since Grafana knows each uid once. */
#ifndef HERD_STACK_MONITORING_OBJECTS_H
#define HERD_STACK_MONITORING_OBJECTS_H

#include "stack/model/stack.h"

/* On all of them. */
#define MONITORING_SELECTOR "app.kubernetes.io/managed-by=Herd"
#define MONITORING_STACK "herd.suse.com/stack"  /* annotation of a rule: namespace/name */
#define MONITORING_RULE_PREFIX "herd-"          /* of monitors, too */
#define MONITORING_RELEASE_LABEL "herd_release" /* of all series that Herd's monitors bring */
/* The labels of a monitor: also what the agent of SUSE Observability selects by. */
#define MONITORING_MONITOR_LABELS                                                                  \
    "{\"app.kubernetes.io/managed-by\":\"Herd\",\"observability.suse.com/agent\":\"scrape\"}"
#define MONITORING_RULE_LABELS "{\"app.kubernetes.io/managed-by\":\"Herd\"}"
#define MONITORING_DASHBOARD_PREFIX "herd-dashboard-"

struct monitored_release {
    struct str stack; /* namespace/name */
    struct str namespace_;
    struct str name;
    struct str app_uid;
    struct str workloads; /* observed_release.workloads */
};

LIST_DEFINE(monitored_releases, struct monitored_release)

/* The PrometheusRule as JSON, with these labels, a JSON object. */
struct str monitoring_rule(struct arena *arena, const struct monitored_release *release,
                           struct json labels);

enum monitor_kind { MONITOR_SERVICE, MONITOR_POD, MONITOR_KINDS };
/* Where pods have their metrics. */
struct monitor_endpoint {
    struct str namespace_;
    struct str service; /* of a ServiceMonitor: its name */
    struct str pods;    /* of a PodMonitor: a pattern of their names */
    struct str port;    /* by name, or else */
    uint16_t number;    /* by number */
    struct str path;
    struct str scheme; /* "" = http */
};
LIST_DEFINE(monitor_endpoints, struct monitor_endpoint)
/* The ServiceMonitor or PodMonitor as JSON; it stamps Stack and release on all series. */
struct str monitoring_monitor(struct arena *arena, enum monitor_kind kind,
                              const struct monitored_release *release, struct json labels,
                              const struct monitor_endpoints *endpoints, int64_t interval_ms);

/* The ConfigMap with a dashboard for Grafana's sidecar; "" if Herd has none of that uid. */
struct str monitoring_dashboard(struct arena *arena, struct str uid, struct str namespace_);
/* Names of pods, as a regular expression that is anchored where it is used. */
struct str monitoring_pods_pattern(struct arena *arena, struct str workloads);

/* How pods that opt in are traced, in the namespace of these releases of one Stack, which own it:
 * an Instrumentation of the OpenTelemetry operator, as JSON. `endpoint` takes OTLP over HTTP. */
struct str monitoring_instrumentation(struct arena *arena,
                                      const struct monitored_releases *releases,
                                      struct str endpoint, struct str sampling_ratio);
/* Its name. A Stack's namespace has no dot, so no two Stacks share one. */
struct str monitoring_instrumentation_name(struct arena *arena, struct str stack);
/* Of their namespaces. */
struct str monitoring_namespaces_pattern(struct arena *arena,
                                         const struct monitored_release *release);

/* Whether `stored` is as `wanted` says: its contents, its owners and its labels; more may be there.
 */
bool monitoring_is_as_wanted(struct json stored, struct json wanted);

#endif
