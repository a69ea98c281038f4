#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh ENV CLUSTER...: give simulated clusters a NeuVector. ENV is the file that the lab writes: on `make run`,
#   lab/neuvector/install.sh build/run/lab/env c-m-gpu01
set -euo pipefail
# shellcheck disable=SC1090
. "$1"
shift
cd "$(dirname "$0")/../.."

k=(kubectl --kubeconfig /dev/null --certificate-authority "$HERD_LAB_RANCHER_CA" --token "$HERD_LAB_RANCHER_TOKEN")
for cluster; do
  "${k[@]}" --server "$HERD_LAB_RANCHER_URL/k8s/clusters/$cluster" apply -f lab/neuvector/neuvector.yaml >/dev/null
  # There is no kubelet that would do it. Old and new kubectl differ in how --raw joins a server's path, so it has none.
  "${k[@]}" --server "$HERD_LAB_RANCHER_URL" replace --raw \
    "/k8s/clusters/$cluster/api/v1/namespaces/cattle-neuvector-system/pods/neuvector-controller-pod-0/status" -f - >/dev/null <<EOF
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "neuvector-controller-pod-0", "namespace": "cattle-neuvector-system"},
 "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
EOF
done
