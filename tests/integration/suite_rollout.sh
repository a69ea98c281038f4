#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_rollout.sh: changes and removals on five clusters, as a user meets them.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/integration/fleet.sh
. "$(dirname "$0")/fleet.sh"

canary='waves: [{name: canary, selector: {matchLabels: {canary: "yes"}}}]'
one_by_one="{maxConcurrentClusters: 1, maxFailures: 0, $canary}"
label c-m-a canary=yes

row "a Stack goes to five clusters"
stack "$one_by_one" "$(chart db)" "$(chart front)"
both=$'db/db 1 deployed\nfront/front 1 deployed'
ok have "$both" "${fleet[@]}"

row "db becomes db2, which fails: no cluster but the canary is touched, and the canary keeps db"
from_here
spec "{\"charts\":[$(chart db2 bad-template 1.0.0),$(chart front)]}"
eventually message_has "db2 on c-m-a"
tried() { [ "$(asked upgrade db2/db2 | wc -l)" -gt 2 ]; }
eventually tried
eventually entry_has c-m-b message "the rollout stopped: 1 cluster failed and spec.rollout.maxFailures is 0"
eventually field_is stack/shop '{.status.conditions[?(@.type=="Stalled")].status}' True
ok message_has "the rollout stopped: 1 cluster failed and spec.rollout.maxFailures is 0; fix the failure and change the spec, or go on with kubectl annotate stack shop -n default herd.suse.com/resume="
is "$(asked upgrade db2/db2 | sort -u)" c-m-a
is "$(asked uninstall '.*')" ""
ok have "$both" c-m-b c-m-c c-m-d c-m-e
ok releases c-m-a
says "db/db 1 deployed"
user k get stack shop -o wide

row "with a good db2, each cluster loses db once it has db2, one after the other"
from_here
spec "{\"charts\":[$(chart db2 web 1.3.0),$(chart front)]}"
settled
eventually have $'db2/db2 1 deployed\nfront/front 1 deployed' c-m-b c-m-c c-m-d c-m-e
eventually have $'db2/db2 1 deployed\nfront/front 1 deployed' c-m-a
is "$(asked uninstall db/db | tr '\n' ' ')" "${fleet[*]} "
cluster_by_cluster

row "a release that moves to another name and namespace: its new chart fails, and nobody loses the old one"
from_here
spec "{\"charts\":[$(chart db2 bad-template 1.0.0 store data),$(chart front)]}"
eventually entry_has c-m-b message "the rollout stopped"
is "$(asked upgrade data/store | sort -u)" c-m-a
is "$(asked uninstall '.*')" ""
ok have $'db2/db2 1 deployed\nfront/front 1 deployed' c-m-b c-m-c c-m-d c-m-e

row "once it installs, the old release goes, cluster by cluster"
from_here
spec "{\"charts\":[$(chart db2 web 1.3.0 store data),$(chart front)]}"
settled
eventually have $'data/store 1 deployed\nfront/front 1 deployed' "${fleet[@]}"
cluster_by_cluster

row "a chart that is taken out goes from the canary first; what fails there keeps it on all others"
from_here
spec "{\"charts\":[$(chart db2 bad-template 1.0.0 store data)]}"
eventually entry_has c-m-a reason UpgradeFailed
eventually entry_has c-m-b message "the rollout stopped"
look
ok have $'data/store 1 deployed\nfront/front 1 deployed' c-m-b c-m-c c-m-d c-m-e
is "$(asked uninstall front/front | sort -u | grep -v c-m-a || true)" ""
from_here
spec "{\"charts\":[$(chart db2 web 1.3.0 store data)]}"
settled
gone() { ! everywhere | grep "$1"; }
eventually gone front/front
says_not c-m-

row "a failing chart reaches maxFailures and maxConcurrentClusters clusters, no matter how often it is tried"
from_here
fault 'fault=template-error release=store'
spec "{\"retry\":{\"backoff\":\"1s\",\"limit\":1},\"rollout\":{\"maxConcurrentClusters\":1,\"maxFailures\":1,\"waves\":null},
  \"charts\":[$(chart db2 web 1.2.3 store data)]}"
