#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SECONDS [NAME...]: every fuzz target, or those named, for so long, as many at a time as there are processors,
# each from its corpus and with its words; finds stay in build/fuzz/finds/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
programs=${FUZZ_PROGRAMS:-build/fuzz/tests/fuzz}
finds=build/fuzz/finds
mkdir -p "$finds"

# Which of tests/fuzz/dictionary/ a target knows; `fields` stands for the names and words of the tables, `rules` for
# those of configuration.
dictionaries() {
  case $1 in
    json | report | compliance) echo json ;;
    yaml | offline) echo yaml fields ;;
    configuration) echo yaml rules ;;
    patch) echo json patch ;;
    selector) echo json selector ;;
    labels) echo labels ;;
    policy) echo json selector policy stack fields ;;
    stack) echo json selector stack fields ;;
    review) echo json selector stack review fields ;;
  esac
}

words() {
  local dictionary
  for dictionary in $(dictionaries "$1"); do
    if [ "$dictionary" = fields ]; then
      sed -nE 's/^(FIELD|WORD)\([^"]*"([^"]+)".*/"\\"\2\\""/p' shared/stack/model/*fields.def | sort -u
    elif [ "$dictionary" = rules ]; then
      sed -nE 's/^RULE\([^"]*"([^"]+)".*/"\1"/p' shared/stack/model/rules.def
      printf '"%s"\n' rules allowPlainHttpRepos deny warn audit off
    else
      cat "tests/fuzz/dictionary/$dictionary"
    fi
  done
}

one() {
  local target=$1 name=${1##*/fuzz-} grown dictionary=()
  grown=$(mktemp -d)
  words "$name" >"$grown.words"
  [ ! -s "$grown.words" ] || dictionary=(-dict="$grown.words")
  if "$target" -max_total_time="$seconds" -artifact_prefix="$finds/$name-" -print_final_stats=1 \
    "${dictionary[@]}" "$grown" "tests/fuzz/corpus/$name" >"$finds/$name.log" 2>&1; then
    printf '%-12s %s runs, no crash\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$finds/$name.log")"
  else
    tail -n 20 "$finds/$name.log" >&2
    printf '%-12s CRASHED; the input is in %s/\n' "$name" "$finds" >&2
    rm -rf "$grown" "$grown.words"
    return 1
  fi
  rm -rf "$grown" "$grown.words"
}
export -f one words dictionaries
export seconds finds
find "$programs" -maxdepth 1 -name 'fuzz-*' -type f -executable | sort |
  { [ $# = 0 ] && cat || grep -E "/fuzz-($(IFS='|' && echo "$*"))\$"; } |
  xargs -r -d '\n' -n 1 -P "$(nproc)" bash -c 'one "$0"'
