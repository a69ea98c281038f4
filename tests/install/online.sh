# SPDX-License-Identifier: Apache-2.0
# online.sh: manifests, deploy.sh and chart on a real API server with cert-manager; sourced by install.sh.

start_cluster management workloads
start_cert_manager management
start_nodes management 2

configurations=(mutatingwebhookconfiguration/herd-webhook validatingwebhookconfiguration/herd-webhook)
secret() {
  kubectl -n herd-system create secret generic herd-rancher --from-literal=url=https://rancher.example.com \
    --from-literal=token=token-a:b --dry-run=client -o yaml | kubectl apply -f - >/dev/null
}
running() { kubectl -n herd-system rollout status "deployment/$1" --timeout=60s; }

# no_dead_end: a configuration that stands calls a server that is there.
no_dead_end() {
  local what available
  for what in "${configurations[@]}"; do
    kubectl get "$what" >/dev/null 2>&1 || continue
    available=$(kubectl -n herd-system get deployment herd-webhook -o 'jsonpath={.status.availableReplicas}') || return 1
    [ "${available:-0}" -ge 1 ] || { echo "$what stands, and no webhook runs"; return 1; }
    kubectl -n herd-system get service/herd-webhook secret/herd-webhook-tls >/dev/null || return 1
    [ -z "$(kubectl get namespace herd-system -o 'jsonpath={.metadata.deletionTimestamp}')" ] || return 1
  done
}

row "the three folders apply one after another, and the pods that they make are admitted and run"
for folder in crds controller webhook; do
  ok kubectl apply -f "manifests/$folder/"
  says_not Warning
done
ok kubectl apply -f certs/
secret
ok running herd-webhook
ok running herd-controller
is "$(kubectl -n herd-system get events --field-selector reason=FailedCreate -o 'jsonpath={.items[*].message}')" ""

row "a second look finds no difference, by folder and by overlay"
ok kubectl diff "${manifests[@]}" -f certs/
ok kubectl diff -k manifests/overlays/cert-manager

row "server-side apply takes all of it over without a conflict, and finds no difference after that"
ok kubectl apply --server-side -k manifests/overlays/cert-manager
says_not conflict
ok kubectl apply --server-side -f manifests/crds/
ok kubectl diff --server-side -k manifests/overlays/cert-manager
ok kubectl diff "${manifests[@]}"

row "cert-manager writes its CA into both configurations"
for what in "${configurations[@]}"; do
  eventually field_has "$what" '{.webhooks[0].clientConfig.caBundle}' LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS
done

row "the namespace of the server can not be deleted while a configuration calls it"
rejected kubectl delete namespace herd-system
says "delete them first"

row "view, edit and admin of Kubernetes see Stacks; only herd-edit lets people write them"
for role in view edit admin; do
  ok kubectl create rolebinding "of-$role" --clusterrole "$role" --user "$role"
  eventually kubectl auth can-i list stacks.herd.suse.com --as "$role"
  rejected kubectl auth can-i create stacks.herd.suse.com --as "$role"
done
ok kubectl create rolebinding of-herd-edit --clusterrole herd-edit --user edit
eventually kubectl auth can-i create stacks.herd.suse.com --as edit
rejected kubectl auth can-i deletecollection stacks.herd.suse.com --as edit

row "who sees all of the cluster sees StackPolicies; only herd-admin lets people write them"
for role in view herd-edit herd-admin; do
  ok kubectl create clusterrolebinding "all-$role" --clusterrole "$role" --user "all-$role"
  eventually kubectl auth can-i list stackpolicies.herd.suse.com --as "all-$role"
done
for verb in create update delete; do
  rejected kubectl auth can-i "$verb" stackpolicies.herd.suse.com --as all-herd-edit
  ok kubectl auth can-i "$verb" stackpolicies.herd.suse.com --as all-herd-admin
done
ok kubectl delete clusterrolebinding all-view all-herd-edit all-herd-admin

row "the controller reads no Secret, until a namespace says that it may"
account=system:serviceaccount:herd-system:herd-controller
rejected kubectl auth can-i list secrets --as "$account"
ok kubectl create rolebinding herd-secrets --clusterrole herd-controller-secrets --serviceaccount herd-system:herd-controller
eventually kubectl auth can-i list secrets --as "$account"
rejected kubectl auth can-i list secrets -n kube-system --as "$account"
rejected kubectl auth can-i '*' '*' --as system:serviceaccount:herd-system:herd-webhook

# nothing_left: of Herd, but the CRDs.
nothing_left() {
  is "$(kubectl get clusterrole,clusterrolebinding,priorityclass,flowschema,prioritylevelconfiguration,namespace,\
validatingadmissionpolicy,validatingadmissionpolicybinding,mutatingwebhookconfiguration,validatingwebhookconfiguration \
    -o name | grep herd || true)" ""
  ok kubectl get crd stacks.herd.suse.com stackpolicies.herd.suse.com clusterinventories.herd.suse.com \
    stackscanreports.herd.suse.com
}

