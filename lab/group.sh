#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# group.sh COMMAND...: run COMMAND in a process group of its own, and leave nothing of that group behind: not when
# COMMAND ends, not when we are asked to end (SIGINT, SIGTERM, SIGHUP), and not when we are killed.
#
# A guard in a session of its own reads from a pipe that only we keep open. Whatever ends us closes it; then the guard
# ends the group: SIGTERM, and SIGKILL to what is still there after HERD_GRACE seconds.
#
# A script that wants this begins with
#   [ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
#   unset HERD_GROUP
set -u

# Whether the group has a process; a zombie that nobody reaps is none.
is_there() {
  ps -e -o pgid=,stat= | awk -v group="$1" '$1 == group && $2 !~ /^Z/ { found = 1 } END { exit !found }'
}

# Once: a second signal would cut short what the first one makes the leader do. It may not have made its group yet.
terminate() { kill -TERM -- "-$1" 2>/dev/null || kill -TERM "$1" 2>/dev/null; }

end_group() {
  local group=$1 deadline=$((SECONDS + ${HERD_GRACE:-25}))
  is_there "$group" || return 0
  terminate "$group"
  while is_there "$group"; do
    ((SECONDS < deadline)) || kill -KILL -- "-$group" 2>/dev/null
    sleep 0.05
  done
}

guard() {
  local group
  trap '' INT TERM HUP
  read -r group || return 0
  read -r _
  end_group "$group"
}

if [ "${1:?a command}" = --guard ]; then
  guard
  exit
fi

exec {life}> >(exec setsid bash "$0" --guard)
guard=$!
setsid "$@" {life}>&- &
leader=$!
echo "$leader" >&"$life"
trap 'terminate "$leader"' INT TERM HUP
while :; do
  code=0
  wait "$leader" || code=$?
  # A signal interrupts `wait`; then the leader is still at work.
  kill -0 "$leader" 2>/dev/null || break
done
exec {life}>&-
wait "$guard"
exit "$code"
