#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# validators.sh BIN STATE: what programs of other people find: promtool in the alerts and the metrics, sslscan in the
# webhook's TLS, openapi-spec-validator in the description of the console, CycloneDX's own library in what `herd-controller
# report` prints. pyspdxtools, where it is installed, reads the SBOM in tests/image.
#
# promtool and sslscan come from Debian's packages, unpacked into STATE.tools and not installed: the package prometheus would
# start a server. Ends with 77 where there is neither. There is no Debian package of kubeconform; the manifests are applied
# to a real API server, which is stricter (tests/install).
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. tests/integration/lib.sh
suite "${1:?BIN}" "${2:?STATE}"
unpacked=$(realpath -m "$2.tools")

# shellcheck source=tests/support/tool.sh
. tests/support/tool.sh

has=''
! tool promtool prometheus || has+=' promtool'
! tool sslscan sslscan || has+=' sslscan'
# The published schema comes with the library.
python=$unpacked/cyclonedx/bin/python
if [ -x "$python" ] || { python3 -m venv "$unpacked/cyclonedx" && "$unpacked/cyclonedx/bin/pip" install -q 'cyclonedx-python-lib[json-validation]==11.12.0'; } >"$state/cyclonedx.log" 2>&1; then
  has+=' cyclonedx'
else
  echo "validators.sh: skipped: cyclonedx: its Python library cannot be had: $(tail -n 1 "$state/cyclonedx.log")"
fi
# The description of the console, by the schema of OpenAPI.
openapi=$unpacked/openapi/bin/openapi-spec-validator
if [ -x "$openapi" ] || { python3 -m venv "$unpacked/openapi" && "$unpacked/openapi/bin/pip" install -q 'openapi-spec-validator==0.9.0'; } >"$state/openapi.log" 2>&1; then
  has+=' openapi'
else
  echo "validators.sh: skipped: openapi-spec-validator: it cannot be had: $(tail -n 1 "$state/openapi.log")"
fi
[ -n "$has" ] || exit 77
controller_flags+=(--console-listen 0)

