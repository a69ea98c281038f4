#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_lifecycle.sh: one Stack from apply to Deployed, changed, and torn down.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product

row "what alerts ask for is there from the start"
# Figures of Herd's own CA are where that is (suite_certificates.sh).
figures=$(curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" "http://127.0.0.1:$webhook_metrics_port/metrics")
grep -oE 'herd_[a-z_]+(\{[^}]*\})?' manifests/monitoring/prometheusrule.yaml | grep -v herd_controller_certificate_ | sort -u >"$state/asked"
[ "$(wc -l <"$state/asked")" -gt 5 ] || wrong "no figures are asked for"
while read -r figure; do
  grep -qF "$figure " <<<"$figures" || wrong "there is no $figure"
done <"$state/asked"

row "the RAG example becomes Deployed on both clusters"
ok k apply -f examples/rag-inference-stack.yaml
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"
ok k get stacks rag-inference --no-headers
[[ $out =~ rag-inference\ +Deployed\ +2\ +3\ + ]] || wrong "columns: $out"
ok k get stacks rag-inference -o wide --no-headers
says 6/6

row "each release is there once, at revision 1, stamped"
for cluster in c-m-gpu01 c-m-gpu02; do
  for release in gpu-operator/gpu-operator vector-db/qdrant llm-serving/ollama; do
    ok down "$cluster" -n "${release%/*}" get apps.catalog.cattle.io "${release#*/}" \
      -o 'jsonpath={.spec.version} {.spec.info.status} {.spec.chart.metadata.annotations.herd\.suse\.com/stack}'
    is "$out" "1 deployed default/rag-inference"
  done
done

row "charts started in the order of dependsOn"
times=$(for release in gpu-operator/gpu-operator vector-db/qdrant llm-serving/ollama; do
  down c-m-gpu01 -n "${release%/*}" get apps.catalog.cattle.io "${release#*/}" -o 'jsonpath={.spec.info.firstDeployed}{"\n"}'
done)
is "$times" "$(sort <<<"$times")"

row "events and describe tell the story"
eventually told rag-inference Normal Deployed "all 6 releases are deployed on 2 clusters"
for chart in "gpu-operator 23.9.1" "qdrant 0.7.4" "ollama 0.59.0"; do
  eventually told rag-inference Normal Installed "$chart on c-m-gpu0"
done
rejected told rag-inference Normal Upgraded "on"
rejected told rag-inference Normal Installing "on"
ok k describe stack rag-inference
says "DeploymentSucceeded"

row "a reached state is left alone"
before=$(field stack/rag-inference '{.metadata.resourceVersion}')
requests=$(counters)
ok k annotate stack rag-inference look=again
eventually field_is stack/rag-inference '{.status.phase}' Deployed
is "$(counters)" "$requests"

row "the same file again is unchanged, and diff prints nothing"
ok k apply --warnings-as-errors -f examples/rag-inference-stack.yaml
is "$(grep -v ' unchanged$' <<<"$out")" ""
ok k diff -f examples/rag-inference-stack.yaml
is "$out" ""

row "a dry run says what would become of the releases that are there"
# would JQ: what a dry run of the Stack with this edit says.
would() { out=$(k get stack rag-inference -o json | jq "$1" | k apply --dry-run=server -f - 2>&1); }
would '.spec.charts[1].version = "0.8.0"'
says "preview: upgrades qdrant 0.7.4 -> 0.8.0 on 2 clusters: c-m-gpu01 and c-m-gpu02"
would 'del(.spec.charts[2])'
says "preview: uninstalls ollama from 2 clusters: c-m-gpu01 and c-m-gpu02"
says_not maxRemovals
would '.spec.targets = {clusterIds: ["c-m-dev-cluster"]}'
says "preview: leaves 2 clusters: c-m-gpu01 and c-m-gpu02, and its releases are uninstalled there"
says "preview: removes 6 of 6 releases, which is more than spec.rollout.maxRemovals (50%)"

row "a new version is rolled out as an upgrade, parents first"
ok k patch stack rag-inference --type=json \
  -p '[{"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"600Gi"}]'
eventually field_is stack/rag-inference '{.status.observedGeneration}' "$(field stack/rag-inference '{.metadata.generation}')"
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"
ok down c-m-gpu01 -n vector-db get apps.catalog.cattle.io qdrant -o 'jsonpath={.spec.version}'
is "$out" 2
ok down c-m-gpu01 -n gpu-operator get apps.catalog.cattle.io gpu-operator -o 'jsonpath={.spec.version}'
is "$out" 1
eventually told rag-inference Normal Upgraded "qdrant 0.7.4 on c-m-gpu0"
rejected told rag-inference Normal Upgraded gpu-operator

row "a ConfigMap that changes re-plans the Stacks that name it"
ok k patch configmap gpu-operator-values --type=merge -p '{"data":{"values.yaml":"toolkit:\n  enabled: false\n"}}'
app_revision_is() { [ "$(down "$1" -n "$2" get apps.catalog.cattle.io "$3" -o 'jsonpath={.spec.version}')" = "$4" ]; }
eventually app_revision_is c-m-gpu01 gpu-operator gpu-operator 2
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

row "a cluster that loses its label loses its releases after removalDelay, one that gains it gets them"
ok k patch stack rag-inference --type=merge -p '{"spec":{"rollout":{"removalDelay":"1s"}}}'
eventually field_is stack/rag-inference '{.status.observedGeneration}' "$(field stack/rag-inference '{.metadata.generation}')"
ok k label clusters.management.cattle.io c-m-gpu02 workload-
eventually field_is stack/rag-inference '{.status.clusters}' 1
app_gone() { ! down "$1" -n "$2" get apps.catalog.cattle.io "$3" >/dev/null 2>&1; }
eventually app_gone c-m-gpu02 gpu-operator gpu-operator
ok k label clusters.management.cattle.io c-m-gpu02 workload=ai-ml
eventually app_revision_is c-m-gpu02 llm-serving ollama 1
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

row "paused observes and reports, and changes nothing until it is resumed"
ok k patch stack rag-inference --type=json -p '[{"op":"add","path":"/spec/paused","value":true},
  {"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"700Gi"}]'
eventually field_is stack/rag-inference '{.status.observedGeneration}' "$(field stack/rag-inference '{.metadata.generation}')"
eventually field_has stack/rag-inference '{.status.message}' paused
is "$(down c-m-gpu01 -n vector-db get apps.catalog.cattle.io qdrant -o 'jsonpath={.spec.version}')" 2
ok k patch stack rag-inference --type=merge -p '{"spec":{"paused":false}}'
eventually app_revision_is c-m-gpu01 vector-db qdrant 3
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

row "an upgrade of one chart goes through the waves, although its siblings stay as they are"
ok k label clusters.management.cattle.io c-m-gpu01 canary=yes
ok k patch stack rag-inference --type=json -p '[
  {"op":"add","path":"/spec/rollout","value":{"waves":[{"name":"one","selector":{"matchLabels":{"canary":"yes"}},"pause":"1h"}]}},
  {"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"800Gi"}]'
eventually app_revision_is c-m-gpu01 vector-db qdrant 4
eventually field_has stack/rag-inference '{.status.message}' "waiting for wave one: it pauses until"
ok app_revision_is c-m-gpu02 vector-db qdrant 2
ok k patch stack rag-inference --type=json -p '[{"op":"remove","path":"/spec/rollout"}]'
eventually app_revision_is c-m-gpu02 vector-db qdrant 3
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

drifted() { field_is stack/rag-inference '{.status.conditions[?(@.type=="Drifted")].status}' "$1"; }
ollama_is() { [ "$(down c-m-gpu01 -n llm-serving get apps.catalog.cattle.io ollama -o 'jsonpath={.spec.version} {.spec.info.status}')" = "$1" ]; }

row "an upgrade that somebody makes by hand through Rancher is drift"
by_hand c-m-gpu01 llm-serving ollama 0.59.0 '{"x":1}'
eventually ollama_is "2 deployed"
eventually drifted True
eventually field_is stack/rag-inference '{.status.phase}' Deployed
eventually field_has stack/rag-inference '{.status.message}' "1 of them changed by somebody else"
eventually told rag-inference Warning Drifted "ollama 0.59.0 on c-m-gpu01: revision 2"

row "it is undone where that is asked for, each time"
ok k patch stack rag-inference --type=merge -p '{"spec":{"drift":"Correct"}}'
eventually ollama_is "3 deployed"
eventually drifted ""
by_hand c-m-gpu01 llm-serving ollama 0.59.0 '{"x":2}'
eventually ollama_is "5 deployed"
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"
eventually told rag-inference Warning Drifted "ollama 0.59.0 on c-m-gpu01: changed by somebody else; it is being corrected"

row "and it goes with its chart all the same"
ok k patch stack rag-inference --type=merge -p '{"spec":{"drift":"Detect"}}'
by_hand c-m-gpu01 llm-serving ollama 0.59.0 '{"x":3}'
eventually ollama_is "6 deployed"
eventually drifted True

row "a chart that leaves the spec is uninstalled"
ok k patch stack rag-inference --type=json -p '[{"op":"remove","path":"/spec/charts/2"}]'
eventually app_gone c-m-gpu01 llm-serving ollama
eventually field_is stack/rag-inference '{.status.phase}' Deployed
eventually told rag-inference Normal Uninstalled "ollama on c-m-gpu0"

row "deletion tears down in reverse order and leaves nothing"
ok k delete stack rag-inference --wait --timeout="${deadline_s}s"
for cluster in c-m-gpu01 c-m-gpu02; do
  ok down "$cluster" get apps.catalog.cattle.io -A -o name
  is "$out" ""
done

# small PAUSED: a Stack of one chart on one cluster.
small() {
  cat <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: small, namespace: default}
spec:
  paused: $1
  targets: {clusterIds: [c-m-gpu01]}
  charts: [{name: qdrant, repo: https://qdrant.github.io/qdrant-helm, version: 0.7.4}]
YAML
}
stalled() { field_is stack/small '{.status.conditions[?(@.type=="Stalled")].status} {.status.conditions[?(@.type=="Stalled")].reason}' "$1"; }
warned() { [ "$(k get events --field-selector involvedObject.name=small,reason=DeletionPaused -o 'jsonpath={.items[*].type}')" = Warning ]; }

row "a paused Stack that deployed nothing goes when it is deleted"
ok k apply -f <(small true)
eventually field_has stack/small '{.status.message}' paused
ok k delete stack small --timeout="${deadline_s}s"

row "one that did says that it waits for the pause to end, and goes then"
ok k apply -f <(small false)
ok k wait --for=condition=Ready stack/small --timeout="${deadline_s}s"
ok k apply -f <(small true)
ok k delete stack small --wait=false
eventually stalled "True DeletionPaused"
eventually field_has stack/small '{.status.message}' "set spec.paused to false"
eventually warned
ok k patch stack small --type=merge -p '{"spec":{"paused":false}}'
ok k wait --for=delete stack/small --timeout="${deadline_s}s"
eventually app_gone c-m-gpu01 qdrant qdrant
