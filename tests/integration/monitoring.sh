# SPDX-License-Identifier: Apache-2.0
# monitoring.sh: Stacks whose monitoring is looked at, for the suites of the observability back end; sourced after
# `start_product`.

# stack NAME TARGETS [CHART]: a web server, and another chart. It asks as often as it may.
stack() {
  cat >"$state/$1.yaml" <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: $1, namespace: default}
spec:
  observability: enabled
  observabilityProfile: {scrapeInterval: 1s}
  targets: $2
  charts:
  - {name: web, repo: https://charts.lab.example.org, version: 1.2.2, releaseName: $1-web, namespace: shop}
  ${3:-}
YAML
  user k apply -f "$state/$1.yaml"
}
seen() { field "stack/$1" "{.status.observability.$2}"; }
seen_is() { field_is "stack/$1" "{.status.observability.$2}" "$3"; }
of() { printf '{range .status.deployments[?(@.chartName=="%s")]}{.clusterId}={.%s} {end}' "$1" "$2"; }
each_is() { field_is "stack/$1" "$(of "$2" "$3")" "$4"; }
condition() { field "stack/$1" '{.status.conditions[?(@.type=="ObservabilityConfigured")].'"$2}"; }
condition_is() { [ "$(condition "$1" status)/$(condition "$1" reason)" = "$2" ] || { condition "$1" status; condition "$1" reason; condition "$1" message; return 1; }; }
rule() { down "$1" -n shop get prometheusrule "$2" -o "jsonpath=$3"; }
dashboard() { down "$1" -n cattle-dashboards get configmap "herd-dashboard-$2" -o "jsonpath=$3"; }
gone() { ! out=$(down "$@" 2>&1) && says NotFound; }
