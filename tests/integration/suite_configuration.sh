#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_configuration.sh: from kubectl apply of a ConfigMap to how the next Stack is validated.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
ok k apply -f manifests/namespace.yaml
start kubelet bash tests/support/kubelet.sh configmap "$state/kubeconfig" herd-system/herd-config config.yaml "$state/config"
webhook_flags=(--config-file "$state/config/config.yaml" --rule-severity graph.unknown=deny)
start_webhook
apply_webhook

# configure TEXT: the ConfigMap says it from now on; it is mounted by ..data, as a kubelet does it.
configure() {
  printf '%s' "$1" >"$state/config.yaml"
  k create configmap herd-config -n herd-system --from-file "$state/config.yaml" --dry-run=client -o yaml | k apply -f - >/dev/null
}
# stack NAME SED...: the test Stack under another name, changed.
stack() {
  local name=$1
  shift
  sed -e "s/name: test-stack/name: $name/" "$@" examples/test-stack.yaml
}
validated() { k create --dry-run=server -f "$1" 2>&1; }
answers() { [[ $(validated "$2") == *"$1"* ]]; }
taken() { validated "$1" >/dev/null; }
rejected_now() { ! taken "$1"; }
metric() { curl -sS "http://127.0.0.1:$webhook_metrics_port/metrics" | sed -n "s/^$1 //p"; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }
metric_is_above() { [ "$(metric "$1")" -gt "$2" ]; }
ready() { curl -sS "http://127.0.0.1:$webhook_metrics_port/readyz?verbose"; }
ready_says() { [[ $(ready) == *"$1"* ]]; }
logged() { grep -q -- "$1" "$state/webhook.log"; }

stack plain -e 's|repo: https://|repo: http://|' >"$state/plain.yaml"
stack local -e '/^ *targets:/,/^ *charts:/c\  targets: {clusterIds: [local]}\n  charts:' >"$state/local.yaml"
stack loopback -e 's|repo: https://[^/]*|repo: https://localhost:8443|' >"$state/loopback.yaml"
stack unknown -e 's|^\( *\)version: .*|&\n\1dependsOn: [nobody]|' >"$state/unknown.yaml"
stack itself -e 's|^\( *\)version: .*|&\n\1dependsOn: [qdrant]|;s|- name: .*|- name: qdrant|' >"$state/itself.yaml"

row "while there is no ConfigMap the defaults hold"
eventually logged 'no configuration file'
ok ready
says "[+]configuration ok"
for file in plain local loopback unknown itself; do
  rejected validated "$state/$file.yaml"
done

row "it is applied: within a second of its mount the next Stack is validated by it"
: >"$state/kubelet.out"
configure 'rules:
  targets.local: warn
  graph.unknown: warn
'
eventually answers "Warning: spec" "$state/local.yaml"
ok validated "$state/local.yaml"
says "Warning: spec.targets.clusterIds[0]:"
eventually grep -c 'configuration taken.*said=2.*overruled_by_flags=1' "$state/webhook.log"
eventually test -s "$state/kubelet.out"
at=$(head -n 1 "$state/kubelet.out")
taken=$(date -d "$(sed -nE 's/^([^ ]+) .*configuration taken.*/\1/p' "$state/webhook.log" | head -n 1)" +%s%3N)
((taken - at <= 1000)) || wrong "it was taken $((taken - at)) ms after the swap"

row "what a flag says, the ConfigMap does not change"
rejected validated "$state/unknown.yaml"
says "nobody"

row "it changes: plain http passes, a rule is off, and the rest is as it was"
configure 'allowPlainHttpRepos: true
rules: {targets.local: off}'
eventually taken "$state/plain.yaml"
ok validated "$state/local.yaml"
says_not "Warning: spec"
rejected validated "$state/itself.yaml"

# rejects WHAT TEXT SAYS
rejects() {
  row "$1: the last good one stays; log, figure and readiness tell, with line and column"
  configure "$2"
  eventually ready_says "$3"
  ok ready
  says "[+]configuration ok; note: $state/config/config.yaml:$3"
  says "readyz check passed"
  eventually metric_is herd_webhook_configuration_rejected 1
  eventually grep -cF "configuration rejected; the last good one stays in use" "$state/webhook.log"
  eventually grep -cF "${3//\"/\\\"}" "$state/webhook.log" # the log escapes quotes
  ok validated "$state/plain.yaml"
  ok validated "$state/local.yaml"
}
rejects "a rule that there is not" 'rules:
  targets.local: deny
  targets.locale: deny' "3:3: rules: Not found: \"targets.locale\": no rule has that name (did you mean \"targets.local\"?)"
rejects "a rule that can only deny" 'allowPlainHttpRepos: false
rules: {graph.itself: warn}' "2:9: rules: Forbidden: graph.itself can only deny: the definition of Stacks rejects the same"
rejects "a severity that is none" 'rules: {targets.local: never}' "1:9: rules: targets.local: Unsupported value: \"never\": supported values: \"deny\""
rejects "what is cut" 'rules: {targets.local: de' "2:1: did not find expected ',' or '}'"
[ "$(metric 'herd_webhook_configuration_reloads_total{result="rejected"}')" -ge 4 ] || wrong "not each was counted"

