#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_suse_observability.sh: on clusters that have the agent of SUSE Observability and no Prometheus, a Stack's status says what
# the agent's server answers, and what it does not answer is left out.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, labels: {env: lab}, nodes: 1}
- {id: c-m-b, labels: {env: lab}, nodes: 1}
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
message_has() { condition shop message | grep -qF -- "$1" || { condition shop message; return 1; }; }

row "an agent whose server Herd does not know says nothing of releases, and the condition names the flags"
ok bash lab/suse_observability/agent.sh "$state/lab/env" c-m-a lab.a
ok bash lab/suse_observability/agent.sh "$state/lab/env" c-m-b lab-b
stack shop '{selector: {matchLabels: {env: lab}}}'
ok k wait --for=condition=Ready stack/shop --timeout="${deadline_s}s"
eventually condition_is shop Unknown/SUSEObservabilityNotConfigured
ok message_has 'start herd-controller with --suse-observability-url and --suse-observability-credentials'
is "$(seen shop suseObservabilityEnabled)/$(seen shop backend)/$(seen shop metricsCollected)" true/SUSEObservability/
ok metrics_are Unknown Unknown
is "$(asked requests)" 0

row "without a token the server is not asked, and the condition names the Secret"
mkdir "$state/suse"
controller_flags+=(--suse-observability-url "$HERD_LAB_RANCHER_URL" --suse-observability-ca "$HERD_LAB_RANCHER_CA"
  --suse-observability-credentials "$state/suse")
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
is "$(seen shop alertsConfigured)$(seen shop dashboardsAvailable)" ""
user k get stack shop -o 'jsonpath={.status.observability}'

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

row "no token is in any log, and nobody is asked for a Stack that is gone"
! grep -rlE 'svctok-(lab-secret|old)' "$state" --include='*.log' || wrong "a log has the token"
ok k delete stack shop --timeout="${deadline_s}s"
before=$(asked requests)
stack other '{clusterIds: [c-m-a]}'
eventually asked_more "$before"
