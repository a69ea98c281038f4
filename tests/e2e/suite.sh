#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite.sh BIN STATE CGROUP: from an empty cluster to a Stack that is Deployed, and back, with Herd as real containers.
#
# It is the first process of namespaces that run.sh made: what it starts is gone when it ends. Herd comes as it comes to
# users: the image from `make image`, `make deploy`, and a Secret that says where Rancher is.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/integration/lib.sh
. tests/integration/lib.sh
cgroup=${3:?CGROUP}
suite "${1:?BIN}" "${2:?STATE}"
cluster_address=10.244.0.1
apiserver_flags=(--service-cluster-ip-range 10.96.0.0/24 --endpoint-reconciler-type lease
  --kubelet-preferred-address-types InternalIP --allow-privileged=false)
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
# shellcheck source=tests/e2e/node.sh
. tests/e2e/node.sh
# shellcheck source=tests/e2e/look.sh
. tests/e2e/look.sh
# shellcheck source=tests/e2e/policies.sh
. tests/e2e/policies.sh

lab_flags+=(--rancher-listen "$rancher_address:443" --tls-san "$rancher_name")
lab_kubeconfig=$state/lab.kubeconfig
export KUBECONFIG=$state/kubeconfig TIMEOUT=120s
# The only API server in this network: where its Service, and Herd's network policy, say that it is.
free_port() { port=6443; }

herd() { k -n herd-system "$@"; }
pods_of() { herd get pods -l "app.kubernetes.io/name=$1" --field-selector status.phase=Running -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }

# The clusters that Rancher keeps in the cluster that it runs on (tests/cluster/real.sh).
mirror_clusters() {
  local crd=clusters.management.cattle.io
  lab_k get crd "$crd" -o json | jq '{apiVersion, kind, spec, metadata: {name: .metadata.name}}' | k create -f - >/dev/null
  until_established "crd/$crd"
  in_cluster_folder mirror mirror --from "$lab_kubeconfig" --to "$state/kubeconfig" --resource clusters.v3.management.cattle.io
}

tell_where_rancher_is() {
  k apply -f manifests/namespace.yaml >/dev/null
  herd create secret generic herd-rancher --from-literal=url="https://$rancher_name" \
    --from-literal=token="$HERD_LAB_RANCHER_TOKEN" --from-file=ca.crt="$HERD_LAB_RANCHER_CA" \
    --from-literal=ca-file=/etc/herd/rancher/ca.crt >/dev/null
}

# restarts: of all containers together; what a probe that is wrong, or too little memory, brings about.
restarts() { herd get pods -o json | jq '[.items[].status.containerStatuses[]?.restartCount] | add // 0'; }

row "a node comes up: control plane, containerd, kubelet, kube-proxy"
PATH=$state.tools:$PATH
prepare_node
start_cluster management workloads
start_cert_manager management
start_node
start_policies

row "the image is imported, and nothing is pulled"
began=$(now_ms)
ok import build/image/herd.tar
echo "  imported in $(($(now_ms) - began)) ms"
ok ctr -n k8s.io images ls -q
says registry.example.invalid/herd:0.1.0

row "make deploy ends when both Deployments are available"
start_lab
mirror_clusters
tell_where_rancher_is
began=$(now_ms)
ok make -s deploy
says "Herd runs."
echo "  deployed in $(($(now_ms) - began)) ms"
for name in herd-webhook herd-controller; do
  ok herd wait --for=condition=Available "deployment/$name" --timeout=5s
done
is "$(pods_of herd-webhook | wc -l) $(pods_of herd-controller | wc -l)" "2 1"
look_at_starts

row "the RAG example becomes Deployed, and the controller's log tells"
began=$(now_ms)
ok k apply -f examples/rag-inference-stack.yaml
eventually field_is stack/rag-inference '{.status.phase}' Deployed
echo "  Deployed in $(($(now_ms) - began)) ms"
ok k get stacks
says Deployed
echo "$out" | sed 's/^/  /'
log_tells() { herd logs deployment/herd-controller | grep rag-inference | grep '"Deployed"'; }
eventually log_tells
tail -n 1 <<<"$out" | cut -c 1-200 | sed 's/^/  /'

