#!/usr/bin/env bash
# absent.sh FILE...: in none of these is a word of what plants bugs.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
[ $# != 0 ] || { echo "usage: absent.sh FILE..." >&2; exit 2; }
words=$(sed -nE 's/^PLANT\([A-Z_0-9]+, "([^"]*)".*/\1/p' "$source/shared/base/plants.def")
for file in "$@"; do
  if found=$(grep -aoxF -e HERD_PLANT -e plant_is -f <(echo "$words") <(tr -c '[:print:]' '\n' <"$file") | sort -u) && [ -n "$found" ]; then
    echo "$file has $(xargs <<<"$found")" >&2
    exit 1
  fi
done
echo "$# files have nothing of it"
