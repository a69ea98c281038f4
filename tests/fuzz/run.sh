#!/usr/bin/env bash
# run.sh SECONDS: every fuzz target for so long, two at a time, from its corpus; finds stay in build/fuzz/finds/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
finds=build/fuzz/finds
mkdir -p "$finds"

one() {
  local target=$1 name=${1##*/fuzz-} grown
  grown=$(mktemp -d)
  if "$target" -max_total_time="$seconds" -artifact_prefix="$finds/$name-" -print_final_stats=1 \
    "$grown" "tests/fuzz/corpus/$name" >"$finds/$name.log" 2>&1; then
    printf '%-12s %s runs, no crash\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$finds/$name.log")"
  else
    tail -n 20 "$finds/$name.log" >&2
    printf '%-12s CRASHED; the input is in %s/\n' "$name" "$finds" >&2
    rm -rf "$grown"
    return 1
  fi
  rm -rf "$grown"
}
export -f one
export seconds finds
find build/fuzz/tests/fuzz -maxdepth 1 -name 'fuzz-*' -type f -executable -print0 | sort -z |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$0"'
