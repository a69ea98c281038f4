#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_manifests.sh: all of manifests/ as install.md says it, by an unmodified kubectl, and one object of every kind.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api

# stand_in GROUP KIND PLURAL: a definition of somebody else's kind, as wide as can be.
stand_in() {
  cat <<EOF
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $3.$1}
spec:
  group: $1
  scope: Namespaced
  names: {kind: $2, plural: $3}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
EOF
}

# versions WHICH...: of all these objects; of one whose status others write, and with it the version, all that is said.
versions() {
  k get "$@" -o json 2>>"$state/kubectl.log" | jq -c '.items[] | "\(.kind)/\(.metadata.name)",
    if .status then del(.status, .metadata.resourceVersion, .metadata.managedFields) else .metadata.resourceVersion end'
}

# settled WHICH...: applied again they stay as they are. (kubectl says "configured" of what it sent a patch for.)
settled() {
  local before
  before=$(versions "$@")
  ok k apply "$@"
  is "$(versions "$@")" "$before"
}

row "the kinds of cert-manager and Prometheus are there"
{
  stand_in cert-manager.io Certificate certificates
  stand_in cert-manager.io Issuer issuers
  stand_in monitoring.coreos.com ServiceMonitor servicemonitors
  stand_in monitoring.coreos.com PrometheusRule prometheusrules
} | k apply -f - >/dev/null
until_established crd --all

row "folder by folder, twice"
folders=(-f manifests/crds/ -f manifests/controller/ -f manifests/webhook/ -f certs/)
ok k apply -f manifests/namespace.yaml
ok k apply "${folders[@]}"
settled "${folders[@]}"
ok k get "${folders[@]}" -o name
is "$(wc -l <<<"$out")" "$(cat manifests/{crds,controller,webhook}/*.yaml certs/*.yaml | grep -c ^kind:)"

row "every overlay, twice"
for overlay in manifests/overlays/* manifests/monitoring; do
  ok k apply -k "$overlay"
  settled -k "$overlay"
done

row "by server-side apply, twice"
for overlay in manifests/overlays/*; do
  ok k apply -k "$overlay" --server-side --force-conflicts
  before=$(versions -k "$overlay")
  ok k apply -k "$overlay" --server-side
  is "$(versions -k "$overlay")" "$before"
done

row "they read well"
ok k -n herd-system get networkpolicies,poddisruptionbudgets
says POD-SELECTOR
says app.kubernetes.io/name=herd-webhook
says "ALLOWED DISRUPTIONS"
ok k get flowschemas,prioritylevelconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings
says MATCHINGPRECEDENCE
says admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration
ok k explain networkpolicy.spec.ingress.from.ipBlock
says 'cidr	<string> -required-'

row "while its configuration stands, the webhook's namespace stays"
rejected k delete namespace herd-system --wait=false
says "ValidatingAdmissionPolicy 'herd-webhook-guard' with binding 'herd-webhook-guard' denied request: the webhook configurations"
ok k delete validatingwebhookconfiguration,mutatingwebhookconfiguration herd-webhook
# A real API server hears of it a moment later.
eventually k delete namespace herd-system --wait=false

row "one object of every kind that is served, twice"
request=$(openssl req -new -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=every-kind 2>/dev/null | base64 -w 0)
ok k create namespace every-kind
# The last part is asked and not stored. Some would do something on a real API server.
sed -e "s|\$REQUEST|$request|" -e '/^# What is asked/,$d' tests/cluster/every-kind.yaml >"$state/all.yaml"
k api-resources -o wide --no-headers | sed -E 's/^.* ([^ ]+) +(true|false) +([^ ]+) .*$/apiVersion: \1, kind: \3/' >"$state/served"
awk -v RS='---\n' -v ORS='---\n' 'NR == FNR { split($0, lines, "\n"); for (i in lines) served[lines[i]] = 1; next }
  /kind: (MutatingAdmissionPolic|APIService)|apiVersion: events.k8s.io/ { next }
  match($0, /apiVersion: [^,\n]+/) { version = substr($0, RSTART, RLENGTH) }
  match($0, /kind: [A-Za-z]+/) { if ((version ", " substr($0, RSTART, RLENGTH)) in served) print }' \
  "$state/served" "$state/all.yaml" >"$state/every-kind.yaml"
[ "$(grep -c '^---' "$state/every-kind.yaml")" -gt 20 ] || wrong "few kinds are left: $(cat "$state/served")"
ok k apply -f "$state/every-kind.yaml"
settled -f "$state/every-kind.yaml"
ok k delete -f "$state/every-kind.yaml" --wait=false
