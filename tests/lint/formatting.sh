#!/bin/sh
# formatting.sh: what of the style can be counted: lines of at most 100 columns, in tests 140 but for
# the rows of tables; no tab, no blank at an end.
set -eu
cd "$(dirname "$0")/../.."
# Columns are characters, not bytes.
export LC_ALL=C.UTF-8
bad=0

# what, then what git grep takes: it must find nothing
none() {
  what=$1
  shift
  status=0
  found=$(git grep -nIE --untracked "$@") || status=$?
  [ "$status" = 1 ] && return
  echo "$what:" >&2
  echo "$found" >&2
  bad=1
}
none "above 100 columns" -e '^.{101,}$' -- '*.c' '*.h' ':!tests'
# A row begins with its brace or its text.
none "above 140 columns" -e '^.{141,}$' --and --not -e '^ *[{"]' -- 'tests/*.c' 'tests/*.h'
none "a tab" -e "$(printf '\t')" -- '*.c' '*.h' '*.def'
none "blanks at the end" -e '[[:blank:]]$' -- \
  '*.c' '*.h' '*.def' '*.sh' '*.md' '*.cmake' '*CMakeLists.txt' Makefile
[ "$bad" = 0 ] && echo "lint: lines are in shape"
exit "$bad"
