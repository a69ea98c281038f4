#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admission.sh BIN: what admission costs as a real API server sees it, with the webhooks and without, for Stacks that are
# changed by 1, 16 and 64 writers at a time; prints a table. README.md says what the figures are. Says why, and ends
# with 0, where no control plane can be had (tests/cluster/build.sh).
#
#   ADMISSION_SECONDS  for each line (5)
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
unset HERD_GROUP
bin=${1:?BIN}
state=$(mktemp -d /var/tmp/herd-admission.XXXXXX)
seconds=${ADMISSION_SECONDS:-5}
. lab/processes.sh
. tests/cluster/cluster.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT
(cluster_tools etcd kube-apiserver kube-controller-manager kubectl writers) || exit 0
cluster_tools writers

start_cluster management
service_ip=$(service_ip_of management)
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com
k create --dry-run=client --validate=false -o json -f examples/accepted/rag-inference-platform.yaml |
  jq -s '.[] | select(.kind == "Stack") | del(.metadata.namespace)' >"$state/stack.json"
start_webhook
apply_webhook

metrics() { k get --raw /metrics | grep '^apiserver_admission_webhook_admission_duration_seconds' >"$1" || true; }

# of_histogram BEFORE AFTER TYPE: count, mean, p50, p99 in ms of what was added, within a bucket by its share.
of_histogram() {
  awk -v type="type=\"$3\"" '
    !index($0, type) || !index($0, "operation=\"UPDATE\"") { next }
    { sign = FILENAME == ARGV[1] ? -1 : 1 }
    /_sum/ { sum += sign * $NF }
    /_count/ { count += sign * $NF }
    match($0, /le="[^"]*"/) {
      le = substr($0, RSTART + 4, RLENGTH - 5)
      if (le != "+Inf" && !(le in at)) edges[++n] = le + 0
      at[le] += sign * $NF
      if (le != "+Inf") by[le + 0] = at[le]
    }
    function quantile(q,   i, want, low, below) {
      want = q * count
      for (i = 1; i <= n; i++) {
        if (by[edges[i]] >= want) return 1000 * (low + (edges[i] - low) * (want - below) / (by[edges[i]] - below))
        low = edges[i]
        below = by[edges[i]]
      }
      return 1000 * low
    }
    END {
      for (i = 2; i <= n; i++)
        for (j = i; j > 1 && edges[j] < edges[j - 1]; j--) { t = edges[j]; edges[j] = edges[j - 1]; edges[j - 1] = t }
      if (!count) printf "%7s %7s %7s", "-", "-", "-"
      else printf "%7.2f %7.2f %7.2f", 1000 * sum / count, quantile(0.5), quantile(0.99)
    }' "$1" "$2"
}

value_of() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" "$state/line"; }

# measure NAME WRITERS
measure() {
  metrics "$state/before"
  writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" --writers "$2" --seconds "$seconds" --prefix "w$2" \
    >"$state/writers.out" || { cat "$state/writers.out" >&2; exit 1; }
  metrics "$state/after"
  tail -n 1 "$state/writers.out" >"$state/line"
  printf '%-8s %7s %9s %8s %8s   %s   %s\n' "$1" "$2" "$(value_of writes_per_s)" "$(value_of p50_ms)" "$(value_of p99_ms)" \
    "$(of_histogram "$state/before" "$state/after" admit)" "$(of_histogram "$state/before" "$state/after" validating)"
}

echo
echo "ms                 writes       client's      /mutate, as the API server   /validate, as the API server"
printf '%-8s %7s %9s %8s %8s   %7s %7s %7s   %7s %7s %7s\n' webhooks writers per_s p50 p99 mean p50 p99 mean p50 p99
for writers in 1 16 64; do
  measure with "$writers"
done
k delete mutatingwebhookconfiguration,validatingwebhookconfiguration herd-webhook >/dev/null
for writers in 1 16 64; do
  measure without "$writers"
done
