#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_outage.sh: what a webhook that is out stops, on a real API server with the manifests' own configurations: creating
# Stacks, changing their spec, labels or annotations, and policies; and nothing else; for how long, and what the author is
# told. Then all that brings it back: manifests applied again, replicas that come and go.
#
# HERD_SECONDS=n lets replicas come and go for so long (8 s). HERD_LONG=1 adds what takes minutes: connections at the API
# server's idle limit. What a cut undeploy leaves behind is asked by tests/install/online.sh.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
cluster_tools etcd kube-apiserver kube-controller-manager kubectl mirror writers liar service
most_ms=6000
called='webhook "mutate.stacks.herd.suse.com"'

# stack NAME [CHANGE]: the test Stack under another name, as JSON.
stack() { jq --arg name "$1" ".metadata.name = \$name | ${2:-.}" "$state/stack.json"; }
create() { stack "$1" | k create --validate=false -f - "${@:2}"; }
change() { k patch stack "$1" --type=merge -p "{\"spec\":{\"retry\":{\"limit\":$2}}}"; }

# out_of_order TEXT COMMAND...: rejected by the webhook's name and with this text.
out_of_order() {
  local text=$1
  shift
  rejected "$@"
  says "$called"
  says "$text"
}

# slowest_ms LINES: of the writes of Stacks that failed, in the audit log after so many lines: as the API server took it.
slowest_ms() {
  tail -n "+$(($1 + 1))" "$(audit_log_of management)" | jq -s 'def ms: (.[0:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber);
    [.[] | select(.objectRef.resource == "stacks" and .responseStatus.code >= 500) | (.stageTimestamp | ms) - (.requestReceivedTimestamp | ms)] | max'
}

# stops WORDS: what a webhook that is out stops.
stops() {
  local lines slowest asked one
  lines=$(wc -l <"$(audit_log_of management)")
  out_of_order "$1" create "new-$rows" &
  asked=($!)
  out_of_order "$1" change quiet 7 &
  asked+=($!)
  out_of_order "$1" k label stack quiet "row=$rows" --overwrite &
  asked+=($!)
  out_of_order "$1" k annotate stack quiet "note=$rows" --overwrite &
  asked+=($!)
  called='webhook "validate.stackpolicies.herd.suse.com"' out_of_order "$1" k apply -f examples/policy/timeouts.yaml &
  asked+=($!)
  out_of_order "$1" k annotate stack quiet herd.suse.com/last-applied-by=somebody --overwrite
  for one in "${asked[@]}"; do
    wait "$one" || exit 1
  done
  slowest=$(slowest_ms "$lines")
  ((slowest <= most_ms)) || wrong "an answer took $slowest ms"
  echo "  rejected after $slowest ms at most: ${out##*failed to call webhook: }"
}

# while_out WORDS: both at once.
while_out() {
  stops "$1" &
  local stopped=$!
  goes_on
  wait "$stopped" || exit 1
}

# goes_on: what it does not stop.
goes_on() {
  local began one=one-$rows
  began=$(now_ms)
  ok k patch stack held --subresource=status --type=merge -p "{\"status\":{\"message\":\"$one\"}}"
  ok k patch stack held --type=merge -p "{\"metadata\":{\"finalizers\":[\"example.com/$one\"]}}"
  ok k patch stack held --type=merge -p '{"metadata":{"finalizers":null}}'
  ok k delete stack "spare-$spare" --timeout=4s
  ok k delete stack "held-$spare" --wait=false
  ok k patch stack "held-$spare" --type=merge -p '{"spec":{"paused":true},"metadata":{"finalizers":null}}'
  rejected k get stack "held-$spare"
  echo "  all else: $(($(now_ms) - began)) ms"
}

# every_kind: creates one object of each; what fails is shown.
every_kind() {
  k create --validate=false -o name -f "$state/every-kind.yaml" >"$state/every-kind.out" 2>"$state/every-kind.err" || true
  is "$(grep -v '^Warning:' "$state/every-kind.err")" ""
  kinds=$(wc -l <"$state/every-kind.out")
}

start_api
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com
k create --dry-run=client --validate=false -o json -f examples/test-stack.yaml >"$state/stack.json"
start_webhook
apply_webhook

row "all is well: Stacks are written, and validated"
eventually create held
# Nobody writes this one meanwhile: a patch that meets another write is tried again, and asks the webhook again.
ok create quiet
stack held >"$state/held.json"
ok k apply -f "$state/held.json"
k create namespace going >/dev/null
stack going '.metadata.namespace = "going"' | k create -f - >/dev/null
for spare in 1 2; do
  { stack "spare-$spare"
    stack "held-$spare" '.metadata.finalizers = ["example.com/held"]'; } | k create --validate=false -f - >/dev/null
