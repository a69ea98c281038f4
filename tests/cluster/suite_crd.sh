#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_crd.sh: the life of the Stack's CRD: what a real API server makes of its schema, that the lab makes the same of it,
# and updates from the definition of an earlier release (crds/) with Stacks that are stored. docs/crd.md has the rules.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
start_lab
start_cluster management
crd=crd/stacks.herd.suse.com
now=manifests/crds/herd.suse.com_stacks.yaml

# on SIDE ARGUMENTS...: kubectl.
on() { if [ "$1" = lab ]; then lab_k "${@:2}"; else k "${@:2}"; fi; }
established() {
  eventually on "$1" wait --for=condition=Established "$crd" --timeout=30s
  eventually on "$1" get stacks
}
as_json() { k create --dry-run=client --validate=false -o json -f "$1"; }
# same FILE: what came from both sides.
same() { ok diff "$state/lab.$1" "$state/real.$1"; }
# spec_and_status SIDE: of all Stacks, and nothing that a server makes up, such as the default of a status.
spec_and_status() {
  on "$1" get stacks -A -o json |
    jq -S '.items[] | {name: .metadata.name, spec, status: (.status | select(. != {observedGeneration: -1}) // null)}'
}

# stored SIDE: the same without what only today's definition has a default for.
stored() { spec_and_status "$1" | jq -S 'del(.spec.rollout.maxRemovals, .spec.rollout.maxUnavailable, .spec.rollout.removalDelay)'; }