row "make undeploy takes all of it away but the CRDs; a second time it finds nothing to do"
ok make -s undeploy
nothing_left
ok make -s undeploy

row "so it does with an overlay that it is not told of"
ok kubectl apply -k manifests/overlays/own-ca
ok make -s undeploy
nothing_left

row "who may not ask for CRDs is not taken for somebody without cert-manager"
rejected env KUBECTL="kubectl --as nobody" make -s deploy
says "cannot get resource"
says_not Deploying
rejected env KUBECTL="kubectl --as nobody" make -s uninstall-crds
says_not "there are no CRDs"

# killed_at MODE N WHEN: run deploy.sh and kill it, with its kubectl, at the Nth call of kubectl: before it or after it took
# effect. 1 when there is no such call any more.
mkdir -p "$state/cut"
cat >"$state/cut/kubectl" <<'WRAPPER'
#!/usr/bin/env bash
n=$(($(cat "$CUT_COUNT") + 1))
echo "$n" >"$CUT_COUNT"
[ "$n" != "$CUT" ] || [ "$CUT_WHEN" != before ] || kill -KILL 0
kubectl "$@"
code=$?
[ "$n" != "$CUT" ] || kill -KILL 0
exit $code
WRAPPER
chmod +x "$state/cut/kubectl"
killed_at() {
  echo 0 >"$state/cut/count"
  # The inner shell is for bash's own word of who was killed.
  (
    export KUBECTL=$state/cut/kubectl CUT_COUNT=$state/cut/count CUT=$2 CUT_WHEN=$3
    setsid --wait bash manifests/deploy.sh "$1" >"$state/cut/log" 2>&1 || true
  ) 2>/dev/null
  [ "$(cat "$state/cut/count")" -ge "$2" ]
}

row "where no pod can run, deploy says so, and has added no configuration"
ok kubectl cordon -l kubernetes.io/os=linux
rejected env TIMEOUT=4s make -s deploy
says "timed out"
is "$(kubectl get mutatingwebhookconfiguration,validatingwebhookconfiguration -o name | grep herd || true)" ""
ok kubectl uncordon -l kubernetes.io/os=linux

row "deploy says whether the controller that runs can use Rancher, by the newest Event of its pod, and what else to do"
word() { # word POD TYPE REASON WHEN MESSAGE
  kubectl create -f - >/dev/null <<YAML
apiVersion: v1
kind: Event
metadata: {generateName: word-, namespace: herd-system}
involvedObject: {kind: Pod, namespace: herd-system, name: $1}
type: $2
reason: $3
firstTimestamp: 2026-01-01T00:0$4:00Z
lastTimestamp: 2026-01-01T00:0$4:00Z
message: $5
YAML
}
ok kubectl apply -f manifests/namespace.yaml
secret
ok make -s deploy
says "Deployed; whether Rancher can be used, the controller has not said yet"
says "kubectl logs -n herd-system deployment/herd-controller"
controller_pod=$(kubectl -n herd-system get pods -l app.kubernetes.io/name=herd-controller -o 'jsonpath={.items[0].metadata.name}')
word herd-controller-of-before Warning RancherTokenRejected 9 "of one that is gone"
word "$controller_pod" Warning BackOff 8 "of another thing"
word "$controller_pod" Normal RancherReached 1 "it was there"
word "$controller_pod" Warning RancherUnreachable 2 "Rancher https://x cannot be used; check --rancher-url"
ok make -s deploy
says "Deployed, but: Rancher https://x cannot be used; check --rancher-url"
says "the Secret herd-rancher"
says_not "Herd runs"
word "$controller_pod" Normal RancherReached 3 "Rancher https://x answers and takes the token"
ok make -s deploy
says "Herd runs."
says_not but
ok make -s undeploy

row "deploy, killed at each call of kubectl, never leaves a configuration that calls nobody"
n=1
while killed_at deploy $n after; do
  ok no_dead_end
  n=$((n + 1))
  # Its Secret comes with the namespace's first life.
  ! kubectl get namespace herd-system >/dev/null 2>&1 || secret
  [ "$n" -lt 40 ] || wrong "it does not end: $(cat "$state/cut/log")"
done
[ "$n" -gt 8 ] || wrong "only $n calls: $(cat "$state/cut/log")"
ok no_dead_end
eventually field_has "${configurations[1]}" '{.webhooks[0].clientConfig.caBundle}' LS0t

