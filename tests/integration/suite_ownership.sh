#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_ownership.sh: what belongs to a Stack stands on its clusters. Status and labels that somebody forged, and
# releases of others, make Herd do nothing that the Stack does not ask for.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/integration/fleet.sh
. "$(dirname "$0")/fleet.sh"

# forge STACK PATCH: of its status.
forge() { user k patch stack "$1" --subresource=status --type=merge -p "{\"status\":$2}"; }
wipe() { user k patch stack "$1" --subresource=status --type=json -p '[{"op":"remove","path":"/status"}]'; }
# forged CLUSTER NAMESPACE RELEASE MEMBERS: an entry of status.deployments.
forged() {
  printf '{"chartName":"db","clusterId":"%s","namespace":"%s","releaseName":"%s","version":"1.2.2","revision":1,%s}' "$@"
}
states=('"status":"Deployed","digest":"sha256:0"' '"status":"Failed","attempts":3,"terminal":true'
  '"status":"Deploying","requestedAt":"2026-01-01T00:00:00.000Z"' '"status":"Uninstalling","requestedAt":"2026-01-01T00:00:00.000Z"'
  '"status":"Waiting","installed":true')
# install CLUSTER NAMESPACE RELEASE: by somebody else, to its end.
install() {
  by_hand "$1" "$2" "$3" 1.2.2 '{}' "$lab_repo" web install
  is_there() { releases "$1" | grep -qx "$2/$3 1 deployed"; }
  eventually is_there "$@"
}
uid() { down "$1" -n "$2" get apps.catalog.cattle.io "$3" -o 'jsonpath={.metadata.uid}'; }
mark() { down "$1" -n "$2" get apps.catalog.cattle.io "$3" -o "jsonpath={.metadata.annotations.herd\.suse\.com/$4}"; }
drifted() { field_is stack/shop '{.status.conditions[?(@.type=="Drifted")].status}' "$1"; }

row "each release carries the mark of its Stack"
stack '{}' "$(chart db)"
shop_uid=$(field stack/shop '{.metadata.uid}')
marked() { [ "$(mark "$1" db db stack) $(mark "$1" db db stack-uid)" = "default/shop $shop_uid" ]; }
for cluster in "${fleet[@]}"; do
  eventually marked "$cluster"
done
user down c-m-a -n db get apps.catalog.cattle.io db -o 'jsonpath={.metadata.annotations}'

row "cattle-system/rancher on local is not uninstalled for a Stack whose status claims it"
ok down local apply -f - <<YAML
apiVersion: catalog.cattle.io/v1
kind: ClusterRepo
metadata: {name: lab}
spec: {url: $lab_repo}
YAML
downloaded() { down local get clusterrepo lab -o 'jsonpath={.status.conditions[?(@.type=="Downloaded")].status}' | grep -q True; }
eventually downloaded
install local cattle-system rancher
rancher=$(uid local cattle-system rancher)
sed -e 's/name: shop/name: thief/' -e 's/env: prod/env: nowhere/' "$state/shop.yaml" >"$state/thief.yaml"
user k apply -f "$state/thief.yaml"
eventually field_is stack/thief '{.status.observedGeneration}' 1
for members in "${states[@]}"; do
  forge thief "{\"phase\":\"Deployed\",\"heldClusters\":[\"local\"],\"deployments\":[$(forged local cattle-system rancher "$members")]}"
  look thief
done
is "$(grep 'stack=default/thief .*cluster=local' "$state/controller.log" || true)" ""
forge thief "{\"phase\":\"Deployed\",\"heldClusters\":[\"local\"],\"targetClusters\":[\"local\"],\"targetStates\":{\"held\":\"0\",\"started\":\"0\"},
  \"deployments\":[$(forged local cattle-system rancher "${states[0]}")]}"
user k delete stack thief --wait --timeout="${deadline_s}s"
is "$(releases local | grep rancher)" "cattle-system/rancher 1 deployed"
is "$(uid local cattle-system rancher)" "$rancher"

row "local is no target because of a label that somebody gave it"
from_here
label local env=prod
look shop
is "$(releases local)" "cattle-system/rancher 1 deployed"
asked_nothing
ok k label clusters.management.cattle.io local env-

row "a status that is forged, emptied or removed changes no release"
before=$(everywhere)
from_here
forge shop '{"deployments":[]}'
look shop
for members in "${states[@]}"; do
  forge shop "{\"phase\":\"Failed\",\"targetStates\":{\"pending\":\"0-4\",\"started\":\"0-4\",\"failed\":\"0-4\",\"lost\":\"0-4\"},
    \"heldClusters\":[\"local\"],\"deployments\":[$(forged c-m-a db db "$members")]}"
  look shop
  settled
done
wipe shop
look shop
settled
asked_nothing
is "$(everywhere)" "$before"

row "releases of others on a target are left alone, although the status claims them"
install c-m-b tools monitor
monitor=$(uid c-m-b tools monitor)
from_here
for members in "${states[@]}"; do
  forge shop "{\"deployments\":[$(forged c-m-b tools monitor "$members")]}"
  look shop
done
asked_nothing
is "$(uid c-m-b tools monitor)" "$monitor"

row "also where the Stack wants a release of its own: it says so, and the other clusters get theirs"
spec "{\"charts\":[$(chart db),$(chart monitor web 1.2.2 monitor tools)]}"
conflict() { field_is stack/shop '{.status.deployments[?(@.reason=="ReleaseConflict")].clusterId}' c-m-b; }
eventually conflict
eventually have $'db/db 1 deployed\ntools/monitor 1 deployed' "${fleet[@]}"
for members in "${states[@]}"; do
  forge shop "{\"deployments\":[$(forged c-m-b tools monitor "$members")]}"
  look shop
  eventually conflict
