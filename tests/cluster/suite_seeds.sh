#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_seeds.sh: the workload kinds as their tutorials use them, command by command, on a real control plane: Kubernetes' own
# controllers and scheduler make the pods, kwok's nodes run them.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
management_set=workloads
suite "$1" "$2"
cluster_tools kube-scheduler kwok
start_product
start_nodes management 3 8
at() { field "$1" "$2"; }
condition() { field "$1" "{.status.conditions[?(@.type==\"$2\")].$3}"; }
condition_says() { [[ $(condition "$1" "$2" message) = *"$3"* ]] || { condition "$1" "$2" message; return 1; }; }
gone() { ! out=$(k get "$@" 2>&1) && says NotFound; }

row "the CRDs and the rights of each kind are one folder"
for kind in abiinstances applications modeldeployments llmmodels; do user k apply -k "manifests/workloads/$kind"; done
user k get crd abiinstances.abi.io
until_established crd/abiinstances.abi.io crd/applications.cloudnative.elide.dev crd/modeldeployments.herd.suse.com crd/llmmodels.ai.example.com

row "seed 004: the basic instance becomes Running"
user k apply -f examples/workloads/abi-basic.yaml
eventually field_is abiinstance/my-abi '{.status.phase} {.status.readyReplicas}' "Running 1"
user k get abiinstance my-abi -o wide
user k describe abiinstance my-abi
user k get pods -l app.kubernetes.io/instance=my-abi
user k get events --field-selector involvedObject.name=my-abi

row "it scales, and an upgrade of its image is a rolling update"
user k scale abiinstance my-abi --replicas=5
eventually field_is abiinstance/my-abi '{.status.phase} {.status.readyReplicas}/{.status.replicas}' "Running 5/5"
user k patch abiinstance my-abi --type=merge -p '{"spec":{"replicas":3}}'
eventually field_is abiinstance/my-abi '{.status.phase} {.status.readyReplicas}/{.status.replicas}' "Running 3/3"
user k patch abiinstance my-abi --type=merge -p '{"spec":{"image":{"tag":"v1.1.0"}}}'
eventually field_is abiinstance/my-abi '{.status.phase} {.status.version}' "Running v1.1.0"
images() { k get pods -l app.kubernetes.io/instance=my-abi -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort -u; }
images_are() { [ "$(images)" = "$1" ] || { images; return 1; }; }
eventually images_are ghcr.io/abi/abi:v1.1.0

row "the production instance: a StatefulSet with volumes, an autoscaler that keeps the fewest, a disruption budget that holds"
user k create namespace abi
for i in 1 2 3; do
  k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-$i}
spec: {capacity: {storage: 50Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /data/$i}, persistentVolumeReclaimPolicy: Retain}
YAML
done
user k apply -f examples/workloads/abi-production.yaml
production_is() { [ "$(k -n abi get abiinstance abi-production -o "jsonpath=$1")" = "$2" ] || { k -n abi get abiinstance abi-production -o "jsonpath=$1"; return 1; }; }
eventually production_is '{.status.phase} {.status.readyReplicas}' "Running 3"
user k -n abi get statefulsets,hpa,pdb,pvc,services
is "$(k -n abi get pdb abi-production -o 'jsonpath={.status.desiredHealthy} {.status.disruptionsAllowed}')" "2 1"
nodes() { k -n abi get pods -o 'jsonpath={.items[*].spec.nodeName}' | tr ' ' '\n' | sort -u | wc -l; }
is "$(nodes)" 3

row "a volume that cannot grow is told with its cause"
user k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"size":"60Gi"}}}'
applied_says() { k -n abi get abiinstance abi-production -o 'jsonpath={.status.conditions[?(@.type=="Applied")].message}' | grep -q "$1"; }
eventually applied_says 'PersistentVolumeClaim data-abi-production-0: .*only dynamically provisioned pvc can be resized'
user k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"size":"50Gi"}}}'
eventually production_is '{.status.conditions[?(@.type=="Applied")].status}' True

row "a quota is told with its cause, and goes when there is room"
k -n default create quota small --hard=pods=4 >/dev/null
user k scale abiinstance my-abi --replicas=8
eventually condition_says abiinstance/my-abi Ready "exceeded quota: small"
user k delete quota small
eventually field_is abiinstance/my-abi '{.status.readyReplicas}' 8

row "seed 002: an LLMModel whose GPU no node has is told so, and runs when one has"
user k apply -f examples/workloads/llm-model.yaml
eventually condition_says llm/llama-3-70b-tutorial Ready "nodes are available"
user k label nodes --all nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3
eventually field_is llm/llama-3-70b-tutorial '{.status.phase} {.status.readyReplicas}' "Running 3"
user k get llmmodels
user k get llm
user k describe llmmodel llama-3-70b-tutorial
user k delete llmmodel llama-3-70b-tutorial
eventually gone statefulset llama-3-70b-tutorial

