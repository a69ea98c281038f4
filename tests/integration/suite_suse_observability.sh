#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_suse_observability.sh: on clusters that have the agent of SUSE Observability and no Prometheus, a Stack's status says what
# the agent's server answers, and what it does not answer is left out.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, labels: {env: lab}, nodes: 1, gpus: 4}
- {id: c-m-b, labels: {env: lab}, nodes: 1, gpus: 4}
YAML
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
. tests/integration/monitoring.sh

fault() { ok lab_k create configmap herd-lab-faults --from-literal=a="$1"; }
no_fault() { ok lab_k delete configmap herd-lab-faults; }
# It asks the server from now on, too.
restart() {
  end controller
  start_controller
  ok k annotate stack shop --overwrite "herd.suse.com/retry=$1"
  eventually field_is stack/shop '{.status.lastHandledRetry}' "$1"
}
metrics_are() { each_is shop web observabilityMetrics "c-m-a=$1 c-m-b=$2 "; }
# asked WHAT: how often the server was.
asked() { counters | jq ".suseObservability.$1"; }
asked_more() { [ "$(asked requests)" -gt "$1" ]; }
# monitors [CLUSTER]: identifiers, with dots, of those in SUSE Observability that name the cluster so.
monitors() {
  lab_k get configmap herd-lab-monitors -o json | jq -r --arg name "k8s_cluster_name=\"${1:-}" \
    '.data // {} | to_entries[] | select(.value | fromjson.arguments.metric.query | contains($name)) | .key'
}
monitors_are() { [ "$(monitors "$1" | wc -l)" = "$2" ]; }
message_has() { condition shop message | grep -qF -- "$1" || { condition shop message; return 1; }; }

row "an agent whose server Herd does not know says nothing of releases, and the condition names the flags"
ok bash lab/suse_observability/agent.sh "$state/lab/env" c-m-a lab.a
ok bash lab/suse_observability/agent.sh "$state/lab/env" c-m-b lab-b
stack shop '{selector: {matchLabels: {env: lab}}}'
ok k wait --for=condition=Ready stack/shop --timeout="${deadline_s}s"
eventually condition_is shop Unknown/SUSEObservabilityNotConfigured
ok message_has 'start herd-controller with --suse-observability-url and --suse-observability-credentials-dir'
is "$(seen shop suseObservabilityEnabled)/$(seen shop backend)/$(seen shop metricsCollected)" true/SUSEObservability/
ok metrics_are Unknown Unknown
is "$(asked requests)" 0

row "without a token the server is not asked, and the condition names the Secret"
mkdir "$state/suse"
controller_flags+=(--suse-observability-url "$HERD_LAB_RANCHER_URL" --suse-observability-ca-file "$HERD_LAB_RANCHER_CA"
  --suse-observability-credentials-dir "$state/suse")
restart flags
eventually message_has 'put one into the entry token of the Secret herd-suse-observability'
ok condition_is shop Unknown/SUSEObservabilityNotConfigured
is "$(asked requests)" 0

row "with it, releases whose pods deliver metrics are Active, on all clusters by one query"
printf 'svctok-lab-secret\n' >"$state/suse/token"
eventually condition_is shop True/SUSEObservabilityActive
is "$(condition shop message)" "the agent of SUSE Observability runs on every target cluster, and metrics of 2 releases are collected"
ok metrics_are Active Active
is "$(seen shop metricsCollected)" true
is "$(seen shop dashboardsAvailable)" ""
user k get stack shop -o 'jsonpath={.status.observability}'

row "each release has monitors there, limited to its cluster, and those that are there and work are counted"
eventually seen_is shop alertsConfigured 8
ok monitors_are lab.a 8
ok monitors_are lab-b 8
ok condition_is shop True/SUSEObservabilityActive
fault 'fault=suse-observability-monitor-error'
eventually seen_is shop alertsConfigured 0
no_fault
eventually seen_is shop alertsConfigured 8

row "a monitor that somebody changes or removes is set right, and one that is not Herd's stays"
down_key=$(monitors lab.a | grep -- '-target-down$')
changed=$(lab_k get configmap herd-lab-monitors -o json | jq -c --arg key "$down_key" \
  '.data[$key] | fromjson | .arguments.threshold = 7 | .name = "mine"')
ok lab_k patch configmap herd-lab-monitors --type=merge -p "$(jq -n --arg key "$down_key" --arg changed "$changed" \
  --arg gone "$(monitors lab-b | head -n 1)" --arg theirs "$(jq -c '.identifier = "urn:custom:monitor:herd-theirs"' <<<"$changed")" \
  '{data: {($key): $changed, ($gone): null, "urn.custom.monitor.herd-theirs": $theirs}}')"
is_right() {
  [ "$(lab_k get configmap herd-lab-monitors -o json | jq -r --arg key "$down_key" '.data[$key] | fromjson | .arguments.threshold')" = 1 ] &&
    monitors_are lab-b 8
}
eventually is_right
eventually seen_is shop alertsConfigured 8
ok monitors_are lab.a 9
ok lab_k patch configmap herd-lab-monitors --type=merge -p '{"data": {"urn.custom.monitor.herd-theirs": null}}'

row "without alerts there are no monitors"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"disabled"}}}'
eventually monitors_are "" 0
eventually seen_is shop alertsConfigured 0

