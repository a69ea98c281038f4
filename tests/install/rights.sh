#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rights.sh STATE BIN: each right that manifests/ grants is used, and each that is used is granted.
#
# Both programs run as processes, each with a token of its own ServiceAccount and the rights of the manifests, against a
# real API server and a simulated Rancher. What they asked for is read from the API server's audit log. Ends with 77
# where no control plane can be had (tests/cluster/build.sh says why).
set -euo pipefail
export HERD_API=real
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"
suite "${2:?BIN}" "${1:?STATE}"

start_as_themselves() {
  local state_of_all=$state
  mkdir -p "$state/neuvector"
  printf 'herd:lab-secret\n' >"$state/neuvector/api-key"
  controller_flags+=(--leader-elect-namespace herd-system --webhook-certificates own --webhook-ca-settle 1h
    --neuvector-credentials-dir "$state/neuvector" --neuvector-interval 1s)
  webhook_manifests+=(manifests/workloads/webhook/configuration.yaml)
  identity herd-controller
  identity herd-webhook
  # processes.sh names the administrator's kubeconfig; it is where they look that is ours to say.
  start_serving() {
    local name=$1 words=() word
    shift
    for word in "$@"; do
      [ "$word" != "$state_of_all/kubeconfig" ] || word=$state_of_all/herd-$name.kubeconfig
      words+=("$word")
    done
    start "$name" "${words[@]}"
    until_up "$name" grep -q serving "$state/$name.log"
  }
  start_webhook
  apply_webhook
  start_controller
}

# granted KIND/NAME...: "group resource verb name" of each right, where no name means all of them.
granted() {
  k get "$@" -o json | jq -r '(.items // [.])[] | .rules[] | (.apiGroups[] as $g | .resources[] as $r | .verbs[] as $v
    | (.resourceNames // ["-"])[] as $n | "\($g) \($r) \($v) \($n)")' | sed 's/^ /core /' | sort -u
}

# used ACCOUNT: the same of the audit log, with the code of the answer at the end. An apply that creates needs both rights.
used() {
  jq -r --arg user "system:serviceaccount:herd-system:$1" 'select(.user.username == $user and .objectRef != null)
    | ., (select(.verb == "patch" and .responseStatus.code == 201) | .verb = "create")
    | "\(.objectRef.apiGroup // "core") \(.objectRef.resource)\(if .objectRef.subresource then "/\(.objectRef.subresource)" else "" end) \(.verb) \(.objectRef.name // "-") \(.responseStatus.code)"' \
    "$(audit_log_of management)" | sort -u
}

# never_used GRANTED USED: the rights that no request of USED needed.
never_used() {
  awk 'NR == FNR { seen[$1, $2, $3] = 1; named[$1, $2, $3, $4] = 1; next }
    $4 == "-" ? !(($1, $2, $3) in seen) : !(($1, $2, $3, $4) in named)' "$2" "$1"
}

start_api
k apply -f manifests/crds/ -f tests/integration/policyreports.yaml >/dev/null
until_established crd/stacks.herd.suse.com
k apply -f manifests/namespace.yaml -f manifests/controller/rbac.yaml -f manifests/controller/lease.yaml -f manifests/controller/status.yaml \
  -f manifests/webhook/serviceaccount.yaml -f manifests/webhook/rbac.yaml \
  -f manifests/overlays/own-ca/rbac.yaml >/dev/null
start_as_themselves

row "with no more than their own rights, a Stack with a ConfigMap becomes Deployed"
ok k apply -f examples/rag-inference-stack.yaml
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

row "the same thing happens twice, which is an Event that is told again"
for _ in 1 2; do
  ok k label clusters.management.cattle.io c-m-gpu02 workload-
  eventually field_is stack/rag-inference '{.status.clusters}' 1
  ok k label clusters.management.cattle.io c-m-gpu02 workload=ai-ml
  eventually field_is stack/rag-inference '{.status.clusters}' 2
  ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"
done

row "a Secret is read only in a namespace that opted in; elsewhere the Stack says what is missing"
ok k create secret generic keys --from-literal=values.yaml='a: 1'
ok k patch stack rag-inference --type=json -p \
  '[{"op":"add","path":"/spec/charts/1/values/secretRefs","value":[{"name":"keys"}]}]'
eventually field_has stack/rag-inference '{.status.message}' keys
echo "  $(field stack/rag-inference '{.status.message}')"
ok k create rolebinding herd-secrets --clusterrole herd-controller-secrets --serviceaccount herd-system:herd-controller
eventually field_is stack/rag-inference '{.status.phase}' Deployed
ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"

row "what a policy finds becomes a report, changes it and takes it away"
fails() { [ "$(field policyreport/stack-rag-inference '{.summary.fail}')" = "$1" ]; }
policy() {
  printf 'apiVersion: herd.suse.com/v1\nkind: StackPolicy\nmetadata: {name: audited}\nspec: {action: Audit, rules: [%s]}\n' \
    "{name: env, field: spec.env, allow: [$1]}" | k apply -f -
}
ok policy prod
eventually fails 0
ok policy dev
eventually fails 1
ok k delete stackpolicy audited
no_report() { ! k get policyreport stack-rag-inference; }
eventually no_report

row "a Stack with security enabled has a report, which goes when nobody wants to know"
scanned() {
  k apply -f - <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: scanned}
spec: {env: dev, security: $1, targets: {clusterIds: [c-m-dev-cluster]}, charts: [{name: web, repo: 'https://charts.lab.example.org', version: 1.3.0}]}
YAML
}
ok bash lab/neuvector/install.sh "$state/lab/env" c-m-dev-cluster
ok scanned enabled
eventually k get ssr scanned
ok scanned disabled
no_scan_report() { ! k get ssr scanned; }
eventually no_scan_report
ok k delete stack scanned --wait --timeout="${deadline_s}s"

