#!/usr/bin/env bash
# suite_receipts.sh: what admission did not judge is not carried out, and nothing begins where its author may not deploy.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
receipts=
receipt=herd.suse.com/receipt
clusters=clusters.management.cattle.io

# stack NAME [VERSION [TARGETS]]: one chart.
stack() {
  printf '%s\n' 'apiVersion: herd.suse.com/v1' 'kind: Stack' "metadata: {name: $1, namespace: default}" 'spec:' '  env: dev' \
    "  targets: ${3:-{clusterIds: [c-m-gpu01]\}}" \
    "  charts: [{name: $1, chart: ollama, repo: 'https://otwld.github.io/ollama-helm/', version: ${2:-0.59.0}}]"
}
create() { stack "$@" | k create -f -; }
apply() { stack "$@" | k apply -f -; }
receipt_of() { field "stack/$1" '{.metadata.annotations.herd\.suse\.com/receipt}'; }
author_of() { field "stack/$1" '{.metadata.annotations.herd\.suse\.com/last-applied-by}'; }
# accepted NAME WORDS: status and reason of its condition Accepted.
accepted() { field_is "stack/$1" '{range .status.conditions[?(@.type=="Accepted")]}{.status}/{.reason}{end}' "$2"; }
is_deployed() { field_is "stack/$1" '{.status.phase}' Deployed; }
installed() { counters | grep -q "\"release\":\"$1\""; }
message_of() { field "stack/$1" '{.status.message}'; }

# A real API server stops asking a moment after the configurations went.
webhook_is_out() {
  ok k delete mutatingwebhookconfigurations,validatingwebhookconfigurations --all
  eventually k create --dry-run=server -f examples/rejected/cycle.yaml
}

start_api
ok k apply -f manifests/crds/
ok k apply -f manifests/controller/people.yaml
until_established crd/stacks.herd.suse.com
start_webhook
apply_webhook
start_controller

row "without a key there are no receipts, and nothing is held: not what was judged, nor what was not"
eventually create old
webhook_is_out
ok create older
eventually is_deployed old
eventually is_deployed older
is "$(receipt_of old)" ""
ok accepted older True/Valid
eventually grep -q 'because there is no key' "$state/controller.log"
apply_webhook

row "with a key, what is judged gets a receipt, which says who it was and not the key"
receipts=yes
end webhook
start_webhook
eventually create mine
eventually is_deployed mine
is "$(receipt_of mine | jq -r '.by, (.mac | length)' | xargs)" "$(author_of mine) 64"
key=$(base64 -w 0 <"$state/receipts/key")

row "what was accepted before there were receipts goes on, says so, and is judged when that is asked for"
end controller
start_controller
eventually grep -q 'Stacks without a receipt are held' "$state/controller.log"
eventually accepted old True/NotAdmitted
ok accepted mine True/Valid
is_deployed old
ok k label stack old some=label
is "$(receipt_of old)" ""
ok k annotate stack old "$receipt=wanted" --overwrite
is "$(receipt_of old | jq -r .by)" "$(author_of old)"
eventually accepted old True/Valid

row "a Stack that is stored while the webhook is not asked is held: nothing is done, and it says what to do"
webhook_is_out
ok create sneaked
eventually accepted sneaked False/NotAdmitted
is "$(field stack/sneaked '{.metadata.finalizers}')" ""
is "$(field stack/sneaked '{.status.phase}')" Failed
refused installed sneaked
ok installed mine
told() { k get events --field-selector reason=NotAdmitted,type=Warning,involvedObject.name=sneaked | grep -q 'no receipt of its judgement'; }
eventually told
case $(message_of sneaked) in
  *"kubectl annotate stack sneaked -n default $receipt=wanted --overwrite") ;;
  *) wrong "the message has no way out" "$(message_of sneaked)" ;;
esac

row "a change that is stored so is held, what runs stays as it is, and the Stack can be deleted"
ok apply mine 0.60.0
eventually accepted mine False/NotAdmitted
is "$(field stack/mine '{.status.deployments[0].status} {.status.deployments[0].version}')" "Deployed 0.59.0"
ok apply older 0.60.0
eventually accepted older False/NotAdmitted
ok k delete stack older --timeout=60s

row "what is stored while no controller runs either is held by the one that comes"
end controller
ok create night
start_controller
eventually accepted night False/NotAdmitted
refused installed night
is_deployed old
ok k delete stack night --timeout=60s

row "who follows the message while the webhook is still out is told another word"
ok k annotate stack sneaked "$receipt=wanted" --overwrite
eventually field_has stack/sneaked '{.status.message}' "$receipt=again --overwrite"
apply_webhook

row "who may not deploy there cannot have it judged; what else is changed needs no receipt"
ok k create rolebinding edit-ann --clusterrole=herd-edit --user=ann
judged_by_ann() { k annotate stack sneaked "$receipt=again" --overwrite --as ann; }
eventually k auth can-i patch stacks.herd.suse.com --as ann
refused judged_by_ann
says "there can be no receipt: spec.targets.clusterIds[0]: 'ann' may not deploy to cluster c-m-gpu01"
ok k label stack sneaked some=label --as ann
ok accepted sneaked False/NotAdmitted