row "an update rejects nothing that an earlier release took, and means it as before"
as_json "$now" >"$state/now.json"
for earlier in tests/cluster/crds/*.yaml; do
  as_json "$earlier" >"$state/before.json"
  narrowed() { jq -nr --slurpfile b "$state/before.json" --slurpfile n "$1" '$b[0] as $before | $n[0] as $now | '"$(cat tests/cluster/narrowed.jq)"; }
  is "$(narrowed "$state/now.json")" ""
done

row "each way of narrowing it is found"
mutant() {
  jq "(.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties) |= ($1)" "$state/now.json" >"$state/mutant.json"
  is "$(narrowed "$state/mutant.json")" "$2"
}
mutant 'del(.paused)' ".spec.paused: is gone"
mutant '.env.maxLength = 20' ".spec.env: maxLength was 63, is 20"
mutant '.env.minLength = 2' ".spec.env: minLength was 1, is 2"
mutant '.env.type = "integer"' '.spec.env: type was "string", is "integer"'
mutant '.env.enum = ["prod"]' '.spec.env: takes only ["prod"]'
mutant '.security.enum = ["enabled"]' ".spec.security: does not take disabled any more"
mutant '.securityProfile.required = ["policyMode"]' ".spec.securityProfile: requires policyMode"
mutant '.charts.items.properties.wait.default = false' ".spec.charts[].wait: default was true, is false"
mutant 'del(.paused.default)' ".spec.paused: default was false, is null"

row "the real API server takes the schema as structural: it is established, with no word against it"
for side in lab real; do
  ok on "$side" apply -f "$now"
  says_not Warning
  established "$side"
done
is "$(field "$crd" '{range .status.conditions[*]}{.type}={.status} {end}')" "NamesAccepted=True Established=True "
is "$(field "$crd" '{.status.storedVersions}')" '["v1"]'
is "$(field "$crd" '{.spec.versions[*].name} {.spec.conversion.strategy}')" "v1 None"

row "kubectl explains it alike on both, all but the members of metadata, which are no part of it"
# A real one publishes its schemas some time after it serves them.
eventually k explain stacks
for what in "stacks" "stacks --recursive" stacks.spec.charts stacks.spec.charts.values stacks.spec.targets.selector \
  stacks.spec.overrides.charts stacks.status.conditions stacks.spec.rollout.waves stk.spec.env; do
  read -ra words <<<"$what"
  for side in lab real; do
    ok on "$side" explain "${words[@]}"
    sed '/^  metadata\t/,/^  spec\t/{/^  spec\t/!d}' <<<"$out" >"$state/$side.explain"
  done
  same explain
done
echo "  stacks --recursive: $(on real explain stacks --recursive | wc -l) lines"
rejected k explain stacks.spec.nothing
says 'field "nothing" does not exist'

row "defaults are filled in and unknown fields are dropped alike, at each depth, also in status"
cat >"$state/odd.yaml" <<'YAML'
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: odd, namespace: default, nothing: 1}
nothing: {a: 1}
spec:
  nothing: 1
  targets: {clusterIds: [c-1], nothing: [1]}
  securityProfile: {thresholds: {nothing: 1}}
  observabilityProfile: {tracing: {}}
  charts:
    - name: a
      repo: https://example.com/charts
      version: 1.0.0
      nothing: {a: [{b: 1}]}
      values: {nothing: 1, inline: {kept: {deep: [{a: null, b: 1.50}]}, "null": null}}
    - {name: b, repo: "https://example.com/charts", version: 1.0.0, wait: false, values: {inline: {}}}
YAML
for side in lab real; do
  ok on "$side" create --validate=false -f "$state/odd.yaml"
  on "$side" create --validate=false -f examples/accepted >/dev/null
  ok on "$side" patch stack odd --subresource=status --type=merge -p '{"spec": {"env": "prod"}, "status": {"phase": "Deployed",
    "nothing": 1, "deployments": [{"chartName": "a", "nothing": 1}], "conditions": [{"type": "Ready", "status": "True",
    "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z", "a": 1}]}}'
  spec_and_status "$side" >"$state/$side.stacks"
done
same stacks
is "$(field stack/odd '{.spec.nothing}{.spec.charts[0].nothing}{.status.nothing}{.spec.env}')" ""
is "$(field stack/odd '{.spec.securityProfile.policyMode} {.spec.charts[*].wait} {.spec.charts[0].values.inline.kept.deep[0].b}')" \
  "Discover false 1.5"
echo "  $(k get stacks -A -o name | wc -l) Stacks are the same on both"

row "where no webhook is asked, the plainly wrong is rejected by the definition alone, alike on both"
# plainly EDIT FIELD MESSAGE: a good Stack with EDIT is rejected at FIELD; a policy where EDIT says so.
k create --dry-run=client -o json -f examples/accepted/every-field.yaml >"$state/good.json"
plainly() {
  jq "$1" "$state/good.json" >"$state/wrong.json"
  for side in lab real; do
    rejected on "$side" create -f "$state/wrong.json"
    says "$2: Invalid value"
    says "$3"
  done
}
plainly '.spec.targets = {}' spec.targets "exactly one of selector and clusterIds"
plainly '.spec.targets = {clusterIds: ["c-1"], selector: {matchLabels: {a: "b"}}}' spec.targets "exactly one of selector and clusterIds"
plainly '.spec.targets = {clusterIds: []}' spec.targets.clusterIds "must not be empty"
plainly '.spec.targets = {selector: {}}' spec.targets.selector "it would select every cluster"
plainly '.spec.targets = {selector: {matchExpressions: [{key: "a", operator: "Is"}]}}' \
  "spec.targets.selector.matchExpressions[0].operator" "must be In, NotIn, Exists or DoesNotExist"
plainly '.spec.targets = {selector: {matchExpressions: [{key: "a", operator: "In"}]}}' \
  "spec.targets.selector.matchExpressions[0].values" "need values"
plainly '.spec.charts[0].dependsOn = [.spec.charts[0].name]' "spec.charts[0].dependsOn" "the chart depends on itself"
plainly '.spec.charts[0].name = "A"' "spec.charts[0].name" "DNS-1123 label"
plainly '.spec.charts[0].namespace = "a.b"' "spec.charts[0].namespace" "DNS-1123 label"
plainly '.spec.charts[0].repo = "ftp://x.io"' "spec.charts[0].repo" "https:// or oci://"
plainly '.spec.overrides[0] |= (.selector = {matchLabels: {a: "b"}} | .clusterIds = ["c-1"])' "spec.overrides[0]" "exactly one of"
for side in lab real; do
  ok on "$side" apply -f manifests/crds/herd.suse.com_stackpolicies.yaml
  established "$side"
done
plainly '{apiVersion, kind: "StackPolicy", metadata: {name: "p"}, spec: {rules: [{name: "r", message: "x"}]}}' \
  "spec.rules[0]" "exactly one of field, requiredChart and requiredDependency"

# From an earlier release: FROM and TO are how the old and the new definition are applied.
old_fields='{"status": {"phase": "Deployed", "clusters": 1, "charts": 1, "ready": "1/1", "observedGeneration": 1, "summary":
  {"Deployed": 1}, "targetClusters": ["c-1"], "conditions": [{"type": "Ready", "status": "True", "reason": "DeploymentSucceeded",
  "message": "1 release is deployed", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
  "deployments": [{"chartName": "a", "clusterId": "c-1", "status": "Deployed", "revision": 1, "digest": "d"}]}}'
examples=()
for file in examples/*-stack.yaml examples/accepted/*.yaml; do
  examples+=(-f "$file")
done
update() {
  local side=$1 earlier=$2 from=$3 to=$4 count
  ok on "$side" delete "$crd" --timeout=30s
  # shellcheck disable=SC2086
  ok on "$side" apply $from -f "$earlier"
  established "$side"
  # Fields that the earlier definition does not know are not stored.
  eventually on "$side" apply --validate=ignore "${examples[@]}"
  count=$(on "$side" get stacks -A -o name | wc -l)
  ok on "$side" create --validate=false -f "$state/odd.yaml"
  ok on "$side" patch stack odd --subresource=status --type=merge -p "$old_fields"
  ok on "$side" patch stack odd --type=merge -p '{"metadata": {"finalizers": ["herd.suse.com/teardown"]}}'
  stored "$side" >"$state/stored"
  # shellcheck disable=SC2086
  ok on "$side" apply $to -f "$now"
  says_not conflict
  says_not Warning
  # shellcheck disable=SC2086
  ok on "$side" diff $to -f "$now"
  eventually takes_new "$side"
  ok on "$side" patch stack odd --subresource=status --type=json -p '[{"op": "remove", "path": "/status/heldClusters"}]'
  stored "$side" >"$state/read"
  ok diff "$state/stored" "$state/read"
  is "$(on "$side" get stack odd -o 'jsonpath={.metadata.generation}')" 1
  ok on "$side" patch stack odd --type=merge -p '{"spec": {"paused": true}}'
  is "$(on "$side" get stack odd -o 'jsonpath={.metadata.generation} {.status.ready}')" "2 1/1"
  ok on "$side" apply "${examples[@]}"
  is "$(on "$side" get "$crd" -o 'jsonpath={.status.storedVersions}')" '["v1"]'
  ok on "$side" patch stack odd --type=merge -p '{"metadata": {"finalizers": null}}'
  echo "  $side, apply${from:+ $from}, then apply${to:+ $to}: $((count + 1)) Stacks read, written, their status kept"
}
# takes_new SIDE: the new definition is served: a field of status that the old one drops stays.
takes_new() {
  on "$1" patch stack odd --subresource=status --type=merge -p '{"status": {"heldClusters": ["c-9"]}}' >/dev/null &&
    [ "$(on "$1" get stack odd -o 'jsonpath={.status.heldClusters[0]}')" = c-9 ]
}

for earlier in tests/cluster/crds/*.yaml; do
  name=$(basename "$earlier" .yaml)
  row "from $name: Stacks that are stored are read, written and keep their status, however the definition is applied"
  update real "$earlier" "" ""
  update real "$earlier" --server-side --server-side
  update real "$earlier" "" --server-side
  update lab "$earlier" "" ""
  update lab "$earlier" --server-side --server-side
done
