#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_certificates.sh: Herd's own CA: issued, served, rotated under load; and files that nobody can serve.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
name=herd-webhook.herd-system.svc
configurations=(mutatingwebhookconfiguration/herd-webhook validatingwebhookconfiguration/herd-webhook)
secret=secret/herd-webhook-tls
ca_secret=secret/herd-webhook-ca

# own [FLAGS...]: a controller that has the CA, with the waits of a cluster cut to seconds.
own() {
  controller_flags=(--rancher-settle 3s --webhook-certificates own --webhook-namespace herd-system
    --webhook-names 127.0.0.1 --webhook-ca-settle 2s "$@")
  start_controller
}

# part OBJECT KEY FILE: of a Secret.
part() { field "$1" "{.data.${2//./\\.}}" -n herd-system | base64 -d >"$3"; }
has_part() { [ -n "$(field "$1" "{.data.${2//./\\.}}" -n herd-system)" ]; }
no_part() { [ -z "$(field "$1" "{.data.${2//./\\.}}" -n herd-system)" ]; }
bundle_of() { field "$1" '{.webhooks[0].clientConfig.caBundle}' | base64 -d; }
serial() { openssl x509 -noout -serial | cut -d= -f2 | tr A-F a-f; }
serial_in() { field "$secret" '{.data.tls\.crt}' -n herd-system | base64 -d | serial; }
shows() { openssl s_client -connect "$service_ip:$webhook_port" -servername "$name" "$@" </dev/null; }
served() { shows 2>/dev/null | serial; }
serves() { [ "$(served)" = "$1" ]; }
serves_the_newest() { serves "$(serial_in)"; }
metric() { curl -sS "http://127.0.0.1:$1/metrics" | sed -n "s/^$2 //p"; }
metric_is() { [ "$(metric "$1" "$2")" = "$3" ]; }
metric_above() { [ "$(metric "$1" "$2" | cut -d. -f1)" -gt "$3" ] 2>/dev/null; }
count_cas() { grep -c BEGIN <<<"$1" || true; }
both_believe() {
  local what
  for what in "${configurations[@]}"; do
    [ "$(count_cas "$(bundle_of "$what")")" = "$1" ] || return 1
  done
}
stack() { sed "s/name: test-stack/name: $1/" examples/test-stack.yaml; }
# takes NAME: the API server asks the webhook, and gets an answer.
takes() { stack "$1" | k apply -f - >/dev/null; }

start_api
ok k apply -f manifests/crds/
ok k apply -f manifests/namespace.yaml

row "there is nothing yet: a CA and a certificate are issued, for the Service's name"
own
eventually has_part "$secret" tls.crt
part "$secret" tls.crt "$state/first.crt"
part "$secret" ca.crt "$state/first-ca.crt"
ok openssl verify -CAfile "$state/first-ca.crt" -purpose sslserver -verify_hostname "$name" "$state/first.crt"
is "$(field "$secret" '{.type}' -n herd-system)" kubernetes.io/tls
ok openssl x509 -noout -text -in "$state/first.crt"
says "NIST CURVE: P-256"
says "DNS:$name.cluster.local"
part "$secret" tls.key "$state/first.key"
part "$ca_secret" tls.crt "$state/ca.crt"
is "$(cat "$state/ca.crt")" "$(cat "$state/first-ca.crt")"

row "the webhook serves it from the kubelet's files; its configurations come, and are told whom to believe"
start kubelet bash tests/support/kubelet.sh secret "$state/kubeconfig" "herd-system/herd-webhook-tls" "$state/certs"
eventually test -s "$state/certs/tls.crt"
start_webhook
apply_webhook_service
sed "s|port: 443|port: $webhook_port|" manifests/webhook/configuration.yaml >"$state/configuration.yaml"
ok k apply -f "$state/configuration.yaml"
eventually both_believe 1
is "$(bundle_of "${configurations[0]}")" "$(cat "$state/ca.crt")"
is "$(bundle_of "${configurations[1]}")" "$(cat "$state/ca.crt")"
eventually takes first
ok k apply -f "$state/configuration.yaml"
is "$(bundle_of "${configurations[1]}")" "$(cat "$state/ca.crt")"
rejected k apply -f examples/rejected/cycle.yaml
says "->"

row "configurations of workloads that come later are told, too"
sed "s|port: 443|port: $webhook_port|" manifests/workloads/webhook/configuration.yaml >"$state/workloads.yaml"
ok k apply -f "$state/workloads.yaml"
of_workloads_believe() {
  local what
  for what in "${configurations[@]}"; do
    [ "$(bundle_of "$what-workloads")" = "$(cat "$state/ca.crt")" ] || return 1
  done
}
eventually of_workloads_believe

row "figures and Events say so"
ok metric "$controller_metrics_port" 'herd_controller_certificate_expiry_timestamp_seconds{certificate="leaf"}'
is "${out%%.*}" "$(date -d "$(openssl x509 -noout -enddate -in "$state/first.crt" | cut -d= -f2)" +%s)"
ok metric "$controller_metrics_port" 'herd_controller_certificate_expiry_timestamp_seconds{certificate="ca"}'
is "${out%%.*}" "$(date -d "$(openssl x509 -noout -enddate -in "$state/ca.crt" | cut -d= -f2)" +%s)"
ok metric "$webhook_metrics_port" herd_webhook_certificate_expiry_timestamp_seconds
is "${out%%.*}" "$(date -d "$(openssl x509 -noout -enddate -in "$state/first.crt" | cut -d= -f2)" +%s)"
eventually metric_is "$controller_metrics_port" 'herd_controller_certificate_rotations_total{certificate="leaf"}' 1
ok k get events -A --field-selector reason=CABundleWritten
says herd-webhook

row "TLS 1.2 and 1.3 are spoken, 1.1 is not, and openssl believes the chain"
for version in tls1_2 tls1_3; do
  ok shows "-$version" -CAfile "$state/ca.crt" -verify_return_error -verify_hostname "$name"
  says "Verify return code: 0 (ok)"
done
rejected shows -tls1_1 -cipher ALL:@SECLEVEL=0
rejected shows -CAfile /dev/null -verify_return_error

if command -v go >/dev/null 2>&1; then
  row "so does Go, as an API server would"
  ok env GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local go run tests/support/tlsclient.go \
    "https://$service_ip:$webhook_port/readyz" "$state/ca.crt" "$name"
  says "200 TLS 1.3"
  rejected env GO111MODULE=off GOTOOLCHAIN=local go run tests/support/tlsclient.go \
    "https://$service_ip:$webhook_port/readyz" "$state/ca.crt" "somebody.else"
else
  echo "suite_certificates: skipped: Go's own client: go is not installed"
fi

# What the API servers believe, for clients of ours.
start bundle bash tests/support/kubelet.sh bundle "$state/kubeconfig" herd-webhook "$state/bundle.pem"
eventually test -s "$state/bundle.pem"
echo "$service_ip:$webhook_port" >"$state/endpoints"
"$bin/bench-payload" small create <examples/accepted/rag-inference-platform.yaml >"$state/review.json"

# load SECONDS: reviews from clients that check; every one is answered.
load() {
  ok "$bin/bench-rotation" "$state/endpoints" "$state/review.json" "${HERD_REVIEWS:-200}" "$1" \
    "$state/bundle.pem" "$name"
  says "failures=0 "
}

# in_time: the webhook, which looks every half second, took each certificate that stood for two seconds within two of the
# swap of its files; a busy machine may cost it a look or two.
in_time() {
  local at serial until taken
  tac "$state/kubelet.out" >"$state/swaps"
  until=$(($(date +%s%3N) + 2000))
  while read -r at serial; do
    if ((until - at >= 2000)); then
      eventually grep -qE "certificate taken.*serial=$serial" "$state/webhook.log"
      taken=$(sed -nE "s/^([^ ]+) .*certificate taken.*serial=$serial.*/\1/p" "$state/webhook.log" | head -n 1)
      taken=$(date -d "$taken" +%s%3N)
      ((taken - at <= 2000)) || wrong "serial $serial was taken $((taken - at)) ms after the swap"
    fi
    until=$at
  done <"$state/swaps"
}

row "a certificate that is deleted comes anew, by the same CA, under load: no review fails"
before=$(serial_in)
: >"$state/kubelet.out"
(sleep 1; k delete -n herd-system "$secret" >/dev/null) &
load 5
eventually serves_the_newest
[ "$(served)" != "$before" ] || wrong "no new certificate is served"
part "$secret" ca.crt "$state/again-ca.crt"
is "$(cat "$state/again-ca.crt")" "$(cat "$state/ca.crt")"
in_time

row "a CA that is lost is replaced with overlap, under load: no review fails"
(sleep 1; k delete -n herd-system "$ca_secret" >/dev/null) &
load 9
part "$ca_secret" tls.crt "$state/second-ca.crt"
[ "$(cat "$state/second-ca.crt")" != "$(cat "$state/ca.crt")" ] || wrong "the CA is the old one"
eventually serves_the_newest
eventually both_believe 1
is "$(bundle_of "${configurations[0]}")" "$(cat "$state/second-ca.crt")"
ok shows -CAfile "$state/second-ca.crt" -verify_return_error -verify_hostname "$name"
in_time

row "what people garble is fixed: caBundle, the certificate, the CA's key"
ok k patch "${configurations[0]}" --type json -p \
  '[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"bm9uc2Vuc2U="}]'
eventually both_believe 1
ok k patch -n herd-system "$secret" --type merge -p '{"data":{"tls.crt":"bm9uc2Vuc2U="}}'
eventually serves_the_newest
ok k patch -n herd-system "$ca_secret" --type merge -p '{"data":{"tls.key":""}}'
another_ca() { part "$ca_secret" tls.crt "$state/third-ca.crt" && ! cmp -s "$state/second-ca.crt" "$state/third-ca.crt"; }
eventually another_ca
eventually both_believe 1
eventually serves_the_newest
eventually takes fixed

row "a write that the API server rejects is told of by log, figure and Event, and tried again until it can be"
k delete -n herd-system "$ca_secret" >/dev/null
k create -f - >/dev/null <<YAML
apiVersion: v1
kind: Secret
metadata: {name: herd-webhook-ca, namespace: herd-system}
immutable: true
YAML
eventually metric_above "$controller_metrics_port" 'herd_controller_certificate_failures_total{step="issue CA"}' 0
ok grep -c 'no progress.*step="issue CA".*immutable' "$state/controller.log"
happened() { [[ $(k get events -n herd-system --field-selector "reason=$1") == *"$2"* ]]; }
eventually happened CertificateFailed immutable
eventually takes still-works
ok k delete -n herd-system "$ca_secret"
eventually has_part "$ca_secret" tls.key
eventually both_believe 1

row "in a reached state nothing is written"
eventually no_part "$ca_secret" previous.crt
eventually both_believe 1
versions() { k get -n herd-system "$secret" "$ca_secret" -o 'jsonpath={.items[*].metadata.resourceVersion}' && k get "${configurations[@]}" -o 'jsonpath={.items[*].metadata.resourceVersion}'; }
before=$(versions)
looked() { metric_above "$controller_metrics_port" 'herd_controller_api_requests_total{verb="get",code="200"}' "$1"; }
gets=$(metric "$controller_metrics_port" 'herd_controller_api_requests_total{verb="get",code="200"}')
eventually looked $((${gets%%.*} + 16))
is "$(versions)" "$before"

# What follows does not depend on the API server.
[ "${HERD_API:-lab}" = lab ] || exit 0

row "near its end a CA hands over to the next, leaves are renewed all the time: no review fails"
end controller
k delete -n herd-system "$secret" "$ca_secret" >/dev/null
own --webhook-certificate-lifetime 200s --webhook-certificate-renew-before 197s \
  --webhook-ca-lifetime 500s --webhook-ca-renew-before 490s
eventually has_part "$secret" tls.crt
eventually serves_the_newest
: >"$state/kubelet.out"
load 12
renewed() { [ "$(wc -l <"$state/kubelet.out")" -gt 3 ] || { out=$(cat "$state/kubelet.out") && false; }; }
eventually renewed
eventually metric_above "$controller_metrics_port" 'herd_controller_certificate_rotations_total{certificate="ca"}' 1
eventually serves_the_newest
in_time
end controller
own

row "the controller is killed at any moment of a rotation: the next one goes on, and no review fails"
k delete -n herd-system "$ca_secret" >/dev/null
(
  for pause in 0.1 0.4 1.2 2.5; do
    sleep "$pause"
    kill -KILL "$(cat "$state/controller.pid")" || true
  done
) 2>/dev/null &
killer=$!
for _ in 1 2 3 4; do
  echo "${pid_of[controller]}" >"$state/controller.pid"
  "$bin/bench-rotation" "$state/endpoints" "$state/review.json" 100 1.5 "$state/bundle.pem" "$name" \
    >"$state/killed.load" || wrong "a review failed" "$(cat "$state/killed.load")"
  alive controller || own
done 2>/dev/null
wait "$killer" || true
alive controller || own
# What is believed before the new CA is there is the old one.
eventually k get -n herd-system "$ca_secret"
eventually both_believe 1
eventually serves_the_newest
part "$ca_secret" tls.crt "$state/last-ca.crt"
is "$(bundle_of "${configurations[1]}")" "$(cat "$state/last-ca.crt")"

# Files that nobody can serve: the last good pair stays, and both probes and figures tell.
end kubelet
cp -L "$state/certs/tls.crt" "$state/good.crt"
cp -L "$state/certs/tls.key" "$state/good.key"
"$bin/herd-devca" --folder "$state/other"
head -c 200 "$state/good.crt" >"$state/half.crt"
head -c 60 "$state/good.key" >"$state/half.key"
: >"$state/empty"
good=$(served)
swapped() { bash tests/support/kubelet.sh swap "$state/certs" tls.crt="$1" tls.key="$2"; }
ready() { curl -sS "http://127.0.0.1:$webhook_metrics_port/readyz?verbose"; }
ready_says() { [[ $(ready) == *"$1"* ]]; }

# rejects WHAT CERTIFICATE KEY SAYS
rejects() {
  row "$1: the last good pair is served, readiness and figures tell"
  swapped "$2" "$3"
  eventually ready_says "$4"
  is "$(served)" "$good"
  ok ready
  says "[+]certificate ok; note:"
  says "readyz check passed"
  is "$(metric "$webhook_metrics_port" herd_webhook_certificate_rejected)" 1
  ok takes "rejects-$rows"
  swapped "$state/good.crt" "$state/good.key"
  eventually metric_is "$webhook_metrics_port" herd_webhook_certificate_rejected 0
}
rejects "a certificate that is half written" "$state/half.crt" "$state/good.key" "cut or garbled"
rejects "a key that is half written" "$state/good.crt" "$state/half.key" "cut or garbled"
rejects "a key of another certificate" "$state/good.crt" "$state/other/tls.key" "do not belong together"
rejects "an empty certificate" "$state/empty" "$state/good.key" "is empty"
rejects "an empty key" "$state/good.crt" "$state/empty" "is empty"
rejects "no files at all" "$state/none" "$state/none" "tls.crt"