row "once it was judged it goes on, in the name of who asked for it"
read -r -a words <<<"$(message_of sneaked | sed 's/.*: kubectl //')"
ok k "${words[@]}"
eventually is_deployed sneaked
ok accepted sneaked True/Valid
is "$(receipt_of sneaked | jq -r .by)" "$(author_of sneaked)"
ok k annotate stack mine "$receipt=wanted" --overwrite
eventually field_is stack/mine '{.status.deployments[0].version}' 0.60.0
eventually is_deployed mine

row "a Stack that gets its name from the API server has its receipt all the same"
create_named() { stack made | sed 's/^metadata: {name: made,/metadata: {generateName: made-,/' | k create -o name -f -; }
ok create_named
named=${out##*/}
eventually is_deployed "$named"
ok accepted "$named" True/Valid
is "$(receipt_of "$named" | jq -r .by)" "$(author_of "$named")"

row "hand-made reviews with a forged user store nothing, and what they answer is worth nothing to others"
review() {
  stack forged | k create --dry-run=client --validate=false -o json -f - |
    jq '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "x", operation: "CREATE", namespace: "default",
      name: "forged", kind: {group: "herd.suse.com", version: "v1", kind: "Stack"}, resource: {group: "herd.suse.com", version: "v1",
      resource: "stacks"}, userInfo: {username: "canary", groups: ["system:masters"]}, object: .}}' |
    curl -sS --cacert "$state/certs/ca.crt" --connect-to "herd-webhook.herd-system.svc:443:$service_ip:$webhook_port" \
      -H 'Content-Type: application/json' --data-binary @- "https://herd-webhook.herd-system.svc/$1"
}
ok review mutate
patch=$(jq -r .response.patch <<<"$out" | base64 -d)
forged=$(jq -r --arg name "$receipt" '.[] | select(.path == "/metadata/annotations") | .value[$name]' <<<"$patch")
is "$(jq -r .by <<<"$forged")" canary
refused k get stack forged
ok k create clusterrole deploy-gpu01 --verb=deploy --resource=clusters.management.cattle.io --resource-name=c-m-gpu01
ok k create clusterrolebinding deploy-gpu01-ann --clusterrole=deploy-gpu01 --user=ann
forge() {
  stack forged | k create --dry-run=client --validate=false -o json -f - |
    jq --arg name "$receipt" --arg receipt "$forged" \
      '.metadata.annotations = {($name): $receipt, "herd.suse.com/last-applied-by": "canary"}' | k create --as ann -f -
}
eventually forge
is "$(author_of forged) $(receipt_of forged | jq -r .by)" "ann ann"
ok k annotate stack forged "$receipt=$forged" --overwrite --as ann
is "$(receipt_of forged | jq -r .by)" ann
ok k delete mutatingwebhookconfiguration herd-webhook
not_mutated() { ! k annotate stack forged "$receipt=$forged" --overwrite --as ann; }
eventually not_mutated
says "$receipt"
ok k delete stack forged --timeout=60s
refused forge
says "herd.suse.com/last-applied-by"
apply_webhook
ok k get stacks -A -o yaml
says_not canary
refused grep canary "$state/controller.log"

row "when a selector comes to mean another cluster, its author's rights are asked for again"
own='{selector: {matchLabels: {receipts: ann}}}'
ok k label "$clusters" c-m-gpu01 receipts=ann
wide_by_ann() { stack wide 0.59.0 "$own" | k apply --as ann -f -; }
is_wide() { wide_by_ann && field_is stack/wide '{.status.clusters}' 1; }
eventually is_wide
eventually is_deployed wide
state_on() { field stack/wide "{range .status.deployments[?(@.clusterId==\"$1\")]}{.status}/{.reason}{end}"; }
ok k label "$clusters" c-m-gpu02 receipts=ann
is_shut() { [ "$(state_on c-m-gpu02)" = Waiting/AccessDenied ]; }
eventually is_shut
is "$(state_on c-m-gpu01)" Deployed/Deployed
says_why() { field_has stack/wide '{.status.deployments[*].message}' "ann, who applied this Stack, may not deploy to c-m-gpu02"; }
eventually says_why

row "and once the right is given, it goes on there"
ok k create clusterrole deploy-gpu02 --verb=deploy --resource=clusters.management.cattle.io --resource-name=c-m-gpu02
ok k create clusterrolebinding deploy-gpu02-ann --clusterrole=deploy-gpu02 --user=ann
eventually is_deployed wide
is "$(state_on c-m-gpu02)" Deployed/Deployed

row "where something of the Stack is already, it goes on without the right; with who.access turned down, elsewhere too"
ok k delete clusterrolebinding deploy-gpu02-ann deploy-gpu01-ann
ok k label "$clusters" c-m-dev-cluster receipts=ann
dev_is_shut() { [ "$(state_on c-m-dev-cluster)" = Waiting/AccessDenied ]; }
eventually dev_is_shut
is "$(state_on c-m-gpu01) $(state_on c-m-gpu02)" "Deployed/Deployed Deployed/Deployed"
end controller
controller_flags+=(--rule-severity who.access=warn)
start_controller
eventually field_is stack/wide '{.status.clusters}' 3
eventually is_deployed wide

row "the key stands in no log"
refused grep -rlF "$key" "$state" --include='*.log' --include='*.out'
refused grep -rlF "$(xxd -p -c 64 <"$state/receipts/key")" "$state" --include='*.log' --include='*.out'
