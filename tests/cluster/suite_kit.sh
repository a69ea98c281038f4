#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_kit.sh: tests/cluster itself: what it builds from, what it starts, and that nothing of it stays.
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
state=$(cd "$state" && pwd)
cluster_tools etcd kube-apiserver kube-controller-manager kube-scheduler kubectl cert-manager kwok

# build CODE TEXT COMMAND...: build.sh with an empty cache ends so and says so.
build() {
  local want=$1 text=$2 code=0
  shift 2
  out=$(env HERD_CLUSTER_CACHE="$state/none" REQUIRE_CLUSTER= "$@" bash tests/cluster/build.sh "$state/built" etcd 2>&1) || code=$?
  is "exit $code" "exit $want"
  says "$text"
}

row "without Go it says what is missing and is skipped, or fails where it is required"
mkdir -p "$state/no-go" "$state/old-go" "$state/assets"
for program in bash awk cat cut dirname grep head mkdir sed sha256sum tr; do
  ln -s "$(command -v "$program")" "$state/no-go/$program"
done
build 77 "skipped: go is not installed, so etcd cannot be built" PATH="$state/no-go"
build 1 "REQUIRE_CLUSTER=1" PATH="$state/no-go" REQUIRE_CLUSTER=1

row "a Go that is too old is named, with the one that is wanted"
printf '#!/bin/sh\n[ "$1" != version ] || echo "go version go1.19.8 linux/amd64"\n[ "$1" = version ]\n' >"$state/old-go/go"
chmod +x "$state/old-go/go"
build 77 "go1.19.8 linux/amd64 cannot build etcd, which wants Go 1." PATH="$state/old-go:$state/no-go"

row "programs of KUBEBUILDER_ASSETS are taken as they are"
cp "$state/old-go/go" "$state/assets/etcd"
build 0 "" PATH="$PATH" KUBEBUILDER_ASSETS="$state/assets"
is "$(readlink "$state/built/etcd")" "$state/assets/etcd"

row "a tool that there is not is named, with those that there are"
rejected bash tests/cluster/build.sh "$state/built" kubeapiserver
says "'kubeapiserver' is none of: etcd kube-apiserver"

# up NAME FLAGS...: up.sh in the background, until it is ready.
up() {
  local name=$1
  shift
  bash tests/cluster/up.sh --state "$state/$name" "$@" >"$state/$name.txt" 2>&1 {suite_lock}>&- &
  runner=$!
  eventually test -e "$state/$name/ready"
}
nothing_of() { ! pgrep -f "$1" >/dev/null || { pgrep -af "$1"; return 1; }; }
on() { kubectl --kubeconfig "$state/$1" "${@:2}"; }

row "flags that there are not are rejected before anything is started"
rejected bash tests/cluster/up.sh --node 3
says "'--node' is not a flag"
rejected bash tests/cluster/up.sh --nodes many
says "--nodes wants a number"
rejected bash tests/cluster/up.sh --state "$state/assets"
says "is a folder of something else"

row "management with cert-manager, a downstream cluster with nodes: all of it comes up"
up all --with cert-manager --downstream 1
ok cat "$state/all.txt"
echo "$out" | sed -n '/^cluster/s/^/  /p'
ok grep -q '^KUBECONFIG_DOWNSTREAM_1=' "$state/all/env"

row "a Deployment runs on the downstream cluster's node, and one that wants too many GPUs waits"
ok on all/downstream-1.kubeconfig create deployment web --image web --replicas 2
ok on all/downstream-1.kubeconfig rollout status deployment/web --timeout=30s
ok on all/downstream-1.kubeconfig create -f - <<'EOF'
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: "5"}}}]
EOF
too_large() { on all/downstream-1.kubeconfig get pod large -o 'jsonpath={.status.conditions[*].message}' | grep 'Insufficient nvidia.com/gpu'; }
eventually too_large
ok on all/kubeconfig get deployments -A -o name
is "$out" ""

