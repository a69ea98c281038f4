#!/usr/bin/env bash
# run.sh [webhook|controller]: print the figures (README.md says what each is).
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

# pinned CORE COMMAND...: on that core, where there is more than one.
pinned() {
  local core=$1
  shift
  if [ "$(nproc)" -gt 1 ]; then taskset -c "$core" "$@"; else "$@"; fi
}

bench_webhook() {
  "$bin/herd-devca" --folder "$state/certs"
  local kind operation
  for kind in small rag large cycle; do
    for operation in create update; do
      "$bin/bench-payload" "$kind" "$operation" <examples/rag-inference-stack.yaml >"$state/$kind-$operation.json"
    done
  done
  local began answered
  began=$(date +%s%N)
  start webhook pinned 0 "$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 \
    --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key" --threads 1 \
    --log-format text --drain 0s
  until grep -q serving "$state/webhook.log"; do :; done
  local port pid=${pid_of[webhook]}
  port=$(port_of webhook port)
  "$bin/bench-load" 127.0.0.1 "$port" /validate "$state/rag-create.json" 1 60 "$pid" keep 1 >/dev/null
  answered=$(date +%s%N)
  echo "exec to the first answer: $(((answered - began) / 1000000)) ms; resident idle: $(awk '/VmRSS/ {print $2}' "/proc/$pid/status") KiB"
  printf '\n%-10s %-6s %-7s %6s %s\n' route review op bytes figures
  local connections
  for connections in 1 16 64; do
    for kind in small rag large cycle; do
      load validate "$kind" create "$connections" keep
    done
    load validate rag update "$connections" keep
    load mutate rag create "$connections" keep
  done
  load mutate large create 16 keep
  echo; echo "a new TLS connection for each review:"
  load validate rag create 16 new
  echo; echo "a million reviews:"
  "$bin/bench-load" 127.0.0.1 "$port" /validate "$state/rag-create.json" 64 600 "$pid" keep "${BENCH_MILLION:-1000000}"
  end webhook
}

load() {
  local route=$1 kind=$2 operation=$3 connections=$4 mode=$5 file="$state/$2-$3.json"
  printf '%-10s %-6s %-7s %6s ' "$route" "$kind" "$operation" "$(wc -c <"$file")"
  pinned 1 "$bin/bench-load" 127.0.0.1 "$(port_of webhook port)" "/$route" "$file" "$connections" "$seconds" \
    "${pid_of[webhook]}" "$mode"
}

bench_controller() {
  bash tests/bench/controller.sh "$bin"
}

case ${1:-all} in
  webhook) bench_webhook ;;
  controller) bench_controller ;;
  all) bench_webhook; bench_controller ;;
  *) echo "usage: run.sh [webhook|controller]" >&2; exit 2 ;;
esac
