#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_workloads.sh: the workload kinds: an object is made into what runs it, its status says how that fares, and what people
# change of it is what happens. Nothing runs pods here: what the controllers of Kubernetes would write, the suite writes.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product
for file in manifests/workloads/*/crd.yaml; do ok k apply -f "$file"; done
until_established crd/abiinstances.abi.io
until_established crd/applications.cloudnative.elide.dev

condition() { field "$1" "{.status.conditions[?(@.type==\"$2\")].$3}"; }
condition_is() { [ "$(condition "$1" "$2" status)/$(condition "$1" "$2" reason)" = "$3" ] || { condition "$1" "$2" message; return 1; }; }
names() { k get "$1" -l "abi.io/instance=$2" -o 'jsonpath={.items[*].metadata.name}'; }
phase_is() { field_is "$1" '{.status.phase} {.status.readyReplicas}/{.status.replicas}' "$2"; }
# runs deployment|statefulset NAME REPLICAS READY: its status, as its controller writes it.
runs() {
  local generation
  generation=$(field "$1/$2" '{.metadata.generation}')
  ok k patch "$1" "$2" --subresource=status --type=merge -p "{\"status\":{\"observedGeneration\":$generation,\"replicas\":$3,
    \"updatedReplicas\":$3,\"currentReplicas\":$3,\"readyReplicas\":$4,\"availableReplicas\":$4,\"conditions\":[
    {\"type\":\"Available\",\"status\":\"True\"},{\"type\":\"Progressing\",\"status\":\"True\",\"reason\":\"NewReplicaSetAvailable\"}]}}"
}

row "the basic instance of the seed is a Deployment with Services for HTTP, gRPC and metrics"
ok k apply -f examples/workloads/abi-basic.yaml
eventually field_is abiinstance/my-abi '{.status.children.applied}/{.status.children.desired}' 4/5
is "$(names deployments my-abi) $(names services my-abi)" "my-abi my-abi-grpc my-abi-http my-abi-metrics"
is "$(field deployment/my-abi '{.spec.replicas} {.spec.template.spec.containers[0].image}')" "1 ghcr.io/abi/abi:latest"
is "$(condition abiinstance/my-abi Applied message)" "4 of 5 objects applied; ServiceMonitor my-abi: the API server has no such kind"
eventually phase_is abiinstance/my-abi "Creating 0/0"
is "$(field abiinstance/my-abi '{.status.health.status}')" Unhealthy

row "it is Running once its pods are ready, and its status says the version and the endpoints"
runs deployment my-abi 1 1
eventually phase_is abiinstance/my-abi "Running 1/1"
is "$(field abiinstance/my-abi '{.status.health.status} {.status.version} {.status.endpoints.http}')" \
  "Healthy latest http://my-abi-http.default.svc:8080"
ok condition_is abiinstance/my-abi Ready True/ReconciliationSucceeded
ok condition_is abiinstance/my-abi Progressing False/Complete

row "kubectl scale and a patch of the image are what the Deployment gets"
ok k scale abiinstance my-abi --replicas=5
eventually field_is deployment/my-abi '{.spec.replicas}' 5
eventually phase_is abiinstance/my-abi "Updating 1/1"
runs deployment my-abi 5 5
eventually phase_is abiinstance/my-abi "Running 5/5"
ok k patch abiinstance my-abi --type=merge -p '{"spec":{"image":{"tag":"v1.1.0"}}}'
eventually field_is deployment/my-abi '{.spec.template.spec.containers[0].image}' ghcr.io/abi/abi:v1.1.0
is "$(field abiinstance/my-abi '{.status.version}')" latest
runs deployment my-abi 5 5
eventually field_is abiinstance/my-abi '{.status.version}' v1.1.0

row "a child that somebody deletes comes back; an edit is reverted in what Herd applies, and kept elsewhere"
ok k delete service my-abi-http
eventually field_is service/my-abi-http '{.spec.ports[0].port}' 8080
ok k patch deployment my-abi --type=merge -p '{"spec":{"replicas":2,"minReadySeconds":7}}'
eventually field_is deployment/my-abi '{.spec.replicas} {.spec.minReadySeconds}' "5 7"

row "a quota is told with its cause, in the condition Ready"
ok k patch deployment my-abi --subresource=status --type=merge \
  -p '{"status":{"readyReplicas":3,"availableReplicas":3,"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota: small"}]}}'
eventually field_is abiinstance/my-abi '{.status.conditions[?(@.type=="Ready")].message}' "Deployment my-abi: exceeded quota: small"
ok condition_is abiinstance/my-abi Ready False/PodsNotReady
is "$(field abiinstance/my-abi '{.status.health.status}')" Degraded

row "the production instance of the seed is a StatefulSet with volumes, an autoscaler and a disruption budget"
ok k create namespace abi
ok k apply -f examples/workloads/abi-production.yaml
at() { k -n abi get "$1" abi-production -o "jsonpath=$2"; }
at_is() { [ "$(at "$1" "$2")" = "$3" ] || { at "$1" "$2"; return 1; }; }
eventually at_is statefulset '{.spec.replicas} {.spec.volumeClaimTemplates[0].spec.resources.requests.storage}' "3 50Gi"
eventually at_is hpa '{.spec.minReplicas}-{.spec.maxReplicas} {.spec.metrics[0].resource.target.averageUtilization} {.spec.scaleTargetRef.kind}' "3-10 70 StatefulSet"
eventually at_is pdb '{.spec.minAvailable}' 2
at statefulset '{.spec.template.spec.affinity}' | grep -q requiredDuringScheduling || wrong "no hard anti-affinity"

row "a quota of a StatefulSet is told with its cause, which is in Events only"
ok k -n abi patch statefulset abi-production --subresource=status --type=merge \
  -p "{\"status\":{\"observedGeneration\":$(at statefulset '{.metadata.generation}'),\"replicas\":0}}"
k -n abi create -f - >/dev/null <<YAML
apiVersion: v1
kind: Event
metadata: {name: abi-production.1, namespace: abi}
involvedObject: {apiVersion: apps/v1, kind: StatefulSet, name: abi-production, namespace: abi, uid: $(at statefulset '{.metadata.uid}')}
type: Warning
reason: FailedCreate
message: "Create Pod abi-production-0 in StatefulSet abi-production failed error: exceeded quota: none"
lastTimestamp: $(date -u +%Y-%m-%dT%H:%M:%SZ)
YAML
eventually at_is abiinstance '{.status.conditions[?(@.type=="Ready")].message}' \
  "StatefulSet abi-production: Create Pod abi-production-0 in StatefulSet abi-production failed error: exceeded quota: none"

row "volumes grow with the spec, do not shrink, and the template of claims stays as it is"
k apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data-abi-production-0
  namespace: abi
  labels: {abi.io/instance: abi-production, app.kubernetes.io/name: abi, app.kubernetes.io/instance: abi-production}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 50Gi}}}
YAML
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"size":"60Gi"}}}'
why_grown() {
  [ "$(k -n abi get pvc data-abi-production-0 -o 'jsonpath={.spec.resources.requests.storage}')" = 60Gi ] ||
    k -n abi get abiinstance abi-production -o 'jsonpath={.status.conditions[?(@.type=="Applied")].message}' | grep -q 'PersistentVolumeClaim data-abi-production-0: .*orbidden'
}
eventually why_grown
is "$(at statefulset '{.spec.volumeClaimTemplates[0].spec.resources.requests.storage}')" 50Gi
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"size":"40Gi"}}}'
eventually at_is abiinstance '{.status.conditions[?(@.type=="Accepted")].reason}' InvalidSpec
at abiinstance '{.status.conditions[?(@.type=="Accepted")].message}' | grep -q 'volumes do not shrink' || wrong "it does not say why"
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"enabled":false}}}'
says_deleted() { at abiinstance '{.status.conditions[?(@.type=="Accepted")].message}' | grep -q 'data-abi-production-0 would be deleted with what is in it'; }
eventually says_deleted
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"enabled":true}}}'
ok k -n abi delete pvc data-abi-production-0 --wait=false
k -n abi patch pvc data-abi-production-0 --type=merge -p '{"metadata":{"finalizers":null}}' >"$state/finalizers" 2>&1 || :
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"storage":{"size":"50Gi"}}}'
eventually at_is abiinstance '{.status.conditions[?(@.type=="Accepted")].reason}' Accepted

row "a storage class that is taken out keeps what is there, and what changes beside it reaches the pods"
ok k apply -f - <<'YAML'
apiVersion: abi.io/v1
kind: AbiInstance
metadata: {name: classy, namespace: default}
spec: {image: {repository: r.io/abi, tag: v1}, storage: {enabled: true, size: 1Gi, storageClass: fast}}
YAML
eventually field_is statefulset/classy '{.spec.volumeClaimTemplates[0].spec.storageClassName}' fast
ok k patch abiinstance classy --type=merge -p '{"spec":{"image":{"tag":"v2"},"storage":{"storageClass":null}}}'
eventually field_is statefulset/classy '{.spec.template.spec.containers[0].image} {.spec.volumeClaimTemplates[0].spec.storageClassName}' "r.io/abi:v2 fast"

row "what the autoscaler decides stays, whatever spec.replicas says"
ok k -n abi scale statefulset abi-production --replicas=7
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"replicas":4,"config":{"LOG_LEVEL":"debug"}}}'
eventually at_is configmap '{.data.LOG_LEVEL}' debug
eventually at_is abiinstance '{.status.observedGeneration}' "$(at abiinstance '{.metadata.generation}')"
is "$(at statefulset '{.spec.replicas}')" 7

row "nor does a change of the spec right behind overwrite it, and without autoscaling spec.replicas counts again"
proxy=$(low_port)
start proxy kubectl --kubeconfig "$state/kubeconfig" proxy --port="$proxy"
eventually curl -fsS "http://127.0.0.1:$proxy/version"
of() { printf 'http://127.0.0.1:%s/apis/%s/namespaces/abi/%s/abi-production%s?fieldManager=autoscaler' "$proxy" "$@"; }
for replicas in 5 9 6 10 5 9 6 10; do
  ok curl -fsS -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\"spec\":{\"replicas\":$replicas}}" "$(of apps/v1 statefulsets /scale)" \
    --next -fsS -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\"spec\":{\"config\":{\"LOG_LEVEL\":\"at-$replicas\"}}}" \
    "$(of abi.io/v1 abiinstances '')"
  eventually at_is statefulset '{.spec.template.metadata.annotations.herd\.suse\.com/config-digest}' \
    "$(printf '{"LOG_LEVEL":"at-%s"}' "$replicas" | sha256sum | cut -d' ' -f1)"
  is "$(at statefulset '{.spec.replicas}')" "$replicas"
done
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"autoscaling":{"enabled":false}}}'
eventually at_is statefulset '{.spec.replicas}' 4
ok k -n abi patch abiinstance abi-production --type=merge -p '{"spec":{"autoscaling":{"enabled":true}}}'
eventually at_is hpa '{.spec.minReplicas}-{.spec.maxReplicas}' 3-10
is "$(at statefulset '{.spec.replicas}')" 4
end proxy

row "an instance on GPUs asks for them"
ok k apply -f examples/workloads/abi-gpu.yaml
eventually field_is deployment/abi-gpu '{.spec.template.spec.containers[0].resources.limits.nvidia\.com/gpu}' 1
is "$(field deployment/abi-gpu '{.spec.template.spec.containers[0].env[?(@.name=="ABI_LLM_MODEL")].value}')" llama-7b

row "what the tables cannot say is a finding with its field, and what runs stays"
ok k patch abiinstance my-abi --type=merge -p '{"spec":{"autoscaling":{"enabled":true,"minReplicas":5,"maxReplicas":2}}}'
eventually condition_is abiinstance/my-abi Accepted False/InvalidSpec
is "$(condition abiinstance/my-abi Accepted message)" \
  "spec.autoscaling.minReplicas: Invalid value: 5: it is above maxReplicas, 2; lower minReplicas or raise maxReplicas"
is "$(names deployments my-abi)" my-abi
ok k patch abiinstance my-abi --type=merge -p '{"spec":{"autoscaling":{"enabled":false}}}'
eventually condition_is abiinstance/my-abi Accepted True/Accepted

row "an object that is somebody else's is never taken over"
ok k create deployment taken --image=theirs
ok k apply -f - <<'YAML'
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: taken, namespace: default}
spec: {image: ours}
YAML
eventually condition_is application.cloudnative.elide.dev/taken Applied False/ChildConflict
is "$(field deployment/taken '{.spec.template.spec.containers[0].image}')" theirs
# Pods would have what stands in it in their environment.
ok k create configmap lent --from-literal=theirs=1
ok k apply -f - <<'YAML'
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: lent, namespace: default}
spec: {image: ours, config: {ours: "1"}}
YAML
eventually condition_is application.cloudnative.elide.dev/lent Applied False/ChildConflict
ok rejected k get deployment lent
ok k delete configmap lent
eventually field_is deployment/lent '{.spec.template.spec.containers[0].image}' ours
is "$(field configmap/lent '{.data.ours}')" 1
ok k delete application.cloudnative.elide.dev lent
gone() { ! out=$(k get "$@" 2>&1) && says NotFound; }
eventually gone deployment lent
eventually gone configmap lent

row "an Event tells a conflict once and its end, another an object that is not valid, another each phase"
eventually told taken Warning ChildConflict "0 of 1 objects applied; Deployment taken: an object of that name exists already"
ok k delete deployment taken
eventually told taken Normal Applied "1 of 1 objects applied"
is "$(k get events --field-selector involvedObject.name=taken,involvedObject.kind=Application,type=Warning -o 'jsonpath={.items[*].count}')" 1
eventually told my-abi Normal Running "All pods are ready, or the Job runs."
eventually told my-abi Normal Updating ""
eventually told my-abi Warning InvalidSpec "spec.autoscaling.minReplicas: Invalid value: 5"
eventually told my-abi Normal Accepted "The object is valid."

row "the Application of the seed is a Deployment and a ConfigMap"
app=application.cloudnative.elide.dev/my-app
ok k apply -f examples/workloads/application.yaml
eventually field_is deployment/my-app '{.spec.replicas}' 3
is "$(field configmap/my-app '{.data.key}')" value
eventually phase_is "$app" "Pending 0/0"
runs deployment my-app 3 3
eventually phase_is "$app" "Running 3/3"
ok condition_is "$app" Ready True/ReconciliationSucceeded
is "$(field "$app" '{.status.observedGeneration}')" 1

row "one that runs once is a Job, and Succeeded when that is complete"
ok k patch "$app" --type=merge -p '{"spec":{"strategy":"RunOnce","replicas":1}}'
eventually gone deployment my-app
job() { k get jobs -l cloudnative.elide.dev/application=my-app -o 'jsonpath={.items[*].metadata.name}'; }
eventually job
ok k patch job "$(job)" --subresource=status --type=merge -p '{"status":{"succeeded":1,"startTime":"2026-01-01T00:00:00Z",
  "completionTime":"2026-01-01T00:00:01Z","conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}'
eventually field_is "$app" '{.status.phase}' Succeeded

row "metrics count objects by phase, reconciles and status writes"
metric() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n "s/^herd_controller_workload$1 //p"; }
metric_is() { [ "$(metric "$1")" = "$2" ] || { metric "$1"; return 1; }; }
metric_above() { [ "$(metric "$1")" -gt "$2" ] || { metric "$1"; return 1; }; }
eventually metric_is 's{kind="Application",phase="Succeeded"}' 1
eventually metric_is 's{kind="Application",phase="Pending"}' 1
is "$(metric 's{kind="LLMModel",phase="Running"}')" 0
eventually metric_above '_reconcile_total{kind="AbiInstance",result="done"}' 9
eventually metric_above '_status_writes_total{kind="AbiInstance",result="written"}' 9
is "$(metric '_reconcile_total{kind="AbiInstance",result="gone"}') $(metric '_status_writes_total{kind="AbiInstance",result="failed"}')" "0 0"

row "nothing is written while nothing changes, not even by the next controller"
versions() { k get abiinstances,deployments,services,configmaps -A -o 'jsonpath={.items[*].metadata.resourceVersion}'; }
before=$(versions)
end controller
tail -n 2 "$state/controller.log" | grep -q 'stopping signal=15' && tail -n 1 "$state/controller.log" | grep -q 'stopped code=0' ||
  wrong "$(tail -n 2 "$state/controller.log")"
start_controller
ok k apply -f - <<'YAML'
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: late, namespace: default}
spec: {image: i, strategy: RunOnce}
YAML
eventually field_is application.cloudnative.elide.dev/late '{.status.children.applied}' 1
is "$(versions)" "$before"

row "the garbage collector takes what a deleted object was made into"
ok k delete abiinstance my-abi abi-gpu
ok k -n abi delete abiinstance abi-production
eventually gone deployment my-abi
eventually gone service my-abi-metrics
eventually gone -n abi statefulset abi-production
eventually metric_above '_reconcile_total{kind="AbiInstance",result="gone"}' 2
eventually metric_is 's{kind="AbiInstance",phase="Running"}' 0

# Nothing runs pods on the real API server of this suite.
[ "${HERD_API:-lab}" != real ] || exit 0
row "a Secret that is missing is told with its cause, and the instance runs when it comes"
end lab
lab_flags+=(--workloads)
start_lab
eventually k get --raw /readyz
ok k apply -f - <<'YAML'
apiVersion: abi.io/v1
kind: AbiInstance
metadata: {name: keyed, namespace: default}
spec: {image: {repository: ghcr.io/abi/abi, tag: v1}, secrets: {apiKeys: [{name: OPENAI_API_KEY, secretName: none, key: token}]}}
YAML
keyed_says() { [[ $(condition abiinstance/keyed Ready status)/$(condition abiinstance/keyed Ready message) = "False/Pod keyed-"*": $1" ]] || { condition abiinstance/keyed Ready message; return 1; }; }
eventually keyed_says 'CreateContainerConfigError: secret "none" not found'
ok k create secret generic none --from-literal=other=1
eventually keyed_says "CreateContainerConfigError: couldn't find key token in Secret default/none"
ok k patch secret none --type=merge -p '{"stringData":{"token":"t"}}'
eventually phase_is abiinstance/keyed "Running 1/1"
ok condition_is abiinstance/keyed Ready True/ReconciliationSucceeded
