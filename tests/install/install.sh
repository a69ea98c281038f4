#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh STATE BIN: manifests, make deploy and undeploy, and the chart, against a real control plane.
#
# Nodes are fake (kwok): their pods run at once, and nothing of Herd runs. What is asked here is whether everything is
# accepted, complete, the same both ways, and whether it comes and goes without ever leaving a webhook configuration that
# calls nobody. Ends with 77 where no control plane can be had (tests/cluster/build.sh says why).
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/integration/lib.sh
. "$source/tests/integration/lib.sh"
suite "${2:?BIN}" "${1:?STATE}"
# shellcheck source=tests/cluster/cluster.sh
. "$source/tests/cluster/cluster.sh"
# shellcheck source=tests/install/chart.sh
. "$(dirname "$0")/chart.sh"
cd "$source"

cluster_tools kubectl helm steps
export KUBECONFIG=$state/kubeconfig TIMEOUT=60s RANCHER_WAIT=0
manifests=(-f manifests/crds/ -f manifests/controller/ -f manifests/webhook/)

# shellcheck source=tests/install/offline.sh
. "$(dirname "$0")/offline.sh"
# shellcheck source=tests/install/online.sh
. "$(dirname "$0")/online.sh"
