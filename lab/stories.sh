# SPDX-License-Identifier: Apache-2.0
# stories.sh: what `make demo STORY=NAME` tells; sourced by lab/run.sh. Each story ends by itself, and fails if anything is not
# as it says.

# reject FILE: apply it, expect a rejection and show it.
reject() {
  local answer
  if answer=$(k apply -f "$1" 2>&1); then
    fail "$1 was accepted; it must be rejected"
  fi
  printf '$ kubectl apply -f %s\n%s\n' "$1" "$answer"
}

story_of_demo() {
  deploy_example
  say "kubectl get stacks"
  k get stacks
  k get stacks -o wide
  k get stacks rag-inference --no-headers | grep -qE 'Deployed +2 +3' || fail "not Deployed on 2 clusters with 3 charts"
  say "kubectl describe stack rag-inference: its Events"
  k describe stack rag-inference | sed -n '/^Events:/,$p'
  say "A dependency cycle is rejected"
  reject examples/rejected/cycle.yaml
  say "GPU clusters with nothing that needs or provides GPUs are rejected"
  reject examples/rejected/missing-gpu.yaml
  say "Teardown, in reverse order"
  k delete stack rag-inference --wait --timeout=120s
  sed -n 's/.*action=uninstall.* cluster=\([^ ]*\) .*release=\([^ ]*\).*/  uninstall \2 on \1/p' "$state/controller.log"
  [ -z "$(k get stacks --no-headers 2>/dev/null)" ] || fail "a Stack is left"
  say "Demo done"
}

# until_in FUNCTION TEXT: within two minutes what it prints has TEXT.
until_in() {
  local tries=0
  until [[ $("$1") == *"$2"* ]]; do
    ((tries++ < 600)) || fail "$1: '$2' is not in '$("$1")'"
    sleep 0.2
  done
}
search_ready() { k get stack search -o 'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.reason} {.message}{end}'; }
show() {
  printf '$ kubectl %s\n' "$*"
  k "$@"
}
releases_on() { down "$1" get apps.catalog.cattle.io -A --no-headers 2>/dev/null | wc -l; }

story_of_health() {
  local canary=c-m-gpu01 cluster
  say "A Stack in waves: the canary first, then half a minute of pause"
  show apply -f examples/accepted/rollout.yaml
  until_in search_ready "it pauses until"
  show get stack search -o wide
  say "On the canary the workload dies after its installation"
  echo "$ kubectl delete deployment qdrant -n search       # on $canary"
  down "$canary" delete deployment qdrant -n search
  until_in search_ready "the rollout stopped"
  show get stack search -o wide
  search_ready | grep -q "^False WorkloadsNotReady waiting for qdrant on $canary" || fail "Ready is '$(search_ready)'"
  for cluster in $(k get stack search -o 'jsonpath={.status.targetClusters[*]}'); do
    [ "$cluster" = "$canary" ] || [ "$(releases_on "$cluster")" = 0 ] || fail "the rollout reached $cluster"
  done
  say "With drift: Correct, Herd brings the workload back, and the pause starts over"
  show patch stack search --type=merge -p '{"spec":{"drift":"Correct"}}'
  until_in search_ready "it pauses until"
  down "$canary" get deployment qdrant -n search
  say "Once the pause is over without trouble, the next wave begins"
  until_in search_ready "wave world"
  show get stack search -o wide
  k delete stack search --wait --timeout=120s
  say "Story of health done"
}

scanned() { k get stack rag-inference -o 'jsonpath={range .status.conditions[?(@.type=="SecurityScanned")]}{.status} {.reason} {.message}{end}'; }
show_security() {
  show get stack rag-inference -o wide
  show get stack rag-inference -o 'jsonpath={.status.security}'
  printf '\nSecurityScanned: %s\n' "$(scanned)"
}

message_of_rag() { k get stack rag-inference -o 'jsonpath={.status.message}'; }
# revision_on CLUSTER: of qdrant.
revision_on() { down "$1" -n vector-db get apps.catalog.cattle.io qdrant -o 'jsonpath={.spec.version}'; }

