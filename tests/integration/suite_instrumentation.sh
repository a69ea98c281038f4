#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_instrumentation.sh: where the OpenTelemetry operator is, Herd keeps an Instrumentation for each Stack in the namespaces of its
# releases, and the status says whether Jaeger has traces of the releases that opted in.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
cat >"$state/clusters.yaml" <<'YAML'
clusters:
- {id: c-m-a, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
- {id: c-m-b, labels: {env: lab}, nodes: 2, gpus: 4, monitoring: true}
YAML
lab_flags+=(--simulation "$state/clusters.yaml")
start_product
. tests/integration/monitoring.sh

instrumentation() { down "$1" -n shop get instrumentation "herd-default.$2" -o "jsonpath=$3"; }
endpoint_is() { [ "$(instrumentation "$1" "$2" '{.spec.exporter.endpoint}')" = "$3" ]; }
# operator CLUSTER: the kind that the OpenTelemetry operator serves.
operator() {
  ok down "$1" apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: instrumentations.opentelemetry.io}
spec:
  group: opentelemetry.io
  scope: Namespaced
  names: {plural: instrumentations, singular: instrumentation, kind: Instrumentation, listKind: InstrumentationList}
  versions:
  - {name: v1alpha1, served: true, storage: true,
     schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
YAML
}
# takes CLUSTER NAME PORT: a Service in the namespace tracing.
takes() {
  ok down "$1" apply -f - <<YAML
apiVersion: v1
kind: Service
metadata: {name: $2, namespace: tracing}
spec: {ports: [{name: p$3, port: $3}]}
YAML
}
traced() { ok down "$1" -n tracing annotate service jaeger --overwrite "lab.herd.suse.com/traced-services=$2"; }

row "without the operator nothing is said of traces"
stack shop '{selector: {matchLabels: {env: lab}}}'
eventually condition_is shop True/PrometheusActive
is "$(seen shop tracesCollected)" ""

row "where the operator is and nothing takes traces, the condition says what to install"
operator c-m-a
eventually condition_is shop False/NoTraceEndpoint
condition shop message | grep -q '^cluster c-m-a: the OpenTelemetry operator is there, but no Service that takes traces: set otel' ||
  wrong "$(condition shop message)"
gone c-m-a -n shop get instrumentation herd-default.shop || wrong "it is there"

row "a collector is enough for an Instrumentation, which the releases own"
ok down c-m-a create namespace tracing
takes c-m-a collector 4318
eventually endpoint_is c-m-a shop http://collector.tracing.svc:4318
eventually condition_is shop True/PrometheusActive
user down c-m-a -n shop get instrumentations
is "$(instrumentation c-m-a shop '{.spec.sampler.type}/{.spec.sampler.argument}/{.spec.propagators[*]}')" "parentbased_traceidratio/0.1/tracecontext baggage"
is "$(instrumentation c-m-a shop '{.spec.resource.resourceAttributes.herd\.stack}')" default/shop
is "$(instrumentation c-m-a shop '{.metadata.ownerReferences[0].uid}')" "$(down c-m-a -n shop get app shop-web -o 'jsonpath={.metadata.uid}')"

row "the gateway of the agent of SUSE Observability is better"
takes c-m-a suse-observability-agent-otel-telemetry-gateway 4318
eventually endpoint_is c-m-a shop http://suse-observability-agent-otel-telemetry-gateway.tracing.svc:4318

row "the ratio is the Stack's, and what somebody deletes comes back"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"tracing":{"samplingRatio":0.5}}}}'
ratio_is() { [ "$(instrumentation c-m-a shop '{.spec.sampler.argument}')" = "$1" ]; }
eventually ratio_is 0.5
ok down c-m-a -n shop delete instrumentation herd-default.shop
eventually ratio_is 0.5

row "another Stack has one of its own there; one of somebody else stays, and the condition names it"
ok down c-m-a -n shop create -f - <<'YAML'
apiVersion: opentelemetry.io/v1alpha1
kind: Instrumentation
metadata: {name: herd-default.other, namespace: shop}
spec: {exporter: {endpoint: "http://theirs:4318"}}
YAML
stack other '{clusterIds: [c-m-a]}'
eventually condition_is other Unknown/MonitoringUnreadable
condition other message | grep -q '^cluster c-m-a: Instrumentation shop/herd-default.other is there already and lacks the label' ||
  wrong "$(condition other message)"
ok endpoint_is c-m-a other http://theirs:4318
ok down c-m-a -n shop delete instrumentation herd-default.other
eventually endpoint_is c-m-a other http://suse-observability-agent-otel-telemetry-gateway.tracing.svc:4318
ok ratio_is 0.5
ok k delete stack other --timeout="${deadline_s}s"
eventually gone c-m-a -n shop get instrumentation herd-default.other

row "whether traces arrive is known once there is a Jaeger and a pod opted in"
takes c-m-a jaeger 16686
traced c-m-a ""
ok down c-m-a -n shop annotate pods --overwrite -l app.kubernetes.io/instance=shop-web instrumentation.opentelemetry.io/inject-python=herd-default.shop
eventually seen_is shop tracesCollected false
ok condition_is shop True/PrometheusActive
is "$(condition shop message)" "metrics of 2 releases are collected; traces of 0 of the 1 releases that opted in arrive, and none of release shop-web on c-m-a"
traced c-m-a "shop-web somebody-elses"
eventually seen_is shop tracesCollected true
is "$(condition shop message)" "metrics of 2 releases are collected; traces of 1 release arrive"

row "a Jaeger that does not answer is not taken for one without traces"
ok down c-m-a -n tracing annotate service jaeger lab.herd.suse.com/traced-services-
eventually condition_is shop Unknown/MonitoringUnreadable
condition shop message | grep -q '^cluster c-m-a: Jaeger does not say which services it knows: ' || wrong "$(condition shop message)"
is "$(seen shop tracesCollected)" ""
traced c-m-a shop-web
eventually seen_is shop tracesCollected true

row "without tracing the Instrumentation goes, and so it does with observability and with the Stack"
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"tracing":{"enabled":false}}}}'
eventually gone c-m-a -n shop get instrumentation herd-default.shop
eventually seen_is shop tracesCollected ""
user k patch stack shop --type=merge -p '{"spec":{"observabilityProfile":{"tracing":{"enabled":true}}}}'
eventually ratio_is 0.5
user k patch stack shop --type=merge -p '{"spec":{"observability":"disabled"}}'
eventually gone c-m-a -n shop get instrumentation herd-default.shop
user k patch stack shop --type=merge -p '{"spec":{"observability":"enabled"}}'
eventually ratio_is 0.5

row "a Stack that leaves a cluster takes it along"
user k patch stack shop --type=merge -p '{"spec":{"targets":{"selector":null,"clusterIds":["c-m-b"]}}}'
eventually gone c-m-a -n shop get instrumentation herd-default.shop