row "the lab, the webhook and the controller run"
start_lab
ok k apply -f manifests/crds/
for file in manifests/workloads/*/crd.yaml; do ok k apply -f "$file"; done
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com crd/clusterinventories.herd.suse.com \
  crd/stackscanreports.herd.suse.com
start_webhook
start_controller
ok k apply -f examples/test-stack.yaml

if [[ $has = *promtool* ]]; then
  row "promtool accepts the alerts"
  sed '1,/^spec:/d; s/^  //' manifests/monitoring/prometheusrule.yaml >"$state/rules.yaml"
  ok promtool check rules "$state/rules.yaml"
  says "SUCCESS: $(grep -c 'alert:' manifests/monitoring/prometheusrule.yaml) rules found"

  row "promtool: each alert fires on what it is for, and only then"
  cp tests/monitoring/alerts_test.yaml "$state/"
  ok promtool test rules "$state/alerts_test.yaml"
  is "$(grep -o 'alertname="Herd[A-Za-z]*"' tests/monitoring/alerts_test.yaml | sort -u | wc -l)" "$(grep -c 'alert:' manifests/monitoring/prometheusrule.yaml)"
  row "promtool accepts the alerts of releases and the queries of dashboards, and the alerts fire when they are to"
  ok promtool check rules shared/stack/observability/alerts.yaml
  ok promtool test rules tests/lint/alerts_test.yaml
  {
    echo 'groups: [{name: dashboards, rules: ['
    sed -n 's/^ *"expr": \("[^$]*.*"\),$/{record: x, expr: \1},/p' shared/stack/observability/dashboards/*.json | sed 's/\$namespace/x/g'
    echo ']}]'
  } >"$state/dashboards.yaml"
  [ "$(grep -c record "$state/dashboards.yaml")" -ge 20 ] || wrong "not all queries were found" "$(cat "$state/dashboards.yaml")"
  ok promtool check rules --lint=none "$state/dashboards.yaml"

  row "promtool finds nothing to complain of in the metrics of the webhook and the controller"
  for port in "$webhook_metrics_port" "$controller_metrics_port"; do
    ok curl -sS "http://127.0.0.1:$port/metrics" -o "$state/metrics"
    [ "$(grep -c '^# TYPE herd_' "$state/metrics")" -gt 10 ] || wrong "port $port has no metrics: $(head -n 3 "$state/metrics")"
    ok promtool check metrics <"$state/metrics"
    is "$out" ""
  done

  row "a real Prometheus scrapes both programs, and each query of the dashboard gives series"
  cat >"$state/prometheus.yaml" <<YAML
global: {scrape_interval: 1s}
scrape_configs:
  - {job_name: herd-webhook, static_configs: [{targets: ["127.0.0.1:$webhook_metrics_port"]}]}
  - {job_name: herd-controller, static_configs: [{targets: ["127.0.0.1:$controller_metrics_port"]}]}
YAML
  start prometheus prometheus --config.file "$state/prometheus.yaml" --storage.tsdb.path "$state/prometheus" --web.listen-address 127.0.0.1:0
  listens() { grep -oE 'msg="Listening on" address=127.0.0.1:[0-9]+' "$state/prometheus.log"; }
  eventually listens
  prometheus_port=$(listens | grep -oE '[0-9]+$')
  # gives_series QUERY: with a short range, because nothing has run for long.
  gives_series() {
    curl -sS --fail-with-body "http://127.0.0.1:$prometheus_port/api/v1/query" --data-urlencode "query=${1//\[5m\]/[5s]}" >"$state/series" &&
      jq -e '.data.result | length > 0' "$state/series"
  }
  while IFS= read -r query; do
    eventually gives_series "$query"
  done < <(jq -r '.panels[].targets[]?.expr' manifests/monitoring/herd-dashboard.json)
fi

if [[ $has = *cyclonedx* ]]; then
  row "CycloneDX's library accepts what herd-controller report prints"
  ok k apply -f tests/lint/scan_report.yaml
  # What it does not cover is said beside it.
  "$bin/herd-controller" report --kubeconfig "$state/kubeconfig" -n default -o cyclonedx printed \
    >"$state/printed.cdx.json" 2>"$state/report.log" || wrong "$(cat "$state/report.log")"
  grep -q 'The scans of 1 release' "$state/report.log" || wrong "$(cat "$state/report.log")"
  ok "$python" -c 'import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))' "$state/printed.cdx.json"
  is "$out" None
fi

if [[ $has = *openapi* ]]; then
  row "openapi-spec-validator accepts the description of the console"
  ok curl -sSf "http://127.0.0.1:$(port_of controller console_port)/openapi.json" -o "$state/openapi.json"
  ok "$openapi" "$state/openapi.json"
fi

if [[ $has = *sslscan* ]]; then
  row "sslscan finds TLS 1.2 and 1.3 at the webhook, AEAD ciphers with forward secrecy, and no known vulnerability"
  ok sslscan --no-colour --xml="$state/sslscan.xml" "127.0.0.1:$webhook_port"
  is "$(grep -oE '<protocol [^>]*enabled="1"' "$state/sslscan.xml" | grep -oE 'version="[0-9.]+"' | sort -u | xargs)" "version=1.2 version=1.3"
  is "$(grep '<cipher ' "$state/sslscan.xml" | grep -vE 'cipher="(TLS_|ECDHE-.*(-GCM-|POLY1305))' || true)" ""
  [ "$(grep -c '<cipher ' "$state/sslscan.xml")" -ge 3 ] || wrong "$(cat "$state/sslscan.xml")"
  is "$(grep -E '<(heartbleed [^>]*vulnerable|compression supported|renegotiation supported)="1"' "$state/sslscan.xml" || true)" ""
fi
