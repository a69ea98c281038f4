#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deploy.sh deploy|undeploy|install-crds|uninstall-crds: what `make` calls by these names.
#
#   KUBECTL    the kubectl to use (kubectl)          CONTEXT   the kubeconfig's context (its current one)
#   IMAGE TAG  the image to deploy (default: a name that nobody's registry has, and the version)
#   OVERLAY    a kustomize folder instead of the one found fit
#   TIMEOUT    how long to wait for each part (180s; STACKS    `delete` lets uninstall-crds take Stacks and
#              for Stacks to go 15m)                            policies away
#   RANCHER_WAIT  seconds that deploy waits for the controller's word on Rancher (20)
#
# In whatever place it is interrupted, no webhook configuration is left that calls a server which is not there: it is
# the last thing that deploy adds, and the first that undeploy takes away. Both can be run again at any time.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:?deploy, undeploy, install-crds or uninstall-crds}
namespace=herd-system
timeout=${TIMEOUT:-180s}
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
placeholder=registry.example.invalid/herd
image=${IMAGE:-$placeholder}:${TAG:-$version}
# By their full names: other people's CRDs have the plural `stacks` too.
stacks=stacks.herd.suse.com
policies=stackpolicies.herd.suse.com
crds=manifests/crds/
configurations="mutatingwebhookconfiguration/herd-webhook validatingwebhookconfiguration/herd-webhook"
configurations_of_workloads="mutatingwebhookconfiguration/herd-webhook-workloads validatingwebhookconfiguration/herd-webhook-workloads"

k() { ${KUBECTL:-kubectl} ${CONTEXT:+--context "$CONTEXT"} "$@"; }
say() { printf '%s\n' "$*"; }
fail() { printf 'deploy.sh: %s\n' "$*" >&2; exit 1; }

# has_crd NAME: a cluster that can not be asked is not one without it: that ends here.
has_crd() {
  local found
  found=$(k get customresourcedefinition "$1" --ignore-not-found -o name) ||
    fail "whether the cluster has the CRD $1 can not be asked; kubectl says why, above"
  [ -n "$found" ]
}

# TIMEOUT as kubectl takes it, 1h30m or 90s, in seconds.
[[ $timeout =~ ^(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?$ && -n $timeout ]] ||
  fail "TIMEOUT=$timeout is not a duration such as 180s, 3m or 1h"
timeout_s=$((10#${BASH_REMATCH[2]:-0} * 3600 + 10#${BASH_REMATCH[4]:-0} * 60 + 10#${BASH_REMATCH[6]:-0}))

find_overlay() {
  if [ -n "${OVERLAY:-}" ]; then
    echo "$OVERLAY"
  elif has_crd certificates.cert-manager.io; then
    echo manifests/overlays/cert-manager
  else
    echo manifests/overlays/own-ca
  fi
}

# only KINDS, all_but KINDS: of the objects of standard input, which kubectl kustomize parts by lines of ---.
select_kinds() {
  awk -v kinds="$2" -v keep="$1" 'BEGIN { RS = "---\n"; ORS = "" }
    { match($0, /(^|\n)kind: [A-Za-z]+/); kind = substr($0, RSTART, RLENGTH); sub(/.*: /, "", kind)
      if ((index(" " kinds " ", " " kind " ") > 0) == keep) print "---\n" $0 }'
}
webhook_kinds="MutatingWebhookConfiguration ValidatingWebhookConfiguration"

# Of an overlay that names an image of its own, IMAGE and TAG would change nothing.
render() {
  local objects
  objects=$(k kustomize "$1" | sed "s|image: $placeholder:$version\$|image: $image|") || return
  [ -z "${IMAGE:-}${TAG:-}" ] || grep -qF "image: $image" <<<"$objects" ||
    fail "$1 names an image of its own: change it there, and leave IMAGE and TAG out"
  printf '%s\n' "$objects"
}

# runs DEPLOYMENT: waits for it.
runs() {
  k -n "$namespace" rollout status "deployment/$1" --timeout="$timeout" && return
  tell_without_rancher
  fail "$1 does not run yet; kubectl -n $namespace get pods,events says why, and make deploy goes on from here"
}

tell_without_rancher() {
  local found
  found=$(k -n "$namespace" get secret herd-rancher --ignore-not-found -o name 2>/dev/null) || return 0
  [ -n "$found" ] ||
    say "The controller waits for the Secret herd-rancher, which says where Rancher is: docs/install.md"
}

ca_injected() {
  local what
  for what in $configurations; do
    [ -n "$(k get "$what" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}')" ] || return 1
  done
  for what in $configurations_of_workloads; do
    [ -z "$(k get "$what" --ignore-not-found -o name)" ] ||
      [ -n "$(k get "$what" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}')" ] || return 1
  done
}

await_ca() {
  local deadline=$((SECONDS + timeout_s))
  until ca_injected; do
    ((SECONDS < deadline)) || fail "nobody has written the CA of the webhook's certificate into its configurations yet:" \
      "is cert-manager's cainjector running, or, with Herd's own CA, does the controller hold its Lease?"
    sleep 1
  done
}

# said_of_rancher: what the controller that runs says of Rancher, by the newest Event of its pod: "Normal TEXT", "Warning
# TEXT", or nothing yet.
said_of_rancher() {
  local pods
  pods=$(k -n "$namespace" get pods -l app.kubernetes.io/name=herd-controller -o \
    'go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}')
  k -n "$namespace" get events --field-selector involvedObject.kind=Pod -o \
    'jsonpath={range .items[*]}{.reason} {.involvedObject.name} {.lastTimestamp} {.type} {.message}{"\n"}{end}' |
    awk -v pods=" $pods" '/^Rancher/ && index(pods, " " $2 " ") { sub(/^[^ ]+ [^ ]+ /, ""); print }' |
    sort | tail -n 1 | cut -d ' ' -f 2-
}

# Deployed is one thing; that anything can be done with it is another.
tell_how_it_runs() {
  local deadline=$((SECONDS + ${RANCHER_WAIT:-20})) said
  # One who may not read Events has deployed all the same.
  while said=$(said_of_rancher) && [ -z "$said" ] && ((SECONDS < deadline)); do
    sleep 1
  done
  case $said in
    Normal*) say "Herd runs. kubectl apply -f examples/test-stack.yaml is a first Stack." ;;
    Warning*)
      say "Deployed, but: ${said#Warning }"
      say "No Stack goes on until that is fixed: the Secret herd-rancher in $namespace, docs/install.md section 2."
      ;;
    *)
      say "Deployed; whether Rancher can be used, the controller has not said yet: kubectl logs -n $namespace" \
        "deployment/herd-controller"
      ;;
  esac
}

