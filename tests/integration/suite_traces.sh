#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_traces.sh: one trace from the admission of a change to each of its releases, in what a collector gets, in the
# Stack's annotation and in its Events; and a collector that is away changes nothing else.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
sink=$state/sink
mkdir -p "$sink"
printf 'Authorization: SUSEObservability not-to-be-shown\n' >"$state/headers"
collector_port=$(low_port)
start_sink() { start_serving sink "$bin/herd-otlp-sink" "$collector_port" "$sink"; }
tracing=(--otlp-endpoint "http://127.0.0.1:$collector_port" --otlp-headers-file "$state/headers")
webhook_flags+=("${tracing[@]}")
controller_flags+=("${tracing[@]}")
start_sink
start_product

stack() { sed -e "s/name: test-stack/name: $1/" -e "s/- name: ollama/&\n      releaseName: $1/" examples/test-stack.yaml; }
traceparent() { field "stack/$1" '{.metadata.annotations.herd\.suse\.com/traceparent}'; }
trace_of() { traceparent "$1" | cut -d - -f 2; }
# A line for each span of a trace: its name, what it is part of, its status, what it is about.
spans() {
  jq -r --arg trace "$1" '.resourceSpans[] | .resource.attributes[0].value.stringValue as $service | .scopeSpans[].spans[] |
    select(.traceId == $trace) | (.attributes | map({(.key): (.value.stringValue // .value.intValue)}) | add) as $about |
    [$service, .name, .spanId, (.parentSpanId // "-"), (.status.code // 0), $about["herd.stack"] // "-",
    $about["herd.cluster"] // "-", $about["herd.status"] // $about["herd.phase"] // $about["herd.verdict"]] | join(" ")' "$sink/requests"
}
# has_span TRACE PATTERN: the columns of `spans`, with * for any.
has_span() {
  local line
  while read -r line; do
    # shellcheck disable=SC2053
    [[ $line != $2 ]] || { echo "$line"; return 0; }
  done < <(spans "$1")
  echo "no span of $1 is like $2:"
  spans "$1"
  return 1
}
id_of() { cut -d ' ' -f 3 <<<"$out"; }
is_deployed() { field_is "stack/$1" '{.status.phase}' Deployed; }
count_of() { curl -sS "http://127.0.0.1:$1/metrics" | sed -n "s/^herd_$2_spans_total{outcome=\"$3\"} //p"; }
rejected_are_counted() { [ "$(count_of "$webhook_metrics_port" webhook rejected)" -gt 0 ]; }

row "a change is one trace: its admission, its rollout, and each release"
stack one | k apply -f - >/dev/null
trace=$(trace_of one)
[[ $(traceparent one) =~ ^00-[0-9a-f]{32}-[0-9a-f]{16}-01$ ]] || wrong "no traceparent" "$(traceparent one)"
eventually is_deployed one
eventually has_span "$trace" "herd-webhook admission/mutate * - 0 one - allowed"
admission=$(id_of)
is "$(traceparent one)" "00-$trace-$admission-01"
eventually has_span "$trace" "herd-webhook admission/validate * $admission 0 one - allowed"
eventually has_span "$trace" "herd-controller rollout * $admission 0 one - Deployed"
rollout=$(id_of)
eventually has_span "$trace" "herd-controller install * $rollout 0 one c-m-dev-cluster Deploy*"
is "$(spans "$trace" | grep -vc ' workloads ')" 4
jq -rs '.[0].resourceSpans[0].scopeSpans[0].spans[0] | [.startTimeUnixNano, .endTimeUnixNano] | map(tonumber) | "\(.[0] <= .[1]) \(.[0] > 1e18)"' \
  "$sink/requests" | grep -qx "true true" || wrong "no times in nanoseconds" "$(head -n 1 "$sink/requests")"

row "its Events name the trace"
is "$(k get events --field-selector involvedObject.name=one -o 'jsonpath={range .items[*]}{.metadata.annotations.herd\.suse\.com/trace-id}{"\n"}{end}' | sort -u)" "$trace"

# changes_of STACK: how many changes of its spec a collector was told.
changes_of() {
  jq -rs --arg stack "$1" '[.[].resourceSpans[].scopeSpans[].spans[] | select(.name == "admission/mutate" and
    any(.attributes[]; .key == "herd.stack" and .value.stringValue == $stack))] | length' "$sink/requests"
}

row "the annotation changes with the spec alone, whatever somebody writes into it; a dry run is not told"
before=$(traceparent one)
ok k label stack one a=b
ok k annotate stack one --overwrite herd.suse.com/traceparent=00-11111111111111111111111111111111-2222222222222222-01
is "$(traceparent one)" "$before"
ok k patch stack one --type=merge --dry-run=server -p '{"spec":{"drift":"Ignore"}}'
ok k patch stack one --type=merge -p '{"spec":{"charts":[{"name":"ollama","releaseName":"one","repo":"https://otwld.github.io/ollama-helm/","version":"0.60.0"}]}}'
second=$(trace_of one)
[ "$second" != "$trace" ] || wrong "the change has the trace of the one before"
eventually has_span "$second" "herd-controller upgrade * * 0 one c-m-dev-cluster Deploy*"
eventually has_span "$second" "herd-controller rollout * * 0 one - Deployed"
is "$(changes_of one)" 2
is "$(spans "$trace" | grep -vc ' workloads ')" 4

row "a change goes on with the trace that it brings"
given=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
stack two | sed "s|^metadata:|&\n  annotations: {herd.suse.com/traceparent: $given}|" | k apply -f - >/dev/null
is "$(traceparent two)" "$given"
eventually has_span 4bf92f3577b34da6a3ce929d0e0e4736 "herd-webhook admission/mutate * 00f067aa0ba902b7 0 two - allowed"
eventually has_span 4bf92f3577b34da6a3ce929d0e0e4736 "herd-controller rollout * 00f067aa0ba902b7 0 two - Deployed"

row "what is rejected is told, with the rules that deny it"
rejected k apply -f examples/rejected/cycle.yaml
rejected_is_told() {
  jq -es '[.[].resourceSpans[].scopeSpans[].spans[] | select(.name == "admission/mutate" and .status.code == 2)] |
    length == 1 and .[0].status.message != ""' "$sink/requests"
}
eventually rejected_is_told

row "an installation that fails is an error in the trace, and so is its rollout"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=template-error release=three'
stack three | sed 's|^spec:|&\n  retry: {limit: 0}|' | k apply -f - >/dev/null
three=$(trace_of three)
eventually has_span "$three" "herd-controller install * * 2 three c-m-dev-cluster Failed"
eventually has_span "$three" "herd-controller rollout * * 2 three - Failed"
ok lab_k delete configmap herd-lab-faults

row "a restart of the controller while a release is installed loses no span of it"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=slow cluster=c-m-dev-cluster ms=2000'
stack four | k apply -f - >/dev/null
four=$(trace_of four)
eventually field_is stack/four '{.status.deployments[0].status}' Deploying
end controller
ok lab_k delete configmap herd-lab-faults
start_controller
eventually has_span "$four" "herd-controller install * * 0 four c-m-dev-cluster Deploy*"
eventually has_span "$four" "herd-controller rollout * * 0 four - Deployed"

row "a deletion is told to its end"
ok k delete stack one --timeout="${deadline_s}s"
eventually has_span "$second" "herd-controller uninstall * * 0 one c-m-dev-cluster Removed"
eventually has_span "$second" "herd-controller teardown * * 0 one - Deleting"

row "a collector that hangs, or is away, changes nothing else, and gets its spans when it is back"
touch "$sink/hang"
stack five | k apply -f - >/dev/null
eventually is_deployed five
rm "$sink/hang"
eventually has_span "$(trace_of five)" "herd-controller rollout * * 0 five - Deployed"
end sink
stack six | k apply -f - >/dev/null
eventually is_deployed six
end controller
start_controller
eventually grep -q 'spans cannot be exported' "$state/webhook.log"
start_sink
eventually has_span "$(trace_of six)" "herd-webhook admission/mutate * - 0 six - allowed"
eventually grep -q 'spans are exported again' "$state/webhook.log"

row "spans that the collector rejects are not sent again"
echo 400 >"$sink/status"
stack seven | k apply -f - >/dev/null
eventually rejected_are_counted
eventually is_deployed seven
rm "$sink/status"

row "headers of the file are sent, and never logged; the file is read again"
is "$(cat "$sink/authorization")" "SUSEObservability not-to-be-shown"
printf 'Authorization: SUSEObservability another\n' >"$state/headers"
stack eight | k apply -f - >/dev/null
eventually grep -qx "SUSEObservability another" "$sink/authorization"
if grep -rl 'not-to-be-shown' "$state" --include='*.log' --include='*.out'; then wrong "a header is logged"; fi

row "without an endpoint there is no annotation, and nothing is sent"
end controller
end webhook
webhook_flags=() controller_flags=(--rancher-settle 3s)
start_webhook
start_controller
sent=$(wc -l <"$sink/requests")
stack nine | k apply -f - >/dev/null
eventually is_deployed nine
is "$(traceparent nine)" ""
is "$(field stack/nine '{.status.rollout.startedAt}')" ""
is "$(k get events --field-selector involvedObject.name=nine -o 'jsonpath={.items[*].metadata.annotations}')" ""
is "$(wc -l <"$sink/requests")" "$sent"
