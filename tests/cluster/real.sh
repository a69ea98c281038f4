# SPDX-License-Identifier: Apache-2.0
# real.sh: what tests/integration/lib.sh adds for HERD_API=real: a suite's API server is a real one, and of herd-lab
# only the simulated Rancher is used. Sourced, not run.
#
# A Rancher keeps its Clusters as objects of the cluster that it runs on. The simulated one keeps them in the
# lab's own API server; `mirror` copies them, and their changes, into the real one.

# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
state=$(cd "$state" && pwd)
lab_kubeconfig=$state/lab.kubeconfig
clusters=clusters.management.cattle.io
programs+=(management-apiserver etcd)
cluster_tools etcd kube-apiserver kube-controller-manager kubectl mirror

mirror_clusters() {
  lab_k get crd "$clusters" -o json | jq '{apiVersion, kind, spec, metadata: {name: .metadata.name}}' |
    k create -f - >/dev/null
  until_established "crd/$clusters"
  in_cluster_folder mirror mirror --from "$lab_kubeconfig" --to "$state/kubeconfig" --resource clusters.v3.management.cattle.io
  until_true 30 "the copy of Rancher's clusters" clusters_are_there
}

clusters_are_there() {
  local status='jsonpath={range .items[*]}{.metadata.name} {.status.conditions[*].status}{"\n"}{end}'
  [ "$(k get "$clusters" -o "$status")" = "$(lab_k get "$clusters" -o "$status")" ]
}

# identity NAME: $state/NAME.kubeconfig has the token of that ServiceAccount of Herd's.
identity() {
  local token
  token=$(k -n herd-system create token "$1" --duration=1h)
  (
    umask 077
    jq --arg token "$token" '.users[0].user = {token: $token} | .contexts[0].context.namespace = "herd-system"' \
      <<<"$(k config view --raw -o json)" >"$state/$1.kubeconfig"
  )
}

# As the crash suite starts again what it killed.
start_management-apiserver() { start_apiserver management; }

start_api() {
  start_lab
  start_cluster management "${management_set:-objects}"
  service_ip=$(service_ip_of management)
  mirror_clusters
}
