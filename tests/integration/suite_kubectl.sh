#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_kubectl.sh: an unmodified kubectl on the lab, with no flags but --kubeconfig.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api

row "readyz answers ok"
ok k get --raw /readyz
is "$out" ok

row "a CRD is applied, established and listed with short name and category"
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com
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
ok k explain pod.spec.containers
says 'name	<string> -required-'
ok k explain configmap.data

row "apply, dry run, diff"
ok k apply --dry-run=server -f examples/test-stack.yaml
says "server dry run"
rejected k get stack test-stack
ok k apply -f examples/test-stack.yaml
ok k diff -f examples/test-stack.yaml
# kubectl sends the list of charts again, because defaults stand in it; nothing comes of it.
before=$(field stack/test-stack '{.metadata.resourceVersion}')
ok k apply -f examples/test-stack.yaml
is "$(field stack/test-stack '{.metadata.resourceVersion}')" "$before"
sed 's/env: dev/env: test/' examples/test-stack.yaml >"$state/changed.yaml"
rejected k diff -f "$state/changed.yaml"
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

# managers KIND/NAME: who wrote it, and how, one in a line.
managers() {
  k get "$1" --show-managed-fields -o json |
    jq -r '.metadata.managedFields[] | "\(.manager) \(.operation) \(.subresource // "")" | rtrimstr(" ")'
}

row "server-side apply creates, changes, and takes away what is said no more"
cat >"$state/ssa.yaml" <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa, labels: {team: red}}
data: {a: "1", b: "1"}
EOF
ok k apply --server-side -f "$state/ssa.yaml"
says "serverside-applied"
is "$(managers configmap/ssa)" "kubectl Apply"
is "$(k get configmap ssa -o json | jq .metadata.managedFields)" null
before=$(field configmap/ssa '{.metadata.resourceVersion}')
ok k apply --server-side -f "$state/ssa.yaml"
is "$(field configmap/ssa '{.metadata.resourceVersion}')" "$before"
ok k diff --server-side -f "$state/ssa.yaml"
sed 's/, b: "1"//' "$state/ssa.yaml" >"$state/ssa-less.yaml"
rejected k diff --server-side -f "$state/ssa-less.yaml"
says '-  b: "1"'
ok k apply --server-side -f "$state/ssa-less.yaml"
is "$(field configmap/ssa '{.data}')" '{"a":"1"}'

row "what another manager changed is a conflict, until it is forced"
ok k patch configmap ssa --type=merge -p '{"data":{"a":"2"}}' --field-manager=other
rejected k apply --server-side -f "$state/ssa.yaml"
says 'Apply failed with 1 conflict: conflict with "other" using v1'
says '.data.a'
says "--force-conflicts"
is "$(field configmap/ssa '{.data.a}')" 2
ok k apply --server-side --force-conflicts -f "$state/ssa.yaml"
is "$(field configmap/ssa '{.data.a}')" 1
is "$(managers configmap/ssa)" "kubectl Apply"

row "two appliers share what they agree on, and each takes away its own only"
ok k apply --server-side --field-manager=two -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
data: {a: "1", c: "1"}
EOF
ok k apply --server-side -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa}
EOF
is "$(field configmap/ssa '{.data}')" '{"a":"1","c":"1"}'

row "what was applied by the client becomes server-side apply without a conflict"
ok k apply -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
data: {a: "1"}
EOF
is "$(managers configmap/old)" "kubectl-client-side-apply Update"
ok k apply --server-side -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: old}
data: {a: "2"}
EOF
is "$(field configmap/old '{.data.a}')" 2

row "containers of a Deployment merge by name, ports by number and protocol"
cat >"$state/deployment.yaml" <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1", ports: [{containerPort: 80}]}
EOF
ok k apply --server-side -f "$state/deployment.yaml"
ok k set image deployment/web web=nginx:2
ok k apply --server-side --field-manager=sidecar -f - <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: proxy, image: "envoy:1"}]}}}
EOF
is "$(field deployment/web '{.spec.template.spec.containers[*].name}')" "web proxy"
rejected k apply --server-side -f "$state/deployment.yaml"
says '.spec.template.spec.containers[name="web"].image'

row "of those who updated, the oldest become one; who is not kept track of stays so until somebody applies"
ok k create configmap many --from-literal=z=1
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
  ok k patch configmap many --type=merge -p "{\"data\":{\"k$i\":\"1\"}}" --field-manager="m$i"
done
is "$(k get configmap many --show-managed-fields -o json | jq '.metadata.managedFields | length')" 10
is "$(managers configmap/many | head -n 1)" "ancient-changes Update"
ok k create configmap untracked
ok k patch configmap untracked --type=merge -p '{"data":{"a":"1"}}'
is "$(k get configmap untracked --show-managed-fields -o json | jq .metadata.managedFields)" null
ok k apply --server-side -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: untracked}
data: {b: "1"}
EOF
is "$(managers configmap/untracked)" $'kubectl Apply\nbefore-first-apply Update'

