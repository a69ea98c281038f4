#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutants.sh: each patch of tests/mutants says what it is, and applies to the tree as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0
for patch in tests/mutants/*.patch; do
  why=''
  for key in Promise Test Failure; do
    grep -q "^# $key: ." "$patch" || why="has no line '# $key: ...' before the diff"
  done
  [ -n "$why" ] || why=$(git apply --check "$patch" 2>&1) || why="does not apply any more: make its bug anew in the code as it is now: $why"
  [ -z "$why" ] || { echo "$patch $why" >&2; bad=1; }
done
[ "$bad" = 0 ] && echo "lint: mutants apply"
exit "$bad"
