#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_faults.sh: each thing that can be wrong is told by its own reason, and fixes itself.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_product

# stack NAME [JSON merge patch]: the test Stack under another name. Patched before it is applied: what was installed of the
# test Stack itself would wait for what takes its place.
stack() {
  sed "s/test-stack/$1/g" examples/test-stack.yaml | k patch --local -f - --type=merge -p "${2:-{\}}" -o yaml | k apply -f - >/dev/null
}
reason_is() { field_has "stack/$1" '{.status.deployments[*].reason}' "$2"; }
deployed() { k wait --for=condition=Ready "stack/$1" --timeout="${deadline_s}s"; }
# fault_hits N: the fault struck that often.
fault_hits() { counters | grep -q "\"hits\":$1"; }
chart='"name":"qdrant","repo":"https://qdrant.github.io/qdrant-helm","namespace":"vector-db"'

row "a ConfigMap that is not there holds its chart, until it is"
stack no-map "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"configMapRefs\":[{\"name\":\"late\"}]}}]}}"
eventually reason_is no-map ConfigMapNotFound
ok k get events --field-selector involvedObject.name=no-map
says late
ok k create configmap late --from-literal=values.yaml='replicaCount: 2'
ok deployed no-map
ok k delete stack no-map --wait --timeout="${deadline_s}s"

row "values that are not a map are told, and fix themselves"
ok k patch configmap late --type=merge -p '{"data":{"values.yaml":"- a list"}}'
stack bad-map "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"configMapRefs\":[{\"name\":\"late\"}]}}]}}"
eventually reason_is bad-map ValuesInvalid
ok k patch configmap late --type=merge -p '{"data":{"values.yaml":"replicaCount: 1"}}'
ok deployed bad-map
ok k delete stack bad-map --wait --timeout="${deadline_s}s"

row "of more ConfigMaps than are watched one by one, a change of the last and a new one are seen"
refs=
for n in 1 2 3 4 5 6 7 8 9; do
  ok k create configmap "many-$n" --from-literal=values.yaml="n$n: 1"
  refs=$refs${refs:+,}'{"name":"many-'$n'"}'
done
stack many "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"configMapRefs\":[$refs,{\"name\":\"many-new\"}]}}]}}"
eventually reason_is many ConfigMapNotFound
ok k create configmap many-new --from-literal=values.yaml='replicaCount: 2'
ok deployed many
revision_is() { [ "$(field stack/many '{.status.deployments[0].revision}')" = "$1" ]; }
ok k patch configmap many-9 --type=merge -p '{"data":{"values.yaml":"n9: 2"}}'
eventually revision_is 2
ok deployed many
ok k delete stack many --wait --timeout="${deadline_s}s"

row "a label that values use holds the cluster that lacks it, and a change of it upgrades there alone"
# of CLUSTER MEMBER: of the release on that cluster.
of() { field stack/by-label "{.status.deployments[?(@.clusterId==\"$1\")].$2}"; }
of_is() { [ "$(of "$1" "$2")" = "$3" ]; }
ok k label clusters.management.cattle.io c-m-gpu01 site=a
ok k create secret generic keys-c-m-gpu01 --from-literal=values.yaml='apiKey: hunter22'
ok k create secret generic keys-c-m-dev-cluster --from-literal=values.yaml='apiKey: hunter33'
stack by-label "{\"spec\":{\"targets\":{\"selector\":null,\"clusterIds\":[\"c-m-dev-cluster\",\"c-m-gpu01\"]},
  \"charts\":[{$chart,\"version\":\"0.7.4\",\"releaseName\":\"by-label\",\"values\":{\"inline\":{\"site\":\"\${cluster.labels.site}\"},
  \"secretRefs\":[{\"name\":\"keys-\${cluster.id}\"}]}}]}}"
eventually of_is c-m-gpu01 status Deployed
eventually of_is c-m-dev-cluster reason ValuesInvalid
case $(of c-m-dev-cluster message) in
  *'${cluster.labels.site}, and cluster c-m-dev-cluster'*'add the label'*) ;;
  *) wrong "does not say so" "$(of c-m-dev-cluster message)" ;;
