#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh: Herd as a cluster runs it: its image in containers, from manifests/, under a kubelet.
#
# This file is about the machine; the test is suite.sh, which it runs in namespaces of its own: mounts, network and
# processes are gone with them, however it ends. What no namespace holds is kept here: a cgroup, folders to mount on, and
# the kernel settings that a kubelet changes. It ends as it found the machine, or says what differs.
#
# Where it can not run it says `e2e: skipped:` and why; REQUIRE_E2E=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash tests/e2e/run.sh "$@"
unset HERD_GROUP

state=$PWD/build/e2e
bin=$PWD/${HERD_BIN:-build/release/bin}
cgroup=herd-e2e-$(printf '%s' "$PWD" | sha256sum | cut -c 1-8)
settings=(vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys
  kernel/keys/root_maxbytes net/ipv4/ip_forward)
mountpoints=(/var/lib/kubelet /var/log/pods /var/log/containers)
tools=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl cert-manager mirror kubelet kube-proxy)
began=$SECONDS

skip() {
  if [ "${REQUIRE_E2E:-}" = 1 ]; then
    echo "e2e: $1; REQUIRE_E2E=1 makes this a failure" >&2
    exit 1
  fi
  echo "e2e: skipped: $1"
  exit 0
}

# Each hierarchy of cgroups: those of version 1, the one of version 2, or both.
hierarchies() { awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts | sort -u; }

# enable FOLDER: each controller that it has, for the cgroups in it.
enable() {
  local controllers controller
  read -ra controllers <"$1/cgroup.controllers"
  for controller in "${controllers[@]}"; do
    echo "+$controller" >"$1/cgroup.subtree_control" || return 1
  done
}

# A cpuset of version 1 holds nothing until it is told what it may use; one of version 2 has no controllers until then.
make_cgroups() {
  local at file
  for at in $(hierarchies); do
    mkdir "$at/$cgroup" || return 1
    if [ -e "$at/cgroup.controllers" ]; then
      enable "$at" && enable "$at/$cgroup" || return 1
    elif [ -e "$at/cpuset.cpus" ]; then
      for file in cpuset.cpus cpuset.mems; do
        cat "$at/$file" >"$at/$cgroup/$file" || return 1
      done
    fi
  done
}

# They are busy until the last process of the namespaces is gone.
remove_cgroups() {
  local at deadline=$((SECONDS + 20))
  for at in $(hierarchies); do
    while [ -e "$at/$cgroup" ] && ! find "$at/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null; do
      ((SECONDS < deadline)) || return 1
      sleep 0.1
    done
  done
}

# What a run that was killed left behind.
remove_leftovers() {
  remove_cgroups || skip "the cgroup $cgroup is there and can not be removed: a test-e2e of this clone still runs"
  rm -rf --one-file-system "$state"
}

note_machine() {
  local name
  for name in "${settings[@]}"; do
    [ ! -e "/proc/sys/$name" ] || printf '%s=%s\n' "$name" "$(cat "/proc/sys/$name")"
  done
}

# Says what differs from the start, and puts back what can be put back.
restore_machine() {
  local name value bad=0
  remove_cgroups || { echo "e2e: the cgroup $cgroup stays: something still runs in it" >&2; bad=1; }
  ((${#made[@]} == 0)) || rmdir "${made[@]}" || bad=1
  while IFS='=' read -r name value; do
    [ "$(cat "/proc/sys/$name")" != "$value" ] || continue
    echo "e2e: $name was changed from $value to $(cat "/proc/sys/$name"); it is put back" >&2
    echo "$value" >"/proc/sys/$name"
    bad=1
  done <<<"$machine"
  if grep -F "$state" /proc/mounts >&2; then
    echo "e2e: these mounts stay" >&2
    bad=1
  fi
  return "$bad"
}

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  restore_machine || code=1
  # Logs stay; images, snapshots and volumes do not.
  rm -rf --one-file-system "$state/containerd" "$state/kubelet" "$state/cluster/etcd"
  [ "$code" != 0 ] || echo "e2e: the machine is as it was; $((SECONDS - began)) s in all"
  exit "$code"
}

can_run() {
  local program
  [ "$(id -u)" = 0 ] || skip "not root: containers and their namespaces need it"
  sh cmake/deps.sh e2e || skip "packages are missing"
  for program in containerd containerd-shim-runc-v2 ctr runc ip iptables dnsmasq unshare nsenter; do
    command -v "$program" >/dev/null || skip "$program is not installed"
  done
  [ -e /usr/lib/cni/bridge ] || [ -e /opt/cni/bin/bridge ] || skip "the CNI plugins are not installed"
  unshare --net --mount --pid --fork --mount-proc sh -c 'ip link add herd-a type veth peer name herd-b &&
    ip link add herd-c type bridge && iptables -t nat -L -n >/dev/null' 2>/dev/null ||
    skip "this kernel, or this container, allows no namespaces with a bridge and address translation in them"
}

build_tools() {
  local code=0
  REQUIRE_CLUSTER='' bash tests/cluster/build.sh "$state.tools" "${tools[@]}" 2> >(tee "$state.tools.log" >&2) || code=$?
  [ "$code" != 77 ] || skip "$(tail -n 1 "$state.tools.log" | sed 's/.*skipped: //')"
  return "$code"
}

can_run
mkdir -p build
exec {lock}>>"$state.run.lock"
flock -n "$lock" || { echo "e2e: another test-e2e of this clone runs" >&2; exit 1; }
remove_leftovers
build_tools
make -s image

machine=$(note_machine)
made=()
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
make_cgroups 2>"$state.run.log" || skip "no cgroup can be made here: $(tail -n 1 "$state.run.log")"
for folder in "${mountpoints[@]}"; do
  if [ ! -e "$folder" ]; then
    mkdir "$folder"
    made=("$folder" "${made[@]}")
  fi
done
# In the background, so that a signal is heard; the group's end is its end.
HERD_GROUP=own setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc \
  bash tests/e2e/suite.sh "$bin" "$state" "$cgroup" {lock}>&- &
wait $!
