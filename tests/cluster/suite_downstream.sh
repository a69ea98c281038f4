#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
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

write_simulation() {
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
  write_simulation >"$state/simulation.yaml"
  lab_flags+=(--simulation "$state/simulation.yaml" --downstream-kubeconfig "$(IFS=, && echo "${kubeconfigs[*]}")" --helm "$(command -v helm)")
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

row "kubeconfigs, clusters and programs that there are not are rejected at start, each with the remedy"
lab_with() { "$bin/herd-lab" serve --data "$state/rejected" "$@"; }
rejected lab_with --downstream-kubeconfig c-m-gpu01
says "--downstream-kubeconfig: 'c-m-gpu01' is not of the form ID=FILE"
rejected lab_with --downstream-kubeconfig "c-m-gpu01=$state/none"
says "cluster c-m-gpu01: there is no file $state/none"
printf 'apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]\n' >"$state/nobody.kubeconfig"
rejected lab_with --downstream-kubeconfig "c-m-none=$state/nobody.kubeconfig"
says "the simulation has no downstream cluster c-m-none; name one of its clusters"
rejected lab_with --downstream-kubeconfig "c-m-gpu01=$state/nobody.kubeconfig" --helm no-such-helm
says "--helm: there is no program no-such-helm; install helm 3, or say where it is"

package_charts
start_downstream
echo "allowRepoHosts: [127.0.0.1]" >"$state/config.yaml" # where package_charts serves them
webhook_flags=(--allow-plain-http-repos --config-file "$state/config.yaml")
# A real cluster on a busy machine takes seconds to take an Operation.
controller_flags=(--rancher-settle 6s --allow-plain-http-repos --config-file "$state/config.yaml")
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
says "helm upgrade --description=Stack "
says " --history-max="
says 'Release "qdrant" does not exist. Installing it now.'
says "SUCCESS: helm upgrade"

row "what is watched through Rancher's proxy comes as it happens, and what is rejected is rejected"
down c-m-rag1 -n default get configmaps --watch-only -o name >"$state/watched.txt" 2>&1 &
watcher=$!
# A watch that is not begun yet misses what comes before it.
told() {
  on c-m-rag1 create configmap "seen-$RANDOM" -o name >/dev/null
  grep configmap/seen "$state/watched.txt"
}
eventually told
kill "$watcher"
rejected down c-m-rag1 get --raw /apis/catalog.cattle.io/v1/namespaces/none/apps/none
says "NotFound"

row "an upgrade goes to revision 2 in the order of dependsOn"
ok apply 1.1.0 none 3
observed
ok ready
for cluster in $clusters_of_test; do
  is "$(listed "$cluster")" "gpu-operator 2 deployed gpu-operator-1.1.0
ollama 2 deployed ollama-1.1.0
qdrant 2 deployed qdrant-1.1.0"
  times=$(ready_times "$cluster")
  is "$times" "$(sort <<<"$times")"
done
ok on c-m-rag3 -n llm-serving get pods --field-selector status.phase=Running -o 'jsonpath={.items[*].spec.containers[0].image}'
says "registry.example.org/ollama:1.1.0"

row "somebody's own helm upgrade is told as drift, and left alone"
ok helm_on c-m-rag1 -n vector-db upgrade qdrant "$state/charts/qdrant-1.1.0.tgz" --set persistence.size=1Gi
eventually field_has stack/rag '{.status.deployments[*].reason}' Drifted
is "$(app c-m-rag1 vector-db/qdrant '{.spec.version}')" 3

row "with drift: Correct it is fixed, that release alone"
drift=Correct
ok apply 1.1.0 none 3
eventually app_is c-m-rag1 vector-db/qdrant '{.spec.version} {.spec.info.status}' "4 deployed"
ok helm_on c-m-rag1 -n vector-db get values qdrant -o json
is "$out" '{"persistence":{"size":"100Gi"}}'
observed
ok ready
is "$(app c-m-rag1 llm-serving/ollama '{.spec.version}') $(app c-m-rag2 vector-db/qdrant '{.spec.version}')" "2 2"

row "an upgrade that fails is told in helm's words, tried again, and over when the spec is fixed"
ok apply 1.1.0 forbidden 3
eventually field_has stack/rag '{.status.deployments[*].message}' "this model may not be served"
tried_again() { [ "$(counters | jq '[.releases[] | select(.release == "ollama" and .cluster == "c-m-rag2")][0].failed')" -ge 2 ]; }
eventually tried_again
for cluster in $clusters_of_test; do
  eventually app_is "$cluster" llm-serving/ollama '{.spec.version} {.spec.info.status}' "2 deployed"
done
ok apply 1.1.0 llama 3
observed
ok ready
ok on c-m-rag2 -n llm-serving get deployment ollama -o 'jsonpath={.spec.template.metadata.annotations.model}'
is "$out" llama

# take_gpus CLUSTER COUNT: by a pod of somebody else.
take_gpus() {
  on "$1" create -f - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata: {name: taker, namespace: default}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: "$2"}}}]
