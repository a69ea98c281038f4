# SPDX-License-Identifier: Apache-2.0
# installed.sh: what herd-webhook works with where manifests/ installed it; sourced, after servers.sh.
#
#   start_installation   a lab with clusters, Stacks and policies; sets herd_flags, so that herd-webhook is as installed
#   until_in_effect      until reviews are validated with all of that; fails and says what is missing
#
# The lab has 20 clusters with nodes, whose inventories the controller has written, Stacks of other teams, which the
# controller has deployed, and 21 StackPolicies. Nine of these apply to the Stack of the reviews, which keeps them. The
# controller ends before anything is measured.
#
# herd-webhook has the arguments of manifests/webhook/workload.yaml, which leave access checks and the sandbox on, but its
# own ports and files, and in place of --in-cluster a kubeconfig with the token of its ServiceAccount.
#
#   installed_stacks     how many Stacks of others there are (20)
installed_stacks=${installed_stacks:-20}
installed_clusters=20 installed_policies=21

write_clusters() {
  cat <<'YAML'
clusters:
- {id: c-m-gpu, count: 8, labels: {env: prod, workload: ai-ml, gpu: "true"}, nodes: 8, cpu: 64, memory: 512Gi, gpus: 8}
- {id: c-m-serve, count: 6, labels: {env: prod, workload: model-serving, gpu: "true"}, nodes: 3, cpu: 64, memory: 512Gi, gpus: 8}
- {id: c-m-batch, count: 6, labels: {env: dev, workload: batch}, nodes: 2}
YAML
}

# Each on all clusters of one kind, in a namespace of its own there.
write_stacks() {
  local i workloads=(ai-ml model-serving batch)
  for ((i = 0; i < installed_stacks; i++)); do
    cat <<YAML
---
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: team-$i, namespace: default}
spec:
  env: prod
  targets: {selector: {matchLabels: {workload: ${workloads[i % 3]}}}}
  charts:
    - {name: qdrant, repo: "https://qdrant.github.io/qdrant-helm", version: "0.7.4", namespace: team-$i, releaseName: qdrant-$i}
    - {name: ollama, repo: "https://otwld.github.io/ollama-helm/", version: "0.59.0", namespace: team-$i, releaseName: ollama-$i, dependsOn: [qdrant]}
YAML
  done
}

# Those of examples/policy/. The five that the reviews' Stack does not keep are there twice, for two other teams' namespaces.
write_policies() {
  k create --dry-run=client -o json -f examples/policy/ | jq -s '
    def of_team($team): .metadata.name = $team + "-" + .metadata.name
      | .spec.match = ((.spec.match // {}) | del(.excludeNamespaces) | .namespaces = [$team]);
    ["required-labels", "required-contact", "neuvector-guards-prod", "team-namespaces", "thresholds-in-prod"] as $not_kept
    | [.[] | .items // [.] | .[]] | map(if .metadata.name | IN($not_kept[]) then of_team("vision", "speech") else . end)
    | {apiVersion: "v1", kind: "List", items: .}'
}

# count_of KIND CONDITION: of those for which jq says yes.
count_of() { k get "$1" -A -o json | jq "[.items[] | select($2)] | length"; }
stacks_are_deployed() { [ "$(count_of stacks '.status.phase == "Deployed"')" = "$installed_stacks" ]; }
inventories_are_there() { [ "$(count_of clusterinventories '.status.nodes > 0')" = "$installed_clusters" ]; }

# The webhook's flags, from its Deployment, and a kubeconfig of its ServiceAccount.
read_herd_flags() {
  local token
  token=$(k -n herd-system create token herd-webhook)
  k config view --raw -o json | jq --arg token "$token" '.users[0].user = {token: $token}' >"$state/herd-webhook.kubeconfig"
  mapfile -t herd_flags < <(k create --dry-run=client -o json -f manifests/webhook/workload.yaml |
    jq -r '.spec.template.spec.containers[0].args[] | select(. != "serve" and . != "--in-cluster")')
  herd_flags+=(--kubeconfig "$state/herd-webhook.kubeconfig")
}

start_installation() {
  write_clusters >"$state/clusters.yaml"
  lab_flags=(--time-scale 0 --simulation "$state/clusters.yaml")
  controller_flags=(--rancher-settle 1s)
  start_product
  k apply -f manifests/webhook/serviceaccount.yaml -f manifests/webhook/rbac.yaml >/dev/null
  # As kubeadm has it: the reviews' user may deploy everywhere.
  k create clusterrolebinding kubeadm:cluster-admins --clusterrole=cluster-admin --group=kubeadm:cluster-admins >/dev/null
  write_stacks | k create -f - >/dev/null
  until_true 120 "that all Stacks are deployed" stacks_are_deployed
  until_true 60 "that all clusters have inventories" inventories_are_there
  end controller
  write_policies | k create -f - >/dev/null
  end webhook
  read_herd_flags
}

# sum_of METRIC: of all its series whose text begins so.
sum_of() {
  curl -sS "http://127.0.0.1:$(port_of herd metrics_port)/metrics" |
    awk -v metric="$1" 'index($0, metric) == 1 {sum += $NF} END {print sum + 0}'
}

# answer_says CHANGE TEXT: whether /validate's answer to the RAG review, changed by sed, holds the text.
answer_says() {
  sed "$1" "$state/rag-create.json" >"$state/asked.json"
  answer=$(curl -sSk --max-time 20 -H 'Content-Type: application/json' --data-binary "@$state/asked.json" \
    "https://127.0.0.1:${serves[herd]}/validate")
  [[ $answer == *"$2"* ]]
}
# is METRIC NUMBER
is() {
  answer="$1 is $(sum_of "$1")"
  [ "$answer" = "$1 is $2" ]
}
is_sandboxed() { answer=$(cat "/proc/${pid_of[herd]}/task"/*/status | grep '^Seccomp:') && ! grep -qv '2$' <<<"$answer"; }

# in_effect: or $missing says what is not. What a review is told of clusters and GPUs comes from facts alone.
in_effect() {
  missing="not all clusters are known" && is herd_webhook_clusters $((installed_clusters + 1)) &&
    missing="not all policies are known" && is herd_webhook_policies "$installed_policies" &&
    missing="the RAG review is rejected" && answer_says '' '"allowed":true' &&
    missing="labels of clusters are not used" &&
    answer_says 's/"workload":"ai-ml"/"workload":"none"/' "of Rancher's $installed_clusters downstream clusters matches" &&
    missing="inventories of clusters are not used" && answer_says 's|"nvidia.com/gpu":1|"nvidia.com/gpu":9|g' 'has more than 8' &&
    missing="policies are not used" && ! is 'herd_webhook_policy_results_total{policy="pinned-versions",result="pass"}' 0 &&
    missing="access is not checked" && ! is 'herd_webhook_access_reviews_total{answer="yes"}' 0 &&
    missing="the reviews' user may not deploy" && is 'herd_webhook_access_reviews_total{answer="no"}' 0 &&
    missing="system calls are not restricted" && is_sandboxed
}

until_in_effect() {
  local missing answer deadline=$((SECONDS + 60))
  until in_effect; do
    ((SECONDS < deadline)) || fail "herd-webhook is not as manifests/ installs it: $missing: $answer"
    sleep 0.1
  done
}
