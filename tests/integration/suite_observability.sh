#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_observability.sh: what a Stack's status says of its monitoring is what the Prometheus of its clusters answers, and
# what nothing answers is left out.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
- {id: c-m-b, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
- {id: c-m-bare, nodes: 1}
YAML
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
. tests/integration/monitoring.sh

# A model on two GPUs.
model='- {name: model, chart: ollama, repo: https://otwld.github.io/ollama-helm, version: 0.60.0, releaseName: shop-model, namespace: shop,
    values: {inline: {resources: {limits: {nvidia.com/gpu: 2}}}}}'
fault() { ok lab_k create configmap herd-lab-faults --from-literal=a="$1"; }
no_fault() { ok lab_k delete configmap herd-lab-faults; }
# busy CLUSTER PERCENT: the GPUs of the model there.
busy() { ok down "$1" -n shop annotate pods --overwrite -l app.kubernetes.io/instance=shop-model "lab.herd.suse.com/gpu-utilization=$2"; }

row "what Prometheus collects on every cluster is Active, and the condition is True"
stack shop '{selector: {matchLabels: {env: lab}}}' "$model"
ok k wait --for=condition=Ready stack/shop --timeout="${deadline_s}s"
eventually condition_is shop True/PrometheusActive
is "$(seen shop backend)" Prometheus
is "$(seen shop metricsCollected)" true
is "$(seen shop suseObservabilityEnabled)" false
ok each_is shop web observabilityMetrics 'c-m-a=Active c-m-b=Active '
user k get stack shop -o 'jsonpath={.status.observability}'

row "how busy GPUs are is said of the releases that have some"
ok each_is shop model gpuUtilization 'c-m-a=75% c-m-b=75% '
ok each_is shop web gpuUtilization 'c-m-a= c-m-b= '

row "each release has alert rules, which belong to its App, and Prometheus says how many of them it has loaded"
eventually seen_is shop alertsConfigured 32
user down c-m-a -n shop get prometheusrules -l app.kubernetes.io/managed-by=Herd
is "$(rule c-m-a herd-shop-web '{.metadata.ownerReferences[0].uid}')" "$(down c-m-a -n shop get app shop-web -o 'jsonpath={.metadata.uid}')"
is "$(rule c-m-a herd-shop-web '{.spec.groups[0].rules[0].expr}')" 'up{namespace=~"shop",pod=~"shop-web-[a-z0-9]+-[a-z0-9]{5}"} == 0'
is "$(rule c-m-a herd-shop-web '{.metadata.annotations.herd\.suse\.com/stack}')" default/shop

row "a rule that somebody deletes or changes comes back, and the count is that of the cluster with the fewest"
ok down c-m-b -n shop delete prometheusrule herd-shop-model
ok down c-m-a -n shop patch prometheusrule herd-shop-web --type=merge -p '{"spec":{"groups":[]}}'
eventually seen_is shop alertsConfigured 16
eventually seen_is shop alertsConfigured 32

is "$(condition shop reason)" PrometheusActive

row "so does a dashboard"
eventually seen_is shop dashboardsAvailable 1
ok down c-m-b -n cattle-dashboards delete configmap herd-dashboard-ai-workloads
eventually dashboard c-m-b ai-workloads '{.metadata.name}'
eventually seen_is shop dashboardsAvailable 1

row "dashboards are where Grafana's sidecar looks"
eventually seen_is shop dashboardsAvailable 1
is "$(dashboard c-m-a ai-workloads '{.metadata.labels.grafana_dashboard}')" 1
dashboard c-m-a ai-workloads '{.data.herd-ai-workloads\.json}' | grep -q '"uid": "ai-workloads"' || wrong "no such dashboard"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"dashboards":["herd-gpu","somebody-elses"]}}}'
eventually gone c-m-a -n cattle-dashboards get configmap herd-dashboard-ai-workloads
eventually seen_is shop dashboardsAvailable 1
ok dashboard c-m-b herd-gpu '{.metadata.name}'

row "without alerts there are no rules"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"disabled"}}}'
eventually gone c-m-a -n shop get prometheusrule herd-shop-web
eventually seen_is shop alertsConfigured 0
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"enabled"}}}'
eventually seen_is shop alertsConfigured 32

row "an object of that name that is somebody else's stays as it is, and the condition names it"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"disabled"}}}'
eventually gone c-m-a -n shop get prometheusrule herd-shop-web
cat >"$state/foreign.yaml" <<'YAML'
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: herd-shop-web, namespace: shop}
spec: {groups: [{name: theirs, rules: []}]}
YAML
ok down c-m-a create -f "$state/foreign.yaml"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"enabled"}}}'
eventually condition_is shop Unknown/MonitoringUnreadable
condition shop message | grep -q '^cluster c-m-a: PrometheusRule shop/herd-shop-web is there already and lacks the label' ||
  wrong "$(condition shop message)"
is "$(rule c-m-a herd-shop-web '{.spec.groups[*].name}')" theirs
ok down c-m-a -n shop delete prometheusrule herd-shop-web
eventually seen_is shop alertsConfigured 32
eventually condition_is shop True/PrometheusActive

