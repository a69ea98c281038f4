#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# record.sh BIN STATE: run Stacks through their lives on the lab and keep what `kubectl get stack -o json` shows at each
# stage in tests/argocd/snapshots/, which the health checks are tested with. Run by hand, when a status changes:
#
#   bash tests/argocd/record.sh build/dev/bin build/record
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
snapshots=tests/argocd/snapshots

# keep NAME: what is on stdin, without what no health check may look at.
keep() { jq -S 'del(.metadata.managedFields)' >"$snapshots/$1.json"; }
# now NAME STACK
now() { k get stack "$2" -o json | keep "$1"; }
# film STACK: every state that it goes through from now on, in $state/STACK.film.
film() { start "film-$1" kubectl --kubeconfig "$state/kubeconfig" get stack "$1" -o json -w; }
# cut NAME STACK FILTER: the first filmed state that the filter selects.
cut_is_there() { jq -es "map(select($2)) | length > 0" "$state/film-$1.out" >/dev/null; }
cut() {
  eventually cut_is_there "$2" "$3"
  jq -s "map(select($3))[0]" "$state/film-$2.out" | keep "$1"
}
# story STACK: its Events, for who reads the recording.
story() {
  k get events --field-selector "involvedObject.name=$1" -o json |
    jq -r '.items | sort_by(.firstTimestamp, .metadata.name)[] | "\(.type)\t\(.reason)\t\(.count)\t\(.message)"' >"$state/$1.story"
}
# small NAME PATCH: the smallest Stack, changed.
small() {
  sed "s/test-stack/$1/g" examples/test-stack.yaml | kubectl patch --local -f - --type=merge -p "$2" -o yaml | k apply -f - >/dev/null
}
ready() { k wait --for=condition=Ready "stack/$1" --timeout="${deadline_s}s"; }
observed() { [ "$(field "stack/$1" '{.status.observedGeneration}')" = "$(field "stack/$1" '{.metadata.generation}')" ]; }

start_product

row "a Stack that nobody has looked at"
end controller
ok k apply -f examples/rag-inference-stack.yaml
now created rag-inference
ok k patch stack rag-inference --subresource=status --type=merge -p '{"status":{"observedGeneration":-1}}'
now unobserved rag-inference

row "its deployment"
film rag-inference
start_controller
ok ready rag-inference
cut pending rag-inference '.status.phase == "Pending"'
cut deploying rag-inference '.status.phase == "Deploying"'
now deployed rag-inference

row "an upgrade"
ok k patch stack rag-inference --type=json -p '[{"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"600Gi"}]'
eventually observed rag-inference
ok ready rag-inference
cut changed rag-inference '.status.phase == "Deployed" and .status.observedGeneration < .metadata.generation'
cut upgrading rag-inference '.status.phase == "Deploying" and .status.observedGeneration == .metadata.generation and .metadata.generation > 1'
now upgraded rag-inference

row "a pause, when all is deployed and when something is to be done"
ok k patch stack rag-inference --type=merge -p '{"spec":{"paused":true}}'
eventually field_has stack/rag-inference '{.status.message}' paused
now paused-deployed rag-inference
ok k patch stack rag-inference --type=json -p '[{"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"700Gi"}]'
eventually observed rag-inference
now paused rag-inference
ok k patch stack rag-inference --type=merge -p '{"spec":{"paused":false}}'
eventually observed rag-inference
ok ready rag-inference

row "a release that somebody else changed, and that is set right"
by_hand c-m-gpu01 llm-serving ollama 0.59.0 '{"x":1}'
eventually field_has stack/rag-inference '{.status.conditions[*].type}' Drifted
now drifted rag-inference
ok k patch stack rag-inference --type=merge -p '{"spec":{"drift":"Correct"}}'
eventually observed rag-inference
ok ready rag-inference

row "a failure that is tried again, and one that is not"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=schema-error cluster=c-m-dev-cluster'
small retrying '{}'
eventually field_is stack/retrying '{.status.deployments[0].status}' Failed
now retrying retrying
small failed '{"spec":{"onFailure":"Stop","charts":[{"name":"qdrant","repo":"https://qdrant.github.io/qdrant-helm","version":"0.7.4"}]}}'
eventually field_is stack/failed '{.status.phase}' Failed
now failed failed
ok lab_k delete configmap herd-lab-faults

row "waiting for another Stack, and for a cluster"
small waiting '{"spec":{"dependsOn":[{"name":"not-yet"}],"charts":[{"name":"qdrant","repo":"https://qdrant.github.io/qdrant-helm","version":"0.7.4","namespace":"other"}]}}'
eventually field_has stack/waiting '{.status.message}' not-yet
now waiting waiting
small no-clusters '{"spec":{"targets":{"clusterIds":null,"selector":{"matchLabels":{"no":"such"}}}}}'
eventually field_has stack/no-clusters '{.status.message}' 'no cluster'
now no-clusters no-clusters

row "an unreachable cluster"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-gpu02'
eventually field_has stack/rag-inference '{.status.deployments[*].status}' Unknown
now unreachable rag-inference
ok lab_k delete configmap herd-lab-faults
eventually field_is stack/rag-inference '{.status.phase}' Deployed

row "deletion, held by a pause and not"
ok k patch stack rag-inference --type=merge -p '{"spec":{"paused":true}}'
eventually observed rag-inference
ok k delete stack rag-inference --wait=false
eventually field_has stack/rag-inference '{.status.conditions[?(@.type=="Stalled")].reason}' DeletionPaused
now stalled rag-inference
ok k patch stack rag-inference --type=merge -p '{"spec":{"paused":false}}'
cut deleting rag-inference '.status.phase == "Deleting" and (.spec.paused | not) and .status.observedGeneration == .metadata.generation'
gone() { ! k get stack rag-inference >/dev/null 2>&1; }
eventually gone
for name in rag-inference retrying failed waiting no-clusters; do
  story "$name"
  printf '\n%s\n' "$name"
  cat "$state/$name.story"
done
