#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_inventory.sh: from the nodes of clusters to what the authors of Stacks are told of GPUs.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
controller_flags+=(--cluster-inventory-interval 1s)
start_product

# stack NAME TARGETS COUNT REPLICAS: one chart that asks for GPUs.
stack() {
  cat <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: $1, namespace: default}
spec:
  targets: $2
  charts:
    - name: ollama
      repo: https://charts.example.com
      version: 1.6.2
      releaseName: $1
      values: {inline: {replicas: $4, resources: {limits: {nvidia.com/gpu: $3}}}}
YAML
}
# asked NAME TARGETS COUNT REPLICAS: what is said of it, without storing it.
asked() { stack "$@" | k create --dry-run=server -f - 2>&1; }
answers() { [[ $(asked "${@:2}") == *"$1"* ]]; }
answers_not() { ! answers "$@"; }
big='{clusterIds: [c-m-gpu01]}'
inventory() { field "clusterinventory/$1" "{.status.$2}"; }
# figure TEXT: the controller's metrics have it.
figure() { curl -s "127.0.0.1:$controller_metrics_port/metrics" | grep -qF "$1"; }
of_nvidia='resources[?(@.name=="nvidia.com/gpu")]'

row "each cluster that Rancher knows gets an inventory of its nodes, but for Rancher's own"
eventually field_is clusterinventory/c-m-gpu01 '{.status.gpus}' 8
count_is() { [ "$(k get clusterinventories -o name | wc -l)" = "$1" ]; }
eventually count_is 7
ok k get clusterinventories
echo "$out" | sed 's/^/  /'
is "$(inventory c-m-gpu01 nodes) $(inventory c-m-gpu01 readyNodes) $(inventory c-m-gpu01 "$of_nvidia.largestNode")" "2 2 4"
is "$(inventory c-m-gpu01 labels.region)" eu-central
eventually field_is clusterinventory/c-m-dev-cluster '{.status.nodes}' 2
is "$(inventory c-m-dev-cluster gpus)" 0
ok k explain clusterinventory.status.resources.largestNode
says "one pod can get"

row "what cannot be read is unknown, and never zero"
eventually field_is clusterinventory/c-m-edge-01 '{.status.conditions[0].reason}' Disconnected
is "$(inventory c-m-edge-01 'conditions[0].status')" Unknown
is "$(inventory c-m-edge-01 nodes)$(inventory c-m-edge-01 gpus)" ""

row "what fits is let in, and nothing is missed that the cluster has"
eventually answers_not "provides them" one "$big" 1 1
ok k create --dry-run=server -f <(stack one "$big" 4 2)
says_not "provides them"

row "a Stack that fits on none of its clusters is rejected, and they are named with what they have"
both='{selector: {matchLabels: {workload: ai-ml}}}'
# The webhook hears of each inventory by itself.
eventually answers "the Stack asks each cluster for 9 nvidia.com/gpu; c-m-gpu01 has 8, c-m-gpu02 has 8" one "$both" 3 3
rejected asked one "$both" 3 3
rejected asked one "$big" 5 1
says "one pod asks for 5 nvidia.com/gpu, and no node of c-m-gpu01 has more than 4"

row "a cluster that has no GPUs is rejected for what asks for some, unless another Stack may provide them"
dev='{clusterIds: [c-m-dev-cluster]}'
eventually answers 'Invalid value: "nvidia.com/gpu": cluster c-m-dev-cluster has no NVIDIA GPUs, and no chart of this Stack provides them' one "$dev" 1 1
rejected asked one "$dev" 1 1
ok asked one "$(printf '%s\n  dependsOn: [{name: gpus}]' "$dev")" 1 1
says "none are on c-m-dev-cluster, and it is not known whether the Stack 'gpus' provides them"

row "a webhook that starts again validates as before"
end webhook
start_webhook
eventually answers "the Stack asks each cluster for 9 nvidia.com/gpu; c-m-gpu01 has 8" one "$big" 9 1
rejected asked one "$big" 9 1

row "what is not known is told as such"
ok asked one '{clusterIds: [c-m-edge-01]}' 1 1
says "not known today of c-m-edge-01 (Disconnected)"

row "what is reserved for one Stack is told to the next, and not to itself"
ok k apply -f <(stack first "$big" 3 2)
eventually field_is clusterinventory/c-m-gpu01 '{.status.reservations[0].stack}' default/first
is "$(inventory c-m-gpu01 reservedGPUs)" 6
eventually answers "c-m-gpu01 has 8: 6 reserved for default/first" second "$big" 3 1
ok asked second "$big" 2 1
says_not reserved
ok k apply -f <(stack first "$big" 4 2)
says_not reserved
eventually field_is clusterinventory/c-m-gpu01 '{.status.reservedGPUs}' 8

row "a Stack that goes gives back what it was reserved"
ok k delete stack first --timeout="${deadline_s}s"
eventually field_is clusterinventory/c-m-gpu01 '{.status.reservedGPUs}' 0
eventually answers_not reserved second "$big" 8 1

