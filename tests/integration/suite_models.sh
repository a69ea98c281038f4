#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_models.sh: ModelDeployments and LLMModels: what they are made into, how many replicas an SLA gives, what Prometheus changes
# of that, and that no step is over the budget of GPUs. Nothing runs pods here: the suite makes those that count.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product
for kind in modeldeployments llmmodels; do ok k apply -f "manifests/workloads/$kind/crd.yaml"; done
until_established crd/modeldeployments.herd.suse.com crd/llmmodels.ai.example.com
scaling_is() { field_is "modeldeployment/$1" '{.status.scaling.replicas} {.status.scaling.reason}' "$2"; }
set_is() { field_is "statefulset/$1" '{.spec.replicas} {.spec.template.spec.containers[0].resources.limits.nvidia\.com/gpu}' "$2"; }
condition_is() { field_is "$1" "{.status.conditions[?(@.type==\"$2\")].status}" "$3"; }

row "the LLMModel of the seed is a StatefulSet, a Service and a ConfigMap; its short name is llm"
ok k apply -f examples/workloads/llm-model.yaml
eventually field_is llm/llama-3-70b-tutorial '{.status.children.applied}/{.status.children.desired}' 3/4
ok set_is llama-3-70b-tutorial "3 1"
is "$(field configmap/llama-3-70b-tutorial '{.data.MODEL_NAME} {.data.GPU_TYPE}')" "llama-3-70b H100"
is "$(field service/llama-3-70b-tutorial-http '{.spec.ports[0].port}')" 8000
ok k get llmmodels
ok k scale llmmodel llama-3-70b-tutorial --replicas=2
eventually set_is llama-3-70b-tutorial "2 1"
is "$(field llm/llama-3-70b-tutorial '{.status.scaling.reason}')" SpecReplicas

row "the tutorial's own LLMModel has no modelName: it is named after its model"
ok k apply -f - <<'YAML'
apiVersion: ai.example.com/v1
kind: LLMModel
metadata: {name: llama-3-70b}
spec: {replicas: 3, gpuType: H100}
YAML
eventually field_is configmap/llama-3-70b '{.data.MODEL_NAME}' llama-3-70b
ok k delete llm llama-3-70b
gone() { ! out=$(k get "$@" 2>&1) && says NotFound; }
eventually gone statefulset llama-3-70b
eventually gone service llama-3-70b-http
eventually gone configmap llama-3-70b

row "a ModelDeployment has as many replicas as its SLA needs, and its status says why"
ok k apply -f examples/workloads/model-deployment.yaml
eventually scaling_is llama-3-70b "3 Computed"
ok set_is llama-3-70b "3 4"
ok condition_is modeldeployment/llama-3-70b ScalingActive True
is "$(field modeldeployment/llama-3-70b '{.status.scaling.inputs.minThroughput} {.status.scaling.inputs.serviceRateSource}')" "50 Declared"
is "$(field modeldeployment/llama-3-70b '{.status.endpoint}')" http://llama-3-70b-http.default.svc:8000

row "the same integer comes from its stored inputs, and another one is told"
ok k get modeldeployments -o yaml
printf '%s\n' "$out" >"$state/models.yaml"
ok "$bin/herd-controller" replay "$state/models.yaml"
says "ModelDeployment default/llama-3-70b: 3 replicas, Computed: as stored"
sed 's/replicas: 3/replicas: 5/' "$state/models.yaml" >"$state/forged.yaml"
rejected "$bin/herd-controller" replay "$state/forged.yaml"
says "3 replicas, Computed; stored are 5, Computed"
rejected "$bin/herd-controller" replay "$state/none.yaml"
says none.yaml

row "more throughput needs more replicas than the budget of 16 GPUs allows"
ok k patch modeldeployment llama-3-70b --type=merge -p '{"spec":{"sla":{"minThroughput":500}}}'
eventually scaling_is llama-3-70b "4 LimitedByGPUBudget"
eventually set_is llama-3-70b "4 4"
ok condition_is modeldeployment/llama-3-70b ScalingLimited True

