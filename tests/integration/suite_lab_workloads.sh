#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_lab_workloads.sh: herd-lab serve --workloads: Deployments, StatefulSets and Jobs of the management cluster get the pods and the
# status that Kubernetes gives them. No other program runs here.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_lab

of() { k get pods -l "app=$1" -o "jsonpath={range .items[*]}$2{'\n'}{end}"; }
of_is() { [ "$(of "$1" "$2" | xargs)" = "$3" ] || { of "$1" "$2"; return 1; }; }
gone() { ! out=$(k get "$@" 2>&1) && says NotFound; }
# object KIND NAME MORE [TEMPLATE]: with one container; MORE goes into the spec, TEMPLATE into that of the pods.
object() {
  local version=apps/v1
  [ "$1" != Job ] || version=batch/v1
  k apply -f - <<YAML
apiVersion: $version
kind: $1
metadata: {name: $2, namespace: default}
spec:
  $3
  template:
    metadata: {labels: {app: $2}, annotations: {note: kept}}
    spec: {containers: [{name: c, image: "registry.example.com/shop/c:v1"}]${4:-}}
YAML
}
selected() { printf 'selector: {matchLabels: {app: %s}}\n  %s' "$1" "$2"; }

row "without the flag nothing makes pods, and with it a restart finds what is there"
ok object Deployment web "$(selected web 'replicas: 2')"
ok k create deployment later --image=registry.example.com/later:v1
ok k delete deployment later
is "$(k get pods -A --no-headers 2>/dev/null | wc -l)" 0
end lab
lab_flags+=(--workloads)
start_lab
eventually of_is web '{.status.phase}' "Running Running"

ok down c-m-gpu01 create deployment elsewhere --image=registry.example.com/elsewhere:v1
k create deployment released --image=registry.example.com/released:v1 --dry-run=client -o yaml |
  kubectl annotate --local -f - lab.herd.suse.com/gpus=0 -o yaml | ok k apply -f -

row "a Deployment has the pods of its template, with Kubernetes' names, and kubectl sees them roll out"
ok k rollout status deployment/web --timeout=60s
is "$(of web '{.metadata.name}' | grep -cE '^web-[0-9a-z]+-[0-9a-z]{5}$')" 2
is "$(of web '{.metadata.annotations.note} {.spec.containers[0].image} {.spec.nodeName} {.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}' | sort -u)" \
  "kept registry.example.com/shop/c:v1 $(k get nodes -o 'jsonpath={.items[0].metadata.name}') Deployment/web"
is "$(of web '{.status.containerStatuses[0].ready} {.status.conditions[?(@.type=="Ready")].status}' | sort -u)" "true True"
is "$(field deployment/web '{.status.observedGeneration} {.status.replicas} {.status.updatedReplicas} {.status.readyReplicas} {.status.availableReplicas}')" \
  "1 2 2 2 2"
is "$(field deployment/web '{range .status.conditions[*]}{.type}={.status},{.reason} {end}')" \
  "Available=True,MinimumReplicasAvailable Progressing=True,NewReplicaSetAvailable "

row "it is scaled up and down, and what somebody deletes comes back"
ok k scale deployment web --replicas=4
ok k rollout status deployment/web --timeout=60s
is "$(of web '{.status.phase}' | xargs)" "Running Running Running Running"
ok k scale deployment web --replicas=2
eventually field_is deployment/web '{.status.observedGeneration} {.status.replicas}' "3 2"
first=$(k get pods -l app=web -o 'jsonpath={.items[0].metadata.name}')
ok k delete pod "$first" --now
eventually gone pod "$first"
eventually field_is deployment/web '{.status.readyReplicas}/{.status.replicas}' 2/2

row "an image that is missing is told by its pods, and the old ones stay until new ones are ready"
ok k set image deployment/web c=registry.example.com/shop/c:missing
eventually of_is web '{.status.containerStatuses[0].state.waiting.message}' \
  'Back-off pulling image registry.example.com/shop/c:missing Back-off pulling image registry.example.com/shop/c:missing'
is "$(of web '{.status.phase} {.status.containerStatuses[0].state.waiting.reason}' | sort | xargs)" \
  "Pending ImagePullBackOff Pending ImagePullBackOff Running Running"
is "$(field deployment/web '{.status.observedGeneration} {.status.replicas} {.status.updatedReplicas} {.status.readyReplicas}')" "4 4 2 2"
is "$(field deployment/web '{.status.conditions[?(@.type=="Progressing")].reason}')" ReplicaSetUpdated
ok k set image deployment/web c=registry.example.com/shop/c:v2
ok k rollout status deployment/web --timeout=60s
eventually of_is web '{.spec.containers[0].image}' "registry.example.com/shop/c:v2 registry.example.com/shop/c:v2"

