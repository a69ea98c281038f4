#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [FILE...]: clang-tidy, as .clang-tidy says, of these files; without any, of those that differ from main.
set -eu
cd "$(dirname "$0")/../.."
tidy=$(command -v clang-tidy || command -v clang-tidy-14) || { echo "tidy: skipped: clang-tidy is not installed"; exit 0; }
if [ $# = 0 ]; then
  base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  # shellcheck disable=SC2046 # no file's name has a blank
  set -- $(git diff --name-only --diff-filter=d "$base" -- 'shared/*.c' 'webhook/*.c' 'controller/*.c' 'lab/*.c' 'certs/*.c')
fi
[ $# = 0 ] || printf '%s\n' "$@" | xargs -n 8 -P "$(nproc)" "$tidy" -p build/dev --quiet
echo "tidy: $# files"