row "list maps and sets of a definition: each applier has its elements, and takes them away with what was defaulted"
ok k apply -f - <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.lists.example.com}
spec:
  group: lists.example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              one: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
              part: {type: object, properties: {a: {type: string}, b: {type: string, default: x}}}
              map:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name, port]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, port: {type: integer, default: 80}, v: {type: string}}
EOF
until_established crd/things.lists.example.com
# thing MANAGER SPEC: applied by the server.
thing() {
  printf 'apiVersion: lists.example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: %s\n' "$2" |
    k apply --server-side --field-manager="$1" -f -
}
eventually thing red '{set: [a, b], one: [a], part: {a: "1"}, map: [{name: x, v: "1"}]}'
ok thing blue '{set: [b, c], map: [{name: w, port: 81}]}'
is "$(field thing/t '{.spec.set}{.spec.map[*].name}')" '["a","b","c"]x w'
rejected thing blue '{one: [b]}'
says '.spec.one'
rejected thing blue '{map: [{name: x, v: "2"}]}'
says '.spec.map[name="x",port=80].v'
rejected thing red '{set: [a, a]}'
says 'duplicate entries for key [="a"]'
ok thing red '{set: [a]}'
is "$(k get thing t -o json | jq -cS .spec)" '{"map":[{"name":"w","port":81}],"set":["a","b","c"]}'
rejected k patch thing t --type=merge -p '{"spec":{"map":[{"name":"x"},{"name":"x"}]}}'
says 'spec.map[1]: Duplicate value: {"name":"x","port":80}'

row "kubectl's own record of what it applied follows when the server applies"
ok k create configmap recorded --save-config
ok k apply --server-side -f - <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: recorded}
data: {a: "1"}
EOF
is "$(k get configmap recorded -o json | jq -r '.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] | fromjson | .data.a')" 1

# condition EXPRESSION: a webhook that is asked about new ConfigMaps where this holds, and that nobody serves.
condition() {
  k apply -f - <<EOF
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: condition}
webhooks:
- name: condition.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  sideEffects: None
  timeoutSeconds: 1
  admissionReviewVersions: [v1]
  matchConditions: [{name: c, expression: "$1"}]
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
EOF
}
# answered TEXT: creating a ConfigMap is answered so; a real API server sees a new webhook a moment later.
answered() {
  k delete configmap asked --ignore-not-found >/dev/null
  { k create configmap asked 2>&1 || true; } | grep -F -- "$1"
}

row "a webhook's condition decides, is an error, or is rejected when it is applied"
ok condition "object.metadata.name == 'asked' && request.operation == 'CREATE'"
eventually answered 'failed calling webhook "condition.example.com"'
ok condition "object.nothing == 'x'"
eventually answered "configmaps \"asked\" is forbidden: expression 'object.nothing == 'x'' resulted in error: no such key: nothing"
ok condition "has(object.nothing) && object.nothing == 'x'"
eventually answered "configmap/asked created"
rejected condition 'nonsense('
says 'webhooks[0].matchConditions[0].expression: Invalid value: "nonsense(": compilation failed'
ok k delete validatingwebhookconfiguration condition

row "a Deployment is scaled"
ok k scale deployment/web --replicas=4
is "$(field deployment/web '{.spec.replicas}')" 4
rejected k scale deployment/web --current-replicas=3 --replicas=5
is "$(k get deployment web --subresource=scale -o 'jsonpath={.status.selector}')" app=web

row "dependents go with their owner, wait for it in the foreground, or stay as orphans"
# child NAME: a ConfigMap that the ConfigMap owner owns.
child() {
  k create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: $1
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: owner, uid: $(field configmap/owner '{.metadata.uid}')}
EOF
}
ok k create configmap owner
ok child one
ok k delete configmap owner
ok k wait --for=delete configmap/one --timeout=10s
ok k create configmap owner
ok child two
ok k delete configmap owner --cascade=foreground --wait
ok k wait --for=delete configmap/two --timeout=10s
ok k create configmap owner
ok child three
ok k delete configmap owner --cascade=orphan --wait
is "$(field configmap/three '{.metadata.ownerReferences}')" ""

row "a list is streamed up to its end"
ok k get --raw '/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1'
says '"type":"ADDED"'
says '"k8s.io/initial-events-end":"true"'