row "seed 002: a ModelDeployment has the replicas of its SLA"
sed '/^  storage:/,/^    size:/d' examples/workloads/model-deployment.yaml >"$state/model.yaml"
user k create secret generic hugging-face --from-literal=token=hf
user k apply -f "$state/model.yaml"
eventually field_is mdep/llama-3-70b '{.status.phase} {.status.readyReplicas} {.status.scaling.replicas} {.status.scaling.reason}' "Running 3 3 Computed"
user k get modeldeployments -o wide

row "more GPUs for each replica: no step holds more than the budget of 16"
k get pods -l herd.suse.com/modeldeployment=llama-3-70b -w -o json --output-watch-events >"$state/pods.json" 2>/dev/null &
watcher=$!
user k patch modeldeployment llama-3-70b --type=merge -p '{"spec":{"tensorParallelSize":8}}'
eventually field_is statefulset/llama-3-70b '{.spec.replicas} {.status.updatedReplicas} {.spec.template.spec.containers[0].resources.limits.nvidia\.com/gpu}' "2 2 8"
eventually field_is mdep/llama-3-70b '{.status.phase} {.status.readyReplicas}' "Running 2"
kill "$watcher" 2>/dev/null || :
most=$(jq -s 'reduce .[] as $e ({held: {}, most: 0};
  (if $e.type == "DELETED" then .held |= del(.[$e.object.metadata.name])
   else .held[$e.object.metadata.name] = ($e.object.spec.containers[0].resources.limits["nvidia.com/gpu"] | tonumber) end)
  | .most = ([.most, ([.held[]] | add // 0)] | max)) | .most' "$state/pods.json")
[ "$most" -le 16 ] || wrong "$most GPUs were held at a time"

row "seed 003: the Application, its strategies, and one that runs once"
user k apply -f examples/workloads/application.yaml
app=application.cloudnative.elide.dev/my-app
eventually field_is "$app" '{.status.phase} {.status.readyReplicas}' "Running 3"
for strategy in Recreate RollingUpdate; do
  user k patch "$app" --type=merge -p "{\"spec\":{\"strategy\":\"$strategy\"}}"
  eventually field_is deployment/my-app '{.spec.strategy.type}' "$strategy"
done
user k patch "$app" --type=merge -p '{"spec":{"strategy":"RunOnce","replicas":1}}'
eventually gone deployment my-app
eventually field_is "$app" '{.status.phase}' Succeeded

row "a quota that lets a Job and a StatefulSet have no pod is told with its cause, which is in Events only"
k create namespace full >/dev/null
user k -n full create quota none --hard=pods=0
sed -e 's/namespace: default/namespace: full/' -e 's/RollingUpdate/RunOnce/' examples/workloads/application.yaml >"$state/full.yaml"
sed -e 's/namespace: default/namespace: full/' -e 's/gpuBudget: 16/gpuBudget: 8/' "$state/model.yaml" >"$state/full-model.yaml"
user k apply -f "$state/full.yaml" -f "$state/full-model.yaml"
full_says() { k -n full get "$1" -o 'jsonpath={.status.phase} {.status.conditions[?(@.type=="Ready")].message}' | tee "$state/full-says" | grep -q "$2" || { cat "$state/full-says"; return 1; }; }
eventually full_says "$app" '^Pending Job my-app-.*: Error creating: pods .* is forbidden: exceeded quota: none, '
eventually full_says mdep/llama-3-70b '^Creating StatefulSet llama-3-70b: Create Pod llama-3-70b-.* is forbidden: exceeded quota: none, '
user k -n full get "$app" -o 'jsonpath={.status.conditions[?(@.type=="Ready")]}'
user k -n full get mdep/llama-3-70b -o 'jsonpath={.status.conditions[?(@.type=="Ready")]}'
user k -n full delete quota none
user k -n full create secret generic hugging-face --from-literal=token=hf
# The Job's controller tries again after seconds, that of StatefulSets after up to 17 minutes: a change makes it look.
eventually full_says "$app" '^Succeeded $'
user k -n full annotate statefulset llama-3-70b look=again
eventually full_says mdep/llama-3-70b '^Running $'
user k -n full delete "$app" mdep/llama-3-70b

row "deleting an object deletes all that it was made into"
user k delete abiinstance my-abi
user k -n abi delete abiinstance abi-production
user k delete modeldeployment llama-3-70b
user k delete "$app"
left() { k get deployments,statefulsets,jobs,services,configmaps,hpa,pdb,pods,pvc -A -l app.kubernetes.io/managed-by=Herd -o name; }
nothing_left() { [ -z "$(left)" ] || { left; return 1; }; }
eventually nothing_left
