#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_cert_manager.sh: the webhook with certificates of cert-manager's: what is lost or garbled comes again, also all of
# Herd's namespace while the configurations stand, and what was good is served meanwhile.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
cluster_tools writers
configurations=(mutatingwebhookconfiguration/herd-webhook validatingwebhookconfiguration/herd-webhook)

manifests() { kubectl kustomize manifests/overlays/cert-manager 2>/dev/null | sed "s/port: 443$/port: $webhook_port/" | k apply -f -; }
part() { field "secret/$1" "{.data.${2//./\\.}}" -n herd-system | base64 -d; }
serial() { openssl x509 -noout -serial 2>/dev/null | cut -d= -f2; }
stored() { part herd-webhook-tls tls.crt | serial; }
served() { openssl s_client -connect "$service_ip:$webhook_port" </dev/null 2>/dev/null | serial; }
# other_than SERIAL: another one is stored, and served, and both configurations believe who signed it.
other_than() {
  local what now
  now=$(stored)
  [ -n "$now" ] && [ "$now" != "$1" ] && [ "$(served)" = "$now" ] || return 1
  part herd-webhook-tls tls.crt >"$state/leaf.crt"
  for what in "${configurations[@]}"; do
    field "$what" '{.webhooks[0].clientConfig.caBundle}' | base64 -d >"$state/bundle.crt"
    openssl verify -CAfile "$state/bundle.crt" "$state/leaf.crt" >/dev/null 2>&1 || return 1
  done
}
create() { sed "s/name: test-stack/name: $1/" examples/test-stack.yaml | k create --validate=false -f -; }
# meanwhile COMMAND...: while Stacks are written; no write fails.
meanwhile() {
  local load code=0
  writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" --mode dry --writers 4 --rate 20 --seconds 6 \
    >"$state/writers.out" &
  load=$!
  "$@"
  wait "$load" || code=$?
  [ "$code" = 0 ] || wrong "a write failed" "$(cat "$state/writers.out")"
  echo "  $(tail -n 1 "$state/writers.out")"
}

start_cluster management
service_ip=$(service_ip_of management)
start_cert_manager management
k apply -f manifests/crds/ >/dev/null
until_established crd/stacks.herd.suse.com
k create --dry-run=client --validate=false -o json -f examples/test-stack.yaml >"$state/stack.json"
webhook_port=7443
apply_webhook_service
start_mount() {
  start kubelet bash tests/support/kubelet.sh secret "$state/kubeconfig" herd-system/herd-webhook-tls "$state/certs"
  eventually test -e "$state/certs/tls.crt"
}

row "cert-manager issues what is served, and tells both configurations whom to believe"
ok manifests
start_mount
start_webhook
eventually create first
eventually other_than none

row "the Secret of the certificate is deleted: another one comes and is served, and no review fails"
before=$(stored)
lose_certificate() { ok k -n herd-system delete secret herd-webhook-tls; }
meanwhile lose_certificate
eventually other_than "$before"

row "the Secret of the CA is deleted: another CA comes, and what the one before signed is believed, and served"
before=$(stored)
lose_ca() { ok k -n herd-system delete secret herd-webhook-ca; }
meanwhile lose_ca
has_ca() { [ -n "$(part herd-webhook-ca tls.crt)" ]; }
eventually has_ca
ok other_than none

row "the certificate is garbled: the last good one is served until another one comes"
before=$(stored)
garble() { ok k -n herd-system patch secret herd-webhook-tls --type=merge -p '{"data":{"tls.crt":"bm9uc2Vuc2U="}}'; }
garble
eventually other_than "$before"
eventually create garbled

row "the certificate is past its time: the last good one is served until another one comes, and no review fails"
before=$(stored)
expire() {
  part herd-webhook-tls tls.crt >"$state/old.crt"
  part herd-webhook-tls tls.key >"$state/old.key"
  part herd-webhook-ca tls.crt >"$state/ca.crt"
  part herd-webhook-ca tls.key >"$state/ca.key"
  ok openssl x509 -x509toreq -in "$state/old.crt" -key "$state/old.key" -copy_extensions copy -out "$state/old.csr"
  ok openssl x509 -req -in "$state/old.csr" -copy_extensions copy -CA "$state/ca.crt" -CAkey "$state/ca.key" \
    -set_serial 4711 -days 0 -out "$state/expired.crt"
  rejected openssl x509 -in "$state/expired.crt" -noout -checkend 1
  ok k -n herd-system patch secret herd-webhook-tls --type=merge -p "{\"data\":{\"tls.crt\":\"$(base64 -w0 <"$state/expired.crt")\"}}"
}
meanwhile expire
eventually other_than "$before"
eventually create expired

row "whom to believe is garbled: cert-manager sets it right"
for what in "${configurations[@]}"; do
  ok k patch "$what" --type=json -p '[{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": "bm9uc2Vuc2U="}]'
done
eventually other_than none
eventually create believed

row "all Deployments and Secrets of herd-system deleted while the configurations stand: applying the manifests again heals"
end webhook
end kubelet
before=$(stored)
ok k -n herd-system delete deployments,secrets --all
rm -rf "$state/certs"
rejected create none
says 'failed calling webhook "mutate.stacks.herd.suse.com"'
began=$(now_ms)
ok manifests
is "$(k -n herd-system get deployments -o name | sort | xargs)" "deployment.apps/herd-controller deployment.apps/herd-webhook"
start_mount
start_webhook
eventually other_than "$before"
eventually create healed
echo "  healed $(($(now_ms) - began)) ms after the manifests were applied again"

row "the namespace's certificates deleted, too: the same"
end webhook
end kubelet
ok k -n herd-system delete issuers,certificates,secrets --all
rm -rf "$state/certs"
ok manifests
start_mount
start_webhook
eventually create "healed-again"