done
rejected k apply -f examples/rejected/cycle.yaml
says "dependency cycle"
k create namespace every-kind >/dev/null
request=$(openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=every-kind \
  2>/dev/null | base64 -w 0)
sed "s|\$REQUEST|$request|" tests/cluster/every-kind.yaml >"$state/every-kind.yaml"
sed '/^# What is asked/,$d' "$state/every-kind.yaml" >"$state/stored-kinds.yaml"

row "so is one of the largest: the conditions of the configuration cost little enough to be validated"
stack large '.spec.charts[0].values.inline = ([range(9000) | {key: "key-\(.)", value: ("value " * 8 + tostring)}] | from_entries)' \
  >"$state/large.json"
ok k create --validate=false -f "$state/large.json"
ok change large 4
ok k label stack large a=b
rejected k patch stack large --type=json -p '[{"op": "replace", "path": "/spec/charts/0/version", "value": "none"}]'
says "spec.charts[0].version"
echo "  $(k get stack large -o json | wc -c) bytes"
ok k delete stack large

row "every kind that discovery has is in every-kind.yaml, but for Stacks and their policies"
k api-resources --verbs=create -o wide --no-headers | sed -E 's/^.* ([^ ]+) +(true|false) +([^ ]+) .*$/\1 \3/' |
  grep -vE '^(v1 Binding|herd.suse.com/v1 Stack|herd.suse.com/v1 StackPolicy|management.cattle.io/v3 Cluster)$' | sort >"$state/kinds.want"
k create --dry-run=client --validate=false -o 'jsonpath={.apiVersion} {.kind}{"\n"}' -f "$state/every-kind.yaml" \
  2>/dev/null | sort >"$state/kinds.got"
ok diff "$state/kinds.want" "$state/kinds.got"

row "the webhook hangs (SIGSTOP): only creating Stacks and changing their spec, labels or annotations stops, and policies"
spare=1
end_with[webhook]=KILL
kill -STOP "${pid_of[webhook]}"
ok k delete namespace going --wait=false
while_out "context deadline exceeded"
row "and one object of every kind is created, changed and deleted meanwhile"
began=$(now_ms)
every_kind
ok k label a=b --overwrite -f "$state/stored-kinds.yaml"
k delete --wait=false -f "$state/stored-kinds.yaml" >/dev/null 2>&1
echo "  $kinds kinds in $(($(now_ms) - began)) ms"
ok k wait --for=delete namespace/going --timeout=30s
kill -CONT "${pid_of[webhook]}"
eventually create "back-$rows"

row "the webhook is stopped: the same, at once"
spare=2
end webhook KILL
while_out "connect: connection refused"

row "it answers 500, garbage, half a body, nothing, for another request, without a verdict, or hangs up: never a yes"
echo error >"$state/lie"
start liar liar --listen "$service_ip:$webhook_port" --cert "$state/certs/tls.crt" --key "$state/certs/tls.key" --mode "$state/lie"
eventually grep -q serving "$state/liar.out"
while read -r mode words; do
  echo "$mode" >"$state/lie"
  out_of_order "$words" create "lie-$mode"
  out_of_order "$words" change quiet 8
  echo "  $mode: ${out##*suse.com\": }"
done <<'MODES'
error no verdict today
garbage couldn't get version/kind
half unexpected EOF
empty failed to call webhook
stranger expected response.uid
mute denied the request without explanation
reset failed to call webhook
MODES
end liar
is "$(k get stacks -o name | grep -cE 'new-|lie-' || true)" 0

row "all Deployments and Secrets of herd-system deleted while the configuration stands: applying the manifests again heals"
manifests() { kubectl kustomize manifests/overlays/own-ca 2>/dev/null | sed "s/port: 443$/port: $webhook_port/" | k apply -f -; }
own() {
  controller_flags=(--rancher-settle 3s --webhook-certificates own --webhook-namespace herd-system --leader-elect=false
    --webhook-ca-settle 1s)
  start_controller
  eventually k -n herd-system get secret herd-webhook-tls
  for key in tls.crt tls.key; do
    field secret/herd-webhook-tls "{.data.${key/./\\.}}" -n herd-system | base64 -d >"$state/certs/$key"
  done
  start_webhook
}
ok manifests
own
eventually create "first-$rows"
end webhook
end controller
ok k -n herd-system delete deployments,secrets --all
rejected create "none-$rows"
says "$called"
began=$(now_ms)
ok manifests
is "$(k -n herd-system get deployments -o name | sort | xargs)" "deployment.apps/herd-controller deployment.apps/herd-webhook"
own
eventually create "healed-$rows"
echo "  healed $(($(now_ms) - began)) ms after the manifests were applied again"
end controller