row "options of lists and watches that do not go together are rejected"
maps=/api/v1/namespaces/default/configmaps
rejected k get --raw "$maps?resourceVersionMatch=Exact"
says 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'
rejected k get --raw "$maps?resourceVersionMatch=Newest&resourceVersion=1"
says 'Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""'
rejected k get --raw "$maps?resourceVersionMatch=Exact&resourceVersion=0"
says 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
rejected k get --raw "$maps?sendInitialEvents=true"
says 'sendInitialEvents is forbidden for list'
rejected k get --raw "$maps?watch=1&resourceVersionMatch=Exact&resourceVersion=5"
says 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
rejected k get --raw "$maps?limit=many"
says 'strconv.ParseInt: parsing "many": invalid syntax'
rejected k get --raw "$maps?resourceVersion=new"
says 'invalid resource version: resourceVersion: Invalid value: "new"'
ok k get --raw "$maps?limit=1"
page=$(jq -r .metadata.continue <<<"$out")
rejected k get --raw "$maps?limit=1&continue=$page&resourceVersion=5"
says 'specifying resource version is not allowed when using continue'
ok k get --raw "$maps?limit=1&continue=$page"

row "a Stack is applied by the server, and its unknown fields are named"
sed 's/name: test-stack/name: applied/' examples/test-stack.yaml >"$state/applied.yaml"
ok k apply --server-side -f "$state/applied.yaml"
ok k apply --server-side -f "$state/applied.yaml"
sed 's/^spec:/spec:\n  nonsense: 1/' "$state/applied.yaml" >"$state/unknown-applied.yaml"
rejected k apply --server-side -f "$state/unknown-applied.yaml"
says 'failed to create typed patch object (default/applied; herd.suse.com/v1, Kind=Stack): .spec.nonsense: field not declared in schema'
ok k delete stack applied

row "unknown fields are rejected, warned about or dropped, as kubectl asks"
sed 's/^spec:/spec:\n  nonsense: 1/' examples/test-stack.yaml >"$state/unknown.yaml"
rejected k apply --validate=strict -f "$state/unknown.yaml"
says nonsense
ok k apply --validate=warn -f "$state/unknown.yaml"
says nonsense
ok k apply --validate=ignore -f "$state/unknown.yaml"
is "$(field stack/test-stack '{.spec.nonsense}')" ""

row "the schema rejects a wrong type with the field's path"
rejected k patch stack test-stack --type=merge -p '{"spec":{"paused":"perhaps"}}'
says spec.paused

row "a stale write conflicts"
field stack/test-stack '{}' -o json >"$state/stale.json" 2>/dev/null || k get stack test-stack -o json >"$state/stale.json"
ok k annotate stack test-stack newer=1
rejected k replace -f "$state/stale.json"
says "the object has been modified"

row "watch shows changes"
kubectl --kubeconfig "$state/kubeconfig" get stacks -w -o name >"$state/watch.out" 2>&1 &
watcher=$!
eventually grep -q test-stack "$state/watch.out"
ok k annotate stack test-stack watched=1
eventually more_than 1 test-stack "$state/watch.out"
kill "$watcher"

row "wait for a condition that is not there ends in time"
rejected k wait --for=condition=Ready stack/test-stack --timeout=1s
says "timed out"

row "namespaces: made, filled, deleted with what is in them"
ok k create namespace team-a
ok k -n team-a create configmap settings --from-literal=a=b
rejected k -n no-such create configmap settings --from-literal=a=b
says "not found"
ok k delete namespace team-a --wait --timeout=20s
rejected k -n team-a get configmap settings

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

# old_k ARGUMENTS...: the kubectl of HERD_OLD_KUBECTL; 1.20 is the oldest that Debian still has.
old_k() { "${HERD_OLD_KUBECTL:-kubectl}" --kubeconfig "$state/kubeconfig" --cache-dir "$state/old-cache" "$@"; }

row "an old kubectl explains, validates, tries and compares by OpenAPI v2"
sed 's/name: test-stack/name: old/' examples/test-stack.yaml >"$state/old.yaml"
published() { k get --raw /openapi/v2 | jq -e '.definitions["com.suse.herd.v1.Stack"]'; }
eventually published
ok old_k explain stack.spec.charts
says dependsOn
ok old_k apply --dry-run=server -f "$state/old.yaml"
says "server dry run"
ok old_k apply -f "$state/old.yaml"
ok old_k diff -f "$state/old.yaml"
sed 's/^spec:/spec:\n  paused: "x"/' "$state/old.yaml" >"$state/old-wrong.yaml"
rejected old_k apply -f "$state/old-wrong.yaml"
says paused
sed 's/^spec:/spec:\n  nonsense: 1/' "$state/old.yaml" >"$state/old-unknown.yaml"
rejected old_k apply -f "$state/old-unknown.yaml"
says nonsense
ok old_k delete stack old --wait=false

row "no token, no answer"
rejected kubectl --kubeconfig /dev/null --server "$(api_server)" --insecure-skip-tls-verify --token wrong get ns
says "nauthorized"
