#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh MODE: the whole product on this machine, without a cluster.
#
#   run    lab, webhook, controller and the RAG example; stays up until SIGINT or SIGTERM, and starts again what
#          ends by itself
#   demo   the same, then a story of lab/stories.sh (STORY); ends with 0, or 1 if anything was not as it should be
#
# State is in build/run/: kubeconfig, env (every address as a shell assignment), logs, data; `ready` appears
# when the example is Deployed. As in an installation, people's roles are there, and webhook and
# controller follow a file, config.yaml, that says how Stacks are validated once somebody writes it. With CONTEXT=name
# the controller runs against that context of the user's own kubeconfig and Rancher (RANCHER_URL, RANCHER_TOKEN_FILE),
# and nothing else is started.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash lab/run.sh "$@"
unset HERD_GROUP

mode=${1:-}
bin=${HERD_BIN:-build/release/bin}
state=${HERD_RUN_DIR:-build/run}
lab_flags=(--workloads --time-scale "${TIME_SCALE:-0.05}")
webhook_flags=(--config-file "$state/config.yaml")
# The lab's Rancher is as much faster: what it was asked for shows at once, or was never asked.
controller_flags=(--rancher-settle 5s --neuvector-credentials-dir "$state/neuvector" --neuvector-interval 5s "${webhook_flags[@]}")
# The HTTP API (docs/console.md), for whoever is on this machine: at PORT, or 3000 if it is free.
console_port=${PORT:-}
unset PORT
webhook_manifests=(manifests/workloads/webhook/configuration.yaml)
example=examples/rag-inference-stack.yaml
programs=(lab webhook controller)
# shellcheck source=lab/processes.sh
. lab/processes.sh
# shellcheck source=lab/stories.sh
. lab/stories.sh

bold='' plain=''
[ ! -t 1 ] || bold=$'\033[1m' plain=$'\033[0m'
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  end_all
  rm -f "$state/ready"
  exit "$code"
}

# One at a time for each folder. What we start inherits the lock: nobody takes the folder from a program that is
# still ending.
take_folder() {
  mkdir -p "$(dirname "$state")"
  exec {lock}>>"$state.lock"
  flock -n "$lock" ||
    fail "$state/ is in use by another make run or make demo (process $(tail -n 1 "$state.lock")); end that one, or name another folder: HERD_RUN_DIR=build/run-2"
  echo "$$" >"$state.lock"
  rm -rf "$state"
  mkdir -p "$state"
}

