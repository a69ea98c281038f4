#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scale.sh BIN [CLUSTERS SECONDS]: one Stack of three charts on each of CLUSTERS, from nothing to Deployed, and what it
# costs while nothing changes. HTTP=2 puts a server that speaks HTTP/2 before Rancher, as Rancher's ingress does.
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
  tool nghttpx nghttp2-proxy || exit 0
  nghttpx --version >/dev/null 2>&1 || {
    echo "scale.sh: HTTP/2 is skipped: nghttpx does not run; install Debian's nghttp2-proxy"
    exit 0
  }
fi

# With the lab's own certificate, so that the controller is told of another port alone. As many streams on one connection as
# Go's server allows, which Rancher is.
serve_http2() {
  local port
  port=$(low_port)
  start http2 nghttpx --conf=/dev/null --no-via --workers=1 --frontend="127.0.0.1,$port" --backend="127.0.0.1,${HERD_LAB_RANCHER_URL##*:};;tls" --insecure \
    --frontend-http2-max-concurrent-streams=250 --frontend-read-timeout=0 --backend-read-timeout=0 \
    "$state/lab/tls.key" "$state/lab/tls.crt"
  HERD_LAB_RANCHER_URL=https://127.0.0.1:$port
  until_true 10 "that HTTP/2 is spoken" curl -sSk --http2 "$HERD_LAB_RANCHER_URL/v3"
}

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
start_webhook
apply_webhook
k create -f - >/dev/null <<'EOF'
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: bench, namespace: default}
spec:
  env: bench
  targets: {selector: {matchLabels: {env: bench}}}
  charts:
    - {name: gpu-operator, repo: "https://helm.ngc.nvidia.com/nvidia", version: "23.9.1"}
    - {name: qdrant, repo: "https://qdrant.github.io/qdrant-helm", version: "0.7.4", dependsOn: [gpu-operator]}
    - {name: ollama, repo: "https://otwld.github.io/ollama-helm/", version: "0.59.0", dependsOn: [gpu-operator, qdrant]}
EOF
[ "${HTTP:-1}" = 1 ] || serve_http2
echo "HTTP/${HTTP:-1}:"
measure_controller
until_is '{.status.phase}' Deployed
echo "$((clusters * 3)) releases on $clusters clusters: all Deployed after $(passed) ms, $(spent) ms of CPU, $(requests) requests"
print_memory
print_idle "$seconds" "$clusters"
print_memory
print_loop
print_lease
