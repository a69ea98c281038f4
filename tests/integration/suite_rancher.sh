#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_rancher.sh: a controller that cannot use Rancher says so at its start, in its log, by readiness, by an Event of its
# pod and by a figure, with what to do about it; a Stack that waits for it says why; and all of it ends by itself.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
ok k apply -f manifests/namespace.yaml
printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/rancher-token"

# controller NAME: as a pod of that name, with what rancher_flags say.
controller() {
  pod=$1
  : >"$state/controller.log"
  start_serving controller "$bin/herd-controller" --kubeconfig "$state/kubeconfig" --metrics-listen 127.0.0.1:0 \
    --leader-elect-namespace herd-system --leader-elect=false --leader-elect-identity "$pod" --pod-uid "uid-$pod" --log-format text \
    --rancher-settle 3s "${rancher_flags[@]}"
  controller_metrics_port=$(port_of controller metrics_port)
}
readyz() { curl -sS "http://127.0.0.1:$controller_metrics_port/readyz?verbose"; }
ready_says() { readyz | grep -F -e "$1"; }
is_well() { readyz | grep -xF "[+]rancher ok"; }
figure_is() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | grep -x "herd_controller_rancher_reached $1"; }
logs() { grep -F -e "$1" "$state/controller.log"; }
# events REASON: of the pod, as kubectl describe finds them.
events() { k -n herd-system get events --field-selector "involvedObject.uid=uid-$pod,reason=$1" -o 'jsonpath={.items[*].type} {.items[*].message}'; }
has_event() { events "$1" | grep -F -e "$2" | grep -F -e "$3"; }

# says_why REASON TEXT WAY-OUT
says_why() {
  eventually ready_says "[+]rancher ok; note: Rancher "
  says "$2"
  says "$3"
  eventually ready_says "readyz check passed"
  eventually logs "Rancher cannot be used; no Stack goes on until it can"
  says "reason=$1"
  says "$2"
  says "$3"
  eventually has_event "$1" Warning "$3"
  says "$2"
  echo "  ${out#Warning }"
  ok figure_is 0
}
server=(--rancher-url "$HERD_LAB_RANCHER_URL")
trust=(--rancher-ca-file "$HERD_LAB_RANCHER_CA")
token=(--rancher-token-file "$state/rancher-token")

row "Rancher is there: it says so once, and is ready"
rancher_flags=("${server[@]}" "${trust[@]}" "${token[@]}")
controller well
eventually is_well
eventually logs "Rancher answers and takes the token"
eventually has_event RancherReached Normal "$HERD_LAB_RANCHER_URL"
ok figure_is 1
# No webhook records here who applies a Stack.
authored() { sed 's/^metadata:/&\n  annotations: {herd.suse.com\/last-applied-by: somebody, herd.suse.com\/last-applied-by-groups: "system:masters"}/' "$@"; }
authored examples/test-stack.yaml | k apply -f - >/dev/null
ok k wait --for=condition=Ready stack/test-stack --timeout="${deadline_s}s"
end controller

