#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh: includes point down, and each library's header stands in the files that are allowed to have it.
set -eu
cd "$(dirname "$0")/../.."
bad=0

# Each folder includes itself and what its CMakeLists.txt says that it USES; `stack` means all of its folders.
folders=$(git ls-files '*CMakeLists.txt' | grep -E '^(shared|webhook|controller|lab)/' | while read -r file; do
  { tr '\n' ' ' <"$file"; echo; } |
    sed -nE "s|.*herd_layer\\(([a-z/]+) *(USES ([a-z/ ]*[a-z]))?.*|${file%/*} \\1 \\3|p; s|.*herd_program\\([a-z-]+ LAYER ([a-z]+) USES ([a-z/ ]*[a-z]).*|${file%/*} \\1 \\2|p"
done
# One file, without a library of its own: it includes what it links.
echo certs certs "$(sed -nE 's/target_link_libraries\(herd-devca PRIVATE herd_flags (.*)\)/\1/p' certs/CMakeLists.txt | sed 's/herd_//g')")
exec 3>&1
wrong=$(echo "$folders" | while read -r folder name used; do
  printf '  %-14s %s\n' "$name" "${used:--}" >&3
  allowed=$(echo "$name $used" | tr ' ' '|')
  grep -nE '^#include "' -r "$folder" --include='*.[ch]' --include='*.def' | grep -vE "#include \"($allowed)/" |
    sed "s|^|$name may not include this: |"
done)
if [ -n "$wrong" ]; then
  echo "$wrong" >&2
  bad=1
fi

# header pattern: the files that may include it
only() {
  pattern=$1
  files=$2
  found=$(grep -rnE "^#include [<\"]($pattern)" --include='*.[ch]' shared webhook controller lab certs |
    grep -vE "^($files):" || true)
  if [ -n "$found" ]; then
    echo "$pattern belongs in $files only:" >&2
    echo "$found" >&2
    bad=1
  fi
}
only 'cjson/|cJSON' 'shared/text/value\.c'
only 'yaml\.h' 'shared/text/yaml\.c'
only 'zlib' 'shared/text/zip\.c'
only 'pcre2' 'shared/text/regex\.c'
only 'openssl/' 'shared/text/digest\.c|shared/io/tls[a-z_]*\.[ch]'
only 'microhttpd|gnutls/' 'shared/io/http_server[a-z_]*\.[ch]'
only 'curl/' 'shared/io/http_client[a-z_]*\.[ch]'
only 'seccomp\.h' 'shared/io/sandbox\.c'
only 'sqlite3' 'lab/apiserver/store[a-z_]*\.[ch]'

# Inside the controller: reconcilers use back ends and clusters, back ends use clusters, and clusters know neither. Which
# back end there is, only main.c knows; reconcilers see backend.h.
only 'controller/reconcilers/' 'controller/reconcilers/.*|controller/(parts|options)\.[ch]'
only 'controller/backends/' 'controller/(backends|reconcilers)/.*|controller/main\.c'
for folder in controller/backends/*/; do
  only "$folder" "$folder.*|controller/main\.c"
done

only 'controller/console/' 'controller/console/.*|controller/(parts|options)\.[ch]'

# The core is pure.
found=$(grep -nE '\b(time|clock_gettime|gettimeofday|getenv|fopen|socket|pthread_create|printf)\(' -r \
  shared/text shared/kube shared/stack --include='*.c' | grep -vE 'snprintf|vsnprintf' || true)
if [ -n "$found" ]; then
  echo "the core touches the world:" >&2
  echo "$found" >&2
  bad=1
fi

# A reason is a row of reasons.def, wherever it is given or looked for.
found=$(grep -nE '(reason( =|,)|plan_set\(|plan_fail\().*STR\("[A-Z][A-Za-z]+"\)' -r shared/stack --include='*.c' || true)
if [ -n "$found" ]; then
  echo "a reason that is no row of shared/stack/model/reasons.def:" >&2
  echo "$found" >&2
  bad=1
fi

# Tables of tables: every file opens by saying what it is.
for file in $(git ls-files '*.c' '*.h' '*.def' 2>/dev/null); do
  [ -f "$file" ] || continue
  sed -n 2p "$file" | grep -q '^/\* ' || { echo "$file does not open with its licence and what it is" >&2; bad=1; }
done
[ "$bad" = 0 ] && echo "lint: layers hold"
exit "$bad"