EOF
  on "$1" wait --for=condition=Ready pod/taker --timeout=30s >/dev/null
}
free_gpus() { on "$1" delete pod taker --wait=false --ignore-not-found >/dev/null; }

row "pods that do not fit stay Pending; wait and timeout tell the root cause, and it goes on when there is room"
take_gpus c-m-rag2 1
timeout=5s
ok apply 1.1.0 mistral 4
pending_pod() { on c-m-rag2 -n llm-serving get pods --field-selector status.phase=Pending -o 'jsonpath={.items[*].status.conditions[*].message}' | grep 'Insufficient nvidia.com/gpu'; }
eventually pending_pod
eventually field_has stack/rag '{.status.deployments[*].message}' "context deadline exceeded"
says_cause() { field_has stack/rag '{.status.deployments[*].message}' "Insufficient nvidia.com/gpu"; }
eventually says_cause
free_gpus c-m-rag2
observed
ok ready
ok on c-m-rag2 -n llm-serving get pods --field-selector status.phase=Running -o name
is "$(wc -l <<<"$out")" 4
timeout=60s

row "deletion uninstalls in reverse order and leaves no release Secret and no workload"
ok helm_on c-m-rag3 -n vector-db upgrade qdrant "$state/charts/qdrant-1.1.0.tgz"
ok k delete stack rag --wait --timeout="${deadline_s}s"
for cluster in $clusters_of_test; do
  ok on "$cluster" get secrets -A --field-selector type=helm.sh/release.v1 -o name
  is "$out" ""
  ok on "$cluster" get daemonset,deployment,statefulset,apps.catalog.cattle.io -A -o name
  is "$out" ""
  # The last Secret of each release, in the order in which they went.
  gone=$(jq -r 'select(.verb == "delete" and .objectRef.resource == "secrets" and (.objectRef.name // "" | startswith("sh.helm.release")))
    | .objectRef.namespace' "$(audit_log_of "$cluster")" | tac | awk '!seen[$1]++' | tac | tr '\n' ' ')
  is "$gone" "llm-serving vector-db gpu-operator "
done

row "a controller that is killed at any moment of it does nothing twice"
installs() { counters | jq -r '.releases[] | "\(.cluster) \(.release) \(.upgrade)"' | sort; }
before=$(installs)
drift=Detect
controller_flags+=(--leader-elect=false) # the next one goes on at once, and is killed at work, too
end controller TERM
start_controller
ok apply 1.0.0 none 3
for i in 1 2 3; do
  sleep "0.$((RANDOM % 900 + 100))"
  end controller KILL
  start_controller
done
ok ready
for cluster in $clusters_of_test; do
  is "$(listed "$cluster")" "gpu-operator 1 deployed gpu-operator-1.0.0
ollama 1 deployed ollama-1.0.0
qdrant 1 deployed qdrant-1.0.0"
done
is "$(installs)" "$(awk '{ print $1, $2, $3 + 1 }' <<<"$before")"

# An upgrade of ollama on c-m-rag2 that does not end, because a pod finds no GPU.
hang() {
  take_gpus c-m-rag2 1
  ok apply 1.0.0 "$1" 4
  eventually app_is c-m-rag2 llm-serving/ollama '{.spec.version} {.spec.info.status}' "$2 pending-upgrade"
}
operation_of() {
  down c-m-rag2 -n llm-serving get operations.catalog.cattle.io --sort-by .metadata.creationTimestamp -o json |
    jq -r "[.items[] | select(.status.releaseName == \"ollama\")][-1].$1"
}

row "a helm pod that is deleted leaves the release pending; it is freed, and tried again"
hang phi 2
operation=$(operation_of metadata.name)
ok on c-m-rag2 -n cattle-system delete pod "$operation"
free_gpus c-m-rag2
ended() { [ "$(down c-m-rag2 -n llm-serving get operations.catalog.cattle.io "$operation" -o 'jsonpath={.status.conditions[*].status}')" = "False False" ]; }
eventually ended
observed
ok ready
is "$(app c-m-rag2 llm-serving/ollama '{.spec.version} {.spec.info.status}')" "2 deployed"

row "the same when Rancher itself is killed while helm is at work"
ok apply 1.0.0 phi 3
observed
ok ready
hang gemma 4
end lab KILL
rejected pgrep -f "$state/lab/helm/"
free_gpus c-m-rag2
start_lab
observed
ok ready
is "$(app c-m-rag2 llm-serving/ollama '{.spec.version} {.spec.info.status}')" "4 deployed"
ok on c-m-rag2 -n llm-serving get deployment ollama -o 'jsonpath={.spec.template.metadata.annotations.model}'
is "$out" gemma
