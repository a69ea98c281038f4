#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_collector.sh: the real OpenTelemetry collector takes what both programs send, and reads in it what they mean.
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
cluster_tools otelcol
port=$(low_port)
cat >"$state/collector.yaml" <<YAML
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$port"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [debug]}}
YAML
start collector otelcol --config "file:$state/collector.yaml"
until_up collector grep -q 'Everything is ready' "$state/collector.log"
webhook_flags+=(--otlp-endpoint "http://127.0.0.1:$port")
controller_flags+=(--otlp-endpoint "http://127.0.0.1:$port")
start_product

# received: a line for each span: its service, trace, parent or -, id, name, kind, status.
received() {
  awk '$2 == "service.name:" { service = substr($3, 5, length($3) - 5) }
    $1 == "Trace" { trace = $NF } $1 == "Parent" { parent = $NF == ":" ? "-" : $NF } $1 == "ID" { id = $NF }
    $1 == "Name" { name = $NF } $1 == "Kind" { kind = $NF }
    $1 == "Status" && $2 == "code" { print service, trace, parent, id, name, kind, $NF }' "$state/collector.log"
}
received_is() { received | grep -E -- "$1" || { received; return 1; }; }

row "the collector reads a change as one trace, each span with its parent, kind and status"
k apply -f examples/test-stack.yaml >/dev/null
IFS=- read -r _ trace admission _ <<<"$(field stack/test-stack '{.metadata.annotations.herd\.suse\.com/traceparent}')"
eventually received_is "^herd-webhook $trace - $admission admission/mutate Server Unset"
eventually received_is "^herd-webhook $trace $admission [0-9a-f]{16} admission/validate Server Unset"
eventually received_is "^herd-controller $trace $admission [0-9a-f]{16} rollout Internal Unset"
rollout=$(cut -d ' ' -f 4 <<<"$out")
eventually received_is "^herd-controller $trace $rollout [0-9a-f]{16} install Internal Unset"
grep -q 'herd.cluster: Str(c-m-dev-cluster)' "$state/collector.log" || wrong "no cluster is named"

row "a rejection is an error there"
rejected k apply -f examples/rejected/cycle.yaml
eventually received_is '^herd-webhook [0-9a-f]{32} - [0-9a-f]{16} admission/mutate Server Error'

row "it takes every span"
sent() { curl -sS "http://127.0.0.1:$1/metrics" | grep -E "^herd_[a-z]+_spans_total\{outcome=\"(rejected|dropped)\"\} [^0]"; }
rejected sent "$webhook_metrics_port"
rejected sent "$controller_metrics_port"