row "deployed again with IMAGE and TAG, both Deployments run that image"
ok make -s deploy IMAGE=registry.example.com:5000/team/herd TAG=9
is "$(kubectl -n herd-system get deployments -o 'jsonpath={.items[*].spec.template.spec.containers[*].image}')" \
  "registry.example.com:5000/team/herd:9 registry.example.com:5000/team/herd:9"

row "so does undeploy"
n=1
while killed_at undeploy $n before; do
  ok no_dead_end
  n=$((n + 1))
done
[ "$n" -gt 4 ] || wrong "only $n calls: $(cat "$state/cut/log")"
ok no_dead_end
rejected kubectl get namespace herd-system

row "CRDs are not taken away while there are Stacks, unless that is said; those of others with that plural stay"
ok kubectl apply -f examples/test-stack.yaml
sed -n '/^apiVersion/,$p' manifests/crds/herd.suse.com_stacks.yaml | sed 's/herd\.suse\.com/another.example.com/' |
  kubectl create -f - >/dev/null
until_established crd/stacks.another.example.com
theirs() { sed 's/herd\.suse\.com/another.example.com/' examples/test-stack.yaml | kubectl apply -f -; }
eventually theirs
first_in_discovery() { [ "$(kubectl get stacks -o name)" = stack.another.example.com/test-stack ]; }
eventually first_in_discovery
rejected make -s uninstall-crds
says "Stacks are left: 1"
says "STACKS=delete"
held='{"metadata":{"finalizers":["herd.suse.com/teardown"]}}'
ok kubectl patch stacks.herd.suse.com test-stack --type=merge -p "$held"
rejected env TIMEOUT=2s make -s uninstall-crds STACKS=delete
says "wait for the controller"
says "$(sed 's/\[.*\]/null/' <<<"$held")"
ok kubectl patch stacks.herd.suse.com test-stack --type=merge -p '{"metadata":{"finalizers":null}}'
ok kubectl apply -f examples/test-stack.yaml
ok kubectl delete stacks.herd.suse.com test-stack
ok kubectl apply -f examples/policy/timeouts.yaml
rejected make -s uninstall-crds
says "StackPolicies are left: 1"
ok kubectl apply -f examples/test-stack.yaml
ok make -s uninstall-crds STACKS=delete
for crd in stacks stackpolicies clusterinventories stackscanreports; do
  rejected kubectl get crd "$crd.herd.suse.com"
done
ok kubectl get stacks.another.example.com test-stack
ok kubectl delete crd stacks.another.example.com

row "helm installs the chart and waits until it runs"
ok helm install herd "$chart" -n herd-system --create-namespace --wait --timeout 90s \
  --set rancher.url=https://rancher.example.com --set rancher.token=token-a:b
says_not Warning
says "STATUS: deployed"
ok no_dead_end
for what in "${configurations[@]}"; do
  eventually field_has "$what" '{.webhooks[0].clientConfig.caBundle}' LS0t
done
until_established crd/stacks.herd.suse.com

row "upgrade and rollback leave what cert-manager wrote, and the Lease"
ok helm upgrade herd "$chart" -n herd-system --reuse-values --set controller.replicas=2 --wait --timeout 90s
is "$(field deployment/herd-controller '{.status.availableReplicas}' -n herd-system)" 2
ok helm rollback herd 1 -n herd-system --wait --timeout 90s
is "$(field deployment/herd-controller '{.spec.replicas}' -n herd-system)" 1
ok field_has "${configurations[0]}" '{.webhooks[0].clientConfig.caBundle}' LS0t

# uninstall [CUT]: helm's, one request at a time: after each that wrote something it is asked whether a configuration stands
# that calls nobody, and after CUT of them helm gets no more answers.
{ echo '#!/usr/bin/env bash'
  declare -p state configurations
  declare -f no_dead_end
  cat <<'STEP'
n=$(($(cat "$state/step/count") + 1))
echo "$n" >"$state/step/count"
no_dead_end >>"$state/step/wrong" || echo "  after request $n: $*" >>"$state/step/wrong"
[ "$n" != "$(cat "$state/step/cut")" ]
STEP
} >"$state/step.sh"
chmod +x "$state/step.sh"
uninstall() {
  local code=0
  rm -rf "$state/step" "$state/steps.out"
  mkdir "$state/step"
  echo 0 >"$state/step/count"
  echo "${1:-none}" >"$state/step/cut"
  start steps steps --kubeconfig "$state/kubeconfig" --write "$state/steps.kubeconfig" --run "$state/step.sh"
  eventually grep -q serving "$state/steps.out"
  helm --kubeconfig "$state/steps.kubeconfig" uninstall herd -n herd-system --wait --timeout 90s || code=$?
  end steps
  [ ! -e "$state/step/wrong" ] || [ ! -s "$state/step/wrong" ] || wrong "a dead end" "$(cat "$state/step/wrong")"
  return "$code"
}