are_established() { k wait --for=condition=Established --timeout="$timeout" -f "$crds" >/dev/null; }

# Of a definition so new that it has no conditions kubectl makes an error, not a wait; a second later it has some.
install_crds() {
  k apply -f "$crds"
  are_established 2>/dev/null || { sleep 1; are_established; }
}

deploy() {
  local overlay objects
  overlay=$(find_overlay)
  objects=$(render "$overlay")
  say "Deploying $image with $overlay"
  install_crds
  select_kinds 0 "$webhook_kinds" <<<"$objects" | k apply -f -
  tell_without_rancher
  runs herd-webhook
  select_kinds 1 "$webhook_kinds" <<<"$objects" | k apply -f -
  await_ca
  runs herd-controller
  tell_how_it_runs
}

# Of each overlay of ours, whichever it was that came: cert-manager's kinds only where there are such.
all_objects() {
  k kustomize manifests/overlays/own-ca || return
  ! has_crd certificates.cert-manager.io || { echo --- && k kustomize certs; }
}

undeploy() {
  local objects
  # Waits until they are gone: from then on nothing of Herd's stands in anybody's way.
  # shellcheck disable=SC2086
  k delete --ignore-not-found --timeout="$timeout" $configurations $configurations_of_workloads
  objects=$(if [ -n "${OVERLAY:-}" ]; then k kustomize "$OVERLAY"; else all_objects; fi)
  objects=$(select_kinds 0 "$webhook_kinds Namespace" <<<"$objects")
  k delete --ignore-not-found --timeout="$timeout" -f - <<<"$objects"
  k delete --ignore-not-found --timeout="$timeout" namespace "$namespace"
  if has_crd "$stacks"; then
    say "Herd is gone. Its CRDs and Stacks stay, and so does what they deployed; make uninstall-crds takes Stacks away."
  fi
}

# names_of KIND: of all that there are; none where the cluster does not know the kind.
names_of() {
  ! has_crd "$1" || k get "$1" -A -o name
}

# may_go KIND COUNT WHAT: whether objects that go with their CRD may go.
may_go() {
  [ "$2" = 0 ] || [ "${STACKS:-}" = delete ] ||
    fail "$1 are left: $2. Deleting the CRD deletes them$3. If that is meant: make uninstall-crds STACKS=delete"
}

uninstall_crds() {
  local count
  has_crd "$stacks" || has_crd "$policies" || { say "there are no CRDs of Herd's"; return; }
  count=$(names_of "$policies" | wc -l)
  may_go StackPolicies "$count" ""
  count=$(names_of "$stacks" | wc -l)
  may_go Stacks "$count" ", and then their charts on every cluster, or, where no controller runs, waits for one"
  # While the controller runs: it takes the charts down in order, and then lets each Stack go.
  [ "$count" = 0 ] || k delete "$stacks" -A --all --timeout="${TIMEOUT:-15m}" ||
    fail "they wait for the controller to take their charts down: it does so once it runs (make deploy), and" \
      "kubectl get stacks -A -o wide says what holds it. To let one go with its charts left where they are:" \
      "kubectl patch $stacks NAME -n NAMESPACE --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"
  k delete --ignore-not-found --timeout="$timeout" -f "$crds"
}

case $mode in
  deploy) deploy ;;
  undeploy) undeploy ;;
  install-crds) install_crds ;;
  uninstall-crds) uninstall_crds ;;
  *) fail "'$mode' is none of deploy, undeploy, install-crds, uninstall-crds" ;;
esac