row "nobody listens at its address"
rancher_flags=(--rancher-url https://127.0.0.1:1 "${trust[@]}" "${token[@]}")
controller nobody
says_why RancherUnreachable "cannot connect to https://127.0.0.1:1: connection refused" "check --rancher-url"
row "and a new Stack says which cluster is not read, and why"
sed 's/test-stack/waiting/g; s/name: ollama/&\n      releaseName: another/' examples/test-stack.yaml | authored | k apply -f - >/dev/null
eventually field_has stack/waiting '{.status.deployments[*].message}' "127.0.0.1:1"
echo "  $(field stack/waiting '{.status.conditions[?(@.type=="Ready")].message}')"
end controller

row "its name is unknown"
rancher_flags=(--rancher-url https://rancher.invalid "${trust[@]}" "${token[@]}")
controller unknown
says_why RancherUnreachable "rancher.invalid" "check --rancher-url"
end controller

row "its certificate is of a CA that is not trusted"
rancher_flags=("${server[@]}" "${token[@]}")
controller stranger
says_why RancherNotTrusted "cannot trust" "--rancher-ca-file"
end controller

row "what answers there is not Rancher"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=html'
rancher_flags=("${server[@]}" "${trust[@]}" "${token[@]}")
controller page
says_why RancherNotThere "not JSON" "check --rancher-url"
ok lab_k delete configmap herd-lab-faults
end controller

row "it rejects the token"
echo token-nobody:wrong >"$state/rancher-token"
controller rejected
says_why RancherTokenRejected "401" "put a valid Rancher API token"
says_not wrong
rejected grep -F nobody:wrong "$state/controller.log"

row "the right token is taken when it comes, without a restart: all that was said is taken back, and the Stack goes on"
printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/rancher-token"
eventually figure_is 1
eventually is_well
eventually logs "Rancher answers and takes the token"
eventually has_event RancherReached Normal "$HERD_LAB_RANCHER_URL"
ok k wait --for=condition=Ready stack/waiting --timeout="${deadline_s}s"

row "a token that expires later is told of in the Stack, in words, with what to do about it"
echo token-nobody:wrong >"$state/rancher-token"
sed 's/name: test-stack/name: later/; s/c-m-dev-cluster/c-m-gpu01/' examples/test-stack.yaml | authored | k apply -f - >/dev/null
says_so() { [[ $(field stack/later '{.status.message}') == *"$1"* ]]; }
eventually says_so "Rancher rejects the token: Unauthorized 401: must authenticate (HTTP 401)"
ok field stack/later '{.status.message}'
says "put a valid Rancher API token (Rancher: Account & API Keys) where --rancher-token-file looks"
says_not '{'
echo "  $out"

row "after three rejections it is asked no more: the Stack is stalled, the controller not ready, and both say what to renew"
stalled() { field_is stack/later '{.status.conditions[?(@.type=="Stalled")].status} {.status.conditions[?(@.type=="Stalled")].reason}' "True TokenRejected"; }
deadline_s=120 eventually stalled
ok field stack/later '{.status.message}'
says "rejects the token in $state/rancher-token"
says "herd-rancher"
echo "  $out"
not_ready() { readyz | grep -F -e "[-]rancher failed" | grep -F -e "rejects the token"; }
eventually not_ready
metric() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | grep -E "^$1" | awk '{ sum += $NF } END { print sum + 0 }'; }
is "$(metric herd_controller_rancher_token_rejections_total)" 4 # the first row's token, and this one's three
asked() { metric 'herd_controller_rancher_requests_total.*code="[1-9]'; }
before=$(asked)
sleep 5
is "$(asked)" "$before"

row "a new token ends it at once"
printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/rancher-token"
deadline_s=20 eventually is_well
ok k wait --for=condition=Ready stack/later --timeout="${deadline_s}s"
is "$(field stack/later '{.status.conditions[?(@.type=="Stalled")].status}')" False

row "a Rancher that fails later is told of when it is asked next, and again when it is back"
end controller
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=server-error'
controller failing
says_why RancherFailing "EOF" "Rancher's own log"
ok lab_k delete configmap herd-lab-faults
eventually figure_is 1

row "a Rancher that is away for 20 s during an install costs no attempt"
end controller
rancher_flags=("${server[@]}" "${trust[@]}" "${token[@]}")
controller away
eventually is_well
sed 's/name: test-stack/name: away/; s/name: ollama/&\n      releaseName: away/' examples/test-stack.yaml |
  kubectl patch --local -f - --type=merge -p '{"spec":{"onFailure":"Stop"}}' -o yaml | authored | k apply -f - >/dev/null
begun() { field stack/away '{.status.phase}' | grep -x Deploying; }
eventually begun
end lab KILL
sleep 20
start_lab
ok k wait --for=condition=Ready stack/away --timeout="${deadline_s}s"
counters | grep -q '"release":"away","install":0,"upgrade":1,' || wrong "not installed once" "$(counters)"