row "cert-manager issues the webhook's certificate from certs/, and writes its CA into the webhook's configuration"
ok on all/kubeconfig apply -f manifests/namespace.yaml
ok on all/kubeconfig apply -f certs/issuer.yaml -f certs/certificate.yaml
ok on all/kubeconfig -n herd-system wait --for=condition=Ready certificate --all --timeout=30s
ok on all/kubeconfig apply -f manifests/webhook/configuration.yaml
secret() { on all/kubeconfig -n herd-system get secret herd-webhook-tls -o "jsonpath={.data.$1}"; }
bundle_is() { [ "$(on all/kubeconfig get "$1" herd-webhook -o 'jsonpath={.webhooks[0].clientConfig.caBundle}')" = "$(secret 'ca\.crt')" ]; }
eventually bundle_is mutatingwebhookconfiguration
eventually bundle_is validatingwebhookconfiguration
secret 'ca\.crt' | base64 -d >"$state/ca.crt"
secret 'tls\.crt' | base64 -d >"$state/tls.crt"
ok openssl verify -CAfile "$state/ca.crt" -verify_hostname herd-webhook.herd-system.svc "$state/tls.crt"

row "cert-manager renews CA and certificate: what is served verifies before, between and after"
# renew CERTIFICATE: as cmctl does, until its Secret holds another one.
renewed() { [ "$(on all/kubeconfig -n herd-system get secret "$1" -o 'jsonpath={.data.tls\.crt}' | cksum)" != "$2" ]; }
renew() {
  local secret=$2 before
  before=$(on all/kubeconfig -n herd-system get secret "$secret" -o 'jsonpath={.data.tls\.crt}' | cksum)
  ok on all/kubeconfig -n herd-system patch certificate "$1" --subresource=status --type=merge -p "{\"status\":{\"conditions\":[{
    \"type\":\"Issuing\",\"status\":\"True\",\"reason\":\"ManuallyTriggered\",\"message\":\"asked for\",
    \"lastTransitionTime\":\"$(date -u +%FT%TZ)\"}]}}"
  eventually renewed "$secret" "$before"
}
believed() { on all/kubeconfig get validatingwebhookconfiguration herd-webhook -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d >"$state/bundle.crt"; }
renew herd-webhook-ca herd-webhook-ca
believed
ok openssl verify -CAfile "$state/bundle.crt" "$state/tls.crt"
renew herd-webhook herd-webhook-tls
secret 'tls\.crt' | base64 -d >"$state/tls-2.crt"
secret 'ca\.crt' | base64 -d >"$state/ca-2.crt"
rejected cmp "$state/ca.crt" "$state/ca-2.crt"
ok openssl verify -CAfile "$state/ca.crt" "$state/tls-2.crt"
ok openssl verify -CAfile "$state/ca-2.crt" "$state/tls.crt"
# Its cainjector adds the new CA to the old one.
believes_new() { believed && grep -qF "$(sed -n 3p "$state/ca-2.crt")" "$state/bundle.crt"; }
eventually believes_new
ok openssl verify -CAfile "$state/bundle.crt" "$state/tls.crt" "$state/tls-2.crt"

row "the audit log says who asked for what"
ok jq -rs '[.[] | select(.verb == "create" and .objectRef.resource == "certificates")][0].user.username' \
  "$state/all/cluster/management/audit.log"
is "$out" administrator

row "and with which client: kubectl says its version, as a released one does"
version=$(kubectl version --client -o json | jq -r .clientVersion.gitVersion)
ok jq -rs '[.[] | select(.verb == "create" and .objectRef.resource == "certificates")][0].userAgent' \
  "$state/all/cluster/management/audit.log"
says "kubectl/$version ("

row "SIGTERM ends everything that was started, and nothing else"
kill -TERM "$runner"
code=0
wait "$runner" || code=$?
is "exit $code" "exit 0"
rejected test -e "$state/all/ready"
eventually nothing_of "$state/all/"

row "killed outright, it leaves no process behind either"
up killed
kill -KILL "$runner"
{ wait "$runner" || true; } 2>/dev/null
eventually nothing_of "$state/killed/"