# The workload kinds are there, too.
start_api() {
  start_lab
  for file in manifests/workloads/*/crd.yaml; do k apply -f "$file"; done >/dev/null
}

choose_console() {
  if [ -z "$console_port" ]; then
    console_port=$(low_port)
    # Between here and the start of the controller the lock keeps other runs from it.
    if { exec {console_lock}>>/tmp/herd-console-3000.lock; } 2>/dev/null && flock -n "$console_lock" &&
      ! (: <"/dev/tcp/127.0.0.1/3000") 2>/dev/null; then
      console_port=3000
    fi
  fi
  controller_flags+=(--console-listen "$console_port" --console-anonymous loopback)
}

write_env() {
  {
    cat "$state/lab/env"
    echo "KUBECONFIG=$(realpath "$state")/kubeconfig"
    echo "HERD_CONFIG_FILE=$(realpath "$state")/config.yaml"
    echo "HERD_WEBHOOK_URL=https://127.0.0.1:$webhook_port"
    echo "HERD_WEBHOOK_METRICS_URL=http://127.0.0.1:$webhook_metrics_port"
    echo "HERD_CONTROLLER_METRICS_URL=http://127.0.0.1:$controller_metrics_port"
    echo "HERD_CONSOLE_URL=http://localhost:$console_port"
  } >"$state/env"
}

# Follow rag-inference until it is Ready: a line whenever its phase or the count of its releases moves. Fails
# when the watch ends before: the API server went away.
follow() {
  local watch watcher ready phase count message shown=''
  exec {watch}< <(exec kubectl --kubeconfig "$state/kubeconfig" get stack rag-inference -w -o \
    'jsonpath={.status.conditions[?(@.type=="Ready")].status}|{.status.phase}|{.status.ready}|{.status.message}{"\n"}' \
    2>/dev/null)
  watcher=$!
  while IFS='|' read -r -t 60 ready phase count message <&"$watch"; do
    if [ -n "$phase" ] && [ "$phase $count" != "$shown" ]; then
      shown="$phase $count"
      printf '%4s s  %-10s %-5s %s\n' "$((SECONDS - began))" "$phase" "$count" "$message"
    fi
    [ "$ready" != True ] || break
  done
  kill "$watcher" 2>/dev/null || true
  exec {watch}<&-
  [ "$ready" = True ]
}

deploy_example() {
  local began=$SECONDS
  say "kubectl apply -f $example"
  k apply -f "$example"
  until follow; do
    ((SECONDS - began < 180)) || {
      k describe stack rag-inference >&2 || true
      fail "rag-inference did not become Ready within 180 s"
    }
    sleep 1
  done
  touch "$state/ready"
}

story_of_run() {
  deploy_example
  say "rag-inference is Deployed"
  k get stacks
  cat <<EOF

  export KUBECONFIG=$(realpath "$state")/kubeconfig
  kubectl get stacks -o wide; kubectl describe stack rag-inference

Rancher (simulated)  $HERD_LAB_RANCHER_URL    logs and addresses  $state/
HTTP API             http://localhost:$console_port    docs/console.md; curl -N http://localhost:$console_port/watch
How Stacks are validated (docs/configuration.md)  $state/config.yaml: write it, and it is followed
Ctrl-C ends everything.
EOF
}

declare -A came=() pause=() due=()

# later NAME: it ended; start it again after a pause that doubles for one that does not last.
later() {
  local name=$1
  if ((SECONDS - ${came[$name]:-0} >= 60)); then
    pause[$name]=1
  else
    pause[$name]=$((${pause[$name]:-0} * 2))
    ((pause[$name] >= 1)) || pause[$name]=1
    ((pause[$name] <= 30)) || pause[$name]=30
  fi
  due[$name]=$((SECONDS + pause[$name]))
  echo "herd-$name starts again in ${pause[$name]} s"
}

# mind NAME: say how it ended, if it did; in `run` start it again when its pause is over.
mind() {
  local name=$1
  ! alive "$name" || return 0
  if [ -n "${pid_of[$name]:-}" ]; then
    printf '\n'
    how_ended "$name"
    [ "$mode" = run ] || fail "herd-$name must not end by itself; logs are in $state/"
    later "$name"
  elif ((SECONDS >= due[$name])); then
    came[$name]=$SECONDS
    if "start_$name"; then
      echo "herd-$name is back (process ${pid_of[$name]})"
    else
      later "$name"
    fi
  fi
}

# Until the demo's story has ended, or for ever.
supervise() {
  local story=$1 name code
  while :; do
    for name in "${programs[@]}"; do
      mind "$name"
    done
    if [ -n "$story" ] && ! kill -0 "$story" 2>/dev/null; then
      code=0
      wait "$story" || code=$?
      [ "$mode$code" = run0 ] || exit "$code"
      story=
    fi
    # Comes back when a program ends, when the second is over, or for a signal.
    sleep 1 &
    wait -n 2>/dev/null || true
  done
}

main() {
  local story crd
  case $mode in
    run) story=run ;;
    demo) story=${STORY:-demo} ;;
    *) fail "'$mode' is neither run nor demo" ;;
  esac
  [ "$(type -t "story_of_$story")" = function ] ||
    fail "there is no STORY=$story; there are $(declare -F | sed -n 's/.* story_of_//p' | grep -vx run | xargs)"
  if [ -n "${CONTEXT:-}" ]; then
    [ -n "${RANCHER_URL:-}" ] && [ -n "${RANCHER_TOKEN_FILE:-}" ] ||
      fail "CONTEXT=$CONTEXT needs RANCHER_URL=https://... and RANCHER_TOKEN_FILE=FILE too: the Rancher that owns the clusters"
    exec "$bin/herd-controller" --context "$CONTEXT" --console-listen "$console_port" --rancher-url "$RANCHER_URL" \
      --rancher-token-file "$RANCHER_TOKEN_FILE" --log-format text
  fi
  take_folder
  trap finish EXIT
  # A run that is asked to end has done all that it should; a demo has not.
  if [ "$mode" = run ]; then trap 'exit 0' INT TERM; else trap 'exit 1' INT TERM; fi
  mkdir "$state/neuvector"
  (umask 077 && printf 'herd:lab-secret' >"$state/neuvector/api-key")
  choose_console
  start_product
  bash lab/neuvector/install.sh "$state/lab/env" c-m-gpu01 c-m-gpu02
  k apply -f manifests/controller/people.yaml >/dev/null
  for crd in manifests/workloads/*/crd.yaml; do k apply -f "$crd" >/dev/null; done
  write_env
  "story_of_$story" &
  supervise $!
}

main
