# SPDX-License-Identifier: Apache-2.0
# fleet.sh: five clusters and the Stack shop on them, for the suites that change it as a user does; sourced after `suite`.
#
# A user's commands and what they print go to HERD_TRANSCRIPT, too (lib.sh).

fleet=(c-m-a c-m-b c-m-c c-m-d c-m-e)
{
  echo "clusters:"
  for cluster in "${fleet[@]}"; do
    echo "- {id: $cluster, provider: k3s, labels: {env: prod}, nodes: 1}"
  done
} >"$state/clusters.yaml"
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
lab_repo=https://charts.lab.example.org

# chart NAME [CHART VERSION RELEASE NAMESPACE]: as JSON.
chart() {
  printf '{"name":"%s","chart":"%s","repo":"%s","version":"%s","releaseName":"%s","namespace":"%s"}' \
    "$1" "${2:-web}" "$lab_repo" "${3:-1.2.2}" "${4:-$1}" "${5:-$1}"
}
# stack ROLLOUT CHART...: the Stack shop, one canary first.
stack() {
  local rollout=$1 charts
  shift
  charts=$(IFS=, && echo "$*")
  cat >"$state/shop.yaml" <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: shop, namespace: default}
spec:
  targets: {selector: {matchLabels: {env: prod}}}
  retry: {backoff: 1s}
  rollout: $rollout
  charts: [$charts]
YAML
  user k apply -f "$state/shop.yaml"
  settled
}
# spec PATCH: of the Stack, by a user.
spec() { user k patch stack shop --type=merge -p "{\"spec\":$1}"; }
say() { user k annotate stack shop --overwrite "herd.suse.com/$1"; }
message_has() { field_has stack/shop '{.status.message}' "$1"; }
message_has_not() { ! message_has "$1" >/dev/null; }
seen() { field_is stack/shop '{.status.observedGeneration}' "$(field stack/shop '{.metadata.generation}')"; }
settled() {
  eventually seen
  ok k wait --for=condition=Ready stack/shop --timeout="${deadline_s}s"
}
# look [STACK]: until the controller has decided about the Stack as it is now, annotations and all.
looks=0
look() {
  looks=$((looks + 1))
  ok k annotate stack "${1:-shop}" --overwrite "herd.suse.com/retry=look-$looks"
  eventually field_is "stack/${1:-shop}" '{.status.lastHandledRetry}' "look-$looks"
}
# releases CLUSTER: NAMESPACE/NAME REVISION STATUS of each.
releases() {
  down "$1" get apps.catalog.cattle.io -A \
    -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.spec.version} {.spec.info.status}{"\n"}{end}'
}
everywhere() {
  local cluster
  for cluster in "${fleet[@]}"; do
    releases "$cluster" | sed "s|^|$cluster |"
  done
}
# have RELEASES CLUSTER...: just these, e.g. "db/db 1 deployed" by lines.
have() {
  local cluster want=$1 got
  shift
  for cluster in "$@"; do
    got=$(releases "$cluster")
    [ "$got" = "$want" ] || {
      echo "$cluster has '$got', not '$want'"
      return 1
    }
  done
}
# asked ACTION RELEASE: the clusters where the controller asked for that, in order, from the line $mark of its log on.
mark=1
asked() { sed -n "$mark,\$s|.* action=$1 stack=default/shop cluster=\([^ ]*\) .* release=$2 .*|\1|p" "$state/controller.log"; }
from_here() { mark=$(($(wc -l <"$state/controller.log") + 1)); }
asked_nothing() { is "$(sed -n "$mark,\$s/.* action=\(upgrade\|uninstall\) stack=default\/shop \(.*\)/\1 \2/p" "$state/controller.log")" ""; }
# cluster_by_cluster: no cluster was asked for anything before the one before it was done, and the canary was first.
cluster_by_cluster() {
  is "$(sed -n "$mark,\$s/.* action=\(upgrade\|uninstall\) stack=default\/shop cluster=\([^ ]*\) .*/\2/p" "$state/controller.log" | uniq | tr '\n' ' ')" \
    "${fleet[*]} "
}
fault() { ok lab_k create configmap herd-lab-faults --from-literal=a="$1"; }
no_fault() { ok lab_k delete configmap herd-lab-faults; }
entry() { field stack/shop "{.status.deployments[?(@.clusterId==\"$1\")].$2}"; }
entry_has() {
  local got
  got=$(entry "$1" "$2")
  [[ $got == *"$3"* ]] || {
    echo "$2 of $1 is '$got', without '$3'"
    return 1
  }
}
label() { ok k label clusters.management.cattle.io "$@" --overwrite; }
