#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# workloads.sh BIN [N]: N Applications that are there before the controller starts: herd-controller beside a controller in Go
# (peers/workloads), which must leave the same children. README.md says what the figures are.
#
#   BENCH_ROUNDS   turns of each (3)      BENCH_IDLE   seconds after it, in which nothing changes (20)
#   QUICK=1        one turn, 20 Applications, 2 s
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
unset HERD_GROUP
bin=${1:?BIN}
if [ "${QUICK:-}" = 1 ]; then
  count=${2:-20} rounds=1 idle=2
else
  count=${2:-${BENCH_INSTANCES:-2000}} rounds=${BENCH_ROUNDS:-3} idle=${BENCH_IDLE:-20}
fi
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
. lab/processes.sh
. tests/bench/tables.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

code=0
bash tests/cluster/build.sh "$state/tools" peer-workloads || code=$?
[ "$code" != 77 ] || { echo "skipped: the controller in Go cannot be had (see above)"; exit 0; }
[ "$code" = 0 ] || exit "$code"

servers=(herd peer compare)
pods=2
# The lab reads all pods of a namespace for each step of a Deployment: in one namespace it would be all that is measured.
in_namespace=20
# The Lease is there, as where manifests/ installed it.
controller_flags+=(--kinds "stack,application" --leader-elect-namespace herd-system)
lab_flags=(--workloads --time-scale 0 --simulation "$state/simulation.yaml" --log-level debug)
echo 'clusters: []' >"$state/simulation.yaml"

write_objects() {
  local i
  for ((i = 0; i < count; i++)); do
    ((i % in_namespace)) || printf -- '---\n{apiVersion: v1, kind: Namespace, metadata: {name: bench-%d}}\n' $((i / in_namespace))
    cat <<YAML
---
apiVersion: cloudnative.elide.dev/v1
kind: Application
metadata: {name: app-$i, namespace: bench-$((i / in_namespace))}
spec: {image: "registry.example.org/app:v1.$i", replicas: $pods, config: {LOG_LEVEL: info, NUMBER: "$i"}}
YAML
  done
}

# The lab's data with the objects: each turn begins with a copy.
make_objects() {
  start_lab
  k apply -f manifests/crds/ -f manifests/workloads/applications/crd.yaml -f manifests/namespace.yaml \
    -f manifests/controller/lease.yaml >/dev/null
  until_established crd/stacks.herd.suse.com crd/applications.cloudnative.elide.dev
  write_objects | k create -f - >/dev/null
  end lab
  mv "$state/lab" "$state/objects"
}

start_server() {
  case $1 in
    herd) start_controller ;;
    peer) start peer "$state/tools/peer-workloads" --kubeconfig "$state/kubeconfig" ;;
    compare) start compare "$state/tools/peer-workloads" --kubeconfig "$state/kubeconfig" --compare ;;
  esac
}

