#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_audit.sh: stored Stacks, validated by policies in the background: figures and PolicyReports.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
start_controller

# stack NAME SED...: the test Stack under another name, changed.
stack() {
  local name=$1
  shift
  sed -e "s/name: test-stack/name: $name/" "$@" examples/test-stack.yaml
}
# policy NAME ACTION MATCH RULES: a policy.
policy() {
  printf 'apiVersion: herd.suse.com/v1\nkind: StackPolicy\nmetadata: {name: %s}\nspec: {action: %s, match: %s, rules: [%s]}\n' "$@"
}
figure() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n "s/^herd_controller_policy_results{policy=\"$1\",result=\"$2\"} //p"; }
figure_is() { [ "$(figure "$1" "$2")" = "$3" ] || { echo "$1 $2 is '$(figure "$1" "$2")', not '$3'"; return 1; }; }
reports() { k get policyreports -A -o "jsonpath={range .items[*]}{.metadata.name} {end}"; }
# results NAME: policy/rule=result of the report of a Stack, in order.
results() { field "policyreport/stack-$1" '{range .results[*]}{.policy}/{.rule}={.result} {end}'; }
results_are() { [ "$(results "$1")" = "$2" ] || { echo "results of $1: $(results "$1")"; return 1; }; }

row "without a webhook and without PolicyReports, figures tell what stored Stacks break"
ok k apply -f <(stack one -e 's/version: .*/version: "^1.0.0"/')
ok k apply -f <(stack two)
policy pinned Audit '{}' '{name: exact, field: "spec.charts[*].version", pattern: "[0-9.]+"}, {name: env, field: spec.env, allow: [dev]}' |
  k apply -f - >/dev/null
eventually figure_is pinned fail 1
eventually figure_is pinned pass 3
is "$(figure pinned warn)" 0
rejected k get policyreports

row "the status of a policy says how many Stacks it applies to, how many violate it, and that it is valid"
counts() { field "stackpolicy/$1" '{.status.matchingStacks} {.status.violatingStacks} {.status.conditions[0].reason}'; }
counts_are() { [ "$(counts "$1")" = "$2" ] || { echo "$1: $(counts "$1")"; return 1; }; }
eventually counts_are pinned "2 1 Valid"
ok k wait --for=condition=Ready stackpolicy/pinned --timeout="${deadline_s}s"
ok k get stackpolicies
echo "$out" | sed 's/^/  /'
is "$(awk 'NR == 2 { print $1, $2, $3, $4, $5 }' <<<"$out")" "pinned True Audit 2 1"
ok k apply -f <(stack two -e 's/version: .*/version: "^2.0.0"/')
eventually counts_are pinned "2 2 Valid"
ok k apply -f <(stack two)
eventually counts_are pinned "2 1 Valid"
is "$(field stackpolicy/pinned '{.status.conditions[0].observedGeneration}')" "$(field stackpolicy/pinned '{.metadata.generation}')"

row "one that was stored invalid says what is wrong, and counts nothing"
policy wrong Deny '{}' '{name: a, field: "spec.charts[*].versoin", pattern: "1"}' | k apply -f - >/dev/null
eventually counts_are wrong "  Invalid"
is "$(field stackpolicy/wrong '{.status.conditions[0].status}')" False
says_wrong() { [[ "$(field stackpolicy/wrong '{.status.conditions[0].message}')" == *"spec.rules[0].field: "*"did you mean \"version\"?"* ]]; }
ok says_wrong
policy wrong Deny '{env: [none]}' '{name: a, field: "spec.charts[*].version", pattern: "1"}' | k apply -f - >/dev/null
eventually counts_are wrong "0 0 Valid"
ok k delete stackpolicy wrong

row "once the API server has PolicyReports, each Stack gets one, and is its owner"
ok k apply -f tests/integration/policyreports.yaml
eventually results_are one "pinned/exact=fail pinned/env=pass "
eventually results_are two "pinned/exact=pass pinned/env=pass "
is "$(reports)" "stack-one stack-two "
is "$(field policyreport/stack-one '{.metadata.ownerReferences[0].uid}')" "$(field stack/one '{.metadata.uid}')"
is "$(field policyreport/stack-one '{.scope.kind} {.scope.namespace}/{.scope.name}')" "Stack default/one"
is "$(field policyreport/stack-one '{.summary.pass} {.summary.fail} {.summary.warn}')" "1 1 0"
is "$(field policyreport/stack-one '{.results[0].severity} {.results[0].source}')" "low herd"
is "$(field policyreport/stack-one '{.results[0].message}')" \
  "spec.charts[0].version: Invalid value: \"^1.0.0\": must match [0-9.]+ (StackPolicy pinned); \`kubectl get stackpolicy pinned -o yaml\` shows the policy"
ok k get policyreports
echo "$out" | sed 's/^/  /'