row "a Stack that makes no sense is rejected by the webhook in the cluster, with its answer"
# Warnings come first: rag-inference claims some of these releases, too.
for name in cycle missing-gpu unknown-dependency; do
  rejected k apply -f "examples/rejected/$name.yaml"
  says "$(cat "examples/rejected/$name.kubectl.txt")"
done

row "what the security contexts promise holds for the processes"
for name in herd-webhook herd-controller; do
  for pod in $(pods_of "$name"); do
    look_at_security "$name" "$pod"
  done
done

row "network policies let through what is needed, and nothing else"
for pod in $(pods_of herd-controller) $(pods_of herd-webhook); do
  for address in "$node_address:6443" 10.96.0.1:443; do
    ok reaches "$pod" "$address"
  done
  eventually reaches_not "$pod" "$node_address:10250"
done
ok reaches "$(pods_of herd-controller)" "$rancher_address:443"

row "figures are served, by pod and by Service"
for target in herd-webhook:8080 herd-controller:8081; do
  ok curl -sf --max-time 5 "http://$(herd get service "${target%:*}" -o 'jsonpath={.spec.clusterIP}'):${target#*:}/metrics"
  says "# TYPE herd_"
done

row "the author of a Stack is recorded, and nobody but the controller writes its status"
ok field stack/rag-inference '{.metadata.annotations.herd\.suse\.com/last-applied-by}'
[ -n "$out" ] || wrong "nobody is recorded"
rejected k patch stack rag-inference --subresource=status --type=merge -p '{"status":{"phase":"Failed"}}'
says "only Herd's controller writes the status of Stacks"
is "$(field stack/rag-inference '{.status.phase}')" Deployed

row "a webhook that is rolled out anew loses no review"
start_reviews
ok herd rollout restart deployment/herd-webhook
ok herd rollout status deployment/herd-webhook --timeout=120s
eventually one_generation herd-webhook 2
end_reviews
is "$(count_reviews lost)" 0

row "a certificate that is renewed reaches each replica through the kubelet, and no review is lost"
serials() { for pod in $(pods_of herd-webhook); do serial_of "$pod"; done; }
before=$(serials)
start_reviews
began=$(now_ms)
ok k -n herd-system patch certificate herd-webhook --subresource=status --type=merge -p \
  '{"status":{"conditions":[{"type":"Issuing","status":"True","reason":"ManuallyTriggered","message":"test"}]}}'
all_renewed() { [ "$(serials | grep -cvxF "$before")" = 2 ]; }
eventually all_renewed
echo "  both show the new one after $(($(now_ms) - began)) ms"
end_reviews
is "$(count_reviews lost)" 0

row "how Stacks are validated reaches each replica through the kubelet, and goes again"
# all_say MESSAGE COUNT: each program's log, so often.
all_say() {
  local pod
  for pod in $(pods_of herd-webhook) $(pods_of herd-controller); do
    [ "$(herd logs "$pod" | jq -r .message | grep -cF "$1")" = "$2" ] || return 1
  done
}
eventually all_say "no configuration file" 1
began=$(now_ms)
herd create configmap herd-config --from-literal=config.yaml='rules: {targets.local: off}' >/dev/null
eventually all_say "configuration taken" 1
echo "  all took it after $(($(now_ms) - began)) ms"
herd delete configmap herd-config >/dev/null
eventually all_say "no configuration file" 2

row "a controller that is rolled out anew hands over, and the next change is applied"
ok herd rollout restart deployment/herd-controller
ok herd rollout status deployment/herd-controller --timeout=60s
eventually one_generation herd-controller 1
holder_is_running() { herd get pod "$(herd get lease herd-controller -o 'jsonpath={.spec.holderIdentity}' | sed 's/_.*//')"; }
eventually holder_is_running
ok k patch stack rag-inference --type=json -p '[{"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"110Gi"}]'
eventually field_is stack/rag-inference '{.status.observedGeneration}' 2
eventually field_is stack/rag-inference '{.status.phase}' Deployed

