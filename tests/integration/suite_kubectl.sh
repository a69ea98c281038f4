#!/usr/bin/env bash
# suite_kubectl.sh: an unmodified kubectl on the lab, with no flags but --kubeconfig.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api

row "readyz answers ok"
ok k get --raw /readyz
is "$out" ok

row "a CRD is applied, established and listed with short name and category"
ok k apply -f manifests/crds/
ok k wait --for=condition=Established crd/stacks.herd.suse.com --timeout=10s
ok k api-resources --api-group=herd.suse.com
says stk
says Stack

row "the CRD applied again changes nothing"
ok k apply -f manifests/crds/
says unchanged

row "explain reads well"
# A real API server publishes a new definition's schema a moment later.
eventually k explain stack.spec.charts
says dependsOn
says "Charts"
ok k explain stack.spec.targets.selector.matchLabels
ok k explain configmap.data

row "apply, dry run, diff"
ok k apply --dry-run=server -f examples/test-stack.yaml
says "server dry run"
refused k get stack test-stack
ok k apply -f examples/test-stack.yaml
ok k diff -f examples/test-stack.yaml
# kubectl sends the list of charts again, because defaults stand in it; nothing comes of it.
before=$(field stack/test-stack '{.metadata.resourceVersion}')
ok k apply -f examples/test-stack.yaml
is "$(field stack/test-stack '{.metadata.resourceVersion}')" "$before"
sed 's/env: dev/env: test/' examples/test-stack.yaml >"$state/changed.yaml"
refused k diff -f "$state/changed.yaml"
says "+  env: test"

row "get as table, wide, yaml, name, by label and by field"
ok k get stacks
says "NAME"
says "PHASE"
says "CLUSTERS"
says "CHARTS"
says "AGE"
ok k get stacks -o wide
says READY
says MESSAGE
ok k get stk test-stack -o name
is "$out" stack.herd.suse.com/test-stack
ok k label stack test-stack team=red
ok k get stacks -l team=red -o name
is "$out" stack.herd.suse.com/test-stack
ok k get stacks -l 'team in (blue)' -o name
is "$out" ""
ok k get stacks --field-selector metadata.name=test-stack -o name
is "$out" stack.herd.suse.com/test-stack
ok k get stacks -A --chunk-size=1
ok k get herd

row "patch by merge and by JSON, annotate, edit"
ok k patch stack test-stack --type=merge -p '{"spec":{"paused":true}}'
is "$(field stack/test-stack '{.spec.paused}')" true
ok k patch stack test-stack --type=json -p '[{"op":"replace","path":"/spec/paused","value":false}]'
is "$(field stack/test-stack '{.spec.paused}')" false
ok k annotate stack test-stack note=hello
ok env KUBE_EDITOR="sed -i s/note:.hello/note:\ edited/" kubectl --kubeconfig "$state/kubeconfig" edit stack test-stack
is "$(field stack/test-stack '{.metadata.annotations.note}')" edited

row "generation grows with the spec only"
before=$(field stack/test-stack '{.metadata.generation}')
ok k annotate stack test-stack more=1
is "$(field stack/test-stack '{.metadata.generation}')" "$before"
ok k patch stack test-stack --type=merge -p '{"spec":{"paused":true}}'
is "$(field stack/test-stack '{.metadata.generation}')" $((before + 1))

row "unknown fields are refused, warned about or dropped, as kubectl asks"
sed 's/^spec:/spec:\n  nonsense: 1/' examples/test-stack.yaml >"$state/unknown.yaml"
refused k apply --validate=strict -f "$state/unknown.yaml"
says nonsense
ok k apply --validate=warn -f "$state/unknown.yaml"
says nonsense
ok k apply --validate=ignore -f "$state/unknown.yaml"
is "$(field stack/test-stack '{.spec.nonsense}')" ""

row "the schema refuses a wrong type with the field's path"
refused k patch stack test-stack --type=merge -p '{"spec":{"paused":"perhaps"}}'
says spec.paused

row "a stale write conflicts"
field stack/test-stack '{}' -o json >"$state/stale.json" 2>/dev/null || k get stack test-stack -o json >"$state/stale.json"
ok k annotate stack test-stack newer=1
refused k replace -f "$state/stale.json"
says "the object has been modified"

row "watch shows changes"
kubectl --kubeconfig "$state/kubeconfig" get stacks -w -o name >"$state/watch.out" 2>&1 &
watcher=$!
eventually grep -q test-stack "$state/watch.out"
ok k annotate stack test-stack watched=1
eventually more_than 1 test-stack "$state/watch.out"
kill "$watcher"

row "wait for a condition that is not there ends in time"
refused k wait --for=condition=Ready stack/test-stack --timeout=1s
says "timed out"

row "namespaces: made, filled, deleted with what is in them"
ok k create namespace team-a
ok k -n team-a create configmap settings --from-literal=a=b
refused k -n no-such create configmap settings --from-literal=a=b
says "not found"
ok k delete namespace team-a --wait --timeout=20s
refused k -n team-a get configmap settings

row "finalizers hold a deletion"
ok k patch stack test-stack --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
ok k delete stack test-stack --wait=false
[ -n "$(field stack/test-stack '{.metadata.deletionTimestamp}')" ] || wrong "no deletionTimestamp"
ok k patch stack test-stack --type=merge -p '{"metadata":{"finalizers":null}}'
ok k wait --for=delete stack/test-stack --timeout=10s

row "describe and events by the object's kind"
ok k create -f - <<'EOF'
apiVersion: v1
kind: Event
metadata: {name: one, namespace: default}
involvedObject: {kind: Stack, name: x, namespace: default, apiVersion: herd.suse.com/v1}
reason: Tested
message: it works
type: Normal
EOF
ok k get events --field-selector involvedObject.kind=Stack
says "it works"
ok k get events --field-selector involvedObject.kind=Pod
says_not "it works"

row "no token, no answer"
refused kubectl --kubeconfig /dev/null --server "$(api_server)" --insecure-skip-tls-verify --token wrong get ns
says "nauthorized"
