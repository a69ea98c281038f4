#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_neuvector_rules.sh: admission and response rules of NeuVector come with a Stack, stay as it wants them, and go with it;
# those of others stay.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
secret=$state/neuvector
mkdir -p "$secret"
printf 'herd:lab-secret\n' >"$secret/api-key"
controller_flags+=(--neuvector-credentials-dir "$secret" --neuvector-interval 1s)
start_product

here=c-m-dev-cluster
there=c-m-gpu01
# stack NAME NAMESPACE CLUSTERS PROFILE: one release `web` in that namespace.
stack() {
  k apply -f - <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: $1}
spec:
  env: dev
  security: enabled
  targets: {clusterIds: [$3]}
  charts: [{name: web, namespace: $2, repo: 'https://charts.lab.example.org', version: 1.3.0}]
  securityProfile: {$4}
EOF
}
condition() { field "stack/$1" '{range .status.conditions[?(@.type=="SecurityScanned")]}{.status}/{.reason}{end}'; }
message() { field "stack/$1" '{.status.conditions[?(@.type=="SecurityScanned")].message}'; }
condition_is() { [ "$(condition "$1")" = "$2" ] || { echo "it is $(condition "$1"): $(message "$1")"; return 1; }; }
uid() { field "stack/$1" '{.metadata.uid}'; }
store() { down "$1" -n cattle-neuvector-system get configmap "neuvector-${2:-admission}" -o json; }
# rules CLUSTER COMMENT: mode, namespaces and counts of the rules with that comment, one a line.
rules() {
  store "$1" | jq -r --arg comment "$2" '.data // {} | to_entries[] | select(.key != "enabled") | .value | fromjson
    | select(.comment == $comment) | "\(.rule_type) \(.rule_mode) \(.criteria | map(.name + .op + .value) | join(" "))"' | sort
}
rules_are() { [ "$(rules "$1" "$2")" = "$3" ] || { echo "they are $(rules "$1" "$2")"; return 1; }; }
# admission CLUSTER JSON: what somebody does in NeuVector itself.
admission() { down "$1" -n cattle-neuvector-system patch configmap neuvector-admission --type=merge -p "{\"data\":$2}"; }
# responses CLUSTER COMMENT: event, condition and what is done, of the response rules with that comment, one a line.
responses() {
  store "$1" response | jq -r --arg comment "$2" '.data // {} | to_entries[] | select(.key != "webhooks") | .value | fromjson
    | select(.comment == $comment) | "\(.group) \(.event) \(.conditions | map(.type + "=" + .value) | join(" ")) \(.actions + .webhooks | join(" "))\(if .disable then " disabled" else "" end)"' | sort
}
responses_are() { [ "$(responses "$1" "$2")" = "$3" ] || { echo "they are $(responses "$1" "$2")"; return 1; }; }
response() { down "$1" -n cattle-neuvector-system patch configmap neuvector-response --type=merge -p "{\"data\":$2}"; }
fault() { lab_k create configmap herd-lab-faults --from-literal=a="$1"; }
no_fault() { lab_k delete configmap herd-lab-faults; }
for cluster in $here $there; do
  ok bash lab/neuvector/install.sh "$state/lab/env" "$cluster"
  ok down "$cluster" -n cattle-neuvector-system create configmap neuvector-admission
  ok down "$cluster" -n cattle-neuvector-system create configmap neuvector-response --from-literal=webhooks=soc
done
others='deny protect cveCriticalCount>=5'
ok admission "$here" '{"1000":"{\"id\":1000,\"comment\":\"of the security team\",\"cfg_type\":\"user_created\",\"rule_type\":\"deny\",\"rule_mode\":\"protect\",\"criteria\":[{\"name\":\"cveCriticalCount\",\"op\":\">=\",\"value\":\"5\"}]}"}'

row "without the field no rule is made"
ok stack guarded guarded "$here" ""
eventually condition_is guarded True/NeuVectorScanCompleted
mark="herd:$(uid guarded)"
ok rules_are "$here" "$mark" ""

row "a rule denies one critical vulnerability more than is allowed; that admission control is switched off is said, and not changed"
ok stack guarded guarded "$here" "admission: Monitor"
eventually rules_are "$here" "$mark" "deny monitor namespacecontainsAnyguarded cveCriticalCount>=1"
eventually condition_is guarded True/NeuVectorAdmissionDisabled
message guarded | grep -q "switched off in NeuVector on cluster $here, and Herd does not switch it on" || wrong "does not say so" "$(message guarded)"
is "$(store "$here" | jq -r '.data.enabled // "unset"')" unset
ok admission "$here" '{"enabled":"true"}'
eventually condition_is guarded True/NeuVectorScanCompleted

row "mode and thresholds follow the Stack, a rule for each threshold"
ok stack guarded guarded "$here" "admission: Protect, thresholds: {critical: 2, high: 10}"
eventually rules_are "$here" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=3
deny protect namespacecontainsAnyguarded cveHighCountNoCritical>=11"
ok stack guarded guarded "$here" "admission: Protect, thresholds: {critical: 2}"
eventually rules_are "$here" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=3"

row "what somebody changes, disables or deletes is as the Stack wants it again"
id() {
  store "$here" | jq -r --arg comment "$mark" '.data | to_entries[] | select(.key != "enabled")
    | select((.value | fromjson).comment == $comment) | .key'
}
changed=$(store "$here" | jq -c --arg id "$(id)" '.data[$id] | fromjson | .disable = true | .rule_mode = "monitor" | tojson')
ok admission "$here" "{\"$(id)\":$changed}"
is_enabled() { [ "$(store "$here" | jq -r --arg id "$(id)" '.data[$id] | fromjson | .disable')" = false ]; }
eventually is_enabled
ok rules_are "$here" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=3"
ok admission "$here" "{\"$(id)\":null}"
eventually rules_are "$here" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=3"