row "as the webhook's CA it makes both Secrets and writes caBundle, and makes anew what is deleted"
k -n herd-system get secret herd-webhook-ca -o 'jsonpath={.data.tls\.crt}' | base64 -d >"$state/own-ca.crt"
believes_own() { k get "$1/herd-webhook" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d | grep -qF "$(sed -n 3p "$state/own-ca.crt")"; }
eventually believes_own mutatingwebhookconfiguration
eventually believes_own validatingwebhookconfiguration
believes_own_of_workloads() { k get "$1/herd-webhook-workloads" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d | grep -qF "$(sed -n 3p "$state/own-ca.crt")"; }
eventually believes_own_of_workloads mutatingwebhookconfiguration
eventually believes_own_of_workloads validatingwebhookconfiguration
# The next CA is written into the Secret that is there.
ok k -n herd-system patch secret herd-webhook-ca --type merge -p '{"data":{"tls.key":""}}'
has_previous() { [ -n "$(k -n herd-system get secret herd-webhook-ca -o 'jsonpath={.data.previous\.crt}')" ]; }
eventually has_previous
ok k -n herd-system patch secret herd-webhook-tls --type merge -p '{"data":{"tls.key":""}}'
has_key() { [ -n "$(k -n herd-system get secret herd-webhook-tls -o 'jsonpath={.data.tls\.key}')" ]; }
eventually has_key

row "the author of a Stack is recorded, and nobody but the controller writes its status"
ok field stack/rag-inference '{.metadata.annotations.herd\.suse\.com/last-applied-by}'
[ -n "$out" ] || wrong "nobody is recorded"
rejected k patch stack rag-inference --subresource=status --type=merge -p '{"status":{"phase":"Deployed"}}'
says "only Herd's controller writes the status of Stacks"

row "a kind of workload makes, changes and takes away its objects with the rights of its folder, and reads why a Job has no pod"
ok k apply -k manifests/workloads/applications
until_established crd/applications.cloudnative.elide.dev
runs_once() {
  k apply -f - <<YAML
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: once, namespace: default}
spec: {image: "$2", strategy: $1, config: $3}
YAML
}
made() { [ -n "$(k get "$1" -l cloudnative.elide.dev/application=once -o name)" ]; }
not_made() { ! made "$1"; }
ok runs_once RollingUpdate a '{a: b}'
eventually made deployments
eventually made configmaps
ok runs_once RunOnce a '{}'
eventually made jobs
eventually not_made deployments
eventually not_made configmaps
job=$(k get jobs -l cloudnative.elide.dev/application=once -o 'jsonpath={.items[0].metadata.name}')
k create -f - >/dev/null <<YAML
apiVersion: v1
kind: Event
metadata: {name: once.1, namespace: default}
involvedObject: {apiVersion: batch/v1, kind: Job, name: $job, namespace: default}
type: Warning
reason: FailedCreate
message: "Error creating: exceeded quota: none"
lastTimestamp: $(date -u +%Y-%m-%dT%H:%M:%SZ)
YAML
ok k patch job "$job" --subresource=status --type=merge -p "{\"status\":{\"startTime\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}}"
eventually field_has application.cloudnative.elide.dev/once '{.status.conditions[?(@.type=="Ready")].message}' "$job: Error creating: exceeded quota: none"
ok runs_once RunOnce b '{}'
no_job() { ! k get job "$job"; }
eventually no_job
ok k delete application.cloudnative.elide.dev once

row "a Lease that somebody deleted is made anew"
lease_is_held() { [ -n "$(k -n herd-system get lease herd-controller -o 'jsonpath={.spec.holderIdentity}')" ]; }
ok k -n herd-system delete lease herd-controller
eventually lease_is_held

row "a cluster that is gone is asked for by name before its releases are given up"
ok k delete clusters.management.cattle.io c-m-gpu02 --wait=false
eventually field_is stack/rag-inference '{.status.clusters}' 1

row "deletion ends, and the finalizer goes"
ok k delete stack rag-inference --wait --timeout="${deadline_s}s"

row "nothing is used that is not granted"
used herd-controller >"$state/used-controller"
used herd-webhook >"$state/used-webhook"
# Whether a kind of workload is installed, and may be read, is found out by asking.
workloads=$(cd manifests/workloads && printf '|%s' */)
rejections=$(awk -v workloads="${workloads//\//}|" '$5 == 403 && $2 != "secrets" && !($3 == "list" && index(workloads, "|" $2 "|"))' \
  "$state/used-controller" "$state/used-webhook")
is "$rejections" ""
grep -q '^core secrets list .* 403$' "$state/used-controller" || wrong "the Secret was never asked for in vain"

row "nothing is granted that is not used"
# What is asked of finalizers, the admission plugin asks.
granted clusterrole/herd-controller clusterrole/herd-controller-secrets clusterrole/herd-controller-certificates \
  clusterrole/herd-controller-applications | grep -v ' applications/finalizers ' >"$state/granted-controller"
granted role/herd-controller role/herd-controller-certificates -n herd-system >>"$state/granted-controller"
granted clusterrole/herd-webhook >"$state/granted-webhook"
for who in controller webhook; do
  awk '$5 != 403' "$state/used-$who" >"$state/used"
  is "$(never_used "$state/granted-$who" "$state/used")" ""
  echo "  herd-$who: $(wc -l <"$state/granted-$who") rights, each used"
done

row "a right that nobody uses is found"
echo "core secrets delete -" >>"$state/granted-controller"
is "$(never_used "$state/granted-controller" "$state/used-controller")" "core secrets delete -"