esac
ok k label clusters.management.cattle.io c-m-dev-cluster site=b
ok deployed by-label
ok k label clusters.management.cattle.io c-m-dev-cluster site=c --overwrite
eventually of_is c-m-dev-cluster revision 2
ok deployed by-label
is "$(of c-m-gpu01 revision)" 1
rejected k patch stack by-label --type=merge -p '{"spec":{"overrides":[{"clusterIds":["c-m-gpu01"],"charts":[{"name":"qdrant","values":{"replicas":1}}]}]}}'
says "spec.overrides[0].charts[0].values.replicas"
says "put the chart's own values under values.inline"
ok k delete stack by-label --wait --timeout="${deadline_s}s"
ok k label clusters.management.cattle.io c-m-gpu01 c-m-dev-cluster site-
ok k delete secret keys-c-m-gpu01 keys-c-m-dev-cluster

row "a chart version that does not exist is told before anything is installed"
stack no-version "{\"spec\":{\"charts\":[{$chart,\"version\":\"9.9.9\"}]}}"
eventually reason_is no-version ChartVersionNotFound
is "$(field stack/no-version '{.status.phase}')" Failed
ok k patch stack no-version --type=json -p '[{"op":"replace","path":"/spec/charts/0/version","value":"0.7.4"}]'
ok deployed no-version
ok k delete stack no-version --wait --timeout="${deadline_s}s"