row "a node that is cordoned keeps its GPUs to itself"
node=$(down c-m-gpu01 get nodes -o 'jsonpath={.items[0].metadata.name}')
ok down c-m-gpu01 patch node "$node" --type=merge -p '{"spec":{"unschedulable":true}}'
eventually field_is clusterinventory/c-m-gpu01 "{.status.$of_nvidia.schedulable}" 4
eventually answers "4 on nodes that take no pods now" second "$big" 1 5
ok down c-m-gpu01 patch node "$node" --type=merge -p '{"spec":{"unschedulable":null}}'
eventually field_is clusterinventory/c-m-gpu01 "{.status.$of_nvidia.schedulable}" 8

row "a tunnel that is lost for less than a minute changes nothing"
ok k apply -f <(stack watcher '{clusterIds: [c-m-gpu02]}' 1 1)
eventually field_is clusterinventory/c-m-gpu02 '{.status.reservedGPUs}' 1
lost=$(k get clusterinventory c-m-gpu02 -o 'jsonpath={.metadata.resourceVersion}')
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-gpu02'
unreachable() { k get stack watcher -o 'jsonpath={.status.message}' | grep -q 'not connected'; }
eventually unreachable
sleep 2
is "$(k get clusterinventory c-m-gpu02 -o 'jsonpath={.metadata.resourceVersion}')" "$lost"
ok lab_k delete configmap herd-lab-faults
ok k delete stack watcher --timeout="${deadline_s}s"
eventually field_is clusterinventory/c-m-gpu02 '{.status.reservedGPUs}' 0
is "$(inventory c-m-gpu02 gpus)" 8

row "nothing is written when nothing changed, not even by the next controller"
versions() { k get clusterinventories -o json | jq -c '[.items[].metadata | select(.name != "c-m-gpu02") | .resourceVersion]'; }
before=$(versions)
end controller
start_controller
eventually figure 'herd_controller_inventories{state="known"} 6'
ok k apply -f <(stack second '{clusterIds: [c-m-gpu02]}' 1 1)
eventually field_is clusterinventory/c-m-gpu02 '{.status.reservedGPUs}' 1
ok k delete stack second --timeout="${deadline_s}s"
eventually field_is clusterinventory/c-m-gpu02 '{.status.reservedGPUs}' 0
is "$(versions)" "$before"

row "that of Rancher's own cluster, where workloads run, is its administrators': it stays as they write it"
printf 'apiVersion: herd.suse.com/v1\nkind: ClusterInventory\nmetadata: {name: %s}\n---\n' local nobodys >"$state/mine.yaml"
ok k create -f "$state/mine.yaml"
ok k patch clusterinventory local --subresource=status --type=merge -p '{"status":{"ready":true,"nodes":1,"gpus":4}}'
# The other one was looked at after it, and no cluster has its name.
eventually rejected k get clusterinventory nobodys
is "$(inventory local gpus)" 4
ok k delete clusterinventory local

row "what somebody else writes into one is set right, and one that is deleted comes back"
intrude() { ok k patch clusterinventory "$1" --subresource=status --type=merge --field-manager=stranger -p "{\"status\":$2}"; }
intrude c-m-gpu02 '{"gpus":99,"nodes":99}'
eventually field_is clusterinventory/c-m-gpu02 '{.status.nodes}' 2
intrude c-m-gpu02 '{"gpus":99,"reservedGPUs":99,"observedAt":"2199-01-01T00:00:00Z"}'
eventually field_is clusterinventory/c-m-gpu02 '{.status.gpus} {.status.reservedGPUs}' "8 0"
out=$(inventory c-m-gpu02 observedAt)
says_not 2199
# Nor does anything stay that it would not write itself.
intrude c-m-edge-01 '{"gpus":99,"labels":{"intruded":"yes"}}'
eventually field_is clusterinventory/c-m-edge-01 '{.status.gpus}{.status.labels.intruded}' ""
ok k delete clusterinventory c-m-gpu02
eventually field_is clusterinventory/c-m-gpu02 '{.status.gpus}' 8

row "the inventory of a cluster that is gone goes"
ok k delete clusters.management.cattle.io c-m-gpu-cluster-03
eventually rejected k get clusterinventory c-m-gpu-cluster-03
eventually answers '"c-m-gpu-cluster-03": Rancher has no cluster with that id today' one '{clusterIds: [c-m-gpu-cluster-03]}' 1 1
ok asked one '{clusterIds: [c-m-gpu-cluster-03]}' 99 1
says_not "has none"

row "figures tell how many clusters are known, and what was written"
eventually figure 'herd_controller_inventories{state="unknown"} 1'
eventually figure 'herd_controller_inventories{state="known"} 5'
eventually figure 'herd_controller_inventory_writes_total{result="written"} '
ok count_is 6
rejected k get clusterinventory local