# The API server looks after Services' addresses, and cert-manager after Issuers, in rounds of their own.
row "the cluster warned of nothing but pods that were not ready yet, or not any more"
k -n herd-system get events --field-selector type=Warning -o json | jq -r '.items[]
  | "\(.reason) \(.involvedObject.kind)/\(.involvedObject.name): \(.message)"' >"$state/warnings"
is "$(grep -vE '^(Unhealthy Pod/|FailedMount Pod/herd-webhook.*herd-webhook-tls|[A-Za-z]* (Issuer|Service)/)' "$state/warnings")" ""

row "reviews as large as the API server lets through, 64 at once, do not come near the memory limit"
pod=$(pods_of herd-webhook | sed -n 1p)
review_of_size 2900000 >"$state/large.json"
large_reviews "$pod" 128 64 >"$state/large"
echo "  $(sort "$state/large" | uniq -c | awk '{ printf "%s%d answers %s", (NR > 1 ? ", " : ""), $1, $2 }')"
is "$(grep -vE '^(200|413|429|503)$' "$state/large")" ""
grep -q '^200$' "$state/large" || wrong "none was answered"
look_at_memory "$pod"
is "$(restarts)" 0

row "the memory of each container stays far below its limit, and nothing was started twice"
for name in herd-webhook herd-controller; do
  for pod in $(pods_of "$name"); do
    look_at_memory "$pod"
  done
done
is "$(restarts)" 0

row "a webhook that hangs is taken out of the Service, and then started again by its liveness probe"
pod=$(pods_of herd-webhook | sed -n 1p)
began=$(now_ms)
kill -STOP "$(process_of "$pod")"
not_ready() { [ "$(herd get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].ready}')" = false ]; }
eventually not_ready
echo "  not ready after $(($(now_ms) - began)) ms"
# Connections that the API server had open to it are tried once more each, for 5 s.
lost=0
until k apply --dry-run=server -f examples/test-stack.yaml >/dev/null 2>&1; do
  lost=$((lost + 1))
  ((lost < 10)) || wrong "ten writes were lost, one after another"
done
echo "  writes answered after $(($(now_ms) - began)) ms; lost before: $lost"
started_again() { [ "$(restarts)" = 1 ]; }
eventually started_again
ok herd wait --for=condition=Ready "pod/$pod" --timeout=30s
took=$(($(now_ms) - began))
echo "  ready again after $took ms"
((took < 50000)) || wrong "it took $took ms; the liveness probe's own grace period is 5 s"

row "a Stack is deleted while the controller runs, and its finalizer goes"
ok k delete stack rag-inference --wait --timeout=60s

row "make undeploy leaves nothing that stands in anybody's way"
ok k apply -f examples/test-stack.yaml
began=$(now_ms)
ok make -s undeploy
echo "  undeployed in $(($(now_ms) - began)) ms"
is "$(k get mutatingwebhookconfiguration,validatingwebhookconfiguration,namespace -o name | grep herd || true)" ""
nothing_runs() { [ -z "$(ctr -n k8s.io tasks ls -q)" ]; }
eventually nothing_runs
ok k label stack --all free=yes

row "the same with a CA of Herd's own, without cert-manager"
export OVERLAY=manifests/overlays/own-ca
tell_where_rancher_is
began=$(now_ms)
ok make -s deploy
echo "  deployed in $(($(now_ms) - began)) ms"
ok k apply -f examples/rag-inference-stack.yaml
eventually field_is stack/rag-inference '{.status.phase}' Deployed
rejected k apply -f examples/rejected/cycle.yaml
says "$(cat examples/rejected/cycle.kubectl.txt)"
ok k delete stack --all --wait --timeout=60s
ok make -s undeploy
is "$(k get mutatingwebhookconfiguration,validatingwebhookconfiguration,namespace -o name | grep herd || true)" ""
