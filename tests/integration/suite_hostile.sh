#!/usr/bin/env bash
# suite_hostile.sh: clients that drip, flood and trick, while a good one asks the real herd-webhook for reviews: none of
# its reviews fails, and by night, on release programs, its p99 stays where it is promised.
#
#   HERD_SECONDS   how long (30); make test-night: 600
#   HERD_P99_MS    what the p99 may be; it is told only where this is not set. make test-night: 200
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
command -v go >/dev/null 2>&1 || {
  echo "suite_hostile.sh: skipped: go is not installed, and the hostile client is written in it"
  exit 77
}
name=herd-webhook.herd-system.svc

row "the hostile client is built"
ok env GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local go build -o "$state/hostile" tests/support/hostile.go
ok "$bin/herd-devca" --folder "$state/certs"
"$bin/bench-payload" small create <examples/accepted/rag-inference-platform.yaml >"$state/review.json"
start_serving webhook "$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --log-format text \
  --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key"

open_files() { find "/proc/${pid_of[webhook]}/fd" -mindepth 1 | wc -l; }
memory() { awk '/VmRSS|VmHWM/ {printf "%s %s KiB  ", $1, $2}' "/proc/${pid_of[webhook]}/status"; }
before=$(open_files)
echo "before: $before open files, $(memory)"

row "a good client's reviews are answered in time, whatever the others do"
"$state/hostile" "127.0.0.1:$(port_of webhook port)" "$name" "$state/certs/ca.crt" "$state/review.json" "${HERD_SECONDS:-30}" |
  tee "$state/figures.txt" || wrong "see above"

row "nothing of them is left behind"
as_before() { [ "$(open_files)" -le "$before" ]; }
eventually as_before
echo "after: $(open_files) open files, $(memory)"
