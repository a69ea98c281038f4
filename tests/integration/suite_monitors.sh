#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_monitors.sh: what Herd makes for monitoring on a cluster goes with the Stacks that it is there for; it makes
# ServiceMonitors for releases that nothing scrapes, as the Prometheus of their cluster selects them, and says what to do
# where it cannot.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
- {id: c-m-b, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
YAML
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
. tests/integration/monitoring.sh

row "a Stack that leaves a cluster leaves nothing there, while another Stack keeps Herd on it"
stack shop '{selector: {matchLabels: {env: lab}}}'
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"dashboards":["herd-gpu"]}}}'
eventually each_is shop web observabilityMetrics 'c-m-a=Active c-m-b=Active '
stack stays '{clusterIds: [c-m-b]}'
user k patch stack stays --type=merge -p '{"spec":{"observabilityProfile":{"dashboards":[]}}}'
eventually each_is stays web observabilityMetrics 'c-m-b=Active '
user k patch stack shop --type=merge -p '{"spec":{"targets":{"selector":null,"clusterIds":["c-m-a"]}}}'
eventually each_is shop web observabilityMetrics 'c-m-a=Active '
eventually gone c-m-b -n cattle-dashboards get configmap herd-dashboard-herd-gpu
eventually gone c-m-b -n shop get prometheusrule herd-shop-web
ok rule c-m-b herd-stays-web '{.metadata.name}'
ok dashboard c-m-a herd-gpu '{.metadata.name}'

row "and so does the last one that goes, of which nothing keeps Herd there"
user k patch stack stays --type=merge -p '{"spec":{"targets":{"clusterIds":["c-m-a"]},"observabilityProfile":{"dashboards":["ai-workloads"]}}}'
eventually each_is stays web observabilityMetrics 'c-m-a=Active '
eventually dashboard c-m-a ai-workloads '{.metadata.name}'
user k patch stack stays --type=merge -p '{"spec":{"targets":{"clusterIds":["c-m-b"]}}}'
eventually each_is stays web observabilityMetrics 'c-m-b=Active '
eventually dashboard c-m-b ai-workloads '{.metadata.name}'
user k patch stack stays --type=merge -p '{"spec":{"targets":{"clusterIds":["c-m-a"]}}}'
eventually gone c-m-b -n cattle-dashboards get configmap herd-dashboard-ai-workloads
eventually gone c-m-b -n shop get prometheusrule herd-stays-web

row "also where Herd was down when it was deleted"
user k patch stack stays --type=merge -p '{"spec":{"targets":{"clusterIds":["c-m-b"]}}}'
eventually each_is stays web observabilityMetrics 'c-m-b=Active '
eventually dashboard c-m-b ai-workloads '{.metadata.name}'
end controller
user k delete stack stays --wait=false
start_controller
stays_is_gone() { [ -z "$(k get stacks stays --ignore-not-found -o name)" ]; }
eventually stays_is_gone
ok gone c-m-b -n cattle-dashboards get configmap herd-dashboard-ai-workloads
ok k delete stack shop --timeout="${deadline_s}s"

row "of a release that nothing scrapes, and that does not say where its metrics are, it is unknown"
prometheus() { down c-m-b -n cattle-monitoring-system "$@"; }
ok prometheus annotate prometheus rancher-monitoring-prometheus lab.herd.suse.com/scrape=monitors
stack quiet '{clusterIds: [c-m-b]}'
eventually condition_is quiet Unknown/NoMetricsEndpoint
condition quiet message | grep -q '^web on c-m-b: no Service and no pod of it has a port named metrics' || wrong "$(condition quiet message)"
ok each_is quiet web observabilityMetrics 'c-m-b=Unknown '
is "$(seen quiet metricsCollected)" ""

row "once a Service of it has a port for metrics, Herd makes a ServiceMonitor, and its pods are scraped"
monitor() { down c-m-b -n shop get servicemonitor herd-quiet-web -o "jsonpath=$1"; }
cat >"$state/service.yaml" <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: quiet-web, namespace: shop}
spec:
  selector: {app.kubernetes.io/instance: quiet-web}
  ports: [{name: metrics, port: 9090}]
YAML
ok down c-m-b apply -f "$state/service.yaml"
eventually condition_is quiet True/PrometheusActive
ok each_is quiet web observabilityMetrics 'c-m-b=Active '
user down c-m-b -n shop get servicemonitors,podmonitors
is "$(monitor '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].uid}')" \
  "App/$(down c-m-b -n shop get app quiet-web -o 'jsonpath={.metadata.uid}')"
is "$(monitor '{.metadata.labels.app\.kubernetes\.io/managed-by}/{.metadata.annotations.herd\.suse\.com/stack}')" Herd/default/quiet

row "a monitor that somebody deletes comes back, and goes where another one has the pods scraped"
ok down c-m-b -n shop delete servicemonitor herd-quiet-web
eventually monitor '{.metadata.name}'
cat >"$state/own.yaml" <<'YAML'
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: by-hand, namespace: shop}
spec: {selector: {}, endpoints: [{port: metrics}]}
YAML
ok down c-m-b create -f "$state/own.yaml"
eventually gone c-m-b -n shop get servicemonitor herd-quiet-web
ok condition_is quiet True/PrometheusActive
ok down c-m-b -n shop delete servicemonitor by-hand
eventually monitor '{.metadata.name}'

row "a monitor and rules get the labels that Prometheus selects by, and where they cannot, the condition says what to do"
ok prometheus patch prometheus rancher-monitoring-prometheus --type=merge \
  -p '{"spec":{"serviceMonitorSelector":{"matchLabels":{"release":"p"}},"ruleSelector":{"matchLabels":{"release":"p"}}}}'
is_of_p() { [ "$(monitor '{.metadata.labels.release}')$(rule c-m-b herd-quiet-web '{.metadata.labels.release}')" = pp ]; }
eventually is_of_p
ok prometheus patch prometheus rancher-monitoring-prometheus --type=merge -p '{"spec":{"ruleNamespaceSelector":{"matchLabels":{"team":"ml"}}}}'
eventually condition_is quiet False/RulesNotSelected
is "$(condition quiet message)" "cluster c-m-b: Prometheus cattle-monitoring-system/rancher-monitoring-prometheus does not select \
PrometheusRule shop/herd-quiet-web: its spec.ruleNamespaceSelector leaves namespace shop out; label that so that it meets team=ml"
ok down c-m-b label namespace shop team=ml
eventually condition_is quiet True/PrometheusActive
ok prometheus patch prometheus rancher-monitoring-prometheus --type=merge -p '{"spec":{"serviceMonitorSelector":null}}'
eventually condition_is quiet False/MonitorsNotSelected
condition quiet message | grep -q 'its spec.serviceMonitorSelector is not set; set it to {} to select all$' || wrong "$(condition quiet message)"
ok prometheus patch prometheus rancher-monitoring-prometheus --type=merge -p '{"spec":{"serviceMonitorSelector":{},"ruleSelector":{}}}'
eventually condition_is quiet True/PrometheusActive

row "monitors and rules go when a Stack wants no observability any more"
user k patch stack quiet --type=merge -p '{"spec":{"observability":"disabled"}}'
eventually gone c-m-b -n shop get servicemonitor herd-quiet-web
eventually gone c-m-b -n shop get prometheusrule herd-quiet-web
ok k delete stack quiet --timeout="${deadline_s}s"
ok prometheus annotate prometheus rancher-monitoring-prometheus lab.herd.suse.com/scrape-