story_of_security() {
  deploy_example
  say "NeuVector scans what the releases run"
  until_in scanned "True NeuVectorScanCompleted"
  show_security
  say "A critical vulnerability of the image of ollama becomes known"
  lab_k create configmap herd-lab-vulnerabilities --from-literal=a="image=docker.io/ollama/ollama:0.3.9 name=CVE-2099-0001 severity=Critical score=9.8 package=openssl version=3.0.1 fixed=3.0.2"
  until_in scanned "False ThresholdsExceeded ollama on c-m-gpu"
  show_security
  scanned | grep -q CVE-2099-0001 || fail "SecurityScanned does not name it: $(scanned)"
  say "A change in waves: with that image on the canary, the next wave does not begin"
  [ "$(k get stack rag-inference -o 'jsonpath={.spec.charts[1].name} {.spec.charts[2].name}')" = "qdrant ollama" ] ||
    fail "spec.charts are not those of the example"
  show patch stack rag-inference --type=json -p '[
    {"op":"add","path":"/spec/rollout","value":{"waves":[{"name":"canary","scans":"Required","selector":{"matchLabels":{"region":"eu-central"}}}]}},
    {"op":"replace","path":"/spec/charts/1/values/inline/persistence/size","value":"600Gi"}]'
  until_in message_of_rag "the rollout stopped after wave canary: ollama on c-m-gpu01 has 1 critical vulnerability"
  message_of_rag
  echo
  [ "$(revision_on c-m-gpu01) $(revision_on c-m-gpu02)" = "2 1" ] || fail "the next wave began: qdrant is at revision $(revision_on c-m-gpu02)"
  say "A version with a fixed image passes, and the next wave begins"
  show patch stack rag-inference --type=json -p '[{"op":"replace","path":"/spec/charts/2/version","value":"0.60.0"}]'
  k wait --for=condition=Ready stack/rag-inference --timeout=120s
  [ "$(revision_on c-m-gpu02)" = 2 ] || fail "the next wave did not begin: qdrant is at revision $(revision_on c-m-gpu02)"
  until_in scanned "True NeuVectorScanCompleted"
  show_security
  k delete stack rag-inference --wait --timeout=120s
  say "Story of security done"
}

monitored() { k get stack rag-inference -o 'jsonpath={.status.conditions[?(@.type=="ObservabilityConfigured")].reason} {.status.observability}'; }
gpus() { k get stack rag-inference -o 'jsonpath={range .status.deployments[?(@.chartName=="ollama")]}{.clusterId}={.gpuUtilization} {end}'; }

story_of_observability() {
  deploy_example
  say "Prometheus collects what the releases report, and has loaded their alert rules"
  until_in monitored '"metricsCollected":true'
  until_in monitored '"alertsConfigured":48'
  monitored
  say "GPU load rises on one cluster, and the Stack shows it"
  until_in gpus "c-m-gpu01=75%"
  gpus
  down c-m-gpu01 -n llm-serving annotate pods --overwrite -l app.kubernetes.io/instance=ollama lab.herd.suse.com/gpu-utilization=95
  until_in gpus "c-m-gpu01=95%"
  gpus
  echo
  k delete stack rag-inference --wait --timeout=120s
  say "Story of observability done"
}

abi_is() { k get abi my-abi -o 'jsonpath={.status.phase} {.status.readyReplicas}/{.status.replicas} {.status.version} {range .status.conditions[?(@.type=="Ready")]}{.reason} {.message}{end}'; }
model_is() { k get mdep llama-3-70b -o 'jsonpath={.status.phase} {.status.readyReplicas} of {.status.scaling.replicas} {.status.scaling.reason}'; }
model_waits() { k get mdep llama-3-70b -o 'jsonpath={.status.conditions[?(@.type=="Ready")].message}'; }
app_is() { k get application.cloudnative.elide.dev my-app -o 'jsonpath={.status.phase}'; }
# GPUs that the pods of the model have together.
gpus_of_model() {
  local sum=0 gpus
  for gpus in $(k get pods -l herd.suse.com/modeldeployment=llama-3-70b -o 'jsonpath={.items[*].spec.containers[*].resources.limits.nvidia\.com/gpu}'); do
    ((sum += gpus))
  done
  echo "GPUs: $sum."
}
# Whether the pods whose changes were watched never had more than 16 GPUs together.
budget_held() {
  awk '{ sum -= had[$2]; had[$2] = $1 == "DELETED" ? 0 : $3; sum += had[$2] } sum > 16 { exit 1 }' "$state/gpus"
}
made_of_workloads() {
  k get deployments,statefulsets,jobs,pods,services,configmaps,hpa,pdb -A -l app.kubernetes.io/managed-by=Herd --no-headers 2>/dev/null | wc -l
}
workloads_left() { echo "left: $(made_of_workloads)."; }