row "two Stacks have rules of their own, and a role that may not write them is named"
ok fault "fault=neuvector-read-only"
ok stack second other "$here" "admission: Monitor"
eventually condition_is second True/NeuVectorPermissionDenied
ok no_fault
eventually rules_are "$here" "herd:$(uid second)" "deny monitor namespacecontainsAnyother cveCriticalCount>=1"
eventually condition_is second True/NeuVectorScanCompleted
ok rules_are "$here" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=3"

row "rules leave a cluster with the Stack, and come to the other one"
ok stack guarded guarded "$there" "admission: Protect"
eventually rules_are "$there" "$mark" "deny protect namespacecontainsAnyguarded cveCriticalCount>=1"
eventually rules_are "$here" "$mark" ""

row "set to Disabled while the controller is away, they are deleted when it is back"
end controller
ok stack guarded guarded "$there" "admission: Disabled"
start_controller
eventually rules_are "$there" "$mark" ""

row "a Stack that is deleted takes its rules along, also one that the controller has not seen before"
mark2="herd:$(uid second)"
ok fault "fault=neuvector-read-only"
ok k delete stack second --wait=false
eventually field_has stack/second '{.status.message}' "deleting the Stack's rules in NeuVector on cluster $here"
field stack/second '{.status.message}' | grep -q "admctrl (write)" || wrong "does not name the right" "$(field stack/second '{.status.message}')"
end controller
ok no_fault
start_controller
gone() { out=$(k get stack second 2>&1) && return 1; says NotFound; }
eventually gone
ok rules_are "$here" "$mark2" ""

row "a webhook is notified of events in the Stack's workloads, and of images beyond a threshold; nothing is cut off"
factory='{"1":"{\"id\":1,\"event\":\"security-event\",\"comment\":\"\",\"group\":\"\",\"conditions\":[],\"actions\":[\"webhook\"],\"webhooks\":[],\"disable\":true,\"cfg_type\":\"user_created\"}"}'
ok response "$here" "$factory"
ok stack alarmed alarmed "$here" "response: {webhooks: [soc]}, thresholds: {critical: 2, high: 10}"
eventually condition_is alarmed True/NeuVectorScanCompleted
mark="herd:$(uid alarmed)"
eventually responses_are "$here" "$mark" "nv.web.alarmed cve-report cve-critical=3 webhook soc
nv.web.alarmed cve-report cve-high-only=11 webhook soc
nv.web.alarmed security-event level=Critical webhook soc
nv.web.alarmed security-event level=Error webhook soc
nv.web.alarmed security-event level=Warning webhook soc"
is "$(rules "$here" "$mark")" ""

row "quarantine comes and goes with the field"
ok stack alarmed alarmed "$here" "response: {quarantine: enabled}, thresholds: {critical: 2}"
quarantines="nv.web.alarmed cve-report cve-critical=3 quarantine
nv.web.alarmed security-event level=Critical quarantine"
eventually responses_are "$here" "$mark" "$quarantines"
is "$(field stack/alarmed '{.spec.securityProfile.response}')" '{"quarantine":"enabled"}'

row "what somebody changes or deletes is as the Stack wants it again; what somebody disables stays, and is said"
response_id() { # TYPE OF CONDITION
  store "$here" response | jq -r --arg comment "$mark" --arg type "$1" '.data | to_entries[] | select(.key != "webhooks")
    | select((.value | fromjson).comment == $comment and (.value | fromjson).conditions[0].type == $type) | .key'
}
changed=$(store "$here" response | jq -c --arg id "$(response_id cve-critical)" '.data[$id] | fromjson | .conditions[0].value = "99" | tojson')
ok response "$here" "{\"$(response_id cve-critical)\":$changed}"
eventually responses_are "$here" "$mark" "$quarantines"
ok response "$here" "{\"$(response_id cve-critical)\":null}"
eventually responses_are "$here" "$mark" "$quarantines"
changed=$(store "$here" response | jq -c --arg id "$(response_id level)" '.data[$id] | fromjson | .disable = true | tojson')
ok response "$here" "{\"$(response_id level)\":$changed}"
eventually condition_is alarmed True/NeuVectorRuleDisabled
ok responses_are "$here" "$mark" "$quarantines disabled"

row "a webhook that NeuVector does not have is named, to its Stack alone"
ok stack alarmed alarmed "$here" "response: {webhooks: [nobody]}"
eventually condition_is alarmed True/NeuVectorRuleRejected
message alarmed | grep -q "Webhook nobody is not defined" || wrong "does not say which" "$(message alarmed)"
ok stack watched watched "$here" "response: {webhooks: [soc]}, thresholds: {critical: -1}"
eventually condition_is watched True/NeuVectorScanCompleted
watched="herd:$(uid watched)"
eventually responses_are "$here" "$watched" "nv.web.watched security-event level=Critical webhook soc
nv.web.watched security-event level=Error webhook soc
nv.web.watched security-event level=Warning webhook soc"

row "response rules go when the field does, also while the controller is away, and with their Stack"
end controller
ok stack watched watched "$here" ""
start_controller
eventually responses_are "$here" "$watched" ""
ok k delete stack alarmed watched --wait --timeout="${deadline_s}s"
ok responses_are "$here" "$mark" ""
is "$(store "$here" response | jq -c '.data | del(.webhooks)')" "$(jq -c . <<<"$factory")"

row "the rules of others are as they were, and so is the switch"
ok rules_are "$here" "of the security team" "$others"
is "$(store "$here" | jq -r '.data.enabled')" true
ok k delete stack guarded --wait --timeout="${deadline_s}s"
ok rules_are "$here" "of the security team" "$others"
