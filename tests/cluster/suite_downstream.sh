#!/usr/bin/env bash
# suite_downstream.sh: everything is real but Rancher itself and the containers: the simulated Rancher runs the real
# helm on three real API servers, whose nodes with GPUs are kwok's, and the product works on a fourth.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
cluster_tools etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok helm charts
clusters_of_test="c-m-rag1 c-m-rag2 c-m-rag3"

# on CLUSTER ARGUMENTS...: kubectl, straight to that cluster's API server.
on() { of_cluster "$@"; }
# helm_on CLUSTER ARGUMENTS...: somebody's own helm.
helm_on() { HELM_CACHE_HOME=$state/helm KUBECONFIG=$(kubeconfig_of "$1") helm "${@:2}"; }

# Each version of each chart, packaged as any chart is, and the index beside them.
package_charts() {
  local chart version
  mkdir -p "$state/charts"
  for chart in gpu-operator qdrant ollama; do
    for version in 1.0.0 1.1.0; do
      helm package "tests/cluster/charts/$chart" --version "$version" --destination "$state/charts" >/dev/null
    done
  done
  helm repo index "$state/charts"
  start charts charts --folder "$state/charts"
  until_true 10 "the chart repository" grep -q http "$state/charts.out"
  repo=$(cat "$state/charts.out")
}

write_estate() {
  local cluster
  echo "clusters:"
  for cluster in $clusters_of_test; do
    echo "- {id: $cluster, labels: {env: prod, workload: ai-ml}, gpus: 4}"
  done
}

start_downstream() {
  local cluster kubeconfigs=()
  for cluster in $clusters_of_test; do
    start_cluster "$cluster" workloads
    start_nodes "$cluster" 1 4
    kubeconfigs+=("$cluster=$(kubeconfig_of "$cluster")")
  done
  write_estate >"$state/estate.yaml"
  lab_flags+=(--estate "$state/estate.yaml" --downstream-kubeconfig "$(IFS=, && echo "${kubeconfigs[*]}")" --helm "$(command -v helm)")
}

# stack VERSION MODEL REPLICAS: the RAG example's shape.
stack() {
  cat <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: rag, namespace: default}
spec:
  env: dev
  targets: {selector: {matchLabels: {env: prod, workload: ai-ml}}}
  retry: {limit: ${retries:-3}, backoff: 1s}
  drift: ${drift:-Detect}
  charts:
    - {name: gpu-operator, repo: "$repo", version: "$1", namespace: gpu-operator, wait: true, timeout: 60s}
    - name: qdrant
      repo: "$repo"
      version: "$1"
      namespace: vector-db
      dependsOn: [gpu-operator]
      values: {inline: {persistence: {size: 100Gi}}}
      wait: true
      timeout: 60s
    - name: ollama
      repo: "$repo"
      version: "$1"
      namespace: llm-serving
      dependsOn: [gpu-operator, qdrant]
      values: {inline: {model: $2, replicaCount: $3, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}}
      wait: true
      timeout: ${timeout:-60s}
EOF
}
apply() { stack "$@" | k apply -f -; }
ready() { k wait --for=condition=Ready stack/rag --timeout="${deadline_s}s"; }
# observed: the status is of the newest spec.
observed() { eventually field_is stack/rag '{.status.observedGeneration}' "$(field stack/rag '{.metadata.generation}')"; }

releases="gpu-operator/gpu-operator vector-db/qdrant llm-serving/ollama"
# listed CLUSTER: release, revision and status, as helm itself lists them.
listed() { helm_on "$1" list -A --all -o json | jq -r 'sort_by(.name)[] | "\(.name) \(.revision) \(.status) \(.chart)"'; }
is_listed() { [ "$(listed "$1")" = "$2" ] || { listed "$1"; return 1; }; }
app() { down "$1" -n "${2%/*}" get apps.catalog.cattle.io "${2#*/}" -o "jsonpath=$3"; }
app_is() { [ "$(app "$1" "$2" "$3")" = "$4" ]; }
# ready_times CLUSTER: when each release was deployed last, in the order of dependsOn.
ready_times() {
  local release
  for release in $releases; do
    app "$1" "$release" '{.spec.info.lastDeployed}{"\n"}'
  done
}

package_charts
start_downstream
webhook_flags=(--allow-plain-http-repos)
controller_flags+=(--allow-plain-http-repos)
start_product

row "the RAG example's shape becomes Deployed on three real clusters"
ok apply 1.0.0 none 3
ok ready
ok k get stacks rag --no-headers
[[ $out =~ rag\ +Deployed\ +3\ +3\ + ]] || wrong "columns: $out"
for cluster in $clusters_of_test; do
  is "$(listed "$cluster")" "gpu-operator 1 deployed gpu-operator-1.0.0
ollama 1 deployed ollama-1.0.0
qdrant 1 deployed qdrant-1.0.0"
done

row "its pods run, and hold the GPUs that they asked for"
for cluster in $clusters_of_test; do
  ok on "$cluster" -n llm-serving get pods -o 'jsonpath={range .items[*]}{.status.phase} {.spec.containers[0].resources.limits.nvidia\.com/gpu}{"\n"}{end}'
  is "$out" "Running 1
Running 1
Running 1"
  ok on "$cluster" get daemonset,deployment,statefulset -A -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name}{"\n"}{end}'
  is "$out" "DaemonSet/gpu-operator-driver
Deployment/gpu-operator
Deployment/ollama
StatefulSet/qdrant"
done

row "Apps are what the release Secrets say, through Rancher's proxy, with Herd's stamp in the chart"
for release in $releases; do
  is "$(app c-m-rag1 "$release" '{.spec.version} {.spec.info.status} {.status.summary.state} {.spec.chart.metadata.annotations.herd\.suse\.com/stack}')" \
    "1 deployed deployed default/rag"
done
is "$(app c-m-rag1 vector-db/qdrant '{.spec.resources[*].kind}')" "Service StatefulSet"
ok helm_on c-m-rag1 -n vector-db get values qdrant -o json
is "$out" '{"persistence":{"size":"100Gi"}}'

row "an Operation's log is what helm printed"
operation=$(down c-m-rag1 -n vector-db get operations.catalog.cattle.io -o 'jsonpath={.items[0].metadata.name}')
ok curl -sS --cacert "$HERD_LAB_RANCHER_CA" -H "Authorization: Bearer $HERD_LAB_RANCHER_TOKEN" \
  "$HERD_LAB_RANCHER_URL/k8s/clusters/c-m-rag1/v1/catalog.cattle.io.operations/vector-db/$operation/logs"
says "helm upgrade --history-max="
says 'Release "qdrant" does not exist. Installing it now.'
says "SUCCESS: helm upgrade"
