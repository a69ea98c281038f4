#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [webhook|linear|stacks|policies|controller|scale|workloads|watchers|observers|rotation|admission|outage]: print the
# figures (README.md says what each is), all but outage, which takes minutes, if none is named. QUICK=1: on tiny inputs, to see that
# the programs still work; the last four are left out then, because suites test what they run.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${HERD_BIN:-build/bench/bin}
state=$(mktemp -d /var/tmp/herd-bench.XXXXXX)
quick=${QUICK:-}
finish() { rm -rf "$state"; }
trap finish EXIT

# Programs of one thread stay on one core where there are two.
on_first=()
[ "$(nproc)" -lt 2 ] || on_first=(taskset -c 0)

bench_webhook() { bash tests/bench/compare.sh "$bin"; }

bench_linear() { "${on_first[@]}" "$bin/bench-linear" ${quick:+1}; }

bench_stacks() { "$bin/bench-stacks" ${quick:+50}; }

bench_policies() {
  "${on_first[@]}" "$bin/bench-policies" ${quick:+10 1} <examples/accepted/rag-inference-platform.yaml
}

bench_controller() { bash tests/bench/controller.sh "$bin" ${quick:+2 2}; }

bench_workloads() { bash tests/bench/workloads.sh "$bin"; }

bench_observers() { bash tests/bench/observers.sh "$bin"; }

# Over both, as far as there is a server that speaks HTTP/2.
bench_scale() {
  local http
  for http in 1 2; do HTTP=$http bash tests/bench/scale.sh "$bin" ${quick:+3 1}; done
}

bench_watchers() { bash tests/bench/watchers.sh "$bin" ${quick:+20 2}; }

bench_rotation() { bash tests/bench/rotation.sh "$bin"; }

bench_admission() { bash tests/bench/admission.sh "$bin"; }

# The suites' own rows, for longer; where no control plane can be had they say so.
bench_outage() {
  local suite code
  for suite in outage restart; do
    code=0
    HERD_LONG=1 bash "tests/cluster/suite_$suite.sh" "$bin" "$state/$suite" || code=$?
    [ "$code" = 0 ] || [ "$code" = 77 ] || return "$code"
  done
}

all=(webhook linear stacks policies controller scale workloads watchers)
[ "$quick" = 1 ] || all+=(observers rotation admission)
[ $# -gt 0 ] || set -- "${all[@]}"
for part in "$@"; do
  declare -F "bench_$part" >/dev/null || {
    echo "usage: run.sh [webhook|linear|stacks|policies|controller|scale|workloads|watchers|observers|rotation|admission|outage]" >&2
    exit 2
  }
  printf '\n=== %s ===\n' "$part"
  "bench_$part"
done
