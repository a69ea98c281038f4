#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rotation.sh BIN: leaf and CA of Herd's own CA rotate while reviews come at a steady rate; prints reviews, failures, and the time
# from each swap of the files to the new serial. README.md says what the figures are.
#
#   ROTATION_SECONDS  how long (60)     ROTATION_REVIEWS  reviews a second (500)
#   A certificate every 5 s and a CA every ROTATION_CA_EVERY s (20), each by the controller; its waits are 3 s.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
unset HERD_GROUP
bin=${1:?BIN}
state=$(mktemp -d /var/tmp/herd-rotation.XXXXXX)
seconds=${ROTATION_SECONDS:-60} ca_every=${ROTATION_CA_EVERY:-20}
name=herd-webhook.herd-system.svc
. lab/processes.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

start_api
k apply -f manifests/crds/ -f manifests/namespace.yaml >/dev/null
sed 's|port: 443|port: 8443|' manifests/webhook/configuration.yaml | k apply -f - >/dev/null
controller_flags=(--webhook-certificates own --webhook-namespace herd-system --webhook-ca-settle 3s
  --webhook-certificate-lifetime 300s --webhook-certificate-renew-before 295s
  --webhook-ca-lifetime "$((400 + ca_every))s" --webhook-ca-renew-before 400s)
start_controller
start bundle bash tests/support/kubelet.sh bundle "$state/kubeconfig" herd-webhook "$state/bundle.pem"
start kubelet bash tests/support/kubelet.sh secret "$state/kubeconfig" herd-system/herd-webhook-tls "$state/certs"
until_true 30 "the first certificate" test -s "$state/certs/tls.crt"
until_true 30 "the first caBundle" test -s "$state/bundle.pem"
start_webhook
"$bin/bench-payload" small create <examples/accepted/rag-inference-platform.yaml >"$state/review.json"

: >"$state/kubelet.out"
code=0
echo "127.0.0.1:$webhook_port" >"$state/endpoints"
"$bin/bench-rotation" "$state/endpoints" "$state/review.json" "${ROTATION_REVIEWS:-500}" "$seconds" \
  "$state/bundle.pem" "$name" >"$state/load" || code=1
grep '^failed' "$state/load" || true

# From the swap to the webhook's word that it serves the new one; those that were gone again before it looked are left out.
while read -r at serial; do
  taken=$(sed -nE "s/^([^ ]+) .*certificate taken.*serial=$serial.*/\1/p" "$state/webhook.log" | head -n 1)
  [ -z "$taken" ] || echo $(($(date -d "$taken" +%s%3N) - at))
done <"$state/kubelet.out" | sort -n >"$state/times"
rotated() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n "s/^herd_controller_certificate_rotations_total{certificate=\"$1\"} //p"; }
tail -n 1 "$state/load"
echo "swaps=$(wc -l <"$state/kubelet.out") new_serial_ms_median=$(sed -n "$((($(wc -l <"$state/times") + 1) / 2))p" "$state/times") new_serial_ms_max=$(tail -n 1 "$state/times")" \
  "certificates_issued=$(rotated leaf) cas_promoted=$(rotated ca)"
exit $code