eventually entry_has c-m-c message "the rollout stopped: 2 clusters failed and spec.rollout.maxFailures is 1"
no_more_tries() { field_is stack/shop '{.status.deployments[?(@.terminal==true)].clusterId}' "c-m-a c-m-b"; }
tried() { [ "$(asked upgrade data/store | wc -l)" -ge "$tries" ]; }
for tries in 4 6 8; do
  eventually tried
  eventually no_more_tries
  [ "$tries" = 8 ] || say "retry=after-$tries"
done
is "$(asked upgrade data/store | sort -u | tr '\n' ' ')" "c-m-a c-m-b "
user k get stack shop -o wide

row "what was stopped stays so when the cause is gone, until somebody resumes it"
no_fault
# Not look: what is tried again now succeeds, and a cluster that is repaired counts no more.
passes() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | awk '/^herd_controller_reconcile_total/ { n += $NF } END { print n + 0 }'; }
before=$(passes)
ok k annotate stack shop --overwrite example.com/looked=at
passed() { [ "$(passes)" -gt "$before" ]; }
eventually passed
ok entry_has c-m-c message "or go on with kubectl annotate stack shop -n default herd.suse.com/resume="
say "resume=$(date +%s)"
settled
eventually have "data/store 2 deployed" c-m-c c-m-d c-m-e

row "a failure says when it is tried again, and an annotation has it tried now"
fault 'fault=template-error release=store cluster=c-m-a'
spec "{\"retry\":{\"backoff\":\"12h\",\"limit\":null},\"rollout\":null,\"charts\":[$(chart db2 web 1.3.0 store data)]}"
later() { [[ "$(entry c-m-a nextRetry)" > "$(date -u -d '+1 hour' +%FT%TZ)" ]]; }
eventually later
user k get stack shop -o 'jsonpath={.status.deployments[?(@.status=="Failed")].nextRetry}'
no_fault
say retry=now
settled
is "$(entry c-m-a nextRetry)" ""

all="data/store 3 deployed"
fleet_has() { have "$(sed "s/ [0-9]* / $1 /" <<<"$all")" "${@:2}"; }
removal() { field stack/shop "{.status.removal.$1}"; }
removal_is() { field_is stack/shop "{.status.removal.$1}" "$2"; }

row "a cluster that loses its label keeps what it has until removalDelay is over, and the status says so"
spec '{"rollout":{"removalDelay":"1h"}}'
settled
before=$(everywhere)
from_here
user k label clusters.management.cattle.io c-m-e env=lost --overwrite
eventually removal_is 'delays[*].clusters[*]' c-m-e
[[ "$(removal 'delays[0].until')" > "$(date -u -d '+50 minutes' +%FT%TZ)" ]] || wrong "too early: $(removal 'delays[0].until')"
eventually message_has "c-m-e is no longer a target, although the spec did not change; the release will be removed at"
message_has "spec.rollout.removalDelay is 1h"
user k get stack shop -o wide

row "the label given back ends it, and nothing was done"
user k label clusters.management.cattle.io c-m-e env=prod --overwrite
eventually removal_is 'delays' ""
settled
asked_nothing
is "$(everywhere)" "$before"

row "what does not come back is removed when the delay is over"
spec '{"rollout":{"removalDelay":"4s"}}'
settled
from_here
before=$(date +%s%3N)
label c-m-e env=lost
eventually have "" c-m-e
after=$(date -u -d "$(sed -n "$mark,\$s/^\([^ ]*\) .* action=uninstall .*/\1/p" "$state/controller.log")" +%s%3N)
((after >= before + 4000)) || wrong "removed after $((after - before)) ms"
is "$(asked uninstall data/store)" c-m-e
settled
label c-m-e env=prod
eventually have "data/store 1 deployed" c-m-e
settled

row "env: prodd instead of prod removes nothing until somebody confirms it"
before=$(everywhere)
from_here
out=$(k get stack shop -o json | jq '.spec.targets.selector.matchLabels.env = "prodd"' | k apply --dry-run=server -f - 2>&1)
says "removes 5 of 5 releases, which is more than spec.rollout.maxRemovals (50%)"
spec '{"targets":{"selector":{"matchLabels":{"env":"prodd"}}}}'
eventually message_has "removing 5 of 5 releases waits for a confirmation, because spec.rollout.maxRemovals is 50%: kubectl annotate stack shop -n default herd.suse.com/confirm-removal="
user k get stack shop -o wide
old=$(removal token)
[ -n "$old" ] || wrong "no token"
for token in yes "${old:0:15}" "0$old"; do
  rejected k annotate stack shop --overwrite "herd.suse.com/confirm-removal=$token"
  says "must be the token of a removal, 16 hexadecimal digits; status.message shows the command"
