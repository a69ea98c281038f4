#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_restart.sh: the API server goes away under load: killed and started again, and stopped (SIGSTOP), which closes no
# connection. The controller keeps its Lease or ends, by the Lease's rules, and no change of a Stack is missed.
#
# HERD_LONG=1 adds a stop of 50 s without a Lease, where the dead watch itself has to be noticed within 45 s.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
cluster_tools etcd kube-apiserver kube-controller-manager kubectl mirror writers
# LEASE_RENEW_DEADLINE and LEASE_DURATION of limits.def; a machine under load may take a little longer to say so.
renew_ms=10000 lease_ms=15000 slack_ms=3000
stacks=6
start_product
k create --dry-run=client --validate=false -o json -f examples/test-stack.yaml |
  jq '.spec.charts[].releaseName = "$NAME"' >"$state/stack.json"

api_is_there() { apiserver_ready management; }
# load SECONDS: changes of the Stacks' spec in the background, whatever becomes of them.
load() {
  : >"$state/load.out"
  write "$1" &
  loading=$!
  eventually grep -q writing "$state/load.out"
}
write() {
  writers --kubeconfig "$state/kubeconfig" --stack "$state/stack.json" --writers "$stacks" --rate 6 --seconds "$1" \
    --prefix busy >"$state/load.out" || true
}
# settled: each change was seen, and acted on.
settled() {
  k get stacks -o json | jq -e --argjson want "$stacks" '[.items[] | select(.status.observedGeneration == .metadata.generation
    and .status.phase == "Deployed")] | length == $want' >/dev/null
}
transitions() { field lease/herd-controller '{.spec.leaseTransitions}'; }
is_gone() { ! alive controller; }
# recovers SINCE: changes went on while it was away; none was missed.
recovers() {
  local began=$1
  wait "$loading"
  alive controller || start_controller
  eventually settled
  echo "  settled $(($(now_ms) - began)) ms after the API server was back; $(tail -n 1 "$state/load.out")"
  k get stacks -o 'jsonpath={range .items[*]}{.metadata.generation} {end}{"\n"}' | sed 's/^/  generations: /'
}

row "all is well under load"
load 2
wait "$loading"
eventually settled
first=$(transitions)

row "killed (kill -9) and started again under load: the Lease is kept if it can be, and no change is missed"
load 6
began=$(now_ms)
end management-apiserver KILL
start_management-apiserver
away=$(($(now_ms) - began))
back=$(now_ms)
recovers "$back"
if ((away < renew_ms - slack_ms)); then
  ok alive controller
  is "$(transitions)" "$first"
  kept=kept
else
  kept="$(transitions) transitions"
fi
echo "  away for $away ms; Lease: $kept"

row "stopped (SIGSTOP) under load: the controller ends before another could have its Lease, and a new one goes on"
load 12
began=$(now_ms)
kill -STOP "${pid_of[management-apiserver]}"
eventually is_gone
gone=$(($(now_ms) - began))
((gone <= lease_ms)) || wrong "the controller was there for $gone ms, longer than its Lease"
code=0
wait "${pid_of[controller]}" || code=$?
echo "  ended after $gone ms with exit code $code: $(grep -E 'WARN|ERROR' "$state/controller.log" | tail -n 1 | cut -d ' ' -f 2-)"
kill -CONT "${pid_of[management-apiserver]}"
eventually api_is_there
back=$(now_ms)
start_controller
recovers "$back"

[ -n "${HERD_LONG:-}" ] || exit 0

row "stopped for 50 s, without a Lease: the dead watch is noticed within 45 s, and no change is missed"
end controller
controller_flags+=(--leader-elect=false)
start_controller
eventually settled
load 60
before=$(wc -l <"$state/controller.log")
began=$(now_ms)
kill -STOP "${pid_of[management-apiserver]}"
noticed() { tail -n "+$((before + 1))" "$state/controller.log" | grep -E 'WARN.*(watch|list)'; }
eventually noticed
took=$(($(now_ms) - began))
echo "  noticed after $took ms: $(head -n 1 <<<"$out")"
# A probe after 22 s of silence and 10 s for its answer, a second for this shell to see it, and a loaded machine.
((took <= 45000)) || wrong "it took $took ms"
left=$((50000 - took))
((left <= 0)) || read -r -t "$((left / 1000))" <> <(:) || true
kill -CONT "${pid_of[management-apiserver]}"
eventually api_is_there
ok alive controller
recovers "$(now_ms)"
