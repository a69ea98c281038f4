#!/usr/bin/env bash
# run.sh BUILD STATE [NAME...]: plants each bug of shared/base/plants.def, or those that are named, and runs the test that
# must find it. What is not found, or is found by something else than the table says, is told; exit 1.
#
# Without NAMEs each of these tests must pass first with nothing planted: what always fails finds nothing.
#
#   BUILD   a build with HERD_PLANTS (the preset dev has it)      STATE   a folder for logs and copies
# A test that is skipped here, as without Go those on a real control plane are, is told as skipped; exit 77 if none else ran.
set -euo pipefail
export HERD_PATIENCE_MS=${HERD_PATIENCE_MS:-15000} # what does not come is not waited for as on a slow machine
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?BUILD}" && pwd) state=${2:?STATE}
shift 2
mkdir -p "$state"
state=$(cd "$state" && pwd)

# rows: name, row, place, test, what the failure says, by tabs.
rows() {
  sed -nE 's/^PLANT\([A-Z_0-9]+, "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)"\)$/\1\t\2\t\3\t\4\t\5/p' \
    "$source/shared/base/plants.def" | sed 's/\t\t/\t-\t/'
}
[ "$(rows | wc -l)" = "$(grep -c '^PLANT(' "$source/shared/base/plants.def")" ] || {
  echo "run.sh: a row of plants.def is not one line of seven columns" >&2
  exit 2
}
# A row without a place is planted in the source: where it is not, its test would be blamed.
while read -r identifier; do
  grep -rqF --include='*.c' "PLANTED($identifier)" "$source"/{shared,webhook,controller} || {
    echo "run.sh: $identifier of plants.def has no place and is nowhere PLANTED" >&2
    exit 2
  }
done < <(sed -nE 's/^PLANT\(([A-Z_0-9]+), "[^"]*", "[^"]*", "".*/\1/p' "$source/shared/base/plants.def")
for name in "$@"; do
  rows | cut -f 1 | grep -qx -e "$name" || {
    echo "run.sh: there is no plant '$name'; there are: $(rows | cut -f 1 | xargs)" >&2
    exit 2
  }
done

# copy NAME PLACE: $tree is this repository, with the change of NAME.sed in PLACE, if it has one.
copy() {
  tree=$source
  [ "$2" != - ] || return 0
  tree=$state/$1.tree
  rm -rf "$tree"
  mkdir -p "$tree"
  (cd "$source" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp -P --parents -t "$tree")
  sed -i -f "$source/tests/plants/$1.sed" "$tree/$2"
  if cmp -s "$source/$2" "$tree/$2"; then
    echo "  $1.sed changes nothing in $2" >&2
    return 1
  fi
}

# command_of TEST STATE: as ctest runs it.
command_of() {
  local name=${1#*/}
  case $1 in
    unit/* | property/* | golden/*) command=("$build/tests/test-${1//\//-}") ;;
    oracle/*) command=(bash tests/oracle/run.sh "$build/tests/oracle/herd-feed" "$build/oracle" "$name" 10000) ;;
    integration/*) command=(bash "tests/integration/suite_$name.sh" "$build/bin" "$2") ;;
    cluster/install | cluster/rights) command=(bash "tests/install/$name.sh" "$2" "$build/bin") ;;
    cluster/*) command=(bash "tests/cluster/suite_$name.sh" "$build/bin" "$2") ;;
    *) echo "  '$1' is no test that run.sh can run" >&2; return 1 ;;
  esac
}

# perform NAME TEST: in $tree, with the plant NAME; what it says is in NAME.log.
perform() {
  local name=$1 test=$2 variables=()
  while [[ $test = *" "* ]]; do
    variables+=("${test%% *}")
    test=${test#* }
  done
  command_of "$test" "$state/$name" || return 2
  (cd "$tree" && env HERD_PLANT="$name" "${variables[@]}" "${command[@]}") >"$state/$name.log" 2>&1 </dev/null
}

# try NAME PLACE TEST FOUND: 0 if it is found, 77 if the test can not run here.
try() {
  local name=$1 place=$2 test=$3 found=$4 code=0 log=$state/$1.log
  copy "$name" "$place" || return 1
  perform "$name" "$test" || code=$?
  case $code in
    0) echo "  $test does not find it" ;;
    77) return 77 ;;
    *)
      # Suites print each row as they come to it, behind a dash.
      grep -aqF -e "$found" <(grep -av '^- ' "$log") && return 0
      echo "  $test failed, and does not say: $found"
      tail -n 5 "$log" | sed 's/^/    /'
      ;;
  esac
  return 1
}

caught=0 missed=0 skipped=0
tree=$source
while [ $# = 0 ] && read -r test; do
  code=0
  perform nothing "$test" || code=$?
  case $code in
    0 | 77) ;;
    *)
      missed=$((missed + 1))
      echo "${test##* } fails with nothing planted:"
      tail -n 5 "$state/nothing.log" | sed 's/^/    /'
      ;;
  esac
done < <(rows | cut -f 4 | sort -u)
while IFS=$'\t' read -r name row place test found; do
  [ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
  began=$SECONDS code=0
  try "$name" "$place" "$test" "$found" || code=$?
  case $code in
    0) caught=$((caught + 1)) word=found ;;
    77) skipped=$((skipped + 1)) word=skipped ;;
    *) missed=$((missed + 1)) word="NOT FOUND" ;;
  esac
  [ "$code" != 0 ] || rm -rf "$state/$name.tree"
  echo "$row $name: $word by ${test##* } in $((SECONDS - began)) s"
done < <(rows)
echo "$caught found, $missed not found, $skipped skipped"
[ "$missed" = 0 ] || exit 1
[ "$caught" != 0 ] || [ "$skipped" = 0 ] || exit 77