row "where the token may not change monitors, the condition says so, and metrics are known all the same"
fault 'fault=suse-observability-read-only'
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"alerts":"enabled"}}}'
eventually condition_is shop Unknown/SUSEObservabilityMonitorsRejected
ok message_has 'SUSE Observability: monitors cannot be imported: POST /api/import'
ok metrics_are Active Active
is "$(seen shop alertsConfigured)" ""
no_fault
eventually seen_is shop alertsConfigured 8
eventually condition_is shop True/SUSEObservabilityActive

row "while an agent is away its cluster has no monitoring, and the monitors stay"
agent_has() {
  ok down c-m-b -n suse-observability-agent patch deployment suse-observability-agent-cluster-agent --subresource=status --type=merge \
    -p "{\"status\":{\"availableReplicas\":$1}}"
}
agent_has 0
eventually condition_is shop False/NoMonitoring
ok monitors_are lab-b 8
agent_has 1
eventually condition_is shop True/SUSEObservabilityActive
ok monitors_are lab-b 8

row "a target that is down makes its release Inactive"
fault 'fault=target-down cluster=c-m-b'
eventually condition_is shop False/MetricsMissing
ok message_has 'web on c-m-b: 1 of 1 targets is down, such as that of pod shop-web-'
ok metrics_are Active Inactive
is "$(seen shop metricsCollected)" false
no_fault
eventually condition_is shop True/SUSEObservabilityActive

row "a release that delivers nothing any more is Inactive"
fault 'fault=metrics-missing cluster=c-m-a'
eventually condition_is shop False/MetricsMissing
is "$(condition shop message)" "web on c-m-a: SUSE Observability has no series of its pods"
no_fault
eventually condition_is shop True/SUSEObservabilityActive

row "while the server does not answer, what it said is left out, and the condition says why"
fault 'fault=suse-observability-down'
eventually condition_is shop Unknown/SUSEObservabilityUnreachable
ok message_has "SUSE Observability $HERD_LAB_RANCHER_URL does not answer as it should: GET /api/server/info:"
ok message_has 'HTTP 503'
ok metrics_are Unknown Unknown
is "$(seen shop metricsCollected)" ""
is "$(seen shop suseObservabilityEnabled)/$(seen shop backend)" true/SUSEObservability

row "a restart of Herd meanwhile changes nothing of it"
before=$(field stack/shop '{.status.observability}{.status.deployments[*].observabilityMetrics}')
restart meanwhile
is "$(field stack/shop '{.status.observability}{.status.deployments[*].observabilityMetrics}')" "$before"
no_fault
eventually condition_is shop True/SUSEObservabilityActive
ok metrics_are Active Active

row "a cluster that the server does not know is named, and the others' figures stand"
fault 'fault=suse-observability-unknown-cluster cluster=c-m-b'
eventually condition_is shop Unknown/SUSEObservabilityClusterUnknown
ok message_has 'cluster c-m-b: SUSE Observability has no instance of its StackPack Kubernetes'
ok metrics_are Active Unknown
is "$(seen shop metricsCollected)" ""
no_fault
eventually condition_is shop True/SUSEObservabilityActive

row "a token that is rejected is sent three times, and again when it changes"
before=$(asked rejected)
printf 'svctok-old\n' >"$state/suse/token"
eventually condition_is shop Unknown/SUSEObservabilityTokenRejected
eventually message_has 'GET /api/server/info (HTTP 401) three times, so Herd sends none until it changes'
ok metrics_are Unknown Unknown
is "$(asked rejected)" $((before + 3))
printf 'svctok-lab-secret\n' >"$state/suse/token"
eventually condition_is shop True/SUSEObservabilityActive
ok metrics_are Active Active
is "$(asked rejected)" $((before + 3))

row "a cluster that is no target any more has no monitors, and the other keeps its own"
user k patch stack shop --type=merge -p '{"spec":{"targets":{"selector":null,"clusterIds":["c-m-a"]}}}'
eventually monitors_are lab-b 0
ok monitors_are lab.a 8

row "no token is in any log, and nobody is asked for a Stack that is gone"
! grep -rlE 'svctok-(lab-secret|old)' "$state" --include='*.log' || wrong "a log has the token"
ok k delete stack shop --timeout="${deadline_s}s"
eventually monitors_are "" 0
before=$(asked requests)
stack other '{clusterIds: [c-m-a]}'
eventually asked_more "$before"

row "how busy GPUs are is said of the releases that have some, each by its own cluster"
model='- {name: model, chart: ollama, repo: https://otwld.github.io/ollama-helm, version: 0.60.0, releaseName: other-model, namespace: shop,
    values: {inline: {resources: {limits: {nvidia.com/gpu: 2}}}}}'
stack other '{selector: {matchLabels: {env: lab}}}' "$model"
eventually each_is other model gpuUtilization 'c-m-a=75% c-m-b=75% '
ok each_is other web gpuUtilization 'c-m-a= c-m-b= '
ok down c-m-b -n shop annotate pods --overwrite -l app.kubernetes.io/instance=other-model lab.herd.suse.com/gpu-utilization=20
eventually each_is other model gpuUtilization 'c-m-a=75% c-m-b=20% '
fault 'fault=suse-observability-down'
eventually each_is other model gpuUtilization 'c-m-a= c-m-b= '
no_fault
eventually each_is other model gpuUtilization 'c-m-a=75% c-m-b=20% '
