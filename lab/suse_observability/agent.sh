#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# agent.sh ENV CLUSTER NAME: give a simulated cluster the agent of SUSE Observability, which calls it NAME. ENV is the file that
# the lab writes: on `make run`,
#   lab/suse_observability/agent.sh build/run/lab/env c-m-dev01 dev01
set -euo pipefail
# shellcheck disable=SC1090
. "$1"

k=(kubectl --kubeconfig /dev/null --certificate-authority "$HERD_LAB_RANCHER_CA" --token "$HERD_LAB_RANCHER_TOKEN"
  --server "$HERD_LAB_RANCHER_URL/k8s/clusters/$2")
"${k[@]}" apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Namespace
metadata: {name: suse-observability-agent}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: suse-observability-agent-cluster-agent
  namespace: suse-observability-agent
  labels: {app.kubernetes.io/name: suse-observability-agent, app.kubernetes.io/component: cluster-agent}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: suse-observability-agent}}
  template:
    metadata: {labels: {app.kubernetes.io/name: suse-observability-agent}}
    spec:
      containers:
      - {name: cluster-agent, image: quay.io/stackstate/stackstate-k8s-cluster-agent:lab, env: [{name: STS_CLUSTER_NAME, value: $3}]}
YAML
# There is no kubelet that would do it.
"${k[@]}" -n suse-observability-agent patch deployment suse-observability-agent-cluster-agent --subresource=status \
  --type=merge -p '{"status":{"availableReplicas":1}}' >/dev/null
