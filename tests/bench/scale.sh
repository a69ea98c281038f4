#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scale.sh BIN [CLUSTERS SECONDS]: one Stack of three charts on each of CLUSTERS, from nothing to Deployed, and what it
# costs while nothing changes. HTTP=2 puts a server that speaks HTTP/2 before Rancher, as Rancher's ingress does; then it is
# killed and started again, which drops all connections at once as a restart of Rancher does. FLAPS=N: at last the agent of
# each cluster is away for 15 s and back for 15 s, N times, a tenth of the clusters every 3 s. AT_ONCE=N: the Stack's
# maxConcurrentClusters. CHARTS=N: the first N charts alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
clusters=${2:-${BENCH_CLUSTERS:-200}}
seconds=${3:-${BENCH_SECONDS:-30}}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
. lab/processes.sh
. tests/bench/measured.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

if [ "${HTTP:-1}" = 2 ]; then
  unpacked=$state/tools
  # shellcheck source=tests/support/tool.sh
  . tests/support/tool.sh
  tool nghttpx nghttp2-proxy libc-ares2 libev4 libjemalloc2 || exit 0
fi

# With the lab's own certificate, so that the controller is told of another port alone. As many streams on one connection as
# Go's server allows, which Rancher is.
serve_http2() {
  port=$(low_port)
  start_http2
  HERD_LAB_RANCHER_URL=https://127.0.0.1:$port
  until_true 10 "that HTTP/2 is spoken" curl -sSk --http2 "$HERD_LAB_RANCHER_URL/v3"
}

lab_rancher_port=
start_http2() {
  lab_rancher_port=${lab_rancher_port:-${HERD_LAB_RANCHER_URL##*:}}
  start http2 nghttpx --conf=/dev/null --single-process --no-via --workers=1 --frontend="127.0.0.1,$port" --backend="127.0.0.1,$lab_rancher_port;;tls" --insecure \
    --frontend-http2-max-concurrent-streams=250 --frontend-read-timeout=0 --backend-read-timeout=0 \
    "$state/lab/tls.key" "$state/lab/tls.crt"
}

# Away for 5 s. The controller says of each cluster that it cannot be read, and that it can again.
restart_rancher() {
  local requests writes began
  requests=$(requests) writes=$(metric herd_controller_status_writes_total)
  kill -KILL "${pid_of[http2]}"
  wait "${pid_of[http2]}" 2>/dev/null || true
  unset "pid_of[http2]"
  sleep 5
  start_http2
  began=$(date +%s%N)
  until_true 120 "that all clusters are read again" all_again
  echo "Rancher away for 5 s: all clusters are read again $((($(date +%s%N) - began) / 1000000)) ms after it was back, with $(($(requests) - requests)) requests and $(($(metric herd_controller_status_writes_total) - writes)) status writes"
}
said() { grep -c "$1" "$state/controller.log"; }
all_again() { (($(said 'cluster cannot be read') >= clusters && $(said 'clusters can be read again') >= clusters)); }

# The agents that are away in that turn of ten.
away() {
  echo "apiVersion: v1
kind: ConfigMap
metadata: {name: herd-lab-faults, namespace: default}
data:"
  for ((i = 0; i < ${#ids[@]}; i++)); do
    (((i + $1) % 10 >= 5)) || echo "  ${ids[i]}: fault=disconnected cluster=${ids[i]}"
  done
}

flap() {
  local turn cpu requests writes from=$SECONDS
  read -ra ids <<<"$(k get clusters.management.cattle.io -l env=bench -o 'jsonpath={.items[*].metadata.name}')"
  cpu=$(spent) requests=$(requests) writes=$(metric herd_controller_status_writes_total)
  for ((turn = 0; turn < $1 * 10; turn++)); do
    away "$turn" | lab_k apply -f - >/dev/null
    sleep 3
  done
  awk -v n="$clusters" -v s="$((SECONDS - from))" -v r="$(($(requests) - requests))" -v c="$(($(spent) - cpu))" \
    -v w="$(($(metric herd_controller_status_writes_total) - writes))" 'BEGIN {
      printf "agents that come and go, for %d s: %.3f requests a second and cluster, %.1f ms of CPU a second, %d status writes\n", s, r / n / s, c / s, w }'
  lab_k delete configmap herd-lab-faults >/dev/null
  until_is '{.status.phase}' Deployed
}

cat >"$state/scenario.yaml" <<EOF
clusters:
  - id: c-bench
    count: $clusters
    labels: {env: bench}
EOF
start_deadline=300 # the lab makes thousands of clusters first
# A stream of a cluster is a connection of the lab, with HTTP/2 too.
lab_flags=(--time-scale 0 --simulation "$state/scenario.yaml" --connections 65536)
start_lab
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
start_webhook
apply_webhook
charts=${CHARTS:-3}
every_chart='    - {name: gpu-operator, repo: "https://helm.ngc.nvidia.com/nvidia", version: "23.9.1"}
    - {name: qdrant, repo: "https://qdrant.github.io/qdrant-helm", version: "0.7.4", dependsOn: [gpu-operator]}
    - {name: ollama, repo: "https://otwld.github.io/ollama-helm/", version: "0.59.0", dependsOn: [gpu-operator, qdrant]}'
k create -f - >/dev/null <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: bench, namespace: default}
spec:
  env: bench
  targets: {selector: {matchLabels: {env: bench}}}
${AT_ONCE:+  rollout: {maxConcurrentClusters: $AT_ONCE\}}
  charts:
$(head -n "$charts" <<<"$every_chart")
EOF
[ "${HTTP:-1}" = 1 ] || serve_http2
echo "HTTP/${HTTP:-1}:"
measure_controller
until_is '{.status.phase}' Deployed
echo "$((clusters * charts)) releases on $clusters clusters: all Deployed after $(passed) ms, $(spent) ms of CPU, $(requests) requests"
print_memory
# At first what is not needed any more ends.
print_idle "$seconds" "$clusters"
print_idle "$seconds" "$clusters"
print_memory
[ "${HTTP:-1}" = 1 ] || restart_rancher
[ "${FLAPS:-0}" = 0 ] || flap "$FLAPS"
print_loop
print_lease