# until_running: a watch, for lists of all objects again and again would take the CPU that is measured.
until_running() {
  local name deadline=$((SECONDS + ${BENCH_DEADLINE:-600}))
  local -A running=()
  while ((${#running[@]} < count)); do
    IFS= read -r -t $((deadline - SECONDS)) name || return 1
    running[$name]=1
  done < <(
    k get --raw "/apis/cloudnative.elide.dev/v1/applications?watch=true" | jq --unbuffered -r --argjson pods "$pods" '.object |
      select(.status.phase == "Running" and .status.readyReplicas == $pods and
        .status.observedGeneration == .metadata.generation) | .metadata.name'
  )
}

# requests FROM: "VERB_KIND COUNT" of the requests that ended since the log had FROM bytes, but for watches, which last.
requests() {
  tail -c "+$(($1 + 1))" "$state/lab.log" | awk '
    / DEBUG request / {
      for (i = 4; i <= NF; i++) { at = index($i, "="); value[substr($i, 1, at - 1)] = substr($i, at + 1) }
      n = split(value["path"], part, "/")
      first = part[2] == "api" ? 4 : 5
      if (part[first] == "namespaces" && n > first + 1) first += 2
      kind = value["port"] == "rancher" ? "Rancher" : n < first ? value["path"] : part[first] (n > first + 1 ? "/" part[first + 2] : "")
      if (value["method"] == "GET") verb = n == first ? "list" : "get"
      else verb = value["query"] ~ /force=true/ ? "apply" : tolower(value["method"])
      if (value["query"] !~ /watch=(1|true)/) counts[verb "_" kind]++
    }
    END { for (name in counts) print name, counts[name] }' | sort
}
log_bytes() { stat -c %s "$state/lab.log"; }
requests_since() { requests "$1" | awk '{sum += $2} END {print sum + 0}'; }
failures() { tail -c "+$(($1 + 1))" "$state/lab.log" | grep ' DEBUG request ' | grep -cE ' code=(4[^0]|40[^4]|5)' || true; }

# first_write FROM: when the first child was written, in ms; until then a controller starts, lists and waits for its Lease.
first_write() {
  local first
  first=$(tail -c "+$(($1 + 1))" "$state/lab.log" |
    awk '!first && / method=PATCH path=\/(api|apis\/apps)\/v1\// {first = $1} END {print first}')
  date -d "$first" +%s%3N
}

# spent PID: its user and system time in ms.
spent() { awk -v hz="$(getconf CLK_TCK)" '{print int(($14 + $15) * 1000 / hz)}' "/proc/$1/stat"; }

# until_quiet FROM: until what is still to do after the last one is ready is done: two seconds without a write but to Leases.
until_quiet() {
  local before=-1 now=0 deadline=$((SECONDS + 120))
  while [ "$before" != "$now" ]; do
    ((SECONDS < deadline)) || fail "writes did not end within 120 s after all are Running"
    before=$now
    sleep 2
    now=$(requests "$1" | awk '!/^(get|list)_|_leases /{sum += $2} END {print sum + 0}')
  done
}

# children FILE: all that was made, without what differs from one lab to the next.
children() {
  k get deployments,configmaps -A -o json | jq -S '[.items[] | select(.metadata.ownerReferences) |
    {kind, namespace: .metadata.namespace, name: .metadata.name, labels: .metadata.labels, annotations: (.metadata.annotations // {}
      | del(.["deployment.kubernetes.io/revision"])), owners: .metadata.ownerReferences, spec, data}]' >"$1"
  [ "$(jq length "$1")" = $((count * 2)) ] || fail "$1: $(jq length "$1") Deployments and ConfigMaps of $count Applications"
}

# same_children SERVER: as the first turn left them.
same_children() {
  children "$state/children.$1"
  [ -e "$state/children" ] || cp "$state/children.$1" "$state/children"
  diff "$state/children" "$state/children.$1" >"$state/difference" ||
    fail "$1 leaves other children: $(head -n 20 "$state/difference")"
}

# figure ROUND SERVER NAME VALUE
figure() { echo "$2 $3 $1 value=$4" >>"$state/figures"; }
per() { awk -v all="$1" -v n="$2" 'BEGIN {printf "%.3f", all / n}'; }
# by_kind ROUND SERVER FROM DIVISOR: lines as figure writes them, for each verb and kind.
by_kind() { requests "$3" | awk -v start="$2" -v round="$1" -v n="$4" '{printf "%s %s %d value=%.3f\n", start, $1, round, $2 / n}'; }

# measure_idle ROUND SERVER PID
measure_idle() {
  local from cpu
  from=$(log_bytes) cpu=$(spent "$3")
  sleep "$idle"
  figure "$1" "$2" idle_requests/s "$(per "$(requests_since "$from")" "$idle")"
  figure "$1" "$2" idle_CPU_ms/s "$(per $(($(spent "$3") - cpu)) "$idle")"
  by_kind "$1" "$2" "$from" 1 >>"$state/idle"
  figure "$1" "$2" resident_MiB "$(awk '/VmRSS/ {printf "%.3f", $2 / 1024}' "/proc/$3/status")"
  figure "$1" "$2" peak_MiB "$(awk '/VmHWM/ {printf "%.3f", $2 / 1024}' "/proc/$3/status")"
}

# print_turn ROUND SERVER: all its figures on one line.
print_turn() {
  awk -v round="$1" -v server="$2" '
    $1 == server && $3 == round {sub("value=", "", $4); line = line " " $2 "=" $4}
    END {printf "round %d, %s:%s\n", round + 1, server, line}' "$state/figures"
}

turn() {
  local round=$1 server=$2 name=$2 from began ended pid lab_cpu
  [ "$server" != herd ] || name=controller
  rm -rf "$state/lab"
  cp -a "$state/objects" "$state/lab"
  : >"$state/lab.log"
  start_lab
  lab_cpu=$(spent "${pid_of[lab]}") from=$(log_bytes) began=$(date +%s%N)
  start_server "$server"
  pid=${pid_of[$name]}
  until_running || fail "$server: not all $count Applications are Running after ${BENCH_DEADLINE:-600} s: $(tail -n 3 "$state/$name.log")"
  ended=$(date +%s%N)
  until_quiet "$from"
  figure "$round" "$server" ms_to_all_Running $(((ended - began) / 1000000))
  figure "$round" "$server" ms_of_it_from_first_write $((ended / 1000000 - $(first_write "$from")))
  figure "$round" "$server" requests_for_each "$(per "$(requests_since "$from")" "$count")"
  figure "$round" "$server" failed_requests "$(failures "$from")"
  figure "$round" "$server" CPU_ms_for_each "$(per "$(spent "$pid")" "$count")"
  figure "$round" "$server" "lab's_CPU_ms_for_each" "$(per $(($(spent "${pid_of[lab]}") - lab_cpu)) "$count")"
  by_kind "$round" "$server" "$from" "$count" >>"$state/kinds"
  measure_idle "$round" "$server" "$pid"
  alive "$name" || fail "$server: $(how_ended "$name")"
  same_children "$server"
  end "$name"
  end lab
  print_turn "$round" "$server"
}

make_objects
echo "$count Applications with $pods pods each, there before the controller starts; load average $(cut -d ' ' -f 1-2 /proc/loadavg)"
for ((round = 0; round < rounds; round++)); do
  for ((i = 0; i < ${#servers[@]}; i++)); do
    turn "$round" "${servers[(i + round) % ${#servers[@]}]}"
  done
done
printf '\nMedians of %d rounds; a ratio is the median of the rounds'"'"': above 1 Herd is better\n' "$rounds"
few "$state/figures" 1
printf '\nRequests for each Application by verb and kind, those of less than 0.05 left out\n'
awk '{split($4, pair, "=")} NR == FNR {if (pair[2] >= 0.05) often[$2] = 1; next} $2 in often' "$state/kinds" "$state/kinds" >"$state/often"
few "$state/often" 1
printf '\nRequests in the %d s in which nothing changed\n' "$idle"
few "$state/idle" 1
