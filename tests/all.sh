#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# all.sh: everything that this machine can run and `make test` leaves out; the first failure ends it, and the last lines
# say how long each step took and what could not run here.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)

times=''
# step WHAT COMMAND...
step() {
  local what=$1 began=$SECONDS
  shift
  printf '\n=== %s\n' "$what"
  "$@"
  times+=$(printf '%6s s  %s' "$((SECONDS - began))" "$what")$'\n'
}

# Where there are threads: the core has none, and the controller is one loop beside the server of its probes. The suites are
# those that work the threads of the webhook, and three for the controller; the others would add the threads of the lab.
threaded='unit/(shared/(io|runtime|settings)|webhook|controller|lab)/|'
threaded+='integration/(access|admission|author|certificates|configuration|crash|endurance|faults|lifecycle|many|policy|usage|who)$'
tsan() {
  cmake --preset tsan -Wno-dev
  cmake --build --preset tsan -j "$jobs"
  ctest --preset tsan -j "$jobs" -R "^($threaded)" -LE '^all$' --no-tests=error
}

fuzz() {
  sh cmake/deps.sh fuzz || {
    echo "make fuzz: skipped: clang cannot be installed"
    return
  }
  make fuzz SECONDS=20
}

validators() {
  local code=0
  bash tests/lint/validators.sh "$PWD/build/dev/bin" build/validators || code=$?
  [ "$code" = 77 ] || return "$code"
}

step "a real control plane, install, image, oracles, mutants, what takes long" \
  ctest --preset dev -j "$((jobs + 1))" -L '^(all|long)$' --no-tests=error
step "validators of other projects: promtool, sslscan" validators
step "ThreadSanitizer" tsan
step "fuzzing, 20 s for each target" fuzz
if [ "$(id -u)" = 0 ]; then
  step "the README's two commands in a bare Debian 12" make test-bare
  # It says itself why it can not run where it can not.
  step "the image in containers, under a kubelet" make test-e2e
else
  echo "make test-bare, make test-e2e: skipped: not root"
fi
grep -ohE '[a-z._-]+: skipped: .*' build/dev/Testing/Temporary/LastTest.log | sort -u || true
printf '\n=== done\n%s%6s s  together\n' "$times" "$SECONDS"
