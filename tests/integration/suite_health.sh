#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_health.sh: what becomes of releases after their installation: a workload that is deleted or not available turns
# Ready False with its name, ends a wave's pause, and Ready comes back with it.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/integration/fleet.sh
. "$(dirname "$0")/fleet.sh"

# ready_is STATUS REASON TEXT: the condition Ready, with TEXT in its message.
ready_is() { ready | grep "^$1 $2 " | grep -F -e "$3"; }
ready() { field stack/shop '{range .status.conditions[?(@.type=="Ready")]}{.status} {.reason} {.message}{end}'; }
# available CLUSTER RELEASE REPLICAS: as its Deployment reports them.
available() {
  ok down "$1" patch deployment "$2" -n "$2" --subresource=status --type=merge \
    -p "{\"status\":{\"availableReplicas\":$3,\"readyReplicas\":$3,\"unavailableReplicas\":$((1 - $3))}}"
}
label c-m-a canary=yes

row "all workloads are available"
stack '{}' "$(chart db)" "$(chart front)"
ok ready_is True DeploymentSucceeded "10 releases"

row "kubectl delete deployment front on one cluster: the Stack says so within seconds"
down c-m-b delete deployment front -n front >/dev/null
deadline_s=10 eventually ready_is False WorkloadsNotReady "front on c-m-b: Deployment front: it does not exist"
is "$(field stack/shop '{.status.summary.NotReady} {.status.ready}')" "1 9/10"
ok entry_has c-m-b status NotReady
user k get stack shop -o wide

row "a new version brings it back"
spec "{\"charts\":[$(chart db),$(chart front web 1.2.3)]}"
settled
ok ready_is True DeploymentSucceeded ""

row "with drift: Correct it is brought back at once"
spec '{"drift":"Correct"}'
settled
down c-m-b delete deployment front -n front >/dev/null
back() { down c-m-b get deployment front -n front; }
eventually back
settled
is "$(field stack/shop '{.status.ready}')" 10/10
spec '{"drift":"Detect"}'
settled

row "one that is not available names its replicas, and Ready comes back with it"
available c-m-c front 0
deadline_s=10 eventually ready_is False WorkloadsNotReady "front on c-m-c: Deployment front: 0 of 1 replica is available"
available c-m-c front 1
eventually ready_is True DeploymentSucceeded ""

row "the pod's own message stands behind it"
pod=$(down c-m-c get pods -n front -o 'jsonpath={.items[0].metadata.name}')
ok down c-m-c patch pod "$pod" -n front --subresource=status --type=merge -p '{"status":{"containerStatuses":[{"name":"web","image":"nginx",
  "ready":false,"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container"}}}]}}'
available c-m-c front 0
eventually ready_is False WorkloadsNotReady "0 of 1 replica is available; pod $pod: CrashLoopBackOff: back-off 5m0s restarting failed container"
user k get stack shop -o wide
available c-m-c front 1
eventually ready_is True DeploymentSucceeded ""

row "a controller that starts anew sees it, too"
available c-m-d db 0
eventually ready_is False WorkloadsNotReady "db on c-m-d: Deployment db"
end controller KILL
start_controller
available c-m-d db 1
eventually ready_is True DeploymentSucceeded ""

row "a wave that pauses is a soak: a workload that fails within it counts as a failure of its cluster, and no other cluster is touched"
from_here
spec "{\"rollout\":{\"maxFailures\":0,\"waves\":[{\"name\":\"canary\",\"pause\":\"10m\",\"selector\":{\"matchLabels\":{\"canary\":\"yes\"}}}]},\"charts\":[$(chart db),$(chart front web 1.3.0)]}"
eventually message_has "wave canary"
available c-m-a front 0
eventually entry_has c-m-b message "the rollout stopped: 1 cluster failed and spec.rollout.maxFailures is 0"
ok ready_is False WorkloadsNotReady "front on c-m-a (and 4 more): Deployment front: 0 of 1 replica is available; the rollout stopped"
is "$(asked upgrade front/front | sort -u | tr '\n' ' ')" "c-m-a "
