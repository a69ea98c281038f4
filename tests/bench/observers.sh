#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# observers.sh BIN [CLUSTERS CHARTS SECONDS]: one Stack of CHARTS releases on each of CLUSTERS, all with a NeuVector and a
# Prometheus: what it costs to know how they fare, while nothing changes, and how long news take.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
clusters=${2:-${BENCH_CLUSTERS:-100}}
charts=${3:-${BENCH_CHARTS:-50}}
seconds=${4:-${BENCH_SECONDS:-60}}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
. lab/processes.sh
. tests/bench/measured.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

cat >"$state/scenario.yaml" <<EOF
clusters:
  - id: c-bench
    count: $clusters
    labels: {env: bench}
    nodes: 4
    monitoring: true
EOF
lab_flags=(--time-scale 0.01 --simulation "$state/scenario.yaml")
mkdir -p "$state/neuvector"
printf 'herd:lab-secret\n' >"$state/neuvector/api-key"
controller_flags+=(--neuvector-credentials-dir "$state/neuvector")
start_lab
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
# The webhook records the author of each Stack; the controller deploys nothing without one.
start_webhook
apply_webhook
read -ra names <<<"$(k get clusters.management.cattle.io -l env=bench -o 'jsonpath={.items[*].metadata.name}')"
bash lab/neuvector/install.sh "$state/lab/env" "${names[@]}"
{
  cat <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: bench, namespace: default}
spec:
  env: bench
  security: enabled
  observability: enabled
  targets: {selector: {matchLabels: {env: bench}}}
  charts:
EOF
  for ((i = 0; i < charts; i++)); do
    echo "    - {name: web-$i, chart: web, repo: 'https://charts.lab.example.org', version: 1.2.2, namespace: ns-$i}"
  done
} >"$state/stack.yaml"
k create -f "$state/stack.yaml" >/dev/null
measure_controller
until_is '{.status.phase}' Deployed
echo "$((clusters * charts)) releases on $clusters clusters: all Deployed after $(passed) ms"
until_is '{.status.security.scanStatus}' Completed
echo "every image scanned after $(passed) ms"
until_is '{.status.observability.metricsCollected}' true
echo "every release's metrics seen after $(passed) ms"
print_idle "$seconds" "$clusters"
print_loop
print_lease
print_memory
began=$(date +%s%N)
lab_k create configmap herd-lab-vulnerabilities \
  --from-literal=a="image=docker.io/library/nginx:1.27 name=CVE-2099-0009 severity=Critical score=9.8 package=openssl version=1 fixed=2" >/dev/null
until_is '{.status.security.scanStatus}' Failed
echo "a new vulnerability is in the status after $(passed) ms"