row "pods with more GPUs come when those that are too many have gone, so that all fit at every moment"
pod() {
  k apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata:
  name: llama-3-70b-$1
  namespace: default
  labels: {herd.suse.com/modeldeployment: llama-3-70b, app.kubernetes.io/name: model-deployment, app.kubernetes.io/instance: llama-3-70b}
spec:
  containers: [{name: model-deployment, image: i, resources: {limits: {nvidia.com/gpu: "$2"}}}]
YAML
}
for i in 0 1 2 3; do ok pod "$i" 4; done
ok k patch modeldeployment llama-3-70b --type=merge -p '{"spec":{"tensorParallelSize":8}}'
eventually set_is llama-3-70b "2 4"
ok k delete pod llama-3-70b-3 --now
ok k delete pod llama-3-70b-2 --now
eventually set_is llama-3-70b "2 8"
is "$(field statefulset/llama-3-70b '{.spec.template.spec.containers[0].args[1]}')" --tensor-parallel-size=8

row "with autoscaling the SLA gives the fewest replicas and the budget the most: two pods with 4 GPUs are still there"
ok k patch modeldeployment llama-3-70b --type=merge -p '{"spec":{"tensorParallelSize":1,"gpuBudget":40,"sla":{"minThroughput":50},"autoscaling":{"enabled":true,"maxReplicas":64}}}'
eventually field_is hpa/llama-3-70b '{.spec.minReplicas}-{.spec.maxReplicas} {.spec.scaleTargetRef.kind}' "3-34 StatefulSet"
ok k delete pods -l herd.suse.com/modeldeployment=llama-3-70b --now
eventually field_is hpa/llama-3-70b '{.spec.minReplicas}-{.spec.maxReplicas}' 3-40

row "volumes cannot be added to a StatefulSet: that is said, and they are there when it is made again"
ok k apply -f - <<'YAML'
apiVersion: herd.suse.com/v1
kind: ModelDeployment
metadata: {name: small, namespace: default}
spec: {model: m}
YAML
eventually set_is small "1 1"
ok k patch modeldeployment small --type=merge -p '{"spec":{"storage":{"enabled":true,"size":"1Gi"}}}'
eventually condition_is modeldeployment/small Accepted False
is "$(field modeldeployment/small '{.status.conditions[?(@.type=="Accepted")].message}')" \
  "spec.storage.enabled: Invalid value: true: the StatefulSet small was made without volumes, and that cannot be changed; delete the StatefulSet, and it is made again as the spec says; or put back what the spec said"
ok k delete statefulset small
eventually field_is statefulset/small '{.spec.volumeClaimTemplates[0].spec.resources.requests.storage}' 1Gi
eventually condition_is modeldeployment/small Accepted True
ok k patch modeldeployment small --type=merge -p '{"spec":{"storage":{"storageClass":"fast"}}}'
eventually condition_is modeldeployment/small Accepted False
ok k delete modeldeployment small

row "what cannot be is a finding, and what runs stays"
ok k patch modeldeployment llama-3-70b --type=merge -p '{"spec":{"tensorParallelSize":64}}'
eventually condition_is modeldeployment/llama-3-70b Accepted False
is "$(field modeldeployment/llama-3-70b '{.status.conditions[?(@.type=="Accepted")].message}')" \
  "spec.gpuBudget: Invalid value: 40: not even one replica fits, which has 64 GPUs; raise gpuBudget or lower tensorParallelSize"