row "a version that was published after the index was downloaded is found, once the controller had it downloaded anew"
repo=herd-$(printf https://qdrant.github.io/qdrant-helm | sha256sum | cut -c 1-10)
ok lab_k create configmap herd-lab-faults --from-literal=a="fault=repo-old cluster=c-m-dev-cluster repo=$repo times=1"
stack published "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.6\"}]}}"
ok deployed published
eventually fault_hits 1
ok lab_k delete configmap herd-lab-faults
end controller # another one knows not how old an index is
start_controller
is_refreshed() { down c-m-dev-cluster get "clusterrepos/$repo" -o 'jsonpath={.spec.forceUpdate}' | grep :; }
rejected is_refreshed
ok k patch stack published --type=json -p '[{"op":"replace","path":"/spec/charts/0/version","value":"0.8.0"}]'
ok deployed published
ok is_refreshed
is "$(k get events --field-selector involvedObject.name=published,reason=ChartVersionNotFound -o name)" ""
ok k delete stack published --wait --timeout="${deadline_s}s"

row "a repository that does not answer is told, and tried again"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=repo-down cluster=c-m-dev-cluster'
stack no-repo "{\"spec\":{\"charts\":[{\"name\":\"mlflow\",\"repo\":\"https://community-charts.github.io/helm-charts\",\"version\":\"0.7.19\"}]}}"
eventually reason_is no-repo RepoUnreachable
ok lab_k delete configmap herd-lab-faults
ok deployed no-repo
ok k delete stack no-repo --wait --timeout="${deadline_s}s"

row "a fault of the lab that there is not is rejected with those that there are"
rejected lab_k create configmap herd-lab-faults --from-literal=a='fault=nonsens'
says 'data[a]: Invalid value: "fault=nonsens": there is no fault "nonsens"; use one of slow, '
rejected lab_k create configmap herd-lab-faults --from-literal=a='fault=slwo'
says 'did you mean "slow"?'

row "an operation that fails says why, and is tried again"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=readiness-timeout cluster=c-m-dev-cluster release=qdrant times=1'
stack flaky "{\"spec\":{\"retry\":{\"backoff\":\"5s\"},\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually field_has stack/flaky '{.status.deployments[*].message}' "context deadline exceeded"
ok deployed flaky
ok lab_k delete configmap herd-lab-faults
ok k delete stack flaky --wait --timeout="${deadline_s}s"

row "an upgrade that waited in vain is told by the pods that kept it waiting"
# Admission sees no values of ConfigMaps; it rejects a Stack that asks this cluster for GPUs inline.
ok k create configmap hungry --from-literal=values.yaml='{resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}}'
stack hungry "{\"spec\":{\"retry\":{\"backoff\":\"1m\"},\"charts\":[{$chart,\"version\":\"0.7.4\",\"timeout\":\"60s\",\"wait\":true,
  \"values\":{\"configMapRefs\":[{\"name\":\"hungry\"}]}}]}}"
eventually field_has stack/hungry '{.status.deployments[*].message}' "Insufficient nvidia.com/gpu; context deadline exceeded"
ok k delete stack hungry --wait --timeout="${deadline_s}s"

row "a storm of 429 uses up no attempt: with onFailure Stop a Stack goes on when it is over"
stack anchor "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"releaseName\":\"anchor\"}]}}"
ok deployed anchor
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=too-many cluster=c-m-dev-cluster'
stack storm "{\"spec\":{\"onFailure\":\"Stop\",\"charts\":[{$chart,\"version\":\"0.7.4\",\"releaseName\":\"storm\"}]}}"
eventually reason_is storm TooManyRequests
eventually field_is stack/storm '{.status.phase} {.status.conditions[?(@.type=="Stalled")].status}' "Pending False"
eventually field_has stack/storm '{.status.message}' "HTTP 429"
ok lab_k delete configmap herd-lab-faults
ok deployed storm
is "$(k get events --field-selector involvedObject.name=storm -o json | grep -c InstallFailed)" 0

row "nor does an upgrade that does not reach the cluster's agent"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=agent-booting cluster=c-m-dev-cluster'
ok k patch stack storm --type=merge -p "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"releaseName\":\"storm\",\"values\":{\"inline\":{\"replicaCount\":2}}}]}}"
eventually reason_is storm RancherUnavailable
eventually field_has stack/storm '{.status.deployments[*].message}' "revision 1 of before is still running"
ok lab_k delete configmap herd-lab-faults
ok deployed storm

row "a ClusterRepo that somebody disabled is named, with what to do"
ok down c-m-dev-cluster patch "clusterrepos/$repo" --type=merge -p '{"spec":{"enabled":false}}'
ok k patch stack storm --type=merge -p "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.6\",\"releaseName\":\"storm\"}]}}"
eventually reason_is storm RepoUnusable
eventually field_has stack/storm '{.status.deployments[*].message}' \
  "ClusterRepo $repo on c-m-dev-cluster is disabled (spec.enabled: false); enable it"
ok down c-m-dev-cluster patch "clusterrepos/$repo" --type=merge -p '{"spec":{"enabled":true}}'
ok deployed storm

row "a ClusterRepo of Herd's stays while another Stack uses it, and goes with the last one; others stay"
ok k delete stack storm --wait --timeout="${deadline_s}s"
ok down c-m-dev-cluster get "clusterrepos/$repo"
ok k delete stack anchor --wait --timeout="${deadline_s}s"
rejected down c-m-dev-cluster get "clusterrepos/$repo"
says NotFound
ok down c-m-dev-cluster get clusterrepos -o name
says rancher-charts
says_not herd-

row "an answer that is lost is found out about, and nothing is installed twice"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=lost-response cluster=c-m-dev-cluster times=1'
stack lost "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"releaseName\":\"lost-answer\"}]}}"
ok deployed lost
eventually fault_hits 1
counters | grep -q '"release":"lost-answer","install":0,"upgrade":1,' || wrong "not installed once" "$(counters)"
ok lab_k delete configmap herd-lab-faults
ok k delete stack lost --wait --timeout="${deadline_s}s"

row "a cluster that disconnects is told; when it is back the Stack goes on"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-dev-cluster'
stack cut-off "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually reason_is cut-off ClusterUnreachable
ok lab_k delete configmap herd-lab-faults
ok deployed cut-off

row "a deletion waits for a cluster that is cut off, and says how to let go"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-dev-cluster'
eventually field_is clusters.management.cattle.io/c-m-dev-cluster '{.status.conditions[?(@.type=="Connected")].status}' False
ok k delete stack cut-off --wait=false
eventually field_has stack/cut-off '{.status.message}' abandon-clusters
eventually told cut-off Warning ClusterUnreachable 'abandon it with the annotation herd.suse.com/abandon-clusters: "c-m-dev-cluster"'
ok lab_k delete configmap herd-lab-faults
ok k wait --for=delete stack/cut-off --timeout="${deadline_s}s"

row "a cluster that a Stack is told to leave is named, with what stays there"
stack let-go "{\"spec\":{\"charts\":[{${chart/vector-db/let-go},\"version\":\"0.7.4\"}]}}"
ok deployed let-go
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=disconnected cluster=c-m-dev-cluster'
ok k annotate stack let-go herd.suse.com/abandon-clusters=c-m-dev-cluster
ok k delete stack let-go --wait --timeout="${deadline_s}s"
eventually told let-go Warning ClusterAbandoned "c-m-dev-cluster (qdrant): left out by the annotation"
rejected told let-go Normal Uninstalled qdrant
ok lab_k delete configmap herd-lab-faults

row "a first install and an upgrade that were left pending are freed, and tried again"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=pod-killed cluster=c-m-dev-cluster release=qdrant times=1'
stack killed "{\"spec\":{\"retry\":{\"backoff\":\"1s\"},\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
ok deployed killed
ok lab_k delete configmap herd-lab-faults
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=pod-killed cluster=c-m-dev-cluster release=qdrant times=1'
ok k patch stack killed --type=merge -p "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"inline\":{\"replicaCount\":2}}}]}}"
revision_is() {
  [ "$(down c-m-dev-cluster -n vector-db get secret "sh.helm.release.v1.qdrant.v$1" \
    -o 'jsonpath={.metadata.labels.status}')" = "$2" ]
}
eventually revision_is 2 pending-upgrade
eventually revision_is 2 deployed
rejected down c-m-dev-cluster -n vector-db get secret sh.helm.release.v1.qdrant.v3
eventually deployed killed
ok lab_k delete configmap herd-lab-faults
ok k delete stack killed --wait --timeout="${deadline_s}s"

row "somebody else's release in the way is never touched"
stack first "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
ok deployed first
stack second "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually reason_is second ReleaseConflict
ok k delete stack second --wait --timeout="${deadline_s}s"
ok down c-m-dev-cluster -n vector-db get apps.catalog.cattle.io qdrant -o 'jsonpath={.spec.version}'
is "$out" 1
ok k delete stack first --wait --timeout="${deadline_s}s"

# canary TEXT: nobody who reads what Herd tells reads a Secret's value, nor its base64.
canary() {
  local told=$state/told.txt encoded port
  encoded=$(base64 -w 0 <<<"$1" | cut -c 1-12)
  {
    k get stacks,events -A -o json
    cat "$state/controller.log" "$state/controller.out" "$state/webhook.log" "$state/webhook.out"
    for port in "$controller_metrics_port" "$webhook_metrics_port"; do
      curl -fsS "http://127.0.0.1:$port/metrics"
    done
  } >"$told"
  is "$(grep -cF -e "$1" -e "$encoded" "$told") hits" "0 hits"
}
values_ref="{\"spec\":{\"retry\":{\"backoff\":\"1s\"},\"charts\":[{$chart,\"version\":\"0.7.4\",\"values\":{\"secretRefs\":[{\"name\":\"keys\"}]}}]}}"

row "a chart that quotes a Secret's value in its failure does not get it into anything that is shown"
ok k create secret generic keys --from-literal=values.yaml='apiKey: canary-4711-in-the-mine'
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=values-told cluster=c-m-dev-cluster release=qdrant times=2'
stack echo "$values_ref"
eventually field_has stack/echo '{.status.deployments[*].message}' "these values will not do"
eventually field_has stack/echo '{.status.deployments[*].message}' "[secret]"
ok deployed echo
canary canary-4711-in-the-mine
ok lab_k delete configmap herd-lab-faults
ok k delete stack echo --wait --timeout="${deadline_s}s"
canary canary-4711-in-the-mine

row "nor does a Rancher that quotes it in a rejection"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=values-rejected cluster=c-m-dev-cluster release=qdrant times=2'
stack rejected "$values_ref"
eventually field_has stack/rejected '{.status.deployments[*].message}' "[secret]"
ok deployed rejected
canary canary-4711-in-the-mine
ok lab_k delete configmap herd-lab-faults

row "the annotation on the release says nothing of a Secret's content, and changes with it"
hash() {
  down c-m-dev-cluster -n vector-db get apps.catalog.cattle.io qdrant \
    -o 'jsonpath={.spec.chart.metadata.annotations.herd\.suse\.com/spec-hash} {.spec.version}'
}
hash_is_not() { [ "$(hash)" != "$1" ]; }
before=$(hash)
out=$before
says sha256-refs:
ok k patch secret keys --type=merge -p "{\"data\":{\"values.yaml\":\"$(base64 -w 0 <<<'apiKey: another-canary')\"}}"
eventually hash_is_not "$before"
ok deployed rejected

row "a key that a Secret lacks is named, those that it has are not"
ok k create secret generic other --from-literal=canary-key-0815=x
ok k patch stack rejected --type=merge -p "${values_ref//keys/other}"
eventually field_has stack/rejected '{.status.deployments[*].message}' "has no key values.yaml"
canary canary-key-0815
ok k delete stack rejected --wait --timeout="${deadline_s}s"

row "all lines of Helm's error are told, and a first install is called one"
ok lab_k create configmap herd-lab-faults --from-literal=a='fault=schema-error cluster=c-m-dev-cluster release=qdrant times=1'
stack schema "{\"spec\":{\"onFailure\":\"Stop\",\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually field_has stack/schema '{.status.deployments[*].message}' "in the following chart(s): qdrant: - (root): image is required"
reason_is schema InstallFailed
ok lab_k delete configmap herd-lab-faults
ok k delete stack schema --wait --timeout="${deadline_s}s"

row "a cluster id that Rancher does not know keeps the Stack from being Ready, until it is fixed"
stack typo "{\"spec\":{\"targets\":{\"clusterIds\":[\"c-m-dev-cluster\",\"c-m-dev-clustre\"]},\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
eventually field_has stack/typo '{.status.message}' "Rancher has no cluster c-m-dev-clustre (did you mean c-m-dev-cluster?)"
eventually field_is stack/typo '{.status.ready}' 1/2
eventually field_is stack/typo '{.status.phase} {.status.conditions[?(@.type=="Ready")].status}' "Deploying False"
told_typo() { k get events --field-selector reason=ClusterNotFound,type=Warning,involvedObject.name=typo | grep -q clustre; }
eventually told_typo
ok k patch stack typo --type=merge -p '{"spec":{"targets":{"clusterIds":["c-m-dev-cluster"]}}}'
ok deployed typo
ok k get stack typo -o 'jsonpath={.status.message}'
says "1 release is deployed on 1 cluster"
ok k delete stack typo --wait --timeout="${deadline_s}s"

row "a Stack that waits for another says so in an Event"
# Born so: one that began before it had to wait ends what it began.
sed "s/test-stack/waits/g" examples/test-stack.yaml |
  kubectl patch --local -f - --type=merge -p '{"spec":{"dependsOn":[{"name":"not-yet"}]}}' -o yaml | k apply -f - >/dev/null
told_waits() { k get events --field-selector reason=WaitingForStack,involvedObject.name=waits | grep -q not-yet; }
eventually told_waits
ok k delete stack waits --wait --timeout="${deadline_s}s"

row "a cluster that Rancher has no more is skipped, and told"
stack left-behind "{\"spec\":{\"charts\":[{$chart,\"version\":\"0.7.4\"}]}}"
ok deployed left-behind
ok k delete clusters.management.cattle.io c-m-dev-cluster --wait=false
ok k delete stack left-behind --wait --timeout="${deadline_s}s"
told_gone() { k get events --field-selector reason=ClusterGone,involvedObject.name=left-behind | grep -q c-m-dev-cluster; }
eventually told_gone
