#!/usr/bin/env bash
# deploy.sh deploy|undeploy|install-crds|uninstall-crds: what `make` calls by these names.
#
#   KUBECTL    the kubectl to use (kubectl)          CONTEXT   the kubeconfig's context (its current one)
#   IMAGE TAG  the image to deploy (herd:0.1.0)      OVERLAY   a kustomize folder instead of the one found fit
#   TIMEOUT    how long to wait for each part (180s) STACKS    `delete` lets uninstall-crds take Stacks away
#
# In whatever place it is interrupted, no webhook configuration is left that calls a server which is not there: it is
# the last thing that deploy adds, and the first that undeploy takes away. Both can be run again at any time.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:?deploy, undeploy, install-crds or uninstall-crds}
namespace=herd-system
timeout=${TIMEOUT:-180s}
crds=manifests/crds/
configurations="mutatingwebhookconfiguration/herd-webhook validatingwebhookconfiguration/herd-webhook"

k() { ${KUBECTL:-kubectl} ${CONTEXT:+--context "$CONTEXT"} "$@"; }
say() { printf '%s\n' "$*"; }
fail() { printf 'deploy.sh: %s\n' "$*" >&2; exit 1; }
has_crd() { k get customresourcedefinition "$1" >/dev/null 2>&1; }

find_overlay() {
  if [ -n "${OVERLAY:-}" ]; then
    echo "$OVERLAY"
  elif has_crd certificates.cert-manager.io; then
    echo manifests/overlays/cert-manager
  elif [ -d manifests/overlays/own-ca ]; then
    echo manifests/overlays/own-ca
  else
    fail "cert-manager is not installed in this cluster, and the webhook needs a certificate: install cert-manager, or" \
      "name a kustomize folder of yours that brings the Secret herd-webhook-tls and the caBundle (OVERLAY=folder)"
  fi
}

# only KINDS, all_but KINDS: of the objects of standard input, which kubectl kustomize parts by lines of ---.
select_kinds() {
  awk -v kinds="$2" -v keep="$1" 'BEGIN { RS = "---\n"; ORS = "" }
    { match($0, /(^|\n)kind: [A-Za-z]+/); kind = substr($0, RSTART, RLENGTH); sub(/.*: /, "", kind)
      if ((index(" " kinds " ", " " kind " ") > 0) == keep) print "---\n" $0 }'
}
webhook_kinds="MutatingWebhookConfiguration ValidatingWebhookConfiguration"

render() {
  k kustomize "$1" | sed "s|image: herd:0.1.0\$|image: ${IMAGE:-herd}:${TAG:-0.1.0}|"
}

# until_true SECONDS WHAT COMMAND...
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || fail "$what: not within the time; kubectl -n $namespace get pods,events says more"
    sleep 1
  done
}

ca_injected() {
  local what
  for what in $configurations; do
    [ -n "$(k get "$what" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}')" ] || return 1
  done
}

install_crds() {
  k apply -f "$crds"
  k wait --for=condition=Established --timeout="$timeout" -f "$crds" >/dev/null
}

deploy() {
  local overlay objects
  overlay=$(find_overlay)
  say "Deploying ${IMAGE:-herd}:${TAG:-0.1.0} with $overlay"
  objects=$(render "$overlay")
  install_crds
  select_kinds 0 "$webhook_kinds" <<<"$objects" | k apply -f -
  k -n "$namespace" get secret herd-rancher >/dev/null 2>&1 ||
    say "The controller waits for the Secret herd-rancher, which says where Rancher is: docs/install.md"
  k -n "$namespace" rollout status deployment/herd-webhook --timeout="$timeout"
  select_kinds 1 "$webhook_kinds" <<<"$objects" | k apply -f -
  until_true "${timeout%s}" "the CA of the webhook's certificate in its configuration" ca_injected
  k -n "$namespace" rollout status deployment/herd-controller --timeout="$timeout"
  say "Herd runs. kubectl apply -f examples/test-stack.yaml is a first Stack."
}

undeploy() {
  local overlay objects
  # Waits until they are gone: from then on nothing of Herd's stands in anybody's way.
  # shellcheck disable=SC2086
  k delete --ignore-not-found --timeout="$timeout" $configurations
  overlay=${OVERLAY:-}
  if [ -z "$overlay" ]; then
    overlay=manifests
    has_crd certificates.cert-manager.io && overlay=manifests/overlays/cert-manager
  fi
  objects=$(k kustomize "$overlay" | select_kinds 0 "$webhook_kinds Namespace")
  k delete --ignore-not-found --timeout="$timeout" -f - <<<"$objects"
  k delete --ignore-not-found --timeout="$timeout" namespace "$namespace"
  if has_crd stacks.herd.suse.com; then
    say "Herd is gone. Its CRDs and Stacks stay, and so does what they deployed; make uninstall-crds takes Stacks away."
  fi
}

uninstall_crds() {
  local stacks
  has_crd stacks.herd.suse.com || { say "there are no CRDs of Herd's"; return; }
  stacks=$(k get stacks -A --no-headers 2>/dev/null | wc -l)
  if [ "$stacks" -gt 0 ] && [ "${STACKS:-}" != delete ]; then
    fail "there are $stacks Stacks. Deleting the CRD deletes them, and then their charts on every cluster, or, where no" \
      "controller runs, waits for one. If that is meant: make uninstall-crds STACKS=delete"
  fi
  # While the controller runs: it takes the charts down in order, and then lets each Stack go.
  [ "$stacks" = 0 ] || k delete stacks -A --all --timeout="${TIMEOUT:-15m}"
  k delete --ignore-not-found --timeout="$timeout" -f "$crds"
}

case $mode in
  deploy) deploy ;;
  undeploy) undeploy ;;
  install-crds) install_crds ;;
  uninstall-crds) uninstall_crds ;;
  *) fail "'$mode' is none of deploy, undeploy, install-crds, uninstall-crds" ;;
esac
