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
sampler=
finish() {
  [ -z "$sampler" ] || kill "$sampler"
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
began=$(date +%s%N)
start_controller
# The Lease as it is renewed, until the lab ends: "MS HOLDER RENEWED".
while sleep 0.5; do
  echo "$(($(date +%s%N) / 1000000)) $(k get lease herd-controller -o 'jsonpath={.spec.holderIdentity} {.spec.renewTime}' 2>/dev/null)"
done >"$state/lease" &
sampler=$!

# As a Deployment would: one that lost the Lease ends, and begins anew.
ends=0
revive() {
  alive controller && return
  ends=$((ends + 1))
  echo "the controller ended after $(passed) ms: $(grep ERROR "$state/controller.log" | tail -1)"
  unset "pid_of[controller]"
  start_controller
}
# until_is JSONPATH TEXT: within BENCH_DEADLINE seconds.
until_is() {
  local deadline=$((SECONDS + ${BENCH_DEADLINE:-900}))
  until [ "$(k get stack bench -o "jsonpath=$1")" = "$2" ]; do
    revive
    ((SECONDS < deadline)) || fail "after $ends ends of the controller $1 is not $2: $(k get stack bench -o "jsonpath={.status.message} {.status.conditions}")"
    sleep 0.5
  done
}
passed() { echo $((($(date +%s%N) - began) / 1000000)); }
metric() {
  curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | awk -v name="$1" '$1 ~ "^" name {sum += $NF} END {print sum + 0}'
}
# spent: user and system time of the controller, in ms.
spent() { awk -v hz="$(getconf CLK_TCK)" '{print int(($14 + $15) * 1000 / hz)}' "/proc/${pid_of[controller]}/stat"; }
until_is '{.status.phase}' Deployed
echo "$((clusters * charts)) releases on $clusters clusters: all Deployed after $(passed) ms"
until_is '{.status.security.scanStatus}' Completed
echo "every image scanned after $(passed) ms"
until_is '{.status.observability.metricsCollected}' true
echo "every release's metrics seen after $(passed) ms"
cpu=$(spent) requests=$(metric herd_controller_rancher_requests_total) writes=$(metric herd_controller_status_writes_total)
sleep "$seconds"
awk -v n="$clusters" -v s="$seconds" -v r="$(($(metric herd_controller_rancher_requests_total) - requests))" -v c="$(($(spent) - cpu))" \
  -v w="$(($(metric herd_controller_status_writes_total) - writes))" 'BEGIN {
    printf "while nothing changes, in %d s: %.3f requests a second and cluster, %.1f ms of CPU a second, %d status writes\n", s, r / n / s, c / s, w }'
# A renewal that this does not see is between two others, so the pause is at most this long.
awk 'NF == 3 && $3 != renewed {
    if (renewals++ && $1 - at > longest) longest = $1 - at
    if (renewals > 1 && $2 != holder) holders++
    at = $1; holder = $2; renewed = $3
  } END {printf "the Lease was renewed %d times, the longest pause %.1f s, and changed hands %d times\n", renewals, longest / 1000, holders}' "$state/lease"
awk '/VmRSS|VmHWM/ {printf "%s %s KiB  ", $1, $2} END {print ""}' "/proc/${pid_of[controller]}/status"
began=$(date +%s%N)
lab_k create configmap herd-lab-vulnerabilities \
  --from-literal=a="image=docker.io/library/nginx:1.27 name=CVE-2099-0009 severity=Critical score=9.8 package=openssl version=1 fixed=2" >/dev/null
until_is '{.status.security.scanStatus}' Failed
echo "a new vulnerability is in the status after $(passed) ms"
