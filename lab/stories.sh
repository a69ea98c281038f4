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