# From here on two replicas behind the Service.
end webhook
start_replica() {
  start_serving "replica-$1" "$bin/herd-webhook" serve --listen "${service_ip%.*}.$((77 + $1)):$webhook_port" \
    --metrics-listen 127.0.0.1:0 --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key" \
    --log-format text --drain "${HERD_DRAIN:-1s}" "${asks[@]}"
}
asks=()
# ready REPLICA...: those are the Service's endpoints.
ready() { printf "${service_ip%.*}.%s:$webhook_port\n" "${@/#/7}" >"$state/endpoints.part" && mv "$state/endpoints.part" "$state/endpoints"; }
start_replica 1
start_replica 2
ready 8 9
start service service --listen "$service_ip:$webhook_port" --endpoints "$state/endpoints"
eventually create "two-$rows"

# written FLAGS...: what writers saw; $out is its last line.
written() {
  local code=0
  writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" "$@" >"$state/writers.out" || code=$?
  [ "$code" = 0 ] || wrong "a write failed" "$(cat "$state/writers.out")"
  out=$(tail -n 1 "$state/writers.out")
  echo "  $out"
}

row "one of two replicas is ended (SIGTERM) again and again while Stacks are written: no review fails"
seconds=${HERD_SECONDS:-8} rate=${HERD_WRITES:-60}
written --mode dry --writers 16 --rate "$rate" --seconds "$seconds" &
load=$!
turns=0
while kill -0 "$load" 2>/dev/null; do
  going=$((turns % 2 + 1))
  kill -TERM "${pid_of[replica-$going]}"
  # Endpoints forget a server some time after it was told to end.
  read -r -t 0.3 <> <(:) || true
  ready $((10 - going))
  wait "${pid_of[replica-$going]}" || wrong "it did not end well: $(tail -n 3 "$state/replica-$going.log")"
  start_replica "$going"
  ready 8 9
  turns=$((turns + 1))
done
wait "$load" || wrong "a review failed"
((turns > 1)) || wrong "only $turns replicas ended"
echo "  $turns times a replica ended; two reviews for each write"

# What a hanging replica costs. The API server keeps connections (HTTP/1.1, at most 25 idle ones to each webhook), takes the
# one that it used last, and asks a webhook once: a review on a connection to a process that does not answer is lost when its
# 5 s are over, and the connection with it. The kernel of a stopped process answers TCP's own probes, so nobody learns of it
# before. It is all that is lost: nothing of ours runs that could close the others.
#
# standing REPLICA: connections to it that nobody has closed.
standing() {
  local a b c
  IFS=. read -r a b c <<<"${service_ip%.*}"
  grep -cE "^ *[0-9]+: $(printf '%02X%02X%02X%02X:%04X' $((77 + $1)) "$c" "$b" "$a" "$webhook_port") [0-9A-F:]+ 01 " /proc/net/tcp || true
}
# warm REPLICA: the API server has connections to this one alone.
warm() {
  local other=$((3 - $1))
  end "replica-$other" TERM
  ready $((7 + $1))
  start_replica "$other"
  written --mode dry --writers 4 --count 40
  before=$(standing "$1")
  ((before > 1)) || wrong "only $before connections stand"
}
# losing FLAGS...: as written, and $failed of the writes may fail, each because of a time that was over.
losing() {
  writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" "$@" >"$state/writers.out" || true
  out=$(tail -n 1 "$state/writers.out")
  failed=$(sed -E 's/.*failed=([0-9]+).*/\1/' <<<"$out")
  echo "  $out"
  is "$(grep '^failed' "$state/writers.out" | grep -vE 'failed to call webhook: Post .*: context deadline exceeded$' || true)" ""
}
slowest_of() { sed -E 's/.*max_ms=([0-9]+).*/\1/' <<<"$out"; }

# Should this end while one of them is stopped.
end_with[replica-1]=KILL end_with[replica-2]=KILL

row "one of two replicas hangs (SIGSTOP) and endpoints forget it: one write is lost for each connection that is used, no other"
warm 1
kill -STOP "${pid_of[replica-1]}"
ready 9
losing --mode dry --writers 8 --rate "$rate" --seconds 9
((failed > 0)) || wrong "no write was lost: it did not hang"
is "$((before - $(standing 1))) connections used" "$failed connections used"
(($(slowest_of) <= most_ms)) || wrong "a write took $(slowest_of) ms"
echo "  $before connections stood, $failed were used and lost a write each"
row "it goes on (SIGCONT): nothing more is lost"
kill -CONT "${pid_of[replica-1]}"
ready 8 9
written --mode dry --writers 8 --count 80

