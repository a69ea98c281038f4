#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# licence.sh [--add]: which sources and scripts lack the line that names their licence; --add writes it, as their first
# line or behind `#!`. Generated files, goldens, fixtures and manifests have none.
set -eu
cd "$(dirname "$0")/../.."
line='SPDX-License-Identifier: Apache-2.0'

lacking() {
  git grep -L --untracked -F "$line" -- '*.c' '*.h' '*.def' '*.go' '*.sh' '*.cmake' '*CMakeLists.txt' '*.jq' '*.lua' \
    Makefile Dockerfile .ci/run || true
}

# add FILE: a Go file gets an empty line behind it, else it would be part of the package's documentation.
add() {
  case $1 in
    *.c | *.h | *.def) sed -i "1i /* $line */" "$1" ;;
    *.go) sed -i "1i // $line\n" "$1" ;;
    *.lua) sed -i "1i -- $line" "$1" ;;
    *) if head -n 1 "$1" | grep -q '^#!'; then sed -i "1a # $line" "$1"; else sed -i "1i # $line" "$1"; fi ;;
  esac
}

if [ "${1:-}" = --add ]; then
  lacking | while read -r file; do add "$file"; done
fi
found=$(lacking)
[ -n "$found" ] || exit 0
echo "without '$line'; sh tests/lint/licence.sh --add writes it:" >&2
echo "$found" >&2
exit 1
