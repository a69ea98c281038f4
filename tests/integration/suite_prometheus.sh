#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_prometheus.sh: a real Prometheus takes Herd's query and rules as the lab's simulated one does, and
# answers those of the dashboards. It scrapes what the lab exports, and holds the series of tests/monitoring; the lab's
# proxy leads to it. Skipped where neither the program `prometheus` nor its Debian package is to be had.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
unpacked=$(realpath -m "$2.tools")
# shellcheck source=tests/support/tool.sh
. tests/support/tool.sh
tool prometheus prometheus || exit 77
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, nodes: 2, gpus: 4, monitoring: true}
YAML
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
seen_is() { field_is stack/shop "{.status.observability.$1}" "$2"; }
entry_is() { field_is stack/shop "{.status.deployments[0].$1}" "$2"; }
condition_is() { field_is stack/shop '{.status.conditions[?(@.type=="ObservabilityConfigured")].reason}' "$1"; }

row "a release with GPUs runs, and the simulated Prometheus reports it"
cat >"$state/shop.yaml" <<'YAML'
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: shop, namespace: default}
spec:
  observability: enabled
  observabilityProfile: {scrapeInterval: 1s, dashboards: [ai-workloads, herd-gpu, herd-inference, herd-platform, herd-vector-db]}
  targets: {clusterIds: [c-m-a]}
  charts:
  - {name: model, chart: ollama, repo: https://otwld.github.io/ollama-helm, version: 0.60.0, releaseName: model, namespace: shop,
     values: {inline: {resources: {limits: {nvidia.com/gpu: 2}}}}}
YAML
user k apply -f "$state/shop.yaml"
eventually seen_is alertsConfigured 16
eventually seen_is dashboardsAvailable 5
ok entry_is gpuUtilization 75%
pod=$(down c-m-a -n shop get pods -l app.kubernetes.io/instance=model -o 'jsonpath={.items[0].metadata.name}')

row "a real Prometheus takes its place, with the rules that Herd applied"
rancher=${HERD_LAB_RANCHER_URL#https://}
port=$((20000 + $$ % 20000))
mkdir "$state/rules"
ok down c-m-a -n shop get prometheusrule herd-model -o 'jsonpath={.spec}'
echo "$out" >"$state/rules/herd-model.yaml"
printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/scrape-token"
# targets RELEASE: the pod, if it is to be scraped.
targets() {
  printf '[{"targets": ["%s"], "labels": {"namespace": "shop", "pod": "%s", "__param_release": "model"}}]' "$rancher" "$pod" >"$state/pods.json"
}
targets
cat >"$state/prometheus.yaml" <<YAML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules/*.yaml]
scrape_configs:
- job_name: gpus
  scheme: https
  metrics_path: /lab/exporter/c-m-a
  authorization: {credentials_file: scrape-token}
  tls_config: {ca_file: $(realpath "$HERD_LAB_RANCHER_CA")}
  static_configs: [{targets: ["$rancher"], labels: {namespace: gpu-operator, pod: nvidia-dcgm-exporter-x7k2p}}]
- job_name: pods
  scheme: https
  metrics_path: /lab/exporter/c-m-a
  authorization: {credentials_file: scrape-token}
  tls_config: {ca_file: $(realpath "$HERD_LAB_RANCHER_CA")}
  file_sd_configs: [{files: [pods.json], refresh_interval: 1s}]
YAML
filled=$(date +%s)
ok sh tests/monitoring/backfill.sh "$state/tsdb" "$filled"
start prometheus prometheus --config.file="$state/prometheus.yaml" --storage.tsdb.path="$state/tsdb" --web.listen-address="127.0.0.1:$port"
# Of the jobs above: series.txt has an "up", too.
up() { [ "$(curl -sS "http://127.0.0.1:$port/api/v1/query" --data-urlencode 'query=up{job=~"gpus|pods"}' | grep -o '"1"\]' | wc -l)" = 2 ]; }
eventually up
ok down c-m-a -n shop annotate pods "$pod" lab.herd.suse.com/gpu-utilization=100
ok down c-m-a -n cattle-monitoring-system annotate prometheus rancher-monitoring-prometheus "lab.herd.suse.com/prometheus=127.0.0.1:$port"

row "it answers every query of Herd's dashboards with series, where what they are made of is there"
# answers QUERY [TIME]: not an error, and not empty.
answers() {
  out=$(curl -sS "http://127.0.0.1:$port/api/v1/query" -d "time=${2:-}" --data-urlencode "query=$1")
  [[ $out = '{"status":"success"'*'"result":[{'* ]] || { echo "$1: $out" && return 1; }
}
for uid in ai-workloads herd-gpu herd-inference herd-platform herd-vector-db; do
  down c-m-a -n cattle-dashboards get configmap "herd-dashboard-$uid" -o "jsonpath={.data.herd-$uid\.json}" >"$state/$uid.json"
  sed -n 's/^ *"expr": "\(.*\)",$/\1/p' "$state/$uid.json" | sed 's/\\"/"/g; s/\$namespace/shop|gpu-operator/g' >"$state/$uid.queries"
  is "$(wc -l <"$state/$uid.queries")" "$(grep -c '"expr"' "$state/$uid.json")"
  while read -r query; do
    ok answers "$query" "$filled"
  done <"$state/$uid.queries"
done

row "and with those that the lab exports, as they are scraped"
grep -hE '[( ]up\{[^=]*=~|\(DCGM_FI_DEV_GPU_UTIL' "$state"/*.queries | grep -ve '== 0' -e '^count(DCGM' | sort -u >"$state/now.queries"
[ "$(wc -l <"$state/now.queries")" -ge 4 ] || wrong "not all queries were found" "$(cat "$state/now.queries")"
while read -r query; do
  eventually answers "$query"
done <"$state/now.queries"

row "it answers Herd's query: targets, and the average of the GPUs whose owner the scrape renamed"
busier() { [ "$(field stack/shop '{.status.deployments[0].gpuUtilization}' | tr -d %)" -ge 90 ]; }
eventually busier
# Where the machine is busy a scrape takes longer than its interval, and a target is down until the next one.
eventually condition_is PrometheusActive
eventually entry_is observabilityMetrics Active
eventually seen_is alertsConfigured 16

row "a target that is down there is Inactive here"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=target-down release=model'
eventually condition_is MetricsMissing
eventually entry_is observabilityMetrics Inactive
ok lab_k delete configmap herd-lab-faults
eventually condition_is PrometheusActive

row "rules that it has not loaded do not count"
rm "$state/rules/herd-model.yaml"
kill -HUP "${pid_of[prometheus]}"
eventually seen_is alertsConfigured 0

row "a Prometheus that is gone is told so, and nothing else is"
end prometheus
eventually condition_is MonitoringUnreadable
is "$(field stack/shop '{.status.deployments[0].gpuUtilization}{.status.observability.alertsConfigured}')" ""