row "a pod waits for the Secret of its variables, and for that of its volume"
ok k create deployment needy --image=registry.example.com/needy:v1 --replicas=0
k patch deployment needy --type=json -p '[{"op":"add","path":"/spec/template/spec/containers/0/envFrom","value":[{"secretRef":{"name":"none"}}]}]' >/dev/null
ok k scale deployment needy --replicas=1
eventually of_is needy '{.status.phase} {.status.containerStatuses[0].state.waiting.reason} {.status.containerStatuses[0].state.waiting.message}' \
  'Pending CreateContainerConfigError secret none not found'
ok k create secret generic none --from-literal=a=b
ok k rollout status deployment/needy --timeout=60s
k patch deployment needy --type=json -p '[{"op":"add","path":"/spec/template/spec/volumes","value":[{"name":"v","configMap":{"name":"none"}}]}]' >/dev/null
eventually field_is deployment/needy '{.status.updatedReplicas} {.status.readyReplicas}' "1 1"
ok k create configmap none --from-literal=a=b
ok k rollout status deployment/needy --timeout=60s
ok k delete deployment needy
eventually of_is needy '{.metadata.name}' ""

row "nothing is written while nothing changes"
versions() { k get deployments,statefulsets,jobs,pods -A -o 'jsonpath={.items[*].metadata.resourceVersion}'; }
# What was to be done before this Deployment came is done.
caught_up() {
  ok object Deployment marker "$(selected marker 'replicas: 0')"
  eventually field_is deployment/marker '{.status.observedGeneration}' 1
  ok k delete deployment marker
}
eventually field_is deployment/web '{.status.replicas}' 2
caught_up
before=$(versions)
end lab
start_lab
caught_up
is "$(versions)" "$before"

row "a StatefulSet has pods with ordinals, in order, and loses the highest"
ok object StatefulSet db "$(selected db 'replicas: 3')"
ok k rollout status statefulset/db --timeout=60s
is "$(of db '{.metadata.name}' | xargs)" "db-0 db-1 db-2"
is "$(of db '{.metadata.labels.statefulset\.kubernetes\.io/pod-name}' | xargs)" "db-0 db-1 db-2"
ok k scale statefulset db --replicas=2
eventually of_is db '{.metadata.name}' "db-0 db-1"
ok k scale statefulset db --replicas=3
ok k rollout status statefulset/db --timeout=60s
eventually field_is statefulset/db '{.status.observedGeneration} {.status.replicas} {.status.updatedReplicas} {.status.readyReplicas} {.status.availableReplicas}' \
  "3 3 3 3 3"

row "a changed template replaces them one by one, from the highest ordinal"
start watch kubectl --kubeconfig "$state/kubeconfig" get pods -l app=db --watch --output-watch-events \
  -o 'custom-columns=EVENT:.type,NAME:.object.metadata.name' --no-headers
watched() { [ "$(grep -c ADDED "$state/watch.out")" = 3 ]; }
eventually watched
ok k set image statefulset/db c=registry.example.com/shop/c:v2
ok k rollout status statefulset/db --timeout=60s
seen_back() { [ "$(grep -cE 'ADDED +db-0' "$state/watch.out")" = 2 ]; }
eventually seen_back
end watch
is "$(awk '$1 == "DELETED" || (NR > 3 && $1 == "ADDED") { print $1, $2 }' "$state/watch.out" | xargs)" \
  "DELETED db-2 ADDED db-2 DELETED db-1 ADDED db-1 DELETED db-0 ADDED db-0"
is "$(of db '{.spec.containers[0].image}' | sort -u)" registry.example.com/shop/c:v2

row "a Job runs as many pods as it wants, so many at a time, and is complete"
ok object Job sum $'completions: 3\n  parallelism: 2' ', restartPolicy: Never'
ok k wait --for=condition=Complete job/sum --timeout=60s
is "$(field job/sum '{.status.succeeded} {.status.active} {.status.ready}')" "3 0 0"
field job/sum '{.status.startTime} {.status.completionTime}' | grep -qE '^20[^ ]+Z 20[^ ]+Z$' || wrong "no times" "$(field job/sum '{.status}')"
is "$(of sum '{.status.phase} {.status.containerStatuses[0].state.terminated.reason}' | sort -u)" "Succeeded Completed"
is "$(of sum '{.metadata.labels.batch\.kubernetes\.io/job-name}' | sort -u)" sum
ok k delete pods -l app=sum --now
ok object Deployment after "$(selected after 'replicas: 1')"
ok k rollout status deployment/after --timeout=60s
is "$(of sum '{.metadata.name}')" ""

row "the garbage collector takes the pods of what is deleted"
ok k delete deployment web after
ok k delete statefulset db
eventually of_is web '{.metadata.name}' ""
eventually of_is db '{.metadata.name}' ""

row "the simulated clusters, and the Deployments of simulated releases, have what the simulation makes"
ok k get deployment released
is "$(k get pods -A --no-headers 2>/dev/null)$(down c-m-gpu01 get pods -A -l app=elsewhere --no-headers 2>/dev/null)" ""
