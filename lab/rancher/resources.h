/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h: the collections that the simulation reads and writes. */
#ifndef HERD_LAB_RANCHER_RESOURCES_H
#define HERD_LAB_RANCHER_RESOURCES_H

#include "kube/resource.h"

#define RESOURCE(name, group, version, plural, kind, namespaced)                                   \
    static const struct kube_resource name __attribute__((unused)) =                               \
        KUBE_RESOURCE_INIT(group, version, plural, kind, namespaced)

RESOURCE(res_clusters, "management.cattle.io", "v3", "clusters", "Cluster", false);
RESOURCE(res_machines, "management.cattle.io", "v3", "nodes", "Node", true);
RESOURCE(res_repos, "catalog.cattle.io", "v1", "clusterrepos", "ClusterRepo", false);
RESOURCE(res_apps, "catalog.cattle.io", "v1", "apps", "App", true);
RESOURCE(res_operations, "catalog.cattle.io", "v1", "operations", "Operation", true);
RESOURCE(res_namespaces, "", "v1", "namespaces", "Namespace", false);
RESOURCE(res_secrets, "", "v1", "secrets", "Secret", true);
RESOURCE(res_configmaps, "", "v1", "configmaps", "ConfigMap", true);
RESOURCE(res_pods, "", "v1", "pods", "Pod", true);
RESOURCE(res_nodes, "", "v1", "nodes", "Node", false);
RESOURCE(res_replicasets, "apps", "v1", "replicasets", "ReplicaSet", true);
RESOURCE(res_prometheuses, "monitoring.coreos.com", "v1", "prometheuses", "Prometheus", true);
RESOURCE(res_prometheus_rules, "monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule",
         true);
RESOURCE(res_service_monitors, "monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor",
         true);
RESOURCE(res_pod_monitors, "monitoring.coreos.com", "v1", "podmonitors", "PodMonitor", true);
RESOURCE(res_services, "", "v1", "services", "Service", true);
RESOURCE(res_deployments, "apps", "v1", "deployments", "Deployment", true);
RESOURCE(res_stateful_sets, "apps", "v1", "statefulsets", "StatefulSet", true);
RESOURCE(res_jobs, "batch", "v1", "jobs", "Job", true);

#undef RESOURCE

/* The management cluster, and the namespace in which Rancher keeps its own things. */
#define LOCAL_CLUSTER STR("local")
#define SYSTEM_NAMESPACE STR("cattle-system")

#endif