story_of_workloads() {
  local image watcher
  say "An AbiInstance is made into a Deployment and Services"
  show apply -f examples/workloads/abi-basic.yaml
  until_in abi_is "Running 1/1 latest ReconciliationSucceeded"
  show get abi my-abi -o wide
  show get deployments,services,pods -l app.kubernetes.io/instance=my-abi
  say "More replicas, then another image"
  show scale abiinstance my-abi --replicas=5
  until_in abi_is "Running 5/5 latest"
  show patch abiinstance my-abi --type=merge -p '{"spec":{"image":{"tag":"v1.1.0"}}}'
  until_in abi_is "Running 5/5 v1.1.0 ReconciliationSucceeded"
  show get pods -l app.kubernetes.io/instance=my-abi
  for image in $(k get pods -l app.kubernetes.io/instance=my-abi -o 'jsonpath={.items[*].spec.containers[*].image}'); do
    [ "$image" = ghcr.io/abi/abi:v1.1.0 ] || fail "a pod has image $image"
  done
  say "An image that there is not: its status says so, and what ran keeps running"
  show patch abiinstance my-abi --type=merge -p '{"spec":{"image":{"tag":"missing"}}}'
  until_in abi_is "v1.1.0 PodsNotReady"
  until_in abi_is 'ImagePullBackOff: Back-off pulling image "ghcr.io/abi/abi:missing"'
  show get abi my-abi -o wide
  k get deployment my-abi -o 'jsonpath={.status.readyReplicas}' | grep -qx 5 || fail "the old pods are gone"
  show patch abiinstance my-abi --type=merge -p '{"spec":{"image":{"tag":"v1.1.0"}}}'
  until_in abi_is "Running 5/5 v1.1.0 ReconciliationSucceeded"
  say "For production, on GPUs, an Application, and a model of the tutorial"
  show create namespace abi
  show apply -f examples/workloads/abi-production.yaml -f examples/workloads/abi-gpu.yaml -f examples/workloads/application.yaml -f examples/workloads/llm-model.yaml
  k wait --for=condition=Ready abiinstance/abi-production -n abi --timeout=120s
  k wait --for=condition=Ready abiinstance/abi-gpu application.cloudnative.elide.dev/my-app llmmodel/llama-3-70b-tutorial --timeout=120s
  show get statefulsets,hpa,pdb,pods -n abi
  show get abi,llm
  say "The Application once, as a Job"
  show patch application.cloudnative.elide.dev my-app --type=merge -p '{"spec":{"strategy":"RunOnce","replicas":1}}'
  until_in app_is Succeeded
  show get application.cloudnative.elide.dev,jobs
  say "A ModelDeployment has as many replicas as its SLA needs"
  show apply -f examples/workloads/model-deployment.yaml
  until_in model_waits 'CreateContainerConfigError: secret "hugging-face" not found'
  model_waits
  echo
  show create secret generic hugging-face --from-literal=token=hf
  until_in model_is "Running 3 of 3 Computed"
  show get mdep
  say "Ten times the load needs more than its budget of 16 GPUs"
  show patch mdep llama-3-70b --type=merge -p '{"spec":{"sla":{"minThroughput":500}}}'
  until_in model_is "Running 4 of 4 LimitedByGPUBudget"
  show get mdep
  until_in gpus_of_model "GPUs: 16."
  say "Every decision can be computed again"
  echo '$ kubectl get mdep llama-3-70b -o yaml | herd-controller replay -'
  k get mdep llama-3-70b -o yaml | "$bin/herd-controller" replay - || fail "replay does not come to what is stored"
  say "Pods with twice as many GPUs: at no moment are there more than 16"
  kubectl --kubeconfig "$state/kubeconfig" get pods -l herd.suse.com/modeldeployment=llama-3-70b --no-headers --watch --output-watch-events -o \
    'custom-columns=:.type,:.object.metadata.name,:.object.spec.containers[0].resources.limits.nvidia\.com/gpu' >"$state/gpus" &
  watcher=$!
  until_true 60 "that the pods are watched" grep -q llama-3-70b-3 "$state/gpus"
  show patch mdep llama-3-70b --type=merge -p '{"spec":{"tensorParallelSize":8}}'
  until_in model_is "Running 2 of 2 LimitedByGPUBudget"
  until_in gpus_of_model "GPUs: 16."
  until_true 60 "that the last pod was seen" grep -qE 'llama-3-70b-0 +8$' "$state/gpus"
  kill "$watcher"
  budget_held || fail "there were more than 16 GPUs: $(cat "$state/gpus")"
  show get pods -l herd.suse.com/modeldeployment=llama-3-70b
  say "Deletion takes all that they were made into"
  [ "$(made_of_workloads)" -gt 20 ] || fail "only $(made_of_workloads) objects were made"
  show delete -f examples/workloads --timeout=120s
  until_in workloads_left "left: 0."
  [ -z "$(k get pods -A --no-headers 2>/dev/null)" ] || fail "pods are left: $(k get pods -A)"
  say "Story of workloads done"
}
