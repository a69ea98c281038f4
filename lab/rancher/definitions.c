/* SPDX-License-Identifier: Apache-2.0 */
/* definitions.c: the kinds that Rancher defines. Schemas keep what they do not name, as Rancher's
 * own do; columns are those that its `kubectl get` shows. */
#include "lab/rancher/objects.h"

#define DEFINITION(group, plural, singular, kind, scope, version, columns)                         \
    "apiVersion: apiextensions.k8s.io/v1\n"                                                        \
    "kind: CustomResourceDefinition\n"                                                             \
    "metadata:\n"                                                                                  \
    "  name: " plural "." group "\n"                                                               \
    "spec:\n"                                                                                      \
    "  group: " group "\n"                                                                         \
    "  scope: " scope "\n"                                                                         \
    "  names: {plural: " plural ", singular: " singular ", kind: " kind ", listKind: " kind        \
    "List}\n"                                                                                      \
    "  versions:\n"                                                                                \
    "  - name: " version "\n"                                                                      \
    "    served: true\n"                                                                           \
    "    storage: true\n"                                                                          \
    "    subresources: {status: {}}\n"                                                             \
    "    schema:\n"                                                                                \
    "      openAPIV3Schema:\n"                                                                     \
    "        type: object\n"                                                                       \
    "        properties:\n"                                                                        \
    "          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"                 \
    "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"               \
    "    additionalPrinterColumns:\n" columns

#define COLUMN(name, type, path) "    - {name: " name ", type: " type ", jsonPath: '" path "'}\n"
#define AGE COLUMN("Age", "date", ".metadata.creationTimestamp")

const char *const definitions_local[] = {
    DEFINITION("management.cattle.io", "clusters", "cluster", "Cluster", "Cluster", "v3",
               COLUMN("Display Name", "string", ".spec.displayName")
                   COLUMN("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status")
                       COLUMN("Connected", "string",
                              ".status.conditions[?(@.type==\"Connected\")].status") AGE),
    DEFINITION("management.cattle.io", "nodes", "node", "Node", "Namespaced", "v3",
               COLUMN("Node Name", "string", ".status.nodeName") AGE),
    NULL,
};

const char *const definitions_everywhere[] = {
    DEFINITION("catalog.cattle.io", "clusterrepos", "clusterrepo", "ClusterRepo", "Cluster", "v1",
               COLUMN("URL", "string", ".spec.url")
                   COLUMN("Downloaded", "string",
                          ".status.conditions[?(@.type==\"Downloaded\")].status") AGE),
    DEFINITION("catalog.cattle.io", "apps", "app", "App", "Namespaced", "v1",
               COLUMN("Chart", "string", ".spec.chart.metadata.name")
                   COLUMN("Version", "string", ".spec.chart.metadata.version")
                       COLUMN("Revision", "integer", ".spec.version")
                           COLUMN("State", "string", ".status.summary.state") AGE),
    DEFINITION("catalog.cattle.io", "operations", "operation", "Operation", "Namespaced", "v1",
               COLUMN("Action", "string", ".status.action")
                   COLUMN("Release", "string", ".status.releaseName")
                       COLUMN("Pod Created", "boolean", ".status.podCreated") AGE),
    NULL,
};

const char *const definitions_monitoring[] = {
    DEFINITION(
        "monitoring.coreos.com", "prometheuses", "prometheus", "Prometheus", "Namespaced", "v1",
        COLUMN("Version", "string", ".spec.version") COLUMN("Desired", "integer", ".spec.replicas")
            COLUMN("Available", "string", ".status.conditions[?(@.type==\"Available\")].status")
                AGE),
    DEFINITION("monitoring.coreos.com", "prometheusrules", "prometheusrule", "PrometheusRule",
               "Namespaced", "v1", AGE),
    DEFINITION("monitoring.coreos.com", "podmonitors", "podmonitor", "PodMonitor", "Namespaced",
               "v1", AGE),
    DEFINITION("monitoring.coreos.com", "servicemonitors", "servicemonitor", "ServiceMonitor",
               "Namespaced", "v1", AGE),
    NULL,
};
