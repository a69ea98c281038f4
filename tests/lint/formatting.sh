#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# formatting.sh: what of the style can be counted: lines of at most 100 columns, in tests 140 but for
# the rows of tables; no tab, no blank at an end; the licence; tests that docs name are there; all but tests as
# clang-format has it.
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
sh tests/lint/licence.sh || bad=1
# Docs point at tests; NAME and * stand for any.
for path in $(git grep -ohE --untracked '`tests/[A-Za-z0-9_./-]+`' -- '*.md' | tr -d '`' | sort -u); do
  case $path in *NAME*) continue ;; esac
  [ -e "$path" ] || { echo "docs name $path, which is not there:" >&2; git grep -nF --untracked "\`$path\`" -- '*.md' >&2; bad=1; }
done
# As .clang-format says, by the version that Debian 12 has: others differ in details.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  git ls-files 'shared/*.[ch]' 'webhook/*.[ch]' 'controller/*.[ch]' 'lab/*.[ch]' 'certs/*.[ch]' |
    xargs clang-format --dry-run -Werror || bad=1
else
  echo "lint: clang-format 14 is not installed; not asked"
fi
[ "$bad" = 0 ] && echo "lint: lines are in shape"
exit "$bad"