row "it hangs and is killed, as by its liveness probe, before it is asked: the kernel closes its connections, nothing is lost"
warm 2
kill -STOP "${pid_of[replica-2]}"
ready 8
end replica-2 KILL
is "$(standing 2)" 0
written --mode dry --writers 8 --count 80

row "it is killed while it is asked: what was in flight is lost, at once, and nothing else"
start_replica 2
warm 1
kill -STOP "${pid_of[replica-1]}"
ready 9
writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" --mode dry --writers 8 --rate "$rate" --seconds 4 \
  >"$state/writers.out" &
load=$!
used() { [ "$(standing 1)" -ge 1 ] && grep -q writing "$state/writers.out"; }
eventually used
read -r -t 1 <> <(:) || true
end replica-1 KILL
wait "$load" || true
out=$(tail -n 1 "$state/writers.out")
failed=$(sed -E 's/.*failed=([0-9]+).*/\1/' <<<"$out")
((failed <= before)) || wrong "more was lost than there were connections: $before" "$(cat "$state/writers.out")"
(($(slowest_of) <= 2500)) || wrong "a write took $(slowest_of) ms"
echo "  $out; $before connections stood"
start_replica 1
ready 8 9

row "200 Stacks are created at once where everybody but Herd has a few requests at a time, and the webhook asks about each author"
identity herd-webhook
asks=(--kubeconfig "$state/herd-webhook.kubeconfig")
is_ready() { curl -sSf "http://127.0.0.1:$(port_of "replica-$1" metrics_port)/readyz"; }
for going in 1 2; do
  ready $((10 - going))
  end "replica-$going" TERM
  start_replica "$going"
  eventually is_ready "$going"
  ready 8 9
done
# The right on each namespace, but not on the cluster: no answer serves two Stacks.
jq '.spec.charts[0].namespace = "$NAME"' "$state/stack.json" >"$state/many.json"
ok k create serviceaccount many
ok k apply -f - <<'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: many}
rules:
  - {apiGroups: [herd.suse.com], resources: [stacks], verbs: [create]}
  - {apiGroups: [herd.suse.com], resources: [releases], verbs: [deploy]}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: few}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 1
    lendablePercent: 0
    borrowingLimitPercent: 0
    limitResponse: {type: Queue, queuing: {queues: 1, handSize: 1, queueLengthLimit: 500}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: few}
spec:
  priorityLevelConfiguration: {name: few}
  matchingPrecedence: 2000
  rules:
    - subjects: [{kind: Group, group: {name: "system:serviceaccounts"}}]
      resourceRules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"], clusterScope: true, namespaces: ["*"]}]
YAML
ok k create clusterrolebinding many --clusterrole many --serviceaccount default:many
figure() { k get --raw /metrics | sed -n "s/^$1 //p"; }
has_figure() { [ -n "$(figure "$1")" ]; }
eventually has_figure 'apiserver_flowcontrol_nominal_limit_seats{priority_level="few"}'
echo "  at a time: $out$(figure 'apiserver_flowcontrol_nominal_limit_seats{priority_level="few"}')"
# What its FlowSchema is, by the API server's own answer.
flow_of() {
  curl -sS -o /dev/null -D - --max-time 5 --cacert "$state/cluster/management/certs/apiserver.crt" \
    -H "Authorization: Bearer $(k -n herd-system create token "$1")" "$(api_server)/apis/herd.suse.com/v1/stacks" |
    tr -d '\r' | sed -n 's/^X-Kubernetes-Pf-Flowschema-Uid: //pI'
}
written --stack "$state/many.json" --mode create --prefix many --writers 200 --count 200 --token "$(k create token many)" &
load=$!
began=$(now_ms)
is "$(flow_of herd-controller)" "$(field flowschema/herd '{.metadata.uid}')"
echo "  Herd's own request meanwhile: $(($(now_ms) - began)) ms"
wait "$load" || wrong "a write failed"
is "$(k get stacks -o name | grep -c /many-)" 200
queued=$(figure 'apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true",flow_schema="few",priority_level="few"}')
[ "${queued%%.*}" -ge 200 ] || wrong "only '$queued' requests went through the level few"
questions=$(jq -c 'select(.user.username == "system:serviceaccount:herd-system:herd-webhook" and .verb == "create" and
  .objectRef.resource == "subjectaccessreviews" and .responseStatus.code == 201)' "$(audit_log_of management)" | wc -l)
((questions >= 200)) || wrong "only $questions questions were asked"
echo "  $questions questions were asked about them"

[ -n "${HERD_LONG:-}" ] || exit 0

row "connections that the API server kept are used again around its idle limit of 90 s: no review fails"
for pause in 89.8 89.95 90.05; do
  written --mode dry --writers 24 --count 24
  read -r -t "$pause" <> <(:) || true
done
written --mode dry --writers 24 --count 24
