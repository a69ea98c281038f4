#!/usr/bin/env bash
# suite_faults.sh: each thing that can be wrong is told by its own reason, and mends itself.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product

# stack NAME [JSON merge patch]: the test Stack under another name.
stack() {
  sed "s/test-stack/$1/g" examples/test-stack.yaml | k apply -f - >/dev/null
  [ $# = 1 ] || k patch stack "$1" --type=merge -p "$2" >/dev/null
}
reason_is() { field_has "stack/$1" '{.status.deployments[*].reason}' "$2"; }
deployed() { k wait --for=condition=Ready "stack/$1" --timeout="${deadline_s}s"; }
chart='"name":"qdrant","repo":"https://qdrant.github.io/qdrant-helm","namespace":"vector-db"'

row "a ConfigMap that is not there holds its chart, until it is"
stack no-map "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"configMapRefs\":[{\"name\":\"late\"}]}}]}}"
eventually reason_is no-map ConfigMapNotFound
ok k get events --field-selector involvedObject.name=no-map
says late
ok k create configmap late --from-literal=values.yaml='replicaCount: 2'
ok deployed no-map
ok k delete stack no-map --wait --timeout="${deadline_s}s"

row "values that are not a map are told, and mend themselves"
ok k patch configmap late --type=merge -p '{"data":{"values.yaml":"- a list"}}'
stack bad-map "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"configMapRefs\":[{\"name\":\"late\"}]}}]}}"
eventually reason_is bad-map ValuesInvalid
ok k patch configmap late --type=merge -p '{"data":{"values.yaml":"replicaCount: 1"}}'
ok deployed bad-map
ok k delete stack bad-map --wait --timeout="${deadline_s}s"

row "a chart version that does not exist is told before anything is installed"
stack no-version "{\"spec\":{\"charts\":[{$chart,\"version\":\"9.9.9\"}]}}"
eventually reason_is no-version ChartVersionNotFound
is "$(field stack/no-version '{.status.phase}')" Failed
ok k patch stack no-version --type=json -p '[{"op":"replace","path":"/spec/charts/0/version","value":"0.7.4"}]'
ok deployed no-version
ok k delete stack no-version --wait --timeout="${deadline_s}s"

row "a repository that does not answer is told, and tried again"
ok k create configmap herd-lab-faults --from-literal=a='fault=repo-down cluster=c-m-dev-cluster'
stack no-repo "{\"spec\":{\"charts\":[{\"name\":\"mlflow\",\"repo\":\"https://community-charts.github.io/helm-charts\",\"version\":\"0.7.19\"}]}}"
eventually reason_is no-repo RepoUnreachable
ok k delete configmap herd-lab-faults
ok deployed no-repo
ok k delete stack no-repo --wait --timeout="${deadline_s}s"

row "an operation that fails says why, and is tried again"
ok k create configmap herd-lab-faults --from-literal=a='fault=readiness-timeout cluster=c-m-dev-cluster release=qdrant times=1'
stack flaky "{\"spec\":{\"retry\":{\"backoff\":\"1s\"},\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually field_has stack/flaky '{.status.deployments[*].message}' "context deadline exceeded"
ok deployed flaky
ok k delete configmap herd-lab-faults
ok k delete stack flaky --wait --timeout="${deadline_s}s"

row "a cluster that disconnects is told; when it is back the Stack goes on"
ok k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-dev-cluster'
stack cut-off "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually reason_is cut-off ClusterUnreachable
ok k delete configmap herd-lab-faults
ok deployed cut-off

row "a deletion waits for a cluster that is cut off, and says how to let go"
ok k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-dev-cluster'
eventually field_is clusters.management.cattle.io/c-m-dev-cluster '{.status.conditions[?(@.type=="Connected")].status}' False
ok k delete stack cut-off --wait=false
eventually field_has stack/cut-off '{.status.message}' abandon-clusters
ok k delete configmap herd-lab-faults
ok k wait --for=delete stack/cut-off --timeout="${deadline_s}s"

row "somebody else's release in the way is never touched"
stack first "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
ok deployed first
stack second "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually reason_is second ReleaseConflict
ok k delete stack second --wait --timeout="${deadline_s}s"
ok down c-m-dev-cluster -n vector-db get apps.catalog.cattle.io qdrant -o 'jsonpath={.spec.version}'
is "$out" 1
ok k delete stack first --wait --timeout="${deadline_s}s"
