#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_workload_admission.sh: what kubectl is answered about the workload kinds, with the webhook in between: defaults, findings,
# warnings, StackPolicies; and that the controller finds the same in what the webhook never saw.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
webhook_manifests+=(manifests/workloads/webhook/configuration.yaml)
controller_flags+=('--kinds=stack,abiinstance,application')
start_api
ok k apply -f manifests/crds/
kinds=()
for folder in manifests/workloads/*/; do
  [ -e "$folder/crd.yaml" ] || continue
  ok k apply -f "$folder/crd.yaml"
  kinds+=("crd/$(sed -n 's/^  name: //p' "$folder/crd.yaml" | head -n 1)")
done
until_established "${kinds[@]}"

# abi NAME SPEC [METADATA]
abi() {
  printf '%s\n' 'apiVersion: abi.io/v1' 'kind: AbiInstance' "metadata: {name: $1, namespace: default${3:+, $3}}" "spec: {$2}"
}
app() { printf '%s\n' 'apiVersion: cloudnative.elide.dev/v1' 'kind: Application' "metadata: {name: $1, namespace: default}" "spec: {$2}"; }
good='image: {repository: registry.example.com/abi, tag: 1.2.0}'
create() { k create -f - <<<"$1"; }
dry_run() { k create --dry-run=server -f - <<<"$1"; }
merge() { k patch "$1" --type=merge -p "$2"; }
# answered TEXT OBJECT: a dry run says so; for eventually.
answered() {
  out=$(dry_run "$2" 2>&1) || true
  [[ $out == *"$1"* ]] || { echo "$out"; return 1; }
}

# Stored before anybody validated them.
ok create "$(abi old 'image: {repository: r/X, tag: "1"}')"
ok create "$(abi scaled "$good, autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}")"
start_webhook
apply_webhook
eventually answered 'each part of its name' "$(abi asked 'image: {repository: r/X}')"

row "every example of a workload is accepted, and the second time it says unchanged"
ok k create namespace abi
for file in examples/workloads/*.yaml; do
  ok k apply -f "$file"
  ok k apply -f "$file"
  is "$(grep -v -e ' unchanged$' -e '^Warning: ' <<<"$out")" ""
done
ok k delete --wait=false -f examples/workloads/

row "defaults are filled in, in what the author wrote and outside of lists"
ok create "$(abi defaulted "$good, secrets: {apiKeys: [{name: A, secretName: s, key: k}]}")"
is "$(field abiinstance/defaulted '{.spec.replicas} {.spec.image.pullPolicy} {.spec.storage}')" "1 IfNotPresent "
ok create "$(app defaulted 'image: "registry.example.com/app:1"')"
is "$(field application.cloudnative.elide.dev/defaulted '{.spec.replicas} {.spec.strategy}')" "1 RollingUpdate"

row "everything that is wrong is told at once, with what to do, and nothing is stored"
rejected create "$(abi wrong 'image: {repository: r/X}, resources: {requests: {memory: 8Gi}, limits: {memory: 4Gi}}, autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}')"
is "$(sed 's/ $//' <<<"$out")" 'The AbiInstance "wrong" is invalid:
* spec.autoscaling.minReplicas: Invalid value: 5: it is above maxReplicas, 2; lower minReplicas or raise maxReplicas
* spec.image: Invalid value: "r/X:latest": each part of its name must consist of lower-case letters and digits, with single '"'.' or '_', \"__\" or '-'"' between them; write [REGISTRY/]NAME[:TAG][@DIGEST] in lower case, such as registry.example.com/team/app:v1.2.0
* spec.resources.requests.memory: Invalid value: "8Gi": must be no more than the limit, "4Gi"; write Kubernetes quantities such as 500m or 4Gi, and no request above its limit'
rejected k get abiinstance wrong
rejected create "$(app wrong 'image: A, strategy: Fast')"
says '* spec.image: Invalid value: "A"'
says '* spec.strategy: Unsupported value: "Fast": supported values: "RollingUpdate", "Recreate", "RunOnce"'
rejected create "$(abi 1st "$good")"
says 'metadata.name: Invalid value: "1st": Services and pods are named after it'
grep -qE "INFO  review rejected user=[^ ]+ kind=AbiInstance namespace=default name=wrong operation=CREATE dry_run=false route=mutate rules=workload.invalid,workload.image,workload.resources faults=3$" \
  "$state/webhook.log" || wrong "the log does not say who, what and by which rules" "$(tail -n 3 "$state/webhook.log")"

row "what the API server would reject in the objects that it is made into is denied, with the field"
# denied FIELD OBJECT
denied() {
  rejected dry_run "$2"
  says "$1"
}
mdep() { printf '%s\n' 'apiVersion: herd.suse.com/v1' 'kind: ModelDeployment' "metadata: {name: $1, namespace: default}" "spec: {model: m, $2}"; }
denied 'spec.networking.metricsPort: Duplicate value: 9090: grpcPort is the same; give each port' "$(abi ports "$good, networking: {metricsPort: 9090}")"
denied 'spec.config[a b]: Invalid value: "a b": must consist of letters, digits, ' "$(app key 'image: "r.io/a:1", config: {a b: c}')"
denied 'spec.storage.size: Invalid value: "-5Gi": must be a quantity above 0; write a quantity such as 500Mi' "$(abi size "$good, storage: {enabled: true, size: -5Gi}")"
denied 'spec.storage.mountPath: Invalid value: "data"' "$(mdep path 'storage: {enabled: true, mountPath: data}')"
denied 'spec.image.pullSecrets[0]: Invalid value: "A"' "$(abi secret 'image: {pullSecrets: [A]}')"
denied 'spec.secrets.apiKeys[0].name: Invalid value: "1A": must not begin with a digit' "$(mdep key 'secrets: {apiKeys: [{name: 1A, secretName: s, key: k}]}')"
denied 'spec.highAvailability.podDisruptionBudget.minAvailable: Invalid value: "150%"' \
  "$(abi budget "$good, highAvailability: {podDisruptionBudget: {minAvailable: 150%}}")"
denied 'spec.gpuType: Invalid value: "NVIDIA H100"' "$(mdep gpu 'gpuType: NVIDIA H100')"
denied 'spec.sla.percentile: Invalid value: 0: must be 1 to 100' "$(mdep sla 'sla: {percentile: 0}')"
denied 'spec.resources.limits.mem: Invalid value: "mem": must be a standard resource' "$(abi resource "$good, resources: {limits: {mem: 1Gi}}")"
ok dry_run "$(app digit 'image: "r.io/a:1", config: {2nd: c}')"
says 'Warning: spec.config[2nd]: Invalid value: "2nd": must not begin with a digit'

row "an image without a version is warned about"
ok create "$(app latest 'image: registry.example.com/app')"
says 'Warning: spec.image: Invalid value: "registry.example.com/app": without a tag it is latest, which names another image from time to time; name a version or a digest'

row "a name that the API server makes is accepted"
ok create "$(abi '' "$good" 'generateName: made-' | sed "s/name: , //")"
says 'abiinstance.abi.io/made-'

row "what was wrong before the webhook was there only warns, until an update changes that part"
ok merge abiinstance/old '{"spec":{"replicas":2}}'
says 'Warning: spec.image: Invalid value: "r/X:1"'
rejected merge abiinstance/old '{"spec":{"image":{"repository":"r/Y"}}}'
says 'spec.image: Invalid value: "r/Y:1"'
ok merge abiinstance/old '{"metadata":{"labels":{"team":"search"}}}'

row "scaling and deleting are nobody's to reject"
ok k scale abiinstance old --replicas=3
is "$(field abiinstance/old '{.spec.replicas}')" 3
ok merge abiinstance/old '{"metadata":{"finalizers":["example.com/wait"]}}'
ok k delete abiinstance old --wait=false
ok merge abiinstance/old '{"metadata":{"finalizers":null}}'
gone() { ! out=$(k get "$@" 2>&1) && says NotFound; }
eventually gone abiinstance old

row "a StackPolicy that names kinds applies to them, and to no others"
ok k apply -f - <<'YAML'
apiVersion: herd.suse.com/v1
kind: StackPolicy
metadata: {name: our-registry}
spec:
  match: {kinds: [AbiInstance, Application], excludeNamespaces: [kube-*]}
  rules:
    - {name: registry, field: computed.image, allow: [registry.example.com/*], remedy: mirror the image}
    - {name: few-gpus, field: computed.gpus, maximum: 8}
YAML
denied='spec.image: Unsupported value: "docker.io/app:1": supported values: "registry.example.com/*" (StackPolicy our-registry); mirror the image'
eventually answered "$denied" "$(app denied 'image: "docker.io/app:1"')"
rejected create "$(abi denied 'image: {repository: docker.io/app, tag: "1"}')"
says "$denied"
rejected create "$(abi denied "$good, features: {gpu: true}, gpu: {count: 4}, replicas: 3")"
says 'spec.gpu: Invalid value: 12: the number of GPUs on one cluster must be less than or equal to 8 (StackPolicy our-registry)'
ok create "$(abi allowed "$good, features: {gpu: true}, gpu: {count: 4}, replicas: 2")"
ok k create --dry-run=server -f examples/test-stack.yaml

row "a StackPolicy whose rules its kinds cannot break is rejected"
rejected k apply -f examples/rules/policy.kind.yaml
says 'spec.match.kinds[1]: Unsupported value: "Deployment": supported values: "Stack", "AbiInstance", "Application"'

row "GPUs that the cluster does not have are denied where its inventory is known"
ok k apply -f - <<'YAML'
apiVersion: herd.suse.com/v1
kind: ClusterInventory
metadata: {name: local}
YAML
ok k patch clusterinventory local --subresource=status --type=merge -p '{"status":{"ready":true,"nodes":1,"readyNodes":1,
  "resources":[{"name":"nvidia.com/gpu","allocatable":4,"schedulable":4,"largestNode":4,"reserved":0}],
  "conditions":[{"type":"Observed","status":"True","reason":"NodesRead","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}'
eventually answered 'spec.gpu: Invalid value: all pods together ask for 8 nvidia.com/gpu; local has 4' \
  "$(abi gpus "$good, features: {gpu: true}, gpu: {count: 4}, replicas: 2")"
ok dry_run "$(abi gpus "$good, features: {gpu: true}, gpu: {count: 4}")"
says_not Warning
answered 'spec.gpu: Invalid value: "amd.com/gpu": no node of this cluster has AMD GPUs' \
  "$(abi gpus "$good, features: {gpu: true}, gpu: {backend: rocm}")" || wrong "not denied" "$out"
ok k delete clusterinventory local

row "the configuration changes the severity of a rule"
end webhook
webhook_flags+=(--rule-severity 'workload.resources=warn,workload.image-tag=off')
start_webhook
eventually answered 'Warning: spec.resources.requests.cpu' "$(abi loose "$good, resources: {requests: {cpu: 2}, limits: {cpu: 1}}")"
ok dry_run "$(app loose 'image: registry.example.com/app')"
says_not Warning
rejected dry_run "$(abi loose "$good, autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}")"

row "what the webhook never saw, the controller finds in the same words"
start_controller
accepted_is() { field_is abiinstance/scaled '{.status.conditions[?(@.type=="Accepted")].status}' "$1"; }
eventually accepted_is False
is "$(field abiinstance/scaled '{.status.conditions[?(@.type=="Accepted")].message}')" \
  "spec.autoscaling.minReplicas: Invalid value: 5: it is above maxReplicas, 2; lower minReplicas or raise maxReplicas"
ok merge abiinstance/scaled '{"spec":{"autoscaling":{"maxReplicas":7}}}'
eventually accepted_is True
