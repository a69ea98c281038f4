#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_admission.sh: what kubectl apply answers, with the webhook in between.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
webhook_manifests+=(manifests/workloads/webhook/configuration.yaml)
start_api
ok k apply -f manifests/crds/
for file in manifests/workloads/*/crd.yaml; do ok k apply -f "$file"; done
until_established crd/abiinstances.abi.io
start_webhook
apply_webhook

# versions FILE: the resourceVersions of what it names.
versions() { k get -f "$1" -o yaml | grep 'resourceVersion: "' | sort; }

# create_raw FILE: what the API server answers to it, as it is.
create_raw() {
  curl -sS --cacert "$state/ca.pem" -H "Authorization: Bearer $token" -H 'Content-Type: application/yaml' \
    --data-binary "@$1" "$(api_server)/apis/herd.suse.com/v1/namespaces/default/stacks"
}
k config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$state/ca.pem"
token=$(k config view --raw -o 'jsonpath={.users[0].user.token}')

# NAME.kubectl.txt is what its author really sees. That need not be NAME.answer.txt, which a review
# offline gives: kubectl has the API server reject fields that the CRD does not have before any webhook
# is asked; for those who do not ask for that, it drops them, and the webhook validates what is left.
# clone NAME: the smallest Stack under another name, with a release of its own.
clone() { sed -e "s/name: test-stack/name: $1/" -e "s/^    - name: ollama/&\n      releaseName: $1/" examples/test-stack.yaml; }

row "every rejected example is rejected as its author is shown, and nothing is stored"
for file in examples/rejected/*.yaml; do
  answer=${file%.yaml}.answer.txt
  shown=${file%.yaml}.kubectl.txt
  name=$(sed -n 's/^  name: //p' "$file" | head -n 1)
  rejected k apply -f "$file"
  [ "${HERD_GOLDEN:-}" != write ] || printf '%s\n' "$out" >"$shown"
  is "$out" "$(cat "$shown")"
  status=$(create_raw "$file")
  is "$(jq -r .code <<<"$status")" 422
  [[ "$out" == *"strict decoding error"* ]] || is "$(jq -r .message <<<"$status")" \
    "admission webhook \"mutate.stacks.herd.suse.com\" denied the request: $(cat "$answer")"
  rejected k get stack "$name"
  says "not found"
done

# answers: what kubectl shows of each example that is accepted, warned about or rejected by a rule. The file is the
# same for the lab and for a real API server, so their answers are.
answers() {
  local file
  for file in examples/*-stack.yaml examples/accepted/*.yaml examples/rules/*.yaml; do
    printf '\n== %s\n' "$file"
    k create --dry-run=server -f "$file" 2>&1 || echo "exit $?"
  done
}

row "each rejection is one line of the log: who, what and by which rules"
rejected k create --dry-run=server -f examples/rejected/cycle.yaml
name=$(sed -n 's/^  name: //p' examples/rejected/cycle.yaml | head -n 1)
ok grep -cE "INFO  review rejected user=[^ ]+ kind=Stack namespace=default name=$name operation=CREATE dry_run=true route=mutate rules=graph.cycle faults=1$" "$state/webhook.log"
is "$out" 1

row "each rule's example is answered as is written down, accepted, warned about or rejected"
answers >"$state/answers.txt"
[ "${HERD_GOLDEN:-}" != write ] || cp "$state/answers.txt" tests/integration/answers.txt
ok diff tests/integration/answers.txt "$state/answers.txt"

row "an ordinary apply warns of nothing; the second time it says unchanged, and diff prints nothing"
for file in examples/*-stack.yaml; do
  ok k apply --warnings-as-errors -f "$file"
  says "created"
  ok k apply --warnings-as-errors -f "$file"
  is "$(grep -v ' unchanged$' <<<"$out")" ""
  ok k diff -f "$file"
  is "$out" ""
done
clone served >"$state/served.yaml"
# The definition's default of the status is shown from the start, and stored by the first write after the creation.
for _ in first second; do ok k apply --server-side --warnings-as-errors -f "$state/served.yaml"; done
before=$(versions "$state/served.yaml")
ok k apply --server-side --warnings-as-errors -f "$state/served.yaml"
is "$(versions "$state/served.yaml")" "$before"
ok k diff --server-side -f "$state/served.yaml"
is "$out" ""
ok k delete stack served --wait=false

row "a Stack that no controller has seen is not current to tools that compare generations"
is "$(field stack/test-stack '{.metadata.generation} {.status}')" '1 {"observedGeneration":-1}'

row "every accepted example is accepted, twice, and the second time changes nothing"
for file in examples/*-stack.yaml examples/accepted/*.yaml; do
  ok k apply -f "$file"
  before=$(versions "$file")
  ok k apply -f "$file"
  is "$(grep -v ' unchanged$' <<<"$out")" ""
  is "$(versions "$file")" "$before"
  ok k diff -f "$file"
done

row "defaults are filled in"
is "$(field stack/rag-inference '{.spec.security}')" enabled
is "$(field stack/rag-inference '{.spec.observability}')" enabled
is "$(field stack/rag-inference '{.metadata.labels.herd\.suse\.com/env}')" prod
is "$(field stack/rag-inference '{.spec.charts[1].releaseName}')" qdrant

row "a release that another Stack claims is told with that Stack and the clusters, or denied where the configuration says so"
# claims NAME RELEASE TARGETS: a Stack of one chart.
claims() {
  printf '%s\n' 'apiVersion: herd.suse.com/v1' 'kind: Stack' "metadata: {name: $1, namespace: default}" 'spec:' '  env: dev' "  targets: $3" \
    "  charts: [{name: db, repo: 'https://charts.example.org', version: 1.2.3, namespace: claims, releaseName: $2}]"
}
# told NAME RELEASE TARGETS TEXT: what a dry run says of it.
told() {
  out=$(claims "$1" "$2" "$3" | k apply --dry-run=server -f - 2>&1) && [[ $out == *"$4"* ]]
}
claims holder db '{selector: {matchLabels: {workload: ai-ml}}}' | k apply -f - >/dev/null
today='Warning: spec.charts[0].releaseName: Duplicate value: the Stack default/holder claims the release claims/db too, on c-m-gpu01'
eventually told second db '{clusterIds: [c-m-gpu01, c-m-dev-cluster]}' "$today"
eventually told second db '{selector: {matchLabels: {env: prod}}}' "$today and c-m-gpu02; choose another releaseName"
eventually told second db '{selector: {matchLabels: {env: edge}}}' 'claims the release claims/db too; no cluster matches both selectors today, but one could'
told second other '{clusterIds: [c-m-gpu01]}' '' || wrong "rejected" "$out"
says_not "claims the release"
told holder db '{selector: {matchLabels: {env: prod}}}' '' || wrong "rejected" "$out"
says_not "claims the release"
webhook_flags=(--rule-severity overlap.today=deny)
end webhook
start_webhook
denied() { ! told second db '{clusterIds: [c-m-gpu01]}' '' && [[ $out == *"is invalid: spec.charts[0].releaseName: Duplicate value: the Stack default/holder"* ]]; }
eventually denied
webhook_flags=()
end webhook
start_webhook
ok k delete stack holder --wait=false
unclaimed() { told second db '{clusterIds: [c-m-gpu01]}' '' && [[ $out != *"claims the release"* ]]; }
eventually unclaimed

row "a dry run is validated and stores nothing"
rejected k apply --dry-run=server -f examples/rejected/cycle.yaml
says "->"
clone dry >"$state/dry.yaml"
ok k apply --dry-run=server -f "$state/dry.yaml"
rejected k get stack dry

# tried TEXT: what a dry run of the Stack at hand says.
tried() { out=$(k apply --dry-run=server -f "$state/seen.yaml" 2>&1) && [[ $out == *"$1"* ]]; }

# deployed NAME CLUSTER: its status says so.
deployed() {
  ok k patch stack "$1" --subresource=status --type=merge -p '{"status": {"observedGeneration": 9, "targetClusters": ["'"$2"'"],
    "deployments": [{"chartName": "ollama", "clusterId": "'"$2"'", "namespace": "ollama", "releaseName": "'"$1"'", "status": "Deployed",
      "version": "0.59.0", "digest": "sha256:x"}]}}'
}

row "what a change will do is shown by a dry run, and what it removes with the change, too"
clone seen >"$state/seen.yaml"
eventually tried 'Warning: preview: installs ollama 0.59.0 on 1 cluster: c-m-dev-cluster'
ok k apply --warnings-as-errors -f "$state/seen.yaml"
ok k label --warnings-as-errors stack seen a=b
clone seen | sed 's/0.59.0/0.60.0/' >"$state/seen.yaml"
tried 'Warning: preview: installs ollama 0.60.0 on 1 cluster: c-m-dev-cluster' || wrong "it says" "$out"
deployed seen c-m-dev-cluster
tried 'Warning: preview: upgrades ollama 0.59.0 -> 0.60.0 on 1 cluster: c-m-dev-cluster' || wrong "it says" "$out"
ok k apply --warnings-as-errors -f "$state/seen.yaml"
says configured
clone seen | sed -e 's/c-m-dev-cluster/c-m-gpu01/' -e 's/^spec:/&\n  dependsOn: [{name: test-stack}]/' >"$state/seen.yaml"
tried 'Warning: preview: leaves 1 cluster: c-m-dev-cluster, and its releases are uninstalled there' || wrong "it says" "$out"
says 'Warning: preview: installs 1 chart on 1 cluster: c-m-gpu01'
says 'Warning: preview: not before the Stack test-stack is Ready'
ok k apply -f "$state/seen.yaml"
says 'Warning: preview: leaves 1 cluster: c-m-dev-cluster, and its releases are uninstalled there'
says 'Warning: preview: removes 1 of 1 releases, which is more than spec.rollout.maxRemovals (50%)'
says_not "installs"
says_not "not before"
deployed seen c-m-gpu01
clone seen | sed 's/^spec:/&\n  dependsOn: [{name: test-stack}]\n  retry: {limit: 9}/' | sed 's/c-m-dev-cluster/c-m-gpu01/' >"$state/seen.yaml"
tried 'Warning: preview: no release changes' || wrong "it says" "$out"
ok k apply --warnings-as-errors -f "$state/seen.yaml"

row "an annotation of Herd's that is misspelt, or names a cluster that nobody knows, is rejected with the nearest one"
rejected k annotate stack seen herd.suse.com/abandon-cluster=c-m-gpu01
says 'metadata.annotations[herd.suse.com/abandon-cluster]: Unsupported value'
says 'did you mean "herd.suse.com/abandon-clusters"?'
rejected k annotate stack seen herd.suse.com/abandon-clusters=c-m-gpu1
says 'metadata.annotations[herd.suse.com/abandon-clusters]: Not found: "c-m-gpu1"'
says 'did you mean "c-m-gpu01"?'
rejected k annotate stack seen 'herd.suse.com/abandon-clusters=c-m-gpu01 c-m-gpu02'
says 'Invalid value: "c-m-gpu01 c-m-gpu02"'
deployed seen c-m-gone
ok k annotate --warnings-as-errors stack seen herd.suse.com/abandon-clusters=c-m-gone
ok k delete stack seen --wait=false

row "a cluster id that Rancher does not know is warned about, with the nearest known one"
clone typo | sed 's/c-m-dev-cluster/c-m-dev-clustr/' >"$state/typo.yaml"
ok k apply -f "$state/typo.yaml"
says Warning
says c-m-dev-cluster

# waits NAME FOR...: a Stack that waits for others.
waits() {
  local name=$1 list=
  shift
  for other in "$@"; do list="$list${list:+, }{name: $other}"; done
  clone "$name" | sed "s/^spec:/spec:\n  dependsOn: [$list]/"
}
# knows NAME: the webhook has heard of the Stack.
knows() { [[ $(waits asks "$1" | k apply --dry-run=server -f - 2>&1) != *"no Stack '$1'"* ]]; }

row "a dependency cycle of Stacks is rejected, with the whole cycle; one that is not there yet is warned about"
waits ring-a ring-b >"$state/a.yaml"
ok k apply -f "$state/a.yaml"
says 'Not found: "ring-b": no Stack of the namespace "default" has that name today'
eventually knows ring-a
waits ring-b ring-c >"$state/b.yaml"
ok k apply -f "$state/b.yaml"
eventually knows ring-b
waits ring-c ring-a >"$state/c.yaml"
rejected k apply -f "$state/c.yaml"
says "dependency cycle: ring-c -> ring-a -> ring-b -> ring-c; remove one edge, for example ring-c -> ring-a"
waits ring-c >"$state/c.yaml"
ok k apply -f "$state/c.yaml"

# applied_by [FLAGS...]: who changed the spec of author last, as it is recorded.
applied_by() { field stack/author '{.metadata.annotations.herd\.suse\.com/last-applied-by}' "$@"; }
author() { clone author; }
claim='{"metadata":{"annotations":{"herd.suse.com/last-applied-by":"mallory"}}}'
me=$(k auth whoami -o 'jsonpath={.status.userInfo.username}' 2>/dev/null) || me=

row "who changed the spec last is recorded, and nobody writes it by hand"
author | k apply -f - >/dev/null
first=$(applied_by)
[ -n "$first" ] || wrong "nobody was recorded"
[ -z "$me" ] || is "$first" "$me"
ok k annotate stack author herd.suse.com/last-applied-by=mallory --overwrite
is "$(applied_by)" "$first"
ok k annotate stack author herd.suse.com/last-applied-by-
is "$(applied_by)" "$first"
ok k patch stack author --type merge -p "$claim"
is "$(applied_by)" "$first"
ok k patch stack author --subresource status --type merge -p "$claim"
is "$(applied_by)" "$first"
ok k label stack author a=b
is "$(applied_by)" "$first"
author >"$state/author.yaml"
ok k replace -f "$state/author.yaml"
is "$(applied_by)" "$first"
ok k apply -f "$state/author.yaml"
ok k diff -f "$state/author.yaml"
is "$(applied_by)" "$first"
claim_by_another() {
  k create --dry-run=server -o 'jsonpath={.metadata.annotations.herd\.suse\.com/last-applied-by}' -f - 2>"$state/warnings.txt"
}
out=$(sed -e 's/name: author/name: claimed/' -e 's|^metadata:|&\n  annotations: {herd.suse.com/last-applied-by: mallory}|' "$state/author.yaml" |
  claim_by_another)
is "$out" "$first"

row "a change that kept away from /mutate is rejected"
k get mutatingwebhookconfiguration herd-webhook -o yaml >"$state/mutating.yaml"
ok k delete mutatingwebhookconfiguration herd-webhook
rejected k patch stack author --type merge -p "$claim"
says "metadata.annotations[herd.suse.com/last-applied-by]: changes only with the spec"
rejected k create -f <(sed 's/name: author/name: unasked/' "$state/author.yaml")
says "metadata.annotations[herd.suse.com/last-applied-by]: must be $first, who changes the Stack"
says "manifests/webhook/"
ok k label stack author c=d
apply_webhook
is "$(applied_by)" "$first"

row "with the webhook gone, creating fails with its name, and deleting works"
end webhook KILL
clone later >"$state/later.yaml"
rejected k apply -f "$state/later.yaml"
says "herd.suse.com"
ok k delete stack typo --wait=false
ok k create configmap still-works --from-literal=a=b

row "and works again when it is back"
start_webhook
ok k apply -f "$state/later.yaml"

row "without a webhook metadata is written on, but not what policies go by, and not what only the webhook may write"
end webhook
ok k patch stack rag-inference --type=merge -p '{"metadata":{"finalizers":["example.com/held"]}}'
ok k patch stack rag-inference --type=merge -p '{"metadata":{"finalizers":null}}'
for forged in 'annotate stack rag-inference herd.suse.com/last-applied-by=somebody' \
  'annotate stack rag-inference herd.suse.com/last-applied-by-' 'label stack rag-inference herd.suse.com/env=dev' \
  'label stack rag-inference herd.suse.com/env-' 'label stack rag-inference team=a' 'annotate stack rag-inference note=a'; do
  read -ra words <<<"$forged"
  rejected k "${words[@]}" --overwrite
  says 'failed calling webhook "mutate.stacks.herd.suse.com"'
done
rejected k patch stack rag-inference --type=merge -p '{"spec":{"paused":true}}'
says 'failed calling webhook "mutate.stacks.herd.suse.com"'