row "nothing is written when nothing changed"
written() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n 's/^herd_controller_policy_report_writes_total{result="written"} //p'; }
versions() { k get policyreports -o 'jsonpath={.items[*].metadata.resourceVersion}'; }
before=$(versions) count=$(written)
ok k annotate stackpolicy pinned note=a
ok k label stack one team=a
ok k annotate stack two note=a
policy other Warn '{env: [none]}' '{name: a, field: spec.env, allow: [x]}' | k apply -f - >/dev/null
eventually figure_is other pass 0
# The Stacks that were woken by all that are through once a later one is.
ok k apply -f <(stack three)
eventually results_are three "pinned/exact=pass pinned/env=pass "
# A write is counted once its answer is there.
written_is() { [ "$(written)" = "$1" ] || { written; return 1; }; }
eventually written_is "$((count + 1))"
ok k delete stack three --wait=false

row "a result that stays keeps its time"
since=$(field policyreport/stack-one '{.results[?(@.rule=="exact")].timestamp.seconds}')
policy by-label Warn '{selector: {matchLabels: {team: a}}}' '{name: drift, field: spec.drift, allow: [Correct]}' | k apply -f - >/dev/null
eventually results_are one "by-label/drift=warn pinned/exact=fail pinned/env=pass "
is "$(field policyreport/stack-one '{.results[?(@.rule=="exact")].timestamp.seconds}')" "$since"
is "$(field policyreport/stack-one '{.summary.pass} {.summary.fail} {.summary.warn}')" "1 1 1"
is "$(results two)" "pinned/exact=pass pinned/env=pass "

row "what somebody writes into a report, or deletes, is put right"
ok k patch policyreport stack-one --type=merge -p '{"results":[],"summary":{"fail":0}}'
eventually results_are one "by-label/drift=warn pinned/exact=fail pinned/env=pass "
ok k delete policyreport stack-one
eventually results_are one "by-label/drift=warn pinned/exact=fail pinned/env=pass "

row "a Stack that is fixed, or loses its label, is told so"
ok k label stack one team-
ok k patch stack one --type=json -p '[{"op":"replace","path":"/spec/charts/0/version","value":"1.0.0"}]'
eventually results_are one "pinned/exact=pass pinned/env=pass "
eventually figure_is pinned fail 0
eventually figure_is by-label warn 0

row "a policy that goes takes its results and figures with it, and the last one the reports"
ok k delete stackpolicy by-label other
gone() { [ -z "$(figure by-label warn)" ]; }
eventually gone
is "$(results one)" "pinned/exact=pass pinned/env=pass "
ok k delete stackpolicy pinned
no_reports() { [ -z "$(reports)" ] || { reports; return 1; }; }
eventually no_reports

row "a policy for some clusters is about the Stacks that go there, from the moment that a cluster has the label"
policy by-site Audit '{clusterSelector: {matchLabels: {site: audited}}}' '{name: none, field: metadata.name, deny: ["one"]}' |
  k apply -f - >/dev/null
eventually figure_is by-site fail 0
ok k label clusters.management.cattle.io c-m-dev-cluster site=audited
eventually results_are one "by-site/none=fail "
ok k label clusters.management.cattle.io c-m-dev-cluster site-
eventually no_reports
ok k delete stackpolicy by-site

row "a Stack that goes takes its report with it"
policy pinned Deny '{}' '{name: exact, field: "spec.charts[*].version", pattern: "[0-9.]+"}' | k apply -f - >/dev/null
eventually results_are one "pinned/exact=pass "
ok k patch stack two --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'
ok k delete stack two --timeout="${deadline_s}s"
only_one() { [ "$(reports)" = "stack-one " ] || { reports; return 1; }; }
eventually only_one
eventually figure_is pinned pass 1

row "a controller that starts again writes nothing anew"
before=$(versions)
end controller
start_controller
eventually figure_is pinned pass 1
ok k apply -f <(stack four)
eventually results_are four "pinned/exact=pass "
is "$(field policyreport/stack-one '{.metadata.resourceVersion}')" "$before"

row "when the kind goes, figures stay, and when it comes back, so do the reports"
ok k delete -f tests/integration/policyreports.yaml
ok k apply -f <(stack four -e 's/version: .*/version: "^1.0.0"/')
eventually figure_is pinned fail 1
ok k apply -f tests/integration/policyreports.yaml
eventually results_are four "pinned/exact=fail "

row "with --policy-audit=false nobody looks"
end controller
ok k delete policyreports --all
controller_flags+=(--policy-audit=false)
start_controller
ok k apply -f <(stack five)
# Nobody is its author: that is said once the controller has looked.
ok k wait --for=condition=Accepted=False stack/five --timeout="${deadline_s}s"
is "$(reports)" ""
is "$(figure pinned pass)" ""
