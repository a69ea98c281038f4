#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_kind.sh: what a kind gets for its row: the example of tests/example_kind, on the lab.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
programs=(example lab)

start_example() {
  start_serving example "$bin/herd-example" "$state/kubeconfig"
  example_metrics_port=$(port_of example metrics_port)
}
ready() { curl -s "127.0.0.1:$example_metrics_port/readyz?verbose"; }
ready_says() { [[ $(ready) == *"$1"* ]]; }

# website SPEC [NAME]
website() { printf 'apiVersion: web.example.com/v1alpha1\nkind: Website\nmetadata: {name: %s, namespace: default}\nspec: %s\n' "${2:-site}" "$1"; }
write() { ok k apply --server-side --field-manager author -f <(website "$@"); }
names() { k get "$1" -l web.example.com/website=site -o 'jsonpath={.items[*].metadata.name}'; }
names_are() { [ "$(names "$1")" = "$2" ] || { names "$1"; return 1; }; }
applied() { field website/site "{.status.conditions[?(@.type==\"Applied\")].$1}"; }
applied_has() { [[ $(applied "$1") == *"$2"* ]] || { applied "$1"; return 1; }; }
counts() { field website/site '{.status.children.applied}/{.status.children.desired} {.status.observedGeneration}'; }
counts_are() { [ "$(counts)" = "$1" ] || { counts; return 1; }; }

row "without the definition of its kind it is ready, and says so"
start_api
start_example
eventually ready_says "not installed"
ok curl -sf "127.0.0.1:$example_metrics_port/readyz"

row "an object is made into its children, with their owner, and its status says so"
ok k apply -f <("$bin/herd-example" --crd)
until_established crd/websites.web.example.com
write '{pages: [{name: home, text: hello}, {name: news, text: none}], port: 80}'
eventually counts_are "3/3 1"
is "$(names configmaps) $(names services)" "site-home site-news site"
is "$(field configmap/site-home '{.data.text}')" hello
is "$(field configmap/site-home '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller} {.metadata.ownerReferences[0].blockOwnerDeletion}')" \
  "Website/site true true"
is "$(field configmap/site-home '{.metadata.managedFields[*].manager} {.metadata.managedFields[*].operation}' --show-managed-fields)" "example-website Apply"
is "$(applied status) $(applied reason)" "True Applied"
is "$(field website/site '{.status.conditions[?(@.type=="Accepted")].status}')" True

row "a change of the object is a change of its children"
write '{pages: [{name: home, text: good day}, {name: news, text: none}], port: 80}'
eventually field_is configmap/site-home '{.data.text}' "good day"
eventually counts_are "3/3 2"

row "a child that somebody deletes comes back, and so does what somebody removes from it"
ok k delete configmap site-news
eventually names_are configmaps "site-home site-news"
ok k label configmap site-news web.example.com/website-
eventually names_are configmaps "site-home site-news"

row "what is not desired any more is pruned"
write '{pages: [{name: home, text: good day}]}'
eventually names_are configmaps site-home
eventually names_are services ""
eventually counts_are "1/1 3"

row "a field that somebody else manages is a conflict that names the manager"
rival() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: site-home, namespace: default}\ndata: %s\n' "$1"; }
ok k apply --server-side --force-conflicts --field-manager rival -f <(rival '{text: mine}')
eventually applied_has message 'conflict with "rival"'
is "$(applied status) $(applied reason)" "False ApplyFailed"
is "$(field configmap/site-home '{.data.text}')" mine
ok k apply --server-side --field-manager rival -f <(rival '{}')
eventually field_is configmap/site-home '{.data.text}' "good day"
eventually applied_has status True

row "an object that is not ours is not touched, and is named"
ok k create configmap site-taken --from-literal=text=theirs
write '{pages: [{name: home, text: good day}, {name: taken, text: ours}]}'
eventually applied_has message "ConfigMap site-taken: an object of that name exists already"
is "$(field configmap/site-taken '{.data.text}{.metadata.ownerReferences}')" theirs
eventually counts_are "1/2 4"
ok k delete configmap site-taken
eventually field_is configmap/site-taken '{.data.text}' ours

row "a kind that the API server does not have holds up nothing else, and is applied once it comes"
write '{pages: [{name: home, text: good day}], port: 8080, metrics: true}'
eventually applied_has reason KindMissing
is "$(applied status) $(applied message)" "True 2 of 3 objects applied; ServiceMonitor site: the API server has no such kind"
is "$(names services)" site
ok k apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: ServiceMonitor, plural: servicemonitors, singular: servicemonitor}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
YAML
eventually counts_are "3/3 5"
is "$(names servicemonitors.monitoring.coreos.com)" site
eventually applied_has reason Applied

row "nothing is written when nothing changed, not even by the next controller"
versions() { k get websites,configmaps,services,servicemonitors.monitoring.coreos.com -o 'jsonpath={.items[*].metadata.resourceVersion}'; }
before=$(versions)
end example
start_example
write '{pages: []}' second
eventually field_is website/second '{.status.children.desired}' 0
ok k delete website second
is "$(versions)" "$before"

row "the garbage collector takes the children of an object that is deleted"
ok k delete website site
eventually names_are configmaps ""
eventually names_are services ""
eventually names_are servicemonitors.monitoring.coreos.com ""
