#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# watchers.sh BIN [CLIENTS ROUNDS]: clients of the console's /watch: what one takes, and how long a change is on its way to the
# last one.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
clients=${2:-1000}
rounds=${3:-50}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
. lab/processes.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

controller_flags+=(--kinds "stack,application" --console-listen 0 --console-anonymous loopback)
start_lab
k apply -f manifests/crds/ >/dev/null
for file in manifests/workloads/*/crd.yaml; do k apply -f "$file"; done >/dev/null
until_established crd/stacks.herd.suse.com crd/applications.cloudnative.elide.dev
start_controller
port=$(port_of controller console_port)
k create -f - >/dev/null <<'EOF'
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: bench, namespace: default}
spec: {replicas: 1, image: nginx:latest}
EOF
until_true 30 "that the console has the Application" \
  curl -sSf "http://127.0.0.1:$port/apis/cloudnative.elide.dev/v1/namespaces/default/applications/bench"
"$bin/bench-watch" "$port" "${pid_of[controller]}" "$clients" "$rounds"