unpacked=$(realpath -m "$2.tools")
# shellcheck source=tests/support/tool.sh
. tests/support/tool.sh
if tool prometheus prometheus; then
  # 40 requests per second, each of which takes 0.25 s, for the last ten minutes and the next hour.
  series() {
    local from to
    from=$(($(date +%s) - 600)) to=$(($(date +%s) + 3600))
    echo "# TYPE vllm:request_success counter"
    for ((t = from, n = 0; t < to; t += 15, n += 600)); do
      echo "vllm:request_success_total{namespace=\"default\",pod=\"measured-0\"} $n $t"
    done
    echo "# TYPE vllm:request_inference_time_seconds histogram"
    for ((t = from, n = 0; t < to; t += 15, n += 600)); do
      echo "vllm:request_inference_time_seconds_bucket{namespace=\"default\",pod=\"measured-0\",le=\"+Inf\"} $n $t"
    done
    for part in sum:150 count:600; do
      for ((t = from, n = 0; t < to; t += 15, n += ${part#*:})); do
        echo "vllm:request_inference_time_seconds_${part%:*}{namespace=\"default\",pod=\"measured-0\"} $n $t"
      done
    done
    echo "# EOF"
  }
  series >"$state/series"
  echo "global: {}" >"$state/prometheus.yaml"
  port=$((20000 + $$ % 20000))
  ok promtool tsdb create-blocks-from openmetrics --max-block-duration=2h "$state/series" "$state/tsdb"
  start_prometheus() {
    start prometheus prometheus --config.file="$state/prometheus.yaml" --storage.tsdb.path="$state/tsdb" --web.listen-address="127.0.0.1:$port"
  }

  row "with a Prometheus the measured load counts: 40 requests per second, 0.25 s each, at 4 a replica"
  start_prometheus
  end controller
  controller_flags+=("--prometheus-url=http://127.0.0.1:$port" '--prometheus-interval=1s')
  start_controller
  ok k apply -f - <<'YAML'
apiVersion: herd.suse.com/v1
kind: ModelDeployment
metadata: {name: measured, namespace: default}
spec: {model: m, sla: {maxLatency: 1s, percentile: 99, minThroughput: 1, serviceRate: 100, concurrency: 4}}
YAML
  eventually field_is modeldeployment/measured '{.status.scaling.reason} {.status.scaling.inputs.requestRateSource} {.status.scaling.inputs.serviceRateSource}' \
    "Computed Measured Measured"
  is "$(field modeldeployment/measured '{.status.scaling.inputs.requestRate} {.status.scaling.inputs.serviceRate} {.status.scaling.replicas}')" "40 16 3"
  eventually field_is statefulset/measured '{.spec.replicas}' 3

  row "a pod that is ready and not scraped keeps the decision; without it fewer are enough"
  ok k apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  name: measured-1
  namespace: default
  labels: {herd.suse.com/modeldeployment: measured, app.kubernetes.io/name: model-deployment, app.kubernetes.io/instance: measured}
spec: {containers: [{name: model-deployment, image: i}]}
YAML
  ok k patch pod measured-1 --subresource=status --type=merge -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
  ok k patch modeldeployment measured --type=merge -p '{"spec":{"sla":{"concurrency":8,"stabilizationWindow":"0s"}}}'
  eventually scaling_is measured "3 PodsNotScraped"
  is "$(field modeldeployment/measured '{.status.scaling.inputs.podsNotScraped}')" 1
  ok k delete pod measured-1 --now
  eventually scaling_is measured "2 Computed"
  ok k patch modeldeployment measured --type=merge -p '{"spec":{"sla":{"concurrency":4}}}'
  eventually scaling_is measured "3 Computed"

  row "a Prometheus that is gone keeps the decision, says so, and counts again when it is back"
  end prometheus
  eventually scaling_is measured "3 MetricsLost"
  ok condition_is modeldeployment/measured ScalingActive False
  ok field_is statefulset/measured '{.spec.replicas}' 3
  ok k get modeldeployment measured -o json
  printf '%s' "$out" | "$bin/herd-controller" replay - >"$state/replayed"
  is "$(cat "$state/replayed")" "ModelDeployment default/measured: 3 replicas, MetricsLost: as stored"
  start_prometheus
  eventually scaling_is measured "3 Computed"
fi