row "uninstall takes the configurations away before the server, wherever it is cut, goes on from there, and leaves the CRDs"
lines=$(wc -l <"$(audit_log_of management)")
for n in 2 4 9; do
  rejected uninstall "$n"
  ok no_dead_end
done
ok uninstall
requests=$(cat "$state/step/count")
[ "$requests" -gt 20 ] || wrong "only $requests requests"
tail -n "+$((lines + 1))" "$(audit_log_of management)" | jq -r 'select(.verb == "delete" and .responseStatus.code == 200
  and .user.username == "administrator") | "\(.objectRef.resource)/\(.objectRef.name)"' >"$state/deleted"
ok awk '/webhookconfigurations\/herd-webhook/ { gone[$0] = 1 }
  /deployments\/herd-webhook/ { exit length(gone) == 2 ? 0 : 1 }' "$state/deleted"
grep -q deployments/herd-webhook "$state/deleted" || wrong "$(cat "$state/deleted")"
ok no_dead_end
ok kubectl get crd stacks.herd.suse.com
is "$(kubectl get mutatingwebhookconfiguration,validatingwebhookconfiguration -o name | grep herd || true)" ""

row "with certificates of its own (provider=own) and one namespace the chart is all there is: its two programs, each as its ServiceAccount, do the rest"
ok helm install herd "$chart" -n herd-system --wait --timeout 90s --set certificates.provider=own --set watchNamespace=default \
  --set rancher.url=https://127.0.0.1:1 --set rancher.token=token-a:b
says_not Warning
is "$(kubectl get certificates -A --no-headers 2>/dev/null | wc -l)" 0
rejected kubectl apply -f examples/test-stack.yaml
says "failed calling webhook"
# arguments_of DEPLOYMENT: into $arguments, but for those that name a pod's own files.
arguments_of() {
  kubectl -n herd-system get deployment "$1" -o json |
    jq -r '.spec.template.spec.containers[0].args[] | select(test("^--(in-cluster|rancher-token-file|neuvector-credentials-dir|suse-observability-credentials-dir)") | not)' >"$state/$1.arguments"
  mapfile -t arguments <"$state/$1.arguments"
}
(umask 077 && kubectl config view --raw -o json |
  jq --arg token "$(kubectl -n herd-system create token herd-controller)" '.users[0].user = {token: $token}' >"$state/herd-controller.kubeconfig")
kubectl -n herd-system get secret -o json | jq -r '[.items[] | select(.data.url)][0].data.token' | base64 -d >"$state/rancher-token"
arguments_of herd-controller
POD_NAMESPACE=herd-system POD_NAME=herd-controller-1 RANCHER_URL=https://127.0.0.1:1 start_serving controller "$bin/herd-controller" \
  --kubeconfig "$state/herd-controller.kubeconfig" --rancher-token-file "$state/rancher-token" --metrics-listen 127.0.0.1:0 "${arguments[@]}"
for what in "${configurations[@]}"; do
  eventually field_has "$what" '{.webhooks[0].clientConfig.caBundle}' LS0t
done
has_secret() { [ -n "$(field secret/herd-webhook-tls '{.data.tls\.crt}' -n herd-system)" ]; }
eventually has_secret
mkdir -p "$state/tls"
for key in tls.crt tls.key; do
  field secret/herd-webhook-tls "{.data.${key/./\\.}}" -n herd-system | base64 -d >"$state/tls/$key"
done
# Where the API server looks for it: the Service's address, which is of this machine's loopback.
arguments_of herd-webhook
start_serving webhook "$bin/herd-webhook" "${arguments[@]}" --metrics-listen 127.0.0.1:0 --tls-cert-file "$state/tls/tls.crt" \
  --tls-key-file "$state/tls/tls.key" --listen "$(field service/herd-webhook '{.spec.clusterIP}' -n herd-system):443"
eventually kubectl apply -f examples/test-stack.yaml
rejected kubectl apply -f examples/rejected/cycle.yaml
says "dependency cycle"
is "$(jq -r 'select(.user.username == "system:serviceaccount:herd-system:herd-controller" and .responseStatus.code == 403)
  | "\(.verb) \(.objectRef.resource)"' "$(audit_log_of management)" | sort -u | grep -vxf <(cd manifests/workloads && printf 'list %s\n' * | tr -d /))" ""
ok kubectl patch stack test-stack --type=merge -p '{"metadata":{"finalizers":null}}'
end webhook
end controller
ok helm uninstall herd -n herd-system --wait --timeout 90s
is "$(kubectl get mutatingwebhookconfiguration,validatingwebhookconfiguration -o name | grep herd || true)" ""