done
user k get stack shop -o wide
spec "{\"charts\":[$(chart db)]}"
settled
eventually have "db/db 1 deployed" c-m-a c-m-c c-m-d c-m-e
ok have $'db/db 1 deployed\ntools/monitor 1 deployed' c-m-b
is "$(uid c-m-b tools monitor)" "$monitor"
is "$(asked upgrade tools/monitor | sort | tr '\n' ' ')" "c-m-a c-m-c c-m-d c-m-e "

row "a release that somebody installed is adopted where the Stack names it, and not anew"
install c-m-d tools agent
agent=$(uid c-m-d tools agent)
spec "{\"charts\":[$(chart db),$(chart agent web 1.2.3 agent tools)]}"
at_d() { field_is stack/shop '{.status.deployments[?(@.reason=="ReleaseConflict")].clusterId}' c-m-d; }
eventually at_d
eventually message_has "adopt it: kubectl annotate stack shop -n default herd.suse.com/adopt=tools/agent"
look
ok have $'db/db 1 deployed\ntools/agent 1 deployed' c-m-d
say adopt=c-m-d:tools/agent
eventually have $'db/db 1 deployed\ntools/agent 2 deployed' c-m-d
settled
is "$(uid c-m-d tools agent)" "$agent"
is "$(mark c-m-d tools agent stack)" default/shop
user k annotate stack shop herd.suse.com/adopt-

row "a release moves to another Stack without an uninstallation"
from_here
cat >"$state/tools.yaml" <<YAML
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: tools, namespace: default}
spec:
  targets: {selector: {matchLabels: {env: prod}}}
  charts: [$(chart agent web 1.2.3 agent tools)]
YAML
before=$(everywhere)
user k apply -f "$state/tools.yaml"
owner_named() { field_has stack/tools '{.status.message}' "belongs to Stack default/shop, which has a chart for it"; }
eventually owner_named
user k annotate stack tools herd.suse.com/adopt=tools/agent
look tools
owner_named || wrong "it is taken from a Stack that wants it"
spec "{\"charts\":[$(chart db)]}"
ok k wait --for=condition=Ready stack/tools --timeout="${deadline_s}s"
settled
is "$(everywhere)" "$before"
asked_nothing
is "$(mark c-m-a tools agent stack) $(mark c-m-d tools agent stack)" "default/tools default/tools"
is "$(uid c-m-d tools agent)" "$agent"

row "so does the last one of a Stack that is deleted"
from_here
sed 's/name: tools/name: heir/' "$state/tools.yaml" >"$state/heir.yaml"
user k apply -f "$state/heir.yaml"
user k annotate stack heir herd.suse.com/adopt=tools/agent
waits_for_tools() { field_has stack/heir '{.status.message}' "once that chart is removed from Stack default/tools, or that Stack is deleted"; }
eventually waits_for_tools
user k delete stack tools --wait --timeout="${deadline_s}s"
ok k wait --for=condition=Ready stack/heir --timeout="${deadline_s}s"
is "$(everywhere)" "$before"
asked_nothing
is "$(mark c-m-a tools agent stack) $(mark c-m-d tools agent stack)" "default/heir default/heir"

row "of two Stacks that ask for one release in one moment one installs it"
for name in left right; do
  sed -e "s/name: tools/name: $name/" -e 's/"releaseName":"agent","namespace":"tools"/"releaseName":"one","namespace":"one"/' \
    "$state/tools.yaml"
  echo ---
done >"$state/race.yaml"
user k apply -f "$state/race.yaml"
installed() { [ "$(everywhere | grep -c 'one/one 1 deployed')" = 5 ]; }
eventually installed
one_fails() { [ "$(k get stack left right -o 'jsonpath={.items[*].status.phase}' | tr ' ' '\n' | sort | tr '\n' ' ')" = "Deployed Failed " ]; }
eventually one_fails
is "$(grep -c 'action=upgrade stack=default/\(left\|right\) .* release=one/one' "$state/controller.log")" 5
user k get stack left right -o wide
ok k delete stack left right --wait --timeout="${deadline_s}s"
ok k delete stack heir --wait --timeout="${deadline_s}s"
ok have "db/db 1 deployed" c-m-a c-m-d

row "an upgrade by hand is drift, although the status knows nothing of the release"
end controller
by_hand c-m-c db db 1.3.0 '{"by":"hand"}' "$lab_repo" web
eventually have "db/db 2 deployed" c-m-c
marked c-m-c || wrong "the mark is gone"
wipe shop
from_here
start_controller
eventually drifted True
eventually message_has "1 of them changed by somebody else"
asked_nothing
ok have "db/db 2 deployed" c-m-c
user k get stack shop -o wide

row "it is undone where that is asked for, and goes with its Stack"
spec '{"drift":"Correct"}'
eventually have "db/db 3 deployed" c-m-c
eventually drifted ""
ok marked c-m-c

row "deleting the Stack removes all of it without a confirmation, whatever the status says"
wipe shop
user k delete stack shop --wait --timeout="${deadline_s}s"
eventually have "" c-m-a c-m-c c-m-d c-m-e
ok have "tools/monitor 1 deployed" c-m-b
is "$(uid c-m-b tools monitor)" "$monitor"
