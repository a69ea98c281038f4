#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_usage.sh: bad flags, files and environment get one clear line and the documented exit code.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"

# usage CODE TEXT COMMAND...: one line on standard error that holds TEXT, and this exit code.
usage() {
  local want=$1 text=$2 code=0
  shift 2
  out=$("$@" 2>&1 >/dev/null </dev/null) || code=$?
  is "exit $code" "exit $want"
  out=$(grep -v '"level":"info"\|level=info\| info ' <<<"$out" || true)
  says "$text"
  is "$(wc -l <<<"$out") line" "1 line"
}

"$bin/herd-devca" --folder "$state/certs"
webhook=("$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0)
good=(--tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key")

row "help and version exit 0 and name the exit codes"
for program in "herd-webhook" "herd-controller" "herd-lab" "herd-devca"; do
  ok "$bin/$program" --help
  says "Exit codes"
done
ok "$bin/herd-webhook" --version

row "make help lists each target"
ok env -u MAKEFLAGS -u MAKELEVEL make -s help
is "$(wc -l <<<"$out") targets" "$(grep -cE '^[^#[:space:]]+:.*## ' Makefile) targets"
says "make test-e2e "

row "unknown flags name the nearest one"
usage 2 "did you mean --listen" "${webhook[@]}" --listne 1
usage 2 "did you mean --kubeconfig" "$bin/herd-controller" --kubeconfg x

row "a word that is no flag is named"
usage 2 "serve takes flags only, and no word 'extra'" "${webhook[@]}" extra
usage 2 "there is no command 'sreve'; did you mean serve?" "$bin/herd-webhook" sreve
usage 2 "there is no command 'x'; write serve or review" "$bin/herd-webhook" x
usage 2 "say first what to do: herd-webhook serve or review" "$bin/herd-webhook"
usage 2 "say first what to do: herd-webhook serve or review" "$bin/herd-webhook" --listen :0 serve
ok "$bin/herd-webhook" serve --help
says "Exit codes"
ok "$bin/herd-webhook" review --help
says "1 findings"

row "a value of the environment is blamed on the environment"
usage 2 "environment variable HERD_RULE_SEVERITY: Not found: \"graph.cycel\": no rule has that name (did you mean \"graph.cycle\"?)" \
  env HERD_RULE_SEVERITY=graph.cycel=warn "${webhook[@]}" "${good[@]}"
usage 2 "environment variable LOG_LEVEL: 'loud'" env LOG_LEVEL=loud "${webhook[@]}" "${good[@]}"
usage 2 "environment variable HERD_WEBHOOK_LISTEN: 'nowhere'" env HERD_WEBHOOK_LISTEN=nowhere "$bin/herd-webhook" serve "${good[@]}"
usage 2 "--rule-severity: " env HERD_RULE_SEVERITY=graph.cycle=warn "${webhook[@]}" "${good[@]}" --rule-severity x=y

row "values out of bounds say the bounds"
usage 2 "out of bounds" "${webhook[@]}" "${good[@]}" --threads 65
usage 2 "not a duration" "${webhook[@]}" "${good[@]}" --drain soon
usage 2 "debug|info|warn|error" env LOG_LEVEL=loud "${webhook[@]}" "${good[@]}"
usage 2 "is not an address and port" "$bin/herd-webhook" serve --listen nowhere "${good[@]}"

row "a certificate that cannot be used is named with what is wrong"
usage 2 "$state/none.crt" "${webhook[@]}" --tls-cert-file "$state/none.crt" --tls-key-file "$state/certs/tls.key"
usage 2 "do not belong together" "${webhook[@]}" --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/ca.key"
echo garbage >"$state/garbage.pem"
usage 2 "$state/garbage.pem" "${webhook[@]}" --tls-cert-file "$state/garbage.pem" --tls-key-file "$state/certs/tls.key"

echo token-x:y >"$state/token"
controller=("$bin/herd-controller" --rancher-url https://127.0.0.1:1 --rancher-token-file "$state/token")

row "an address of Rancher's is a host and a port, and nothing more"
for url in http://rancher.test https:// https://// rancher.test https://rancher.test/v3 'https://rancher.test?a' https://a@rancher.test; do
  usage 2 "'$url' is not an address of the form https://host[:port]" "${controller[@]}" --rancher-url "$url"
done
usage 2 "--suse-observability-url: 'http://o.test' is not an address of the form https://host[:port]" "${controller[@]}" \
  --suse-observability-url http://o.test
usage 2 "--suse-observability-url is set and --suse-observability-credentials-dir is not" "${controller[@]}" \
  --suse-observability-url https://o.test
usage 2 "--suse-observability-ca-file: " "${controller[@]}" --suse-observability-url https://o.test --suse-observability-ca-file "$state/none.pem"
usage 2 "$state/none.yaml" "${controller[@]}" --rancher-url https://rancher.test:8443/ --kubeconfig "$state/none.yaml"

row "a kubeconfig that cannot be used is named with the field"
usage 2 "$state/none.yaml" "${controller[@]}" --kubeconfig "$state/none.yaml"
echo 'clusters: [' >"$state/broken.yaml"
usage 2 "line" "${controller[@]}" --kubeconfig "$state/broken.yaml"
cat >"$state/exec.yaml" <<'EOF'
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}}]
EOF
usage 2 "exec" "${controller[@]}" --kubeconfig "$state/exec.yaml"

row "a CA that would renew without end, or sign for nobody, is rejected before it begins"
cat >"$state/nowhere.yaml" <<YAML
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: x}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
YAML
own=("${controller[@]}" --kubeconfig "$state/nowhere.yaml" --webhook-certificates own)
usage 2 "--webhook-certificate-renew-before is not shorter" "${own[@]}" --webhook-certificate-renew-before 9000h
usage 2 "--webhook-ca-renew-before is not shorter" "${own[@]}" --webhook-ca-lifetime 4320h
usage 2 "certificates would end with their CA" "${own[@]}" --webhook-ca-renew-before 100h
usage 2 "name one Secret" "${own[@]}" --webhook-secret herd-webhook-ca
usage 2 "--webhook-names: 'a b'" "${own[@]}" --webhook-names 'x.test,a b'
usage 2 "--webhook-service: 'A'" "${own[@]}" --webhook-service A
usage 2 "--webhook-certificates" "${controller[@]}" --webhook-certificates mine

row "severities of rules that do not exist are rejected"
usage 2 "no rule" "${webhook[@]}" "${good[@]}" --rule-severity no.such=deny
usage 2 'supported values: "deny", "warn", "audit", "off"' "${webhook[@]}" "${good[@]}" --rule-severity graph.cycle=loud

row "a port in use is named"
start lab "$bin/herd-lab" serve --data "$state/lab" --listen 127.0.0.1:0 --rancher-listen 127.0.0.1:0 --kubeconfig "$state/kubeconfig"
until_up lab test -e "$state/lab/ready"
# shellcheck source=/dev/null
. "$state/lab/env"
usage 2 "address in use" "$bin/herd-webhook" serve --metrics-listen 127.0.0.1:0 "${good[@]}" --listen "${HERD_LAB_SERVER#https://}"
