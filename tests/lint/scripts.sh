#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts.sh: shellcheck finds nothing in any script, .shellcheckrc aside. What is only sourced is looked at where it is.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null 2>&1; then
  echo "scripts.sh: skipped: shellcheck is not installed (apt-get install shellcheck)"
  exit 0
fi
git ls-files --cached --others --exclude-standard '*.sh' .ci/run | while read -r file; do
  ! head -n 1 "$file" | grep -q '^#!' || printf '%s\0' "$file"
done | xargs -0 -n 4 -P "$(nproc)" shellcheck --check-sourced
echo "lint: scripts are in shape"