row "fixed, it is taken, and nothing is noted any more"
configure 'rules: {targets.local: deny}'
eventually metric_is herd_webhook_configuration_rejected 0
rejected validated "$state/local.yaml"
rejected validated "$state/plain.yaml"
ok ready
says_not note

row "herd-webhook review with the same file says the same of the same Stacks"
for text in 'rules: {targets.local: off}' 'allowPlainHttpRepos: true' 'rules: {targets.local: warn, shape.repo: deny}' 'allowRepoHosts: [localhost]' \
  '# nothing'; do
  before=$(metric 'herd_webhook_configuration_reloads_total{result="taken"}')
  configure "$text"
  eventually metric_is_above 'herd_webhook_configuration_reloads_total{result="taken"}' "$before"
  for file in plain local loopback unknown itself; do
    cluster=0 files=0
    k create --dry-run=server -f "$state/$file.yaml" >"$state/answer" 2>&1 || cluster=1
    "$bin/herd-webhook" review --config-file "$state/config.yaml" --rule-severity graph.unknown=deny "$state/$file.yaml" >"$state/report" || files=$?
    is "$text: $file: $files" "$text: $file: $cluster"
  done
done

row "deleted, it says nothing any more"
configure 'rules: {targets.local: off}'
eventually taken "$state/local.yaml"
ok k delete configmap -n herd-system herd-config
eventually rejected_now "$state/local.yaml"

row "what it lets pass, the controller executes; a rule that it makes stricter stops nothing that is stored"
stack system -e '/^ *version:/a\      namespace: kube-system' -e '/^  namespace:/a\  labels: {herd.suse.com/env: prod}' >"$state/system.yaml"
controller_flags+=(--config-file "$state/config/config.yaml")
start_controller
rejected validated "$state/system.yaml"
says "kube-system"
configure 'rules: {shape.protected-namespace: warn}'
eventually k apply -f "$state/system.yaml"
eventually field_is stack/system '{.status.phase}' Deployed
reloads() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n "s/^herd_controller_configuration_reloads_total{result=\"$1\"} //p"; }
reloads_are() { [ "$(reloads "$1")" = "$2" ]; }
before=$(reloads taken)
configure 'rules: {shape.protected-namespace: warn, shape.env-label: deny}'
eventually reloads_are taken $((before + 1))
eventually rejected_now "$state/system.yaml"
is "$(field stack/system '{.status.conditions[?(@.type=="Accepted")].status}')" True
configure 'rules: {shape.protected-namespace: never}'
eventually reloads_are rejected 1
ok curl -sS "http://127.0.0.1:$controller_metrics_port/readyz?verbose"
says "[+]configuration ok; note: $state/config/config.yaml:1:9: "
k delete configmap -n herd-system herd-config >/dev/null
eventually field_is stack/system '{.status.conditions[?(@.type=="Accepted")].status}' False
configure 'rules: {shape.protected-namespace: off}'
eventually field_is stack/system '{.status.conditions[?(@.type=="Accepted")].status}' True
eventually field_is stack/system '{.status.phase}' Deployed

row "a repository on a reserved host is for webhook and controller alike rejected, but where its host is allowed"
rejected validated "$state/loopback.yaml"
says 'spec.charts[0].repo: Forbidden: "localhost" is a loopback address'
configure 'allowRepoHosts: [localhost]'
eventually k apply -f "$state/loopback.yaml"
eventually field_is stack/loopback '{.status.conditions[?(@.type=="Accepted")].status}' True
configure 'allowRepoHosts: ["127.0.0.1"]'
eventually rejected_now "$state/loopback.yaml"
eventually field_is stack/loopback '{.status.conditions[?(@.type=="Accepted")].status}' False
configure 'allowRepoHosts: [localhost]'
eventually field_is stack/loopback '{.status.conditions[?(@.type=="Accepted")].status}' True

row "a webhook or controller that would start with a bad file does not: what it cannot read it cannot enforce"
printf 'rules:\n  graph.cicle: deny\n' >"$state/bad.yaml"
rejected "$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --tls-cert-file "$state/certs/tls.crt" \
  --tls-key-file "$state/certs/tls.key" --config-file "$state/bad.yaml"
says "--config-file: $state/bad.yaml:2:3: rules: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)"
rejected "$bin/herd-controller" --kubeconfig "$state/kubeconfig" --rancher-url "$HERD_LAB_RANCHER_URL" --config-file "$state/bad.yaml" \
  --rancher-token-file "$state/rancher-token" --metrics-listen 127.0.0.1:0
says "--config-file: $state/bad.yaml:2:3: rules: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)"
rejected "$bin/herd-webhook" review --config-file "$state/bad.yaml" examples/test-stack.yaml
says "$state/bad.yaml:2:3: rules: Not found: \"graph.cicle\": no rule has that name"
rejected "$bin/herd-webhook" review --config-file "$state/nowhere.yaml" examples/test-stack.yaml
says "cannot read $state/nowhere.yaml"