done
say "confirm-removal=$(tr 0-9a-f 1-9a-f0 <<<"$old")"
eventually message_has "a confirmation of its own (the one that is there is of other releases)"
asked_nothing

row "the right selector again ends it; an old token confirms no later removal"
spec '{"targets":{"selector":{"matchLabels":{"env":"prod"}}}}'
eventually removal_is token ""
settled
say "confirm-removal=$old"
spec '{"targets":{"selector":{"matchLabels":{"env":"prodd"}}}}'
eventually message_has "waits for a confirmation"
[ "$(removal token)" != "$old" ] || wrong "the token is the old one"
look
asked_nothing
is "$(everywhere)" "$before"

row "a removal that was confirmed goes to its end, although the controller is killed in between"
spec '{"rollout":{"maxConcurrentClusters":1}}'
eventually seen
confirmed=$(field stack/shop '{.status.message}' | sed -n 's/.*: \(kubectl annotate stack .* --overwrite\).*/\1/p')
[ -n "$confirmed" ] || wrong "no command in the message" "$(field stack/shop '{.status.message}')"
# shellcheck disable=SC2086
user k ${confirmed#kubectl }
for some in 1 3; do
  some_gone() { [ "$(everywhere | wc -l)" -le $((5 - some)) ]; }
  eventually some_gone
  end controller KILL
  start_controller
done
eventually have "" "${fleet[@]}"
eventually removal_is firstSeen ""
spec '{"targets":{"selector":{"matchLabels":{"env":"prod"}}},"rollout":null}'
settled

row "clusters that cannot be reached hold later waves, and the message names them and the field"
fault 'fault=disconnected cluster=c-m-b'
eventually entry_has c-m-b reason ClusterUnreachable
label c-m-b canary=yes
spec "{\"rollout\":{\"waves\":[{\"name\":\"canary\",\"selector\":{\"matchLabels\":{\"canary\":\"yes\"}}}]},\"charts\":[$(chart db2 web 1.2.3 store data)]}"
eventually have "data/store 2 deployed" c-m-a
eventually entry_has c-m-c message "wave canary: 1 of 2 clusters deployed, 1 unreachable; c-m-b cannot be reached, and other clusters wait because spec.rollout.maxUnavailable is 0"
message_has "c-m-b cannot be reached, and other clusters wait because spec.rollout.maxUnavailable is 0"
look
ok have "data/store 1 deployed" c-m-c c-m-d c-m-e
user k get stack shop -o wide

row "maxUnavailable lets the others go on without them, and they catch up when they return"
spec '{"rollout":{"maxUnavailable":1}}'
eventually have "data/store 2 deployed" c-m-a c-m-c c-m-d c-m-e
no_fault
settled
ok have "data/store 2 deployed" "${fleet[@]}"
label c-m-b canary-

row "a wave with approval: Manual waits, and says the command that approves it"
spec "{\"rollout\":{\"waves\":[{\"name\":\"canary\",\"selector\":{\"matchLabels\":{\"canary\":\"yes\"}}},
  {\"name\":\"rest\",\"selector\":{\"matchLabels\":{\"env\":\"prod\"}},\"approval\":\"Manual\"}]},\"charts\":[$(chart db2 web 1.3.0 store data)]}"
eventually have "data/store 3 deployed" c-m-a
eventually entry_has c-m-c message "wave rest waits for approval: kubectl annotate stack shop -n default herd.suse.com/approve=rest@"
user k get stack shop -o 'jsonpath={range .status.rollout.waves[*]}{.name}: {.deployed} of {.clusters}{"\n"}{end}'
is "$out" $'canary: 1 of 1\nrest: 0 of 4\n*: 0 of 0'
say "approve=rest@00000000"
look
ok have "data/store 2 deployed" c-m-b c-m-c c-m-d c-m-e
approve=$(entry c-m-c message | sed -n 's/.*\(kubectl annotate stack .* --overwrite\).*/\1/p')
# shellcheck disable=SC2086
user k ${approve#kubectl }
settled
ok have "data/store 3 deployed" "${fleet[@]}"
