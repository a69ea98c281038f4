#!/usr/bin/env bash
# run.sh [webhook|stacks|policies|controller|rotation|admission|outage]: print the figures (README.md says what each is).
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${HERD_BIN:-build/bench/bin}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
seconds=${BENCH_SECONDS:-3}
. lab/processes.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

# The webhook on one core, the load on another, where there are two.
on_first=() on_second=()
if [ "$(nproc)" -gt 1 ]; then
  on_first=(taskset -c 0) on_second=(taskset -c 1)
fi

# serve PORT
serve() {
  start webhook "${on_first[@]}" "$bin/herd-webhook" serve --listen "127.0.0.1:$1" \
    --metrics-listen 127.0.0.1:0 --tls-cert-file "$state/certs/tls.crt" \
    --tls-key-file "$state/certs/tls.key" --threads 1 --log-format text --drain 0s
}

bench_webhook() {
  "$bin/herd-devca" --folder "$state/certs"
  local kind operation
  for kind in small rag large cycle; do
    for operation in create update change first; do
      "$bin/bench-payload" "$kind" "$operation" <examples/accepted/rag-inference-platform.yaml >"$state/$kind-$operation.json"
    done
  done
  local began answered port pid
  serve 0
  until grep -q serving "$state/webhook.log" 2>/dev/null; do :; done
  port=$(port_of webhook port)
  end webhook

  # Again on a port that is known, so that the first answer can be asked for from the start.
  began=$(date +%s%N)
  serve "$port"
  pid=${pid_of[webhook]}
  until "$bin/bench-load" 127.0.0.1 "$port" /validate "$state/rag-create.json" 1 60 "$pid" keep 1 >/dev/null 2>&1; do :; done
  answered=$(date +%s%N)
  sleep 0.5
  echo "exec to the first answer: $(((answered - began) / 1000000)) ms; resident idle: $(awk '/VmRSS/ {print $2}' "/proc/$pid/status") KiB"
  printf '\n%-10s %-6s %-7s %6s %s\n' route review op bytes figures
  local connections
  for connections in 1 16 64; do
    for kind in small rag large cycle; do
      load validate "$kind" create "$connections" keep
    done
    load validate rag update "$connections" keep
    load validate rag change "$connections" keep
    load mutate rag first "$connections" keep
  done
  load mutate large first 16 keep
  echo; echo "a new TLS connection for each review:"
  load validate rag create 16 new
  echo; echo "a million reviews:"
  "${on_second[@]}" "$bin/bench-load" 127.0.0.1 "$port" /validate "$state/rag-create.json" 64 600 "$pid" keep "${BENCH_MILLION:-1000000}"
  end webhook
}

load() {
  local route=$1 kind=$2 operation=$3 connections=$4 mode=$5 file="$state/$2-$3.json"
  printf '%-10s %-6s %-7s %6s ' "$route" "$kind" "$operation" "$(wc -c <"$file")"
  "${on_second[@]}" "$bin/bench-load" 127.0.0.1 "$(port_of webhook port)" "/$route" "$file" "$connections" "$seconds" \
    "${pid_of[webhook]}" "$mode"
}

bench_policies() {
  "${on_first[@]}" "$bin/bench-policies" <examples/accepted/rag-inference-platform.yaml
}

bench_controller() {
  bash tests/bench/controller.sh "$bin"
}

# The suites' own rows, for longer; where no control plane can be had they say so.
bench_outage() {
  local suite code
  for suite in outage restart; do
    code=0
    HERD_LONG=1 bash "tests/cluster/suite_$suite.sh" "$bin" "$state/$suite" || code=$?
    [ "$code" = 0 ] || [ "$code" = 77 ] || return "$code"
  done
}

case ${1:-all} in
  webhook) bench_webhook ;;
  stacks) "$bin/bench-stacks" ;;
  policies) bench_policies ;;
  controller) bench_controller ;;
  rotation) bash tests/bench/rotation.sh "$bin" ;;
  admission) bash tests/bench/admission.sh "$bin" ;;
  outage) bench_outage ;;
  all)
    bench_webhook
    "$bin/bench-stacks"
    bench_policies
    bench_controller
    bash tests/bench/rotation.sh "$bin"
    bash tests/bench/admission.sh "$bin"
    bench_outage
    ;;
  *) echo "usage: run.sh [webhook|stacks|policies|controller|rotation|admission|outage]" >&2; exit 2 ;;
esac
