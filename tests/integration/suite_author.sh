#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_author.sh: who a Stack is from cannot be forged, and what came past admission is validated by the controller.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product

# stack NAME [NAMESPACE]
stack() { sed -e "s/name: test-stack/name: $1/" -e "s/namespace: default/namespace: ${2:-default}/" examples/test-stack.yaml; }
by() { field "stack/$1" '{.metadata.annotations.herd\.suse\.com/last-applied-by} {.metadata.annotations.herd\.suse\.com/last-applied-by-groups}'; }
accepted() { field "stack/$1" '{.status.conditions[?(@.type=="Accepted")].status} {.status.conditions[?(@.type=="Accepted")].reason}'; }
is_accepted() { [ "$(accepted "$1")" = "$2" ]; }
# Releases of a Stack that the controller asked for.
asked() { grep -c "action=upgrade stack=default/$1 " "$state/controller.log" || true; }
# as NAME GROUP COMMAND...
as() {
  local name=$1 group=$2
  shift 2
  k --as "$name" --as-group "$group" --as-group system:masters "$@"
}
without_webhook() {
  ok k delete mutatingwebhookconfiguration herd-webhook
  ok k delete validatingwebhookconfiguration herd-webhook
  guarded() { [[ $(stack gone | k apply --dry-run=server -f - 2>&1) == *"ValidatingAdmissionPolicy 'herd-author'"* ]]; }
  eventually guarded
}

row "whoever changes the spec becomes the author, with the groups; a label or a status changes nothing of it"
stack mine | as ann dev apply -f - >/dev/null
is "$(by mine)" "ann dev,system:masters,system:authenticated"
ok as bob qa label stack mine a=b
is "$(by mine)" "ann dev,system:masters,system:authenticated"
ok as bob qa patch stack mine --type=merge -p '{"spec":{"drift":"Correct"}}'
is "$(by mine)" "bob qa,system:masters,system:authenticated"
ok as ann dev annotate stack mine herd.suse.com/adopt=ollama/ollama
is "$(by mine)" "ann dev,system:masters,system:authenticated"
ok as bob qa annotate stack mine herd.suse.com/adopt-
is "$(by mine)" "ann dev,system:masters,system:authenticated"
ok as bob 'cn=qa,ou=people' patch stack mine --type=merge -p '{"spec":{"drift":"Detect"}}'
is "$(by mine)" "bob "
ok as ann dev patch stack mine --type=merge -p '{"spec":{"drift":"Correct"}}'
is "$(by mine)" "ann dev,system:masters,system:authenticated"

row "no namespace is exempt"
sed '/^  namespace:/d; s/^metadata:/&\n  namespace: herd-system/' examples/rejected/cycle.yaml >"$state/cycle.yaml"
rejected k apply -n herd-system -f "$state/cycle.yaml"
says "gpu-operator"

row "whoever may update it ends the pause of a Stack that is being deleted"
# beside NAME: the same with a release of its own.
beside() { stack "$1" | sed -e "s/- name: ollama/&\n      releaseName: $1/"; }
beside going | as ann dev apply -f - >/dev/null
going_is() { field_is stack/going '{.status.phase}' "$1"; }
eventually going_is Deployed
ok as ann dev patch stack going --type=merge -p '{"spec":{"paused":true}}'
ok k delete stack going --wait=false
ok as bob dev patch stack going --type=merge -p '{"spec":{"paused":false}}'
ok k wait --for=delete stack/going --timeout="${deadline_s}s"

row "a cluster that comes under a policy by its labels gets nothing that the policy denies"
cat >"$state/by-label.yaml" <<'YAML'
apiVersion: herd.suse.com/v1
kind: StackPolicy
metadata: {name: by-label}
spec: {action: Deny, match: {clusterSelector: {matchLabels: {site: guarded}}}, rules: [{name: named, field: metadata.name, deny: ["wide"]}]}
YAML
ok k apply -f "$state/by-label.yaml"
ok k label clusters.management.cattle.io c-m-dev-cluster site=open --overwrite
wide() {
  beside wide | sed -e '/clusterIds/,+1d' \
    -e 's|^  targets:|  targets: {selector: {matchExpressions: [{key: site, operator: In, values: [open, guarded]}]}}|' | k apply -f - >/dev/null 2>&1
}
eventually wide
wide_is() { is_accepted wide "$1"; }
eventually wide_is "True Valid"
ok k label clusters.management.cattle.io c-m-gpu01 a=b site=guarded --overwrite
eventually wide_is "False Invalid"
is "$(grep -c 'action=.*stack=default/wide .*cluster=c-m-gpu01' "$state/controller.log" || true)" 0
ok k label clusters.management.cattle.io c-m-gpu01 c-m-dev-cluster site- a-
ok k delete stack wide --wait=false
ok k delete -f "$state/by-label.yaml"

