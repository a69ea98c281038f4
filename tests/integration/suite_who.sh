#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_who.sh: nobody deploys through Herd where they may not deploy themselves.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
ok k apply -f manifests/controller/people.yaml
start_webhook
apply_webhook

# stack NAME TARGETS [VERSION]: one chart, in the namespace of its name.
stack() {
  printf '%s\n' 'apiVersion: herd.suse.com/v1' 'kind: Stack' "metadata: {name: $1, namespace: default}" 'spec:' '  env: dev' "  targets: $2" \
    "  charts: [{name: $1, chart: ollama, repo: 'https://charts.example.com', version: ${3:-0.59.0}}]"
}
one='{clusterIds: [c-m-gpu01]}'
other='{clusterIds: [c-m-gpu02]}'
both='{selector: {matchLabels: {workload: ai-ml}}}'

# apply_as USER NAME TARGETS [VERSION] [FLAGS...]
apply_as() {
  local user=$1 name=$2 targets=$3 version=${4:-0.59.0}
  shift $(($# < 4 ? $# : 4))
  stack "$name" "$targets" "$version" | k apply --as "$user" "$@" -f -
}

# may USER NAME GROUP RESOURCE RESOURCENAME...: a ClusterRole with the verb deploy, bound to the user; no name: all.
may() {
  local user=$1 role=$2 group=$3 resource=$4 names=
  shift 4
  for name in "$@"; do names="$names${names:+, }'$name'"; done
  k apply -f - <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $role}
rules: [{apiGroups: [$group], resources: [$resource]${names:+, resourceNames: [$names]}, verbs: [deploy]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $role-$user}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $role}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: $user}]
EOF
}

for user in ann bob cat; do
  ok k create rolebinding "edit-$user" --clusterrole=herd-edit --user="$user"
done
ok may ann deploy-gpu01 management.cattle.io clusters c-m-gpu01

row "who may deploy to one cluster deploys there, and nowhere else"
eventually apply_as ann mine "$one"
rejected apply_as ann theirs "$other"
says "spec.targets.clusterIds[0]: Forbidden: 'ann' may not deploy to cluster c-m-gpu02, namespace theirs; ask whoever manages the cluster"
rejected k get stack theirs
rejected apply_as ann mine "$other"
says "'ann' may not deploy to cluster c-m-gpu02"
is "$(field stack/mine '{.spec.targets.clusterIds[0]}')" c-m-gpu01

row "a selector means each cluster that matches, and a dry run is asked about, too"
rejected apply_as ann wide "$both"
says "spec.targets.selector: Forbidden: 'ann' may not deploy to cluster c-m-gpu02"
says_not "to cluster c-m-gpu01"
rejected apply_as ann theirs "$other" 0.59.0 --dry-run=server
says "'ann' may not deploy to cluster c-m-gpu02"

row "whose Stack it is does not matter: who changes its spec needs the right, who changes a label does not"
rejected apply_as bob mine "$one" 0.60.0
says "'bob' may not deploy to cluster c-m-gpu01"
ok k label stack mine team=ai --as bob
ok apply_as ann mine "$one" 0.60.0
is "$(field stack/mine '{.metadata.annotations.herd\.suse\.com/last-applied-by}')" ann

row "rights on a namespace of a cluster are enough for charts that go there"
ok may bob deploy-team herd.suse.com releases c-m-gpu01:team c-m-gpu02:team
eventually apply_as bob team "$both"
rejected apply_as bob more "$both"
says "'bob' may not deploy to cluster c-m-gpu01, namespace more"

row "rights on all clusters, and an administrator's, need no names"
ok may cat deploy-all management.cattle.io clusters
eventually apply_as cat wide "$both"
ok apply_as cat theirs "$other"
stack admins "$both" | ok k apply -f -

row "the right that is taken away is gone within seconds"
ok k delete clusterrolebinding deploy-all-cat
taken_away() { ! apply_as cat theirs "$other" "0.60.$RANDOM"; }
eventually taken_away
says "'cat' may not deploy to cluster c-m-gpu02"

row "the API server's answers are counted"
counted() { curl -sS "http://127.0.0.1:$webhook_metrics_port/metrics" | grep -E "herd_webhook_access_reviews_total\{answer=\"$1\"\} [1-9]"; }
ok counted yes
ok counted no

row "where the configuration says so, nobody is asked"
end webhook
webhook_flags=(--check-access=false)
start_webhook
eventually apply_as ann theirs "$other" 0.61.0
