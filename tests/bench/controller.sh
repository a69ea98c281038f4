#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# controller.sh BIN [STACKS CLUSTERS]: from nothing to all Deployed, against a lab with instant operations.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
stacks=${2:-${BENCH_STACKS:-1000}}
clusters=${3:-${BENCH_CLUSTERS:-20}}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
. lab/processes.sh
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
EOF
lab_flags=(--time-scale 0 --simulation "$state/scenario.yaml")
start_lab
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
# The webhook records the author of each Stack; the controller deploys nothing without one.
start_webhook
apply_webhook

# Each Stack goes to one cluster, so the releases are stacks x 3.
read -ra names <<<"$(k get clusters.management.cattle.io -l env=bench -o 'jsonpath={.items[*].metadata.name}')"
for ((i = 0; i < stacks; i++)); do
  cluster=${names[$((i % ${#names[@]}))]}
  cat <<EOF
---
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: bench-$i, namespace: default}
spec:
  env: bench
  targets: {clusterIds: [$cluster]}
  charts:
    - {name: gpu-operator, repo: "https://helm.ngc.nvidia.com/nvidia", version: "23.9.1", namespace: ns-$i, releaseName: gpu-$i}
    - {name: qdrant, repo: "https://qdrant.github.io/qdrant-helm", version: "0.7.4", namespace: ns-$i, releaseName: qdrant-$i, dependsOn: [gpu-operator]}
    - {name: ollama, repo: "https://otwld.github.io/ollama-helm/", version: "0.59.0", namespace: ns-$i, releaseName: ollama-$i, dependsOn: [gpu-operator, qdrant]}
EOF
done >"$state/stacks.yaml"
k create -f "$state/stacks.yaml" >/dev/null

metric() {
  curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | awk -v name="$1" '$1 ~ "^" name {sum += $NF} END {print sum + 0}'
}
deployed() {
  k get stacks --chunk-size=0 -o 'jsonpath={range .items[*]}{.status.phase}{"\n"}{end}' | grep -c Deployed || true
}
began=$(date +%s%N)
start_controller
while [ "$(deployed)" -lt "$stacks" ]; do
  (((($(date +%s%N) - began) / 1000000000) < ${BENCH_DEADLINE:-600})) || fail "after ${BENCH_DEADLINE:-600} s only $(deployed) of $stacks Stacks are Deployed"
  sleep 0.5
done
ended=$(date +%s%N)
pid=${pid_of[controller]}
ticks=$(awk '{print $14 + $15}' "/proc/$pid/stat")
releases=$((stacks * 3))
echo "$stacks Stacks, $releases releases, $clusters clusters: all Deployed after $(((ended - began) / 1000000)) ms"
echo "CPU of the controller: $((ticks * 1000 / $(getconf CLK_TCK))) ms; resident: $(awk '/VmRSS/ {print $2}' "/proc/$pid/status") KiB, peak $(awk '/VmHWM/ {print $2}' "/proc/$pid/status") KiB"
echo "requests per release: $(metric herd_controller_api_requests_total | awk -v n="$releases" '{printf "%.2f", $1 / n}') to the API server, $(metric herd_controller_rancher_requests_total | awk -v n="$releases" '{printf "%.2f", $1 / n}') to Rancher; of these:"
curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | grep -E '^herd_controller_(api|rancher)_requests_total' |
  awk -v n="$releases" '{sub(/_requests_total/, "", $1); printf "  %6.3f  %s\n", $NF / n, $1}' | sort -rn | head -n 12
