#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh STATE [fast | NAME...]: applies each mutant, NAME.patch beside this file, to a copy of the tree, and runs the test that
# must find it: all of them, those whose tests are fast and need no control plane, or those that are named. Exit 1 if a mutant is
# not found, or its test fails with another message.
#
# A mutant is a bug. Its patch begins with one sentence about it, the promise that it breaks, the test that finds it (as ctest
# names it, behind the variables that the test needs) and a text that this test prints when it fails. Each test must pass
# without a mutant first: a test that always fails finds nothing.
#
#   STATE   a folder for the copy (STATE/tree, with its own build folder, so the next run builds little) and for logs
# A test that is skipped here, such as one on a real control plane without Go, is reported as skipped; exit 77 if none was found.
set -euo pipefail
export HERD_PATIENCE_MS=${HERD_PATIENCE_MS:-15000} # what a mutant prevents is not awaited as long as on a slow machine
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
mkdir -p "${1:?STATE}"
state=$(cd "$1" && pwd)
shift
tree=$state/tree build=$state/tree/build/dev
exec 9>"$state/lock"
flock 9

# header KEY NAME
header() { sed -n "s/^# $1: //p" "$here/$2.patch"; }

# wanted [fast | NAME...]: the mutants, one a line: test, variables of the test or -, name.
wanted() {
  local name test names=("$@")
  [ $# != 0 ] && [ "$1" != fast ] || mapfile -t names < <(cd "$here" && basename -s .patch -- *.patch)
  for name in "${names[@]}"; do
    [ -e "$here/$name.patch" ] || { echo "run.sh: there is no tests/mutants/$name.patch" >&2; return 2; }
    test=$(header Test "$name")
    [ "${1:-}" != fast ] || [[ $test =~ ^(unit|golden|property|sim|oracle)/[^\ ]*$ ]] || continue
    [[ $test = *" "* ]] || test="- $test"
    printf '%s\t%s\t%s\n' "${test##* }" "${test% *}" "$name"
  done | sort
}

# The copy: only files that differ are written, so that only what depends on them is built again.
copy_tree() {
  local file
  mkdir -p "$tree"
  (cd "$source" && git ls-files --cached --others --exclude-standard | while read -r file; do
    [ ! -e "$file" ] || echo "$file"
  done | sort) >"$state/files"
  (cd "$tree" && find . -path ./build -prune -o ! -type d -print | sed 's|^\./||' | sort) >"$state/copied"
  comm -13 "$state/files" "$state/copied" | (cd "$tree" && xargs -r -d '\n' rm -f)
  while read -r file; do
    [ ! -L "$source/$file" ] && cmp -s "$source/$file" "$tree/$file" || (cd "$source" && cp -P --remove-destination --parents "$file" "$tree")
  done <"$state/files"
}

# targets TEST: what has to be built for it.
targets() {
  case $1 in
    unit/* | property/* | golden/*) echo "test-${1//\//-}" ;;
    sim/*) echo herd-sim ;;
    oracle/*) echo herd-feed ;;
    cluster/streams) echo herd-streams ;;
    integration/* | cluster/*) echo herd-{webhook,controller,lab,devca} bench-{payload,load,rotation} ;;
    *) echo "run.sh: there is no way to run '$1'" >&2; return 2 ;;
  esac
}

# build TEST...
build() {
  local wanted
  wanted=$(for test in "$@"; do targets "$test" || exit; done) || return
  # shellcheck disable=SC2086 # targets are words
  nice cmake --build "$build" -j "$(nproc)" --target $wanted
}

# perform TEST VARIABLES FOLDER: as ctest runs it.
perform() {
  local name=${1#*/} variables=()
  [ "$2" = - ] || read -ra variables <<<"$2"
  case $1 in
    unit/* | property/* | golden/*) set -- "$build/tests/test-${1//\//-}" ;;
    sim/*) set -- "$build/bin/herd-sim" --seed=1 --seeds=200 ;;
    oracle/*) set -- bash tests/oracle/run.sh "$build/tests/oracle/herd-feed" "$state/oracle" "$name" 10000 ;;
    integration/*) set -- bash "tests/integration/suite_$name.sh" "$build/bin" "$3" ;;
    cluster/install | cluster/rights) set -- bash "tests/install/$name.sh" "$3" "$build/bin" ;;
    cluster/*) set -- bash "tests/cluster/suite_$name.sh" "$build/bin" "$3" ;;
  esac
  # What it leaves behind holds neither the lock nor the list.
  (cd "$tree" && timeout -k 10 1200 env "${variables[@]}" "$@") </dev/null 3<&- 9>&-
}

# patch_tree NAME [-R]
patch_tree() { GIT_CEILING_DIRECTORIES=$state git -C "$tree" apply "${@:2}" "$here/$1.patch"; }

show_end() { tail -n 5 "$1" | cut -c 1-200 | sed 's/^/    /'; }

# try TEST VARIABLES NAME: 0 if the test finds the mutant, 77 if it cannot run here.
try() {
  local code=0 failure log=$state/$3.log
  failure=$(header Failure "$3")
  patch_tree "$3" || { echo "  tests/mutants/$3.patch does not apply"; return 1; }
  build "$1" >"$log" 2>&1 || code=built
  [ "$code" = built ] || perform "$1" "$2" "$state/$3" >"$log" 2>&1 || code=$?
  patch_tree "$3" -R
  case $code in
    built) echo "  the mutant does not build" ;;
    0) echo "  $1 does not find it" ; return 1 ;;
    77) return 77 ;;
    *)
      # Suites print each row as they come to it, behind a dash.
      grep -aqF -e "$failure" <(grep -av '^- ' "$log") && return 0
      echo "  $1 failed, and does not say: $failure"
      ;;
  esac
  show_end "$log"
  return 1
}

# passes TEST VARIABLES: without a mutant. 0, 1, or 77 if it cannot run here; once for each test.
passes() {
  [ "$1 $2" != "${asked:-}" ] || return "$answer"
  asked="$1 $2" answer=0
  perform "$1" "$2" "$state/unmutated" >"$state/unmutated.log" 2>&1 || answer=$?
  [ "$answer" = 0 ] || [ "$answer" = 77 ] || {
    answer=1
    echo "$1 fails without a mutant:"
    show_end "$state/unmutated.log"
  }
  return "$answer"
}

mutants=$(wanted "$@")
mapfile -t tests < <(cut -f 1 <<<"$mutants" | sort -u)
copy_tree
# A mutant may leave something unused.
(cd "$tree" && cmake --preset dev -Wno-dev -DHERD_WERROR=OFF) >"$state/build.log" 2>&1 && build "${tests[@]}" >>"$state/build.log" 2>&1 || {
  show_end "$state/build.log"
  exit 1
}
echo "built in $SECONDS s"

found=0 missed=0 skipped=0
while IFS=$'\t' read -r test variables name <&3; do
  began=$SECONDS code=0
  passes "$test" "$variables" || code=$?
  [ "$code" != 0 ] || try "$test" "$variables" "$name" || code=$?
  case $code in
    0) found=$((found + 1)) word=found ;;
    77) skipped=$((skipped + 1)) word=skipped ;;
    *) missed=$((missed + 1)) word="NOT FOUND" ;;
  esac
  echo "$(header Promise "$name") $name: $word by $test in $((SECONDS - began)) s"
done 3<<<"$mutants"
echo "$found found, $missed not found, $skipped skipped, in $SECONDS s"
[ "$missed" = 0 ] || exit 1
[ "$found" != 0 ] || [ "$skipped" = 0 ] || exit 77
