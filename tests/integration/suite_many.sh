#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_many.sh: Stacks so large that they are planned on a thread of their own, beside small ones that want the same.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
printf 'clusters:\n- {id: c-many, count: 60, provider: k3s, labels: {env: many}, nodes: 1}\n' >"$state/clusters.yaml"
lab_flags=(--time-scale 0.05 --simulation "$state/clusters.yaml")
controller_flags+=(--cluster-operations 1)
start_product

# stack NAME TARGETS CHART...: each chart is a release of its own namespace.
stack() {
  local name=$1 targets=$2 chart
  shift 2
  cat <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: $name, namespace: default}
spec:
  targets: $targets
  charts:
YAML
  for chart in "$@"; do
    echo "  - {name: $chart, chart: web, repo: 'https://charts.lab.example.org', version: 1.2.2, namespace: $name-$chart}"
  done
}
clusters=$(lab_k get clusters.management.cattle.io -l env=many -o name | sed 's,.*/,,' | sort)
is "$(wc -l <<<"$clusters")" 60
all='{selector: {matchLabels: {env: many}}}'
some="{clusterIds: [$(head -3 <<<"$clusters" | paste -sd,)]}"

# "CLUSTER BEGIN END" of each Helm operation, in seconds.
operations() {
  local cluster
  for cluster in $(head -3 <<<"$clusters") $(tail -2 <<<"$clusters"); do
    down "$cluster" get operations.catalog.cattle.io -A -o json | jq -r --arg cluster "$cluster" '.items[]
      | [$cluster, (.metadata.creationTimestamp | fromdate), ([.status.conditions[]?.lastUpdateTime | fromdate] | max // 0)] | @tsv'
  done
}

row "two large Stacks and a small one on the same clusters are all deployed"
{
  stack large "$all" web db
  echo ---
  stack other "$all" web db
  echo ---
  stack small "$some" web
} >"$state/stacks.yaml"
ok k apply -f "$state/stacks.yaml"
ok k wait --for=condition=Ready stack/small stack/large stack/other --timeout="$((4 * deadline_s))s"
for name in large other; do is "$(k get stack "$name" -o 'jsonpath={.status.ready}')" 120/120; done
is "$(k get stack small -o 'jsonpath={.status.ready}')" 3/3

row "and no cluster ever had two operations at a time, though each Stack was planned without the others"
operations >"$state/operations"
is "$(wc -l <"$state/operations" | awk '{print ($1 >= 23)}')" 1
# Times are whole seconds: what ends in the second in which the next begins does not overlap.
ok awk 'NF != 3 || $3 < $2 {print "odd:", $0; exit 1}' "$state/operations"
sort -k1,1 -k2,2n "$state/operations" | awk '
  $1 == cluster && $2 < end {print "two at a time on", $0, "(the one before ended at", end ")"; found = 1}
  {if ($1 != cluster || $3 > end) end = $3; cluster = $1}
  END {exit found}' || wrong "operations overlap"

row "a large Stack that changes meanwhile ends as it was applied last"
for version in 1.2.3 1.2.2 1.2.3; do
  ok k patch stack large --type=merge -p "{\"metadata\":{\"labels\":{\"try\":\"v$version\"}},\"spec\":{\"charts\":[$(for chart in web db; do
    printf '{"name":"%s","chart":"web","repo":"https://charts.lab.example.org","version":"%s","namespace":"large-%s"},' "$chart" "$version" "$chart"
  done | sed 's/,$//')]}}"
done
ends_so() { [ "$(k get stack large -o json | jq -r '[.status.observedGeneration == .metadata.generation, .status.phase, ([.status.deployments[].version] | unique | join(","))] | join(" ")')" = "true Deployed 1.2.3" ]; }
deadline_s=$((3 * deadline_s)) eventually ends_so

row "removed while they are planned, both go, and leave nothing"
ok k delete stack large other small --wait --timeout="$((4 * deadline_s))s"
for cluster in $(head -2 <<<"$clusters"); do
  is "$(down "$cluster" get apps.catalog.cattle.io -A -o name | wc -l)" 0
done