row "the status is the controller's"
end controller
ok k apply -f manifests/controller/status.yaml
forged() { ! k patch stack mine --subresource=status --type=merge -p '{"status":{"phase":"Deployed","heldClusters":["local"]}}' 2>"$state/rejection"; }
eventually forged
grep -q "only Herd's controller writes the status of Stacks" "$state/rejection" || wrong "is rejected for something else" "$(cat "$state/rejection")"
ok k delete -f manifests/controller/status.yaml
start_controller

row "while the webhook is not asked nobody forges an author"
without_webhook
rejected as bob dev patch stack mine --type=merge -p '{"spec":{"drift":"Ignore"}}'
says "must be bob, who changes the Stack"
forge='{"metadata":{"annotations":{"herd.suse.com/last-applied-by":"ann","herd.suse.com/last-applied-by-groups":"system:masters"}},"spec":{"drift":"Ignore"}}'
rejected as mallory dev patch stack mine --type=merge -p "$forge"
says "must be mallory, who changes the Stack"
rejected k --as ann --as-group dev --as-group system:masters patch stack mine --type=merge -p "$forge"
says "must be the groups of whoever changes the Stack"
rejected as bob dev annotate stack mine herd.suse.com/last-applied-by=bob --overwrite
says "changes only with the spec"
is "$(by mine)" "ann dev,system:masters,system:authenticated"
ok as ann dev label stack mine c=d

row "what is stored past admission is validated by the controller, by rules and policies"
mine_is_deployed() { is_accepted mine "True Valid" && field_is stack/mine '{.status.phase}' Deployed; }
eventually mine_is_deployed
me=$(k auth whoami -o 'jsonpath={.status.userInfo.username}')
stored() { stack "$1" | sed -e "s|^metadata:|&\n  annotations: {herd.suse.com/last-applied-by: \"$me\"}|" "${@:2}" | k create -f - >/dev/null; }
stored bad -e 's|https://|http://|'
eventually is_accepted bad "False Invalid"
[[ $(field stack/bad '{.status.message}') == *"spec.charts[0].repo"* ]] || wrong "does not say what is wrong" "$(field stack/bad '{.status.message}')"
is "$(asked bad)" 0
cat >"$state/policy.yaml" <<'YAML'
apiVersion: herd.suse.com/v1
kind: StackPolicy
metadata: {name: labelled}
spec: {action: Deny, rules: [{name: team, field: "metadata.labels[team]", presence: Required}]}
YAML
before=$(asked mine)
ok k apply -f "$state/policy.yaml"
eventually is_accepted mine "False Invalid"
[[ $(field stack/mine '{.status.message}') == *"metadata.labels[team]"* ]] || wrong "does not name what it lacks" "$(field stack/mine '{.status.message}')"
ok as ann dev label stack mine team=a
eventually mine_is_deployed
is "$(asked mine)" "$before"
ok k delete -f "$state/policy.yaml"

row "a Stack that nobody is recorded as the author of keeps what it has, and begins nothing"
ok k delete stack mine bad --wait --timeout="${deadline_s}s"
ok k delete validatingadmissionpolicybinding herd-author
stack lost >"$state/lost.yaml"
lost() { k create -f "$state/lost.yaml" 2>/dev/null; }
eventually lost
eventually is_accepted lost "False NotAdmitted"
is "$(asked lost)" 0
apply_webhook
ok k patch stack lost --type=merge -p '{"spec":{"drift":"Correct"}}'
lost_goes() { field_is stack/lost '{.status.phase}' Deployed; }
eventually lost_goes
is "$(asked lost)" 1
