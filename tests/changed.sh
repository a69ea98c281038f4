#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# changed.sh [FILE...]: build and run the tests of the folders that these files are in; without any, of the files that
# differ from main or are not committed. A change in tests/ runs itself.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  files=("$@")
else
  main=$(git rev-parse --verify -q main || git rev-parse --verify -q origin/main) ||
    { echo "changed.sh: there is no branch main to compare with; name the files: make test-changed FILES=\"...\"" >&2; exit 2; }
  mapfile -t files < <({ git diff --name-only "$main"; git ls-files --others --exclude-standard; } | sort -u)
fi

# wanted FILE: what the names of its tests begin with.
wanted() {
  local folder
  folder=$(dirname "$1")
  case $1 in
    tests/unit/*_test.c | tests/golden/*_test.c | tests/property/*_test.c) echo "${1#tests/}" | sed 's/_test\.c$/$/' ;;
    tests/integration/suite_*.sh) echo "$1" | sed -E 's|tests/(integration)/suite_(.*)\.sh|\1/\2$|' ;;
    *.def | examples/* | manifests/crds/*) printf '%s\n' "unit/$folder/" unit/tables golden/ ;;
    shared/stack/*) printf '%s\n' "unit/$folder/" golden/ property/stack ;;
    controller/*) printf '%s\n' "unit/$folder/" 'integration/lifecycle$' ;;
    webhook/*) printf '%s\n' "unit/$folder/" 'integration/admission$' ;;
    shared/* | lab/*) echo "unit/$folder/" ;;
    tests/support/*) printf '%s\n' unit/ golden/ ;;
    tests/mutants/*.patch) sed -n 's/^# Test: \(.* \)\?\(.*\)/\2$/p' "$1" ;;
  esac
}
pattern=$(for file in "${files[@]}"; do wanted "$file"; done | sort -u | paste -sd '|')
[ -n "$pattern" ] || {
  echo "no test is known to ask about: ${files[*]:-nothing, for nothing changed}"
  exit 0
}
[ -e build/dev/build.ninja ] || cmake --preset dev -Wno-dev
mapfile -t names < <(ctest --preset dev -N -R "^($pattern)" | sed -nE 's/^ *Test +#[0-9]+: //p')
mapfile -t targets < <(printf '%s\n' "${names[@]}" | grep -E '^(unit|golden|property)/' | sed 's|/|-|g; s|^|test-|')
cmake --build --preset dev --target herd-webhook herd-controller herd-lab "${targets[@]}"
HERD_CASES=${HERD_CASES:-100} ctest --preset dev -j "$(nproc)" -R "^($pattern)"
