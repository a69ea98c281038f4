#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_policy.sh: from kubectl apply of a StackPolicy to what the authors of Stacks are told.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
start_webhook
apply_webhook

# stack NAME SED...: the test Stack under another name, changed.
stack() {
  local name=$1
  shift
  sed -e "s/name: test-stack/name: $name/" "$@" examples/test-stack.yaml
}
# validated NAME SED...: what is said of it, without storing it.
validated() { stack "$@" | k create --dry-run=server -f - 2>&1; }
answers() { [[ $(validated asked "${@:2}") == *"$1"* ]]; }
answers_not() { ! answers "$@"; }
range=(-e 's/version: .*/version: "^1.0.0"/' -e 's/env: .*/env: prod/')

row "Stacks are there before there are policies"
stack older "${range[@]}" >"$state/older.yaml"
ok k apply -f "$state/older.yaml"
says_not "(StackPolicy"

row "the starter set applies as it is, twice"
ok k apply -f examples/policy/
ok k apply -f examples/policy/
says_not configured
ok k get stackpolicies
echo "$out" | sed -n '1,3s/^/  /p'
ok k delete -f examples/policy/

# policy NAME ACTION MATCH RULE: a policy of one rule.
policy() {
  printf 'apiVersion: herd.suse.com/v1\nkind: StackPolicy\nmetadata: {name: %s}\nspec: {action: %s, match: %s, rules: [%s]}\n' "$@"
}

row "a policy that could never work is rejected when it is applied: a pattern at its offset, a slip in a field"
policy bad Deny '{}' '{name: a, field: "spec.charts[*].versoin", pattern: "1.(2"}' >"$state/bad.yaml"
rejected k apply -f "$state/bad.yaml"
says "did you mean \"version\"?"
says "offset 4"
rejected k get stackpolicy bad
policy bad Deny '{}' '{name: a, field: "spec.charts[*].version", pattern: "1.2"}' >"$state/good.yaml"
ok k apply -f "$state/good.yaml"
rejected k apply -f "$state/bad.yaml"
ok k delete -f "$state/good.yaml"

row "from then on the next Stack is rejected, with the policy's words and its name"
ok k apply -f examples/policy/pinned-versions.yaml
eventually answers "(StackPolicy pinned-versions)" "${range[@]}"
rejected k create -f <(stack newer "${range[@]}")
says 'spec.charts[0].version: Invalid value: "^1.0.0" is a range; in prod, chart'
says "write the version that was tested, such as 1.4.2"
ok k create --dry-run=server -f <(stack newer)

row "a Stack that was there is let pass with a warning, as long as the fault stays as it was"
sed 's/^spec:/spec:\n  paused: true/' "$state/older.yaml" >"$state/paused.yaml"
ok k apply -f "$state/paused.yaml"
says "Warning"
says "(StackPolicy pinned-versions)"
rejected k apply -f <(sed 's/\^1\.0\.0/^2.0.0/' "$state/older.yaml")
says '"^2.0.0" is a range'

row "a label that brings a Stack under a policy is validated"
policy by-label Deny '{selector: {matchLabels: {tier: gold}}}' '{name: drift, field: spec.drift, allow: [Correct]}' >"$state/label.yaml"
ok k apply -f "$state/label.yaml"
ok k apply -f <(stack labelled)
eventually answers "(StackPolicy by-label)" -e 's/^metadata:/metadata:\n  labels: {tier: gold}/'
rejected k label stack labelled tier=gold
says "spec.drift: Unsupported value: \"Detect\": supported values: \"Correct\" (StackPolicy by-label)"
ok k label stack labelled tier=silver

row "an annotation that a policy asks for is validated as a label is, and a missing chart locks no Stack that runs"
policy by-note Deny '{namespaces: [default]}' '{name: note, field: "metadata.annotations[note]", presence: Required}' >"$state/note.yaml"
ok k annotate stack labelled note=a
ok k apply -f "$state/note.yaml"
eventually answers "(StackPolicy by-note)"
rejected k annotate stack labelled note-
says "metadata.annotations[note]: Required value: must be set (StackPolicy by-note)"
ok k annotate stack labelled note=b --overwrite
ok k delete -f "$state/note.yaml"
policy by-chart Deny '{namespaces: [default]}' '{name: chart, requiredChart: neuvector}' >"$state/chart.yaml"
ok k apply -f "$state/chart.yaml"
eventually answers "(StackPolicy by-chart)"
ok k patch stack labelled --type=json -p '[{"op": "replace", "path": "/spec/charts/0/version", "value": "0.60.0"}]'
says "Required value: a chart \"neuvector\" (StackPolicy by-chart)"
ok k delete -f "$state/chart.yaml"
eventually answers_not "(StackPolicy by-chart)"

row "Warn lets pass and says so, Audit says nothing"
for action in Warn Audit; do
  sed "s/action: Deny/action: $action/" "$state/label.yaml" | k apply -f - >/dev/null
  wanted=answers
  [ "$action" = Warn ] || wanted=answers_not
  eventually "$wanted" "Warning: spec.drift" -e 's/^metadata:/metadata:\n  labels: {tier: gold}/'
  ok k label stack labelled tier=gold --overwrite
  ok k label stack labelled tier=silver --overwrite
done

row "the webhook counts by policy, rule and result"
ok k create --dry-run=server -f <(stack exact -e 's/env: .*/env: prod/')
figures() { curl -sS "http://127.0.0.1:$webhook_metrics_port/metrics" | grep '^herd_webhook_policy_results_total'; }
ok figures
says 'herd_webhook_policy_results_total{policy="pinned-versions",result="deny"}'
says 'herd_webhook_policy_results_total{policy="pinned-versions",result="pass"}'
says 'herd_webhook_policy_results_total{policy="by-label",result="warn"}'
says 'herd_webhook_policy_results_total{policy="by-label",result="audit"}'

row "without a webhook policies are not written, and a webhook that comes back knows them before it answers"
end webhook
rejected k apply -f "$state/good.yaml"
says 'failed calling webhook "validate.stackpolicies.herd.suse.com"'
ok k annotate stackpolicy pinned-versions note=a
start_webhook
eventually answers "(StackPolicy pinned-versions)" "${range[@]}"

row "a policy that goes is in force no more"
ok k delete stackpolicies --all
eventually answers_not "(StackPolicy" "${range[@]}"
ok k create -f <(stack newer "${range[@]}")