row "a figure that changes by 5 or more changes that figure alone"
busy c-m-b 20
eventually each_is shop model gpuUtilization 'c-m-a=75% c-m-b=20% '
busy c-m-a 78
busy c-m-b 30.4
eventually each_is shop model gpuUtilization 'c-m-a=75% c-m-b=30% '
ok each_is shop web observabilityMetrics 'c-m-a=Active c-m-b=Active '
ok condition_is shop True/PrometheusActive

row "GPUs that nothing reports any more have no figure, and no zero"
fault 'fault=gpu-missing cluster=c-m-b'
eventually each_is shop model gpuUtilization 'c-m-a=75% c-m-b= '
no_fault
eventually each_is shop model gpuUtilization 'c-m-a=75% c-m-b=30% '

row "a target that is down makes its release Inactive, and the condition names release, cluster and pod"
fault 'fault=target-down cluster=c-m-b release=shop-web'
eventually condition_is shop False/MetricsMissing
condition shop message | grep -q '^web on c-m-b: 1 of 1 targets is down, such as that of pod shop-web-' || wrong "$(condition shop message)"
ok each_is shop web observabilityMetrics 'c-m-a=Active c-m-b=Inactive '
ok each_is shop model observabilityMetrics 'c-m-a=Active c-m-b=Active '
is "$(seen shop metricsCollected)" false
no_fault
eventually condition_is shop True/PrometheusActive

row "a release that loses its targets is Inactive"
fault 'fault=metrics-missing cluster=c-m-a release=shop-model'
eventually condition_is shop False/MetricsMissing
is "$(condition shop message)" "model on c-m-a: none of its pods is scraped"
no_fault
eventually condition_is shop True/PrometheusActive

row "while Prometheus does not answer, what it said is left out, and the condition says why"
fault 'fault=prometheus-starting cluster=c-m-a'
eventually condition_is shop Unknown/MonitoringUnreadable
says_why='cluster c-m-a: Prometheus cattle-monitoring-system/rancher-monitoring-prometheus does not answer: Service Unavailable (HTTP 503)'
is "$(condition shop message)" "$says_why"
ok each_is shop web observabilityMetrics 'c-m-a=Unknown c-m-b=Active '
ok each_is shop model gpuUtilization 'c-m-a= c-m-b=30% '
is "$(seen shop metricsCollected)" ""
is "$(seen shop alertsConfigured)" ""
is "$(seen shop backend)" Prometheus

row "a restart of Herd meanwhile changes nothing of it"
before=$(field stack/shop '{.status.observability}{.status.deployments[*].observabilityMetrics}')
end controller
start_controller
ok k annotate stack shop herd.suse.com/retry=look
eventually field_is stack/shop '{.status.lastHandledRetry}' look
is "$(field stack/shop '{.status.observability}{.status.deployments[*].observabilityMetrics}')" "$before"
no_fault
eventually condition_is shop True/PrometheusActive

row "a cluster without monitoring is named, and what it does not report is left out"
stack bare '{clusterIds: [c-m-bare]}'
eventually condition_is bare False/NoMonitoring
condition bare message | grep -q '^cluster c-m-bare has neither' || wrong "$(condition bare message)"
is "$(seen bare backend)" None
is "$(seen bare metricsCollected)$(seen bare alertsConfigured)$(seen bare dashboardsAvailable)" ""
eventually each_is bare web observabilityMetrics 'c-m-bare=Unknown '

row "the agent of SUSE Observability is found where it runs"
ok down c-m-bare create namespace suse-observability-agent
ok down c-m-bare apply -f - <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: suse-observability-agent-cluster-agent
  namespace: suse-observability-agent
  labels: {app.kubernetes.io/name: suse-observability-agent}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: suse-observability-agent}}
  template:
    metadata: {labels: {app.kubernetes.io/name: suse-observability-agent}}
    spec: {containers: [{name: agent, image: agent}]}
YAML
ok down c-m-bare -n suse-observability-agent patch deployment suse-observability-agent-cluster-agent --subresource=status \
  --type=merge -p '{"status":{"availableReplicas":1}}'
eventually condition_is bare Unknown/SUSEObservabilityNotConfigured
condition bare message | grep -q 'start herd-controller with --suse-observability-url and --suse-observability-credentials-dir' ||
  wrong "$(condition bare message)"
is "$(seen bare suseObservabilityEnabled)/$(seen bare backend)/$(seen bare metricsCollected)" true/SUSEObservability/

row "a Stack that wants no observability says nothing of it"
user k patch stack shop --type=merge -p '{"spec":{"observability":"disabled"}}'
eventually field_is stack/shop '{.status.observability}' ""
is "$(condition shop status)" ""
is "$(field stack/shop '{.status.deployments[*].observabilityMetrics}{.status.deployments[*].gpuUtilization}')" ""
for cluster in c-m-a c-m-b; do
  eventually gone "$cluster" -n cattle-dashboards get configmap herd-dashboard-herd-gpu
  eventually gone "$cluster" -n shop get prometheusrule herd-shop-web
done

row "nothing stays of a Stack that is deleted"
user k patch stack shop --type=merge -p '{"spec":{"observability":"enabled"}}'
eventually seen_is shop alertsConfigured 32
ok k delete stack shop --timeout="${deadline_s}s"
for cluster in c-m-a c-m-b; do
  eventually gone "$cluster" -n cattle-dashboards get configmap herd-dashboard-herd-gpu
  eventually gone "$cluster" -n shop get prometheusrule herd-shop-web
done
