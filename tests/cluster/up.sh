#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# up.sh [FLAGS]: a real Kubernetes control plane on this machine, without containers, until SIGINT or SIGTERM.
#
#   --state FOLDER          data, logs, kubeconfigs, env (default build/cluster)
#   --with cert-manager     its controllers and cainjector in the management cluster
#   --with workloads        Deployments, StatefulSets, Jobs and a scheduler in the management cluster too
#   --nodes N               fake nodes in the management cluster (implies workloads)
#   --downstream N          N more clusters, downstream-1 and so on, with workloads and a fake node with 4 GPUs
#   --once                  start, print the times, end: a check
#
# `env` names every address as a shell assignment; `ready` appears when all of it is up.
#
# It runs in a process group that nothing outlives (lab/group.sh).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash "$here/../../lab/group.sh" bash "$0" "$@"
unset HERD_GROUP

bin='' state=build/cluster nodes=0 downstream=0 set=objects certificates=no once=no

usage() {
  echo "up.sh: $1; the flags are at the top of $0" >&2
  exit 2
}

number() { [[ $2 =~ ^[0-9]{1,2}$ ]] || usage "$1 wants a number from 0 to 99, not '$2'"; }

while [ $# -gt 0 ]; do
  case $1 in
    --once) once=yes && shift && continue ;;
    --state | --with | --nodes | --downstream) [ $# -ge 2 ] || usage "$1 wants a value" ;;
    *) usage "'$1' is not a flag" ;;
  esac
  case $1 in
    --state) state=$2 ;;
    --nodes) number "$1" "$2" && nodes=$2 set=workloads ;;
    --downstream) number "$1" "$2" && downstream=$2 ;;
    --with)
      case $2 in
        cert-manager) certificates=yes ;;
        workloads) set=workloads ;;
        *) usage "--with knows cert-manager and workloads, not '$2'" ;;
      esac
      ;;
  esac
  shift 2
done

# shellcheck source=lab/processes.sh
. "$here/../../lab/processes.sh"
# shellcheck source=tests/cluster/cluster.sh
. "$here/cluster.sh"

finish() {
  local code=$?
  trap '' INT TERM
  trap - EXIT
  end_all
  rm -f "$state/ready"
  exit "$code"
}

write_env() {
  local i
  {
    echo "KUBECONFIG=$(kubeconfig_of management)"
    echo "HERD_CLUSTER_BIN=$state/cluster/bin"
    echo "HERD_CLUSTER_SERVICE_IP=$(service_ip_of management)"
    echo "HERD_CLUSTER_AUDIT_LOG=$(audit_log_of management)"
    for ((i = 1; i <= downstream; i++)); do
      echo "KUBECONFIG_DOWNSTREAM_$i=$(kubeconfig_of "downstream-$i")"
    done
  } >"$state/env"
}

if [ -e "$state" ] && [ ! -e "$state/cluster" ] && [ -n "$(ls -A "$state")" ]; then
  usage "--state $state is a folder of something else"
fi
rm -rf "$state"
mkdir -p "$state"
state=$(cd "$state" && pwd)
trap finish EXIT
trap 'exit 0' INT TERM

start_cluster management "$set"
[ "$certificates" = no ] || start_cert_manager management
[ "$nodes" = 0 ] || start_nodes management "$nodes"
for ((i = 1; i <= downstream; i++)); do
  start_cluster "downstream-$i" workloads
  start_nodes "downstream-$i" 1 4
done
write_env
touch "$state/ready"
[ "$once" = no ] || exit 0
cat <<EOF

  . $state/env; export KUBECONFIG PATH=\$HERD_CLUSTER_BIN:\$PATH

Logs and addresses are in $state/. Ctrl-C ends everything.
EOF
# `wait` comes back when a program ends, or for a signal.
wait -n || true
fail "a program ended by itself; logs are in $state/"
